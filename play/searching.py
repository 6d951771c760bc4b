"""One search in this process, waited for, and given up within a moment when it is not wanted any more."""

import threading

from pool.tasks import POLL_SECONDS, Cancelled
from search import Listener
from uci_engine.options import OPTIONS

DEFAULTS = {option.name: option.default for option in OPTIONS}


class Answer(Listener):
    """Waits for the result of one search. Override `on_info` to hear of it before."""

    def __init__(self):
        self.is_there = threading.Event()
        self.result = None

    def on_result(self, result):
        self.result = result
        self.is_there.set()


def search(searcher, board, limits, *, endgame=None, cancelled=None, answer=None):
    """The result of a search. Cancelled if `cancelled()` becomes true. `endgame` ranks the moves where its tables reach."""
    if endgame is not None and limits.moves is None:
        ranking, probe = endgame.rank(board, DEFAULTS)
        if ranking is not None:
            limits = limits._replace(ranks=ranking.ranks, results=ranking.results, probe=probe)
    answer = answer or Answer()
    searcher.start(board, limits, answer)
    try:
        while not answer.is_there.wait(POLL_SECONDS):
            if cancelled is not None and cancelled():
                raise Cancelled
    except BaseException:
        searcher.stop()
        searcher.wait()
        raise
    if cancelled is not None and cancelled():
        raise Cancelled
    return answer.result

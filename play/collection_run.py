"""Reviews the games of a collection on several threads, and hands the results out in the collection's order.

A game's result depends on the game and the settings only, not on the threads or on the games before it.
"""

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait

import chess.pgn

from play.annotation import annotate
from play.collection import parse
from play.collection_journal import digest_of
from play.review import GameError, Reviewer
from play.searching import POLL_SECONDS
from search import Searcher
from uci_engine import __version__
from uci_engine.endgame import Endgame

COLUMNS = 80


class Runner:
    """`limits` are those of each search, `megabytes` the size of each thread's transposition table."""

    def __init__(self, limits, *, megabytes, threads, syzygy_path="", say=print):
        self.limits = limits
        self.megabytes = megabytes
        self.threads = threads
        self.syzygy_path = syzygy_path
        self.say = say
        self.local = threading.local()
        self.cancel = threading.Event()

    def reviewer(self):
        if not hasattr(self.local, "reviewer"):
            endgame = Endgame(self.syzygy_path, self.say)
            self.local.reviewer = Reviewer(Searcher(megabytes=self.megabytes), self.limits, endgame)
        return self.local.reviewer

    def record(self, entry):
        """What the journal keeps of a game; None if the review was cancelled."""
        about = {
            "file": entry.path,
            "number": entry.number,
            "line": entry.line,
            "digest": digest_of(entry),
        }
        try:
            game = parse(entry)
            review = self.reviewer().review(game, cancelled=self.cancel.is_set)
        except GameError as error:
            return {**about, "broken": str(error)}
        if review is None:
            return None
        annotate(game, review)
        return {**about, **game_data(game, review), "pgn": game_text(game)}

    def records(self, entries, is_stopped=lambda: False):
        """Yields the records of all entries in their order, until `is_stopped()`: then games that are not done are given up."""
        pool = ThreadPoolExecutor(self.threads)
        waiting = deque()
        entries = iter(entries)
        try:
            while not is_stopped():
                # A few games ahead keep all threads busy, and the memory bounded.
                while len(waiting) < 4 * self.threads and (entry := next(entries, None)) is not None:
                    waiting.append(pool.submit(self.record, entry))
                if not waiting:
                    return
                if wait((waiting[0],), POLL_SECONDS).done:
                    yield waiting.popleft().result()
        finally:
            self.cancel.set()
            pool.shutdown(cancel_futures=True)


def game_text(game):
    game.headers.setdefault("Annotator", f"Quetzal {__version__}")
    return game.accept(chess.pgn.StringExporter(columns=COLUMNS))


def game_data(game, review):
    """What summary, page and JSON need of a reviewed game."""
    board = game.board()
    return {
        **{name.lower(): game.headers.get(name, "?") for name in ("White", "Black", "Result", "Event", "Date")},
        "fen": board.fen(),
        "moves": [verdict.uci for verdict in review.verdicts],
        "sans": [verdict.san for verdict in review.verdicts],
        "scores": [short(review.start), *(short(verdict.after) for verdict in review.verdicts)],
        "points": [
            round(evaluation.points, 4)
            for evaluation in (review.start, *(verdict.after for verdict in review.verdicts))
        ],
        "marks": [
            {
                "ply": verdict.ply,
                "grade": verdict.grade,
                "loss": round(verdict.loss, 4),
                "best": list(verdict.best),
                "best_uci": list(verdict.best_uci),
            }
            for verdict in review.verdicts
            if verdict.grade is not None
        ],
        "sides": [totals.sums() for totals in review.sides],
    }


def short(evaluation):
    """A score from White's side as PGN writes it: 0.35, or #-3; # for mate on the board."""
    if evaluation.is_mate:
        return f"#{evaluation.score or ''}"
    return f"{evaluation.score / 100:.2f}"

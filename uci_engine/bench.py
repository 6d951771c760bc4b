"""`quetzal bench`: fixed positions to a fixed depth. The node count is the signature of the search."""

import queue
import time
from importlib import resources

from board import Board
from search import Limits, Listener, Searcher

DEFAULT_DEPTH = 17


def positions():
    """The FENs, from a data file beside this module."""
    text = resources.files("uci_engine").joinpath("bench_positions.epd").read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


class Results(Listener):
    """Keeps the results of searches. On a busy machine one comes a moment after its search has ended."""

    def __init__(self):
        self.queue = queue.SimpleQueue()

    def on_result(self, result):
        self.queue.put(result)


def think_beside(searcher, board, limits):
    """A search in its own threads, so that Ctrl-C is heard in this one."""
    results = Results()
    searcher.start(board, limits, results)
    searcher.wait()
    return results.queue.get()


def lines(depth=DEFAULT_DEPTH, threads=1, megabytes=16, is_cancelled=lambda: False, think=think_beside):
    """Searches every position from a fresh state. Yields a line per position, the mean effective branching factor, and
    the closing line that testing frameworks read. Ctrl-C ends the search that is running. Where there are no threads,
    `think` is `Searcher.think`.
    """
    searcher = Searcher(megabytes=megabytes, threads=threads)
    nodes = 0
    branching = []
    fens = positions()
    started = time.perf_counter()
    try:
        for number, fen in enumerate(fens, 1):
            if is_cancelled():
                yield "info string the bench was stopped"
                return
            searcher.clear()
            board = Board(fen)
            result = think(searcher, board, Limits(depth=depth))
            nodes += result.info.nodes
            best = "(none)"
            if result.best:
                branching.append(result.info.branching)
                best = board.uci(result.best)
            yield f"{number:2}/{len(fens)}  {result.info.nodes:9} nodes  {best:7} {fen}"
    finally:
        seconds = max(time.perf_counter() - started, 1e-9)
        searcher.close()
    mean = sum(branching) / len(branching)
    yield f"effective branching factor {mean:.3f} (mean over the positions, depth {depth})"
    yield f"{nodes} nodes {nodes / seconds:.0f} nps"


def signature(depth=DEFAULT_DEPTH):
    """The nodes of all positions together."""
    *_, closing = lines(depth)
    return int(closing.split()[0])

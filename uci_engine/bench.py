"""`quetzal bench`: fixed positions to a fixed depth. The node count is the signature of the search."""

import time
from importlib import resources

from board import Board
from search import Limits, Searcher

DEFAULT_DEPTH = 13


def positions():
    """The FENs, from a data file beside this module."""
    text = resources.files("uci_engine").joinpath("bench_positions.epd").read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def run(depth=DEFAULT_DEPTH, threads=1, megabytes=16, show=lambda line: None):
    """Searches every position from a fresh state. Returns nodes, seconds, and the mean effective branching factor.

    A position's effective branching factor is the width of a uniform tree of the reached depth with as many nodes,
    taken as the depth-th root of the node count.
    """
    searcher = Searcher(megabytes=megabytes, threads=threads)
    nodes = 0
    branching = []
    fens = positions()
    started = time.perf_counter()
    for number, fen in enumerate(fens, 1):
        searcher.clear()
        board = Board(fen)
        result = searcher.think(board, Limits(depth=depth))
        nodes += result.info.nodes
        if result.best:
            branching.append(result.info.branching)
            best = board.uci(result.best)
        else:
            best = "(none)"
        show(f"{number:2}/{len(fens)}  {result.info.nodes:9} nodes  {best:7} {fen}")
    seconds = max(time.perf_counter() - started, 1e-9)
    searcher.close()
    return nodes, seconds, sum(branching) / len(branching)


def report(depth=DEFAULT_DEPTH, threads=1, megabytes=16, show=print):
    """Prints a line per position, the branching factor, and the closing line that testing frameworks read."""
    nodes, seconds, branching = run(depth, threads, megabytes, show)
    show(f"effective branching factor {branching:.3f} (mean over the positions, depth {depth})")
    show(f"{nodes} nodes {nodes / seconds:.0f} nps")

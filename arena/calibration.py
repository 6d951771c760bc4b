"""How fast is this machine? Measured with Quetzal's own search, so that time controls can mean the same everywhere."""

import time

from board import Board
from search import Limits, Searcher

_NODES = 100_000
_POSITIONS = (
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r2q1rk1/pp2ppbp/2np1np1/8/3NP1b1/2N1BP2/PPPQ2PP/R3KB1R w KQ - 0 9",
)


def measure_speed(rounds=2):
    """Nodes per second on one thread; the better of two rounds, because others can only make it slower."""
    best = 0.0
    searcher = Searcher(megabytes=8)
    try:
        for _ in range(rounds):
            searcher.clear()
            started = time.perf_counter()
            for fen in _POSITIONS:
                searcher.think(Board(fen), Limits(nodes=_NODES))
            best = max(best, _NODES * len(_POSITIONS) / (time.perf_counter() - started))
    finally:
        searcher.close()
    return best

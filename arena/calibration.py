"""How fast is this machine? Measured with Quetzal's own search, so that time controls can mean the same everywhere."""

import time

from board import Board
from search import Limits, Searcher

_NODES = 100_000
_ROUNDS = 5
_SAME = 0.1  # measured again, one machine differs from itself by so much
_POSITIONS = (
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r2q1rk1/pp2ppbp/2np1np1/8/3NP1b1/2N1BP2/PPPQ2PP/R3KB1R w KQ - 0 9",
)


def measure_speed(rounds=_ROUNDS):
    """Nodes per second of processor time on one thread; the best round, because others can only make it slower.

    The time on the wall would say what else the machine does just now, such as the other workers' same measurement, and
    nothing about the games that follow.
    """
    best = 0.0
    searcher = Searcher(megabytes=8)
    try:
        for _ in range(rounds):
            searcher.clear()
            started = time.process_time()
            for fen in _POSITIONS:
                searcher.think(Board(fen), Limits(nodes=_NODES))
            # Where the system counts ticks of 16 ms, a round may seem to have taken none.
            best = max(best, _NODES * len(_POSITIONS) / max(time.process_time() - started, 0.001))
    finally:
        searcher.close()
    return best


def time_scale(reference, speed):
    """By what to multiply times on a machine of this speed; 1 if it cannot be told from the reference."""
    scale = reference / speed
    return 1.0 if 1 / (1 + _SAME) <= scale <= 1 + _SAME else scale

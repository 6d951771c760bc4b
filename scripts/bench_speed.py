"""Measures how many static evaluations a second one core does, with a warm pawn cache."""

import argparse
import random
import statistics

from board import Board
from eval import benchmark


def positions(count, seed=1):
    """Positions out of check from seeded random games that like to capture: openings to endings, the same every time."""
    rng = random.Random(seed)
    chosen = []
    while len(chosen) < count:
        board = Board()
        length = rng.randrange(8, 120)
        while board.ply < length and (moves := board.legal_moves()):
            captures = board.tactical_moves()
            board.push(rng.choice(captures if captures and rng.random() < 0.2 else moves))
        if board.legal_moves() and not board.is_check():
            chosen.append(board)
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--positions", type=int, default=500, metavar="N", help="how many different ones (default: 500)"
    )
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="measurements (default: 7)")
    options = parser.parse_args()
    boards = positions(options.positions)
    rates = [benchmark(boards, max(1, 1_000_000 // len(boards))) / 1e6 for _ in range(options.rounds)]
    print(f"static evaluations, millions per second of one core, {len(boards)} positions, {options.rounds} rounds:")
    print(f"slowest {min(rates):.2f}, median {statistics.median(rates):.2f}, fastest {max(rates):.2f}")


if __name__ == "__main__":
    main()

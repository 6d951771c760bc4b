"""Checks the files of an ending for which there is nothing to compare with, such as one of five men.

    python scripts/verify_files.py KRPvKR DIR --positions 5000

On random positions Quetzal's prober, python-chess's and Debian's stockfish have to read the same from them, and every
value that python-chess reads has to follow from those after each legal move, which it reads as well.
"""

import argparse
import importlib
import itertools
import random
import sys

import chess
from compare_tables import Comparison, boards, by_python_chess, random_fens, stockfish_says
from verify_ending import defined_value

from book.endgame.syzygy import Tables


def by_stockfish(directory, tables, fens, most):
    """Stockfish against Quetzal's prober, on the same files."""
    chosen = list(itertools.islice(boards(fens), most))
    result = Comparison()
    for (fen, board), answer in zip(chosen, stockfish_says(directory, [fen for fen, _ in chosen]), strict=True):
        result.add(fen, answer, (tables.wdl(board), tables.dtz(board)))
    return result


def by_moves(prober, fens, most):
    """Each value against the best of those one move further.

    A file that counts in moves leaves a ply open, so distances may differ by one, but never outcomes.
    Returns the comparison, how often each outcome was seen and how many distances were rounded.
    """
    result, outcomes, rounded = Comparison(), {}, 0

    def known(board):
        return prober.probe_wdl(board), prober.probe_dtz(board)

    for fen, _ in itertools.islice(boards(fens), most):
        board = chess.Board(fen)
        wdl, distance = known(board)
        defined_wdl, defined_distance = defined_value(board, known)
        if abs(defined_distance - distance) == 1:
            rounded += 1
            defined_distance = distance
        outcomes[wdl] = outcomes.get(wdl, 0) + 1
        result.add(fen, (wdl, distance), (defined_wdl, defined_distance))
    return result, outcomes, rounded


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ending")
    parser.add_argument("directory")
    parser.add_argument("--positions", type=int, default=2000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument(
        "--prober", default="chess.syzygy", metavar="MODULE", help="python-chess's prober, or a faster build of it"
    )
    options = parser.parse_args()
    tables = Tables([options.directory])
    if options.ending not in tables.endings:
        raise SystemExit(f"{options.directory} has no {options.ending}")
    fens = random_fens(options.ending, random.Random(options.seed))
    wrong = 0

    def tell(kind, result, more=""):
        nonlocal wrong
        wrong += result.different
        print(f"{kind}: {result.seen:,} positions, {result.different} differ{more}", flush=True)
        for fen, mine, other in result.examples[:3]:
            print(f"  {fen}: {mine}, expected {other}")

    with importlib.import_module(options.prober).open_tablebase(options.directory) as prober:
        tell("python-chess and Quetzal", by_python_chess(prober, tables, fens, options.positions))
        tell("stockfish and Quetzal", by_stockfish(options.directory, tables, fens, options.positions))
        result, outcomes, rounded = by_moves(prober, fens, options.positions)
        tell(
            "values and moves", result, f"; {rounded} rounded; outcomes {dict(sorted(outcomes.items(), reverse=True))}"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

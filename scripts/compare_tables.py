"""Compares two directories of tables, position by position: WDL and DTZ have to be the same.

    python scripts/compare_tables.py book/endgame/tables OFFICIAL --every KQvKR --random 200000 --python-chess 2000

Endings of three men and those named with --every are compared on every position, up to mirror images; all others on
random ones, by Quetzal's prober on both directories. Then python-chess's prober reads ours and Quetzal's the official
files, which the tests have it agree on with python-chess, because python-chess is slow. Last, Debian's stockfish reads
both. --seed chooses other positions for these two, so that a long comparison may be made in several runs.
"""

import argparse
import functools
import importlib
import itertools
import multiprocessing
import random
import re
import subprocess
import sys
import time

import chess

from board import Board
from book.endgame.endings import men
from book.endgame.retrograde_index import men_of
from book.endgame.syzygy import Tables
from book.endgame.table_comparison import compare_every, compare_random

STOCKFISH = "/usr/games/stockfish"
OUTCOMES = {"Win": 2, "Cursed win": 1, "Draw": 0, "Blessed loss": -1, "Loss": -2}


def fen_of(name, squares, side):
    """The position, or None if two men share a square."""
    rows = ["1"] * 64
    for (colour, letter), square in zip(men_of(name), squares, strict=True):
        if rows[square] != "1":
            return None
        rows[square] = letter if colour == 0 else letter.lower()
    board = "/".join("".join(rows[8 * rank : 8 * rank + 8]) for rank in range(7, -1, -1))
    board = re.sub("1+", lambda ones: str(len(ones[0])), board)
    return f"{board} {'wb'[side]} - - 0 1"


def random_fens(name, rng):
    """Positions anywhere on the board, half of them with colours changed."""
    everybody = men_of(name)
    while True:
        squares = [rng.randrange(8, 56) if letter == "P" else rng.randrange(64) for _, letter in everybody]
        side = rng.randrange(2)
        fen = fen_of(name, squares, side)
        if fen is None:
            continue
        if rng.randrange(2):
            rows, turn, *rest = fen.split()
            fen = " ".join(["/".join(reversed(rows.swapcase().split("/"))), "wb"["bw".index(turn)], *rest])
        yield fen


def boards(fens):
    """Legal positions only."""
    for fen in fens:
        try:
            yield fen, Board(fen)
        except ValueError:
            continue


class Comparison:
    """The same result as the compiled comparison gives."""

    def __init__(self):
        self.seen = self.different = 0
        self.examples = []

    def add(self, fen, ours, theirs):
        self.seen += 1
        if ours != theirs or None in ours:
            self.different += 1
            self.examples.append((fen, ours, theirs))


def by_python_chess(prober, official, fens, most):
    """Our files as python-chess's prober reads them, the official ones as Quetzal's does."""
    result = Comparison()
    for fen, board in boards(fens):
        if result.seen == most:
            break
        position = chess.Board(fen)
        result.add(
            fen, (prober.probe_wdl(position), prober.probe_dtz(position)), (official.wdl(board), official.dtz(board))
        )
    return result


def stockfish_says(directory, fens):
    """(WDL, DTZ) as stockfish's `d` prints them for each position; None stands for a table that it cannot use."""
    script = f"setoption name SyzygyPath value {directory}\n"
    script += "".join(f"position fen {fen}\nd\n" for fen in fens) + "quit\n"
    output = subprocess.run([STOCKFISH], input=script, capture_output=True, text=True).stdout
    found = re.findall(r"Tablebases WDL: +(.+) \((.+)\)\s+Tablebases DTZ: +(.+) \((.+)\)", output)
    if len(found) != len(fens):
        raise SystemExit(f"{directory}: stockfish answered {len(found)} of {len(fens)} times")
    return [
        (None if first == "Fail" else OUTCOMES[wdl], None if second == "Fail" else int(dtz))
        for wdl, first, dtz, second in found
    ]


def by_stockfish(directories, fens, most):
    """Ours and the official files, both as stockfish reads them."""
    chosen = [fen for fen, _ in itertools.islice(boards(fens), most)]
    result = Comparison()
    for answers in zip(chosen, *(stockfish_says(directory, chosen) for directory in directories), strict=True):
        result.add(*answers)
    return result


def compare(name, options):
    """One ending: the line to print, and how many differences there were."""
    started = time.process_time()
    ours, official = Tables([options.ours]), Tables([options.official])
    results = []
    if options.random and (men(name) == 3 or name in options.every):
        results.append(("every position", compare_every(name, ours, official)))
    if options.random:
        results.append(("random", compare_random(name, ours, official, options.random)))
    fens = random_fens(name, random.Random(f"{name} {options.seed}"))
    if options.python_chess:
        with importlib.import_module(options.prober).open_tablebase(options.ours) as prober:
            results.append(("python-chess", by_python_chess(prober, official, fens, options.python_chess)))
    if options.stockfish:
        both = (options.ours, options.official)
        results.append(("stockfish", by_stockfish(both, fens, options.stockfish)))
    told = ", ".join(f"{kind} {result.seen:,} ({result.different} differ)" for kind, result in results)
    lines = [f"{name}: {told}; {time.process_time() - started:.0f} s"]
    for _, result in results:
        lines += [f"  {fen}: {mine}, official {other}" for fen, mine, other in result.examples[:3]]
    return "\n".join(lines), sum(result.different for _, result in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("official")
    parser.add_argument("--every", nargs="*", default=[], metavar="ENDING", help="compare all positions of these")
    parser.add_argument(
        "--random", type=int, default=200000, metavar="N", help="positions of each other ending; 0: not by our prober"
    )
    parser.add_argument("--python-chess", type=int, default=0, metavar="N", help="positions of each by python-chess")
    parser.add_argument("--stockfish", type=int, default=0, metavar="N", help="positions of each by stockfish")
    parser.add_argument("--only", nargs="*", metavar="ENDING", help="leave out all others")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the positions that other programs read")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="endings compared at the same time")
    parser.add_argument(
        "--prober", default="chess.syzygy", metavar="MODULE", help="python-chess's prober, or a faster build of it"
    )
    options = parser.parse_args()
    ours, official = Tables([options.ours]).endings, Tables([options.official]).endings
    names = sorted(ours & official, key=lambda name: (men(name), name))
    if options.only:
        names = [name for name in names if name in options.only]
    missing = [] if options.only else sorted(official - ours)
    if missing:
        print("missing:", *missing)
    wrong = 0
    with multiprocessing.Pool(options.processes) as pool:
        for told, different in pool.imap_unordered(functools.partial(compare, options=options), names):
            print(told, flush=True)
            wrong += different
    print(f"{wrong} differences" if wrong or missing else "all equal")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())

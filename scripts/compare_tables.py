"""Compares two directories of tables, position by position: WDL and DTZ have to be the same.

    python scripts/compare_tables.py book/tables ../shared/data/syzygy --every KQvKR --random 200000 --python-chess 2000

Endings of three men and those named with --every are compared on every position, up to mirror images; all others on
random ones. Quetzal's prober does most of the work, python-chess's a part of it, and Debian's stockfish a sample.
"""

import argparse
import random
import re
import subprocess
import sys
import time

import chess
import chess.syzygy

from board import Board
from book.agreement import compare_every, compare_random
from book.dense import men_of
from book.endings import men
from book.syzygy import Tables

LETTERS = ".PNBRQK"


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


def by_python_chess(name, ours, theirs, fens, most):
    """python-chess's prober on both."""
    result = Comparison()
    for fen, _ in boards(fens):
        if result.seen == most:
            break
        board = chess.Board(fen)
        result.add(
            fen,
            (ours.probe_wdl(board), ours.probe_dtz(board)),
            (theirs.probe_wdl(board), theirs.probe_dtz(board)),
        )
    return result


def by_stockfish(name, directories, fens, most):
    """What stockfish's `d` prints with our files and with the others."""
    chosen = [fen for fen, _ in zip((fen for fen, _ in boards(fens)), range(most), strict=False)]
    answers = []
    for directory in directories:
        script = f"setoption name SyzygyPath value {directory}\n"
        script += "".join(f"position fen {fen}\nd\n" for fen in chosen) + "quit\n"
        output = subprocess.run(["/usr/games/stockfish"], input=script, capture_output=True, text=True).stdout
        wdl = re.findall(r"Tablebases WDL: +(.+) \((.+)\)", output)
        dtz = re.findall(r"Tablebases DTZ: +(.+) \((.+)\)", output)
        answers.append(list(zip(wdl, dtz, strict=True)))
    result = Comparison()
    if not len(answers[0]) == len(answers[1]) == len(chosen):
        raise SystemExit(f"{name}: stockfish answered {len(answers[0])} and {len(answers[1])} of {len(chosen)} times")
    for fen, mine, other in zip(chosen, *answers, strict=True):
        failed = any(state.startswith("Fail") for _, state in mine)
        result.add(fen, (None,) if failed else mine, other)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("official")
    parser.add_argument("--every", nargs="*", default=[], metavar="ENDING", help="compare all positions of these")
    parser.add_argument("--random", type=int, default=200000, metavar="N", help="positions of each other ending")
    parser.add_argument("--python-chess", type=int, default=0, metavar="N", help="positions of each by python-chess")
    parser.add_argument("--stockfish", type=int, default=0, metavar="N", help="positions of each by stockfish")
    parser.add_argument("--only", nargs="*", metavar="ENDING", help="leave out all others")
    options = parser.parse_args()
    ours, official = Tables([options.ours]), Tables([options.official])
    names = sorted(ours.endings & official.endings, key=lambda name: (men(name), name))
    if options.only:
        names = [name for name in names if name in options.only]
    missing = sorted(official.endings - ours.endings)
    if missing and not options.only:
        print("missing:", *missing)
    wrong = 0
    chess_ours, chess_official = (chess.syzygy.open_tablebase(path) for path in (options.ours, options.official))
    for name in names:
        started = time.process_time()
        results = []
        if men(name) == 3 or name in options.every:
            results.append(("every position", compare_every(name, ours, official)))
        rng = random.Random(name)
        if options.random:
            results.append(("random", compare_random(name, ours, official, options.random)))
        if options.python_chess:
            result = by_python_chess(name, chess_ours, chess_official, random_fens(name, rng), options.python_chess)
            results.append(("python-chess", result))
        if options.stockfish:
            both = (options.ours, options.official)
            results.append(("stockfish", by_stockfish(name, both, random_fens(name, rng), options.stockfish)))
        told = ", ".join(f"{kind} {result.seen:,} ({result.different} differ)" for kind, result in results)
        print(f"{name}: {told}; {time.process_time() - started:.0f} s", flush=True)
        for _, result in results:
            wrong += result.different
            for fen, mine, other in result.examples[:3]:
                print(f"  {fen}: {mine}, official {other}")
    print("all equal" if not wrong and (not missing or options.only) else f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs an EPD test suite (bm / am) on any UCI engine and counts the solved positions.

    python scripts/run_suite.py SUITE.epd --movetime 1000 --hash 64
    python scripts/run_suite.py SUITE.epd --engine stockfish --nodes 100000

A position is solved when the engine's final move is one of `bm`, or none of `am`.
"""

import argparse
import shlex
import sys
import time
from pathlib import Path

import chess
import chess.engine


def read_suite(path):
    """Yields (line number, board, operations); a line that cannot be read is reported and passed over."""
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            board = chess.Board()
            operations = board.set_epd(line)
        except ValueError as error:
            print(f"{path}:{number}: {error}", file=sys.stderr)
            continue
        if "bm" in operations or "am" in operations:
            yield number, board, operations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--engine", help="command of a UCI engine (default: this Quetzal)")
    parser.add_argument("--movetime", type=int, help="milliseconds per position")
    parser.add_argument("--nodes", type=int, help="nodes per position")
    parser.add_argument("--hash", type=int, default=64, metavar="MB")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quiet", action="store_true", help="only the total")
    options = parser.parse_args()
    if options.movetime is None and options.nodes is None:
        options.movetime = 1000
    limit = chess.engine.Limit(time=options.movetime / 1000 if options.movetime else None, nodes=options.nodes)
    command = shlex.split(options.engine) if options.engine else [sys.executable, "-m", "uci_engine"]

    solved = total = 0
    started = time.perf_counter()
    with chess.engine.SimpleEngine.popen_uci(command) as engine:
        engine.configure({"Hash": options.hash, "Threads": options.threads})
        for number, board, operations in read_suite(options.suite):
            # A fresh game object per position makes the engine forget the one before.
            move = engine.play(board, limit, game=object()).move
            ok = move in operations["bm"] if "bm" in operations else move not in operations["am"]
            solved += ok
            total += 1
            if not ok and not options.quiet:
                wanted = " ".join(board.san(each) for each in operations.get("bm", operations.get("am")))
                print(f"{operations.get('id', f'line {number}')}: played {board.san(move)}, not {wanted}", flush=True)
    print(f"{solved} of {total} solved in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

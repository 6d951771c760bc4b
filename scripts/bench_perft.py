"""How fast is the move generator, compared with others on the same machine in the same minutes?

    python scripts/bench_perft.py [--rounds 5]

Counts the leaves of the "kiwipete" position with Quetzal and Stockfish (five plies, one thread each) and python-chess
(three plies), turn by turn, so that a busy moment of the machine hits all of them. Stockfish is timed inside its
dialogue, from the command to the total, without its start. Prints the nodes per second of each round, and the ratios
of the medians.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time

import chess

from board import Board

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
LEAVES = {3: 97862, 5: 193690690}  # published totals


def timed(count, depth):
    """Nodes per second of one count, which must also be right."""
    started = time.perf_counter()
    leaves = count(depth)
    seconds = time.perf_counter() - started
    if leaves != LEAVES[depth]:
        sys.exit(f"wrong total at depth {depth}: {leaves} instead of {LEAVES[depth]}")
    return leaves / seconds


class Stockfish:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.send("uci\nsetoption name Threads value 1")
        self.name = self.wait_for("id name ").strip()
        self.send(f"position fen {KIWIPETE}\nisready")
        self.wait_for("readyok")

    def send(self, text):
        self.process.stdin.write(text + "\n")

    def wait_for(self, beginning):
        for line in self.process.stdout:
            if line.startswith(beginning):
                return line.removeprefix(beginning)
        sys.exit("Stockfish has stopped")

    def perft(self, depth):
        self.send(f"go perft {depth}")
        return int(self.wait_for("Nodes searched:"))

    def close(self):
        self.send("quit")
        self.process.wait()


def python_chess_perft(board, depth):
    """With the last ply counted, not played, as the two others do."""
    if depth == 1:
        return board.legal_moves.count()
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += python_chess_perft(board, depth - 1)
        board.pop()
    return leaves


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each program (default: 5)")
    parser.add_argument("--stockfish", default=shutil.which("stockfish") or "/usr/games/stockfish", help="its path")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("at least one round is needed")
    if shutil.which(options.stockfish) is None:
        parser.error(f"no Stockfish at {options.stockfish}; Debian has it as the package 'stockfish'")

    ours, theirs, stockfish = Board(KIWIPETE), chess.Board(KIWIPETE), Stockfish(options.stockfish)
    runners = {
        "Quetzal": lambda: timed(ours.perft, 5),
        stockfish.name: lambda: timed(stockfish.perft, 5),
        f"python-chess {chess.__version__}": lambda: timed(lambda depth: python_chess_perft(theirs, depth), 3),
    }
    speeds = {name: [] for name in runners}
    print(f"{'million nodes/s':<16}" + "".join(f"{name:>24}" for name in runners))
    for number in range(1, options.rounds + 1):
        for name, run in runners.items():
            speeds[name].append(run())
        print(f"round {number:<10}" + "".join(f"{rounds[-1] / 1e6:>24.3f}" for rounds in speeds.values()))
    stockfish.close()

    medians = {name: statistics.median(rounds) for name, rounds in speeds.items()}
    print(f"{'median':<16}" + "".join(f"{median / 1e6:>24.3f}" for median in medians.values()))
    own, *others = medians.values()
    for name, other in zip(list(medians)[1:], others, strict=True):
        print(f"Quetzal / {name}: {own / other:.2f}")


if __name__ == "__main__":
    main()

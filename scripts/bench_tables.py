"""How many results per second come out of endgame tables: Quetzal's prober and python-chess's, turn by turn.

Both get the same random positions of all endings that have a file, as boards that are set up before the clock starts,
and answer the same question: the result with best play, captures resolved. The answers are compared, too.
"""

import argparse
import random
import sys
import time

import chess
import chess.syzygy

from board import Board
from book.endgame.syzygy import Tables

TURN_SECONDS = 0.5
WANTED = 100


def random_fen(rng, name):
    """A legal position of an ending, either side with either colour, either to move."""
    first, second = name.split("v")
    while True:
        letters = first + second.lower() if rng.random() < 0.5 else first.lower() + second
        board = chess.Board(None)
        for letter, square in zip(letters, rng.sample(range(64), len(letters)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn = rng.random() < 0.5
        if board.is_valid():
            return board.fen()


def rate(ask, boards, seconds):
    """Answers per second of processor time; a busy machine takes the other kind from everybody."""
    asked = 0
    began = time.process_time()
    while True:
        for board in boards:
            ask(board)
        asked += len(boards)
        spent = time.process_time() - began
        if spent >= seconds:
            return asked / spent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", help="where the tables are")
    parser.add_argument("--positions", type=int, default=60, metavar="N", help="of each ending (default: 60)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="turns of each prober (default: 7)")
    parser.add_argument("--seed", type=int, default=1, help="other seed, other positions (default: 1)")
    options = parser.parse_args()

    tables = Tables([options.directory])
    if not tables.endings:
        sys.exit(f"there are no tables in {options.directory}")
    rng = random.Random(options.seed)
    fens = [random_fen(rng, name) for name in sorted(tables.endings) for _ in range(options.positions)]
    rng.shuffle(fens)
    ours, theirs = [Board(fen) for fen in fens], [chess.Board(fen) for fen in fens]
    with chess.syzygy.open_tablebase(options.directory, max_fds=None) as reference:
        # Answers first: this opens all files, and a quick wrong answer would be worth nothing.
        for fen, board, witness in zip(fens, ours, theirs, strict=True):
            if tables.wdl(board) != reference.probe_wdl(witness):
                sys.exit(f"different results for {fen}")
        print(f"{len(fens)} positions of {len(tables.endings)} endings, all results equal")
        print(f"{'round':>5}  {'Quetzal':>12}  {'python-chess':>12}  {'ratio':>6}")
        ratios = []
        for number in range(1, options.rounds + 1):
            fast = rate(tables.wdl, ours, TURN_SECONDS)
            slow = rate(reference.probe_wdl, theirs, TURN_SECONDS)
            ratios.append(fast / slow)
            print(f"{number:>5}  {fast:>10,.0f}/s  {slow:>10,.0f}/s  {fast / slow:>6.0f}", flush=True)
    ratios.sort()
    median = ratios[len(ratios) // 2]
    print(f"ratio: median {median:.0f}, smallest {ratios[0]:.0f}, largest {ratios[-1]:.0f} (wanted: {WANTED})")
    return 0 if median >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())

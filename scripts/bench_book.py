"""How fast are games read into a book? Quetzal's reader and python-chess's, turn by turn on the same made-up games.

python scripts/bench_book.py --games 2000
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

import chess.pgn
import chess.polyglot

from board import Board
from book.opening.builder import Report, Settings, build_book

TAGS = {
    "Event": "Made up",
    "Site": "Nowhere",
    "Date": "2026.11.16",
    "Round": "1",
    "White": "Somebody, A",
    "Black": "Nobody, B",
    "WhiteElo": "2400",
    "BlackElo": "2300",
    "ECO": "A00",
}


def made_up_game(rng, plies):
    """Random moves, with the clock times that collections from servers have."""
    board = Board()
    words = []
    while len(words) < plies and board.outcome() is None:
        moves = board.legal_moves()
        move = rng.choice(moves[:3] if len(words) < 12 else moves)  # openings that many games share
        number = f"{board.fullmove_number}. " if board.turn == 0 else ""
        words.append(f"{number}{board.san(move)} {{ [%clk 0:03:{rng.randrange(60):02}] }}")
        board.push(move)
    result = rng.choice(("1-0", "0-1", "1/2-1/2"))
    tags = "".join(f'[{name} "{value}"]\n' for name, value in {**TAGS, "Result": result}.items())
    return f"{tags}\n{' '.join(words)} {result}\n\n"


def by_quetzal(path, output, plies):
    started = time.process_time()
    build_book([str(path)], str(output), Settings(plies=plies, min_games=3), Report())
    return time.process_time() - started


def by_python_chess(path, plies):
    """The same counting with python-chess's parser and keys."""
    started = time.process_time()
    counts = {}
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            board = game.board()
            for move in list(game.mainline_moves())[:plies]:
                place = chess.polyglot.zobrist_hash(board), move
                counts[place] = counts.get(place, 0) + 1
                board.push(move)
    return time.process_time() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--plies", type=int, default=80, help="of each game (default: 80)")
    parser.add_argument("--depth", type=int, default=40, help="plies for the book (default: 40)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as directory:
        path, output = Path(directory) / "games.pgn", Path(directory) / "book.bin"
        path.write_text("".join(made_up_game(rng, options.plies) for _ in range(options.games)), encoding="utf-8")
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(by_quetzal(path, output, options.depth))
            theirs.append(by_python_chess(path, options.depth))
        megabytes = path.stat().st_size / 1e6
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    print(f"{options.games} games, {megabytes:.1f} MB, median of {options.rounds} rounds, processor time")
    for name, seconds in (("Quetzal", ours), ("python-chess", theirs)):
        print(f"{name:13} {options.games / seconds:9,.0f} games/s {megabytes / seconds:7.1f} MB/s")
    print(f"ratio {theirs / ours:.0f}")


if __name__ == "__main__":
    main()

"""Are won endings won without tables? From random starts, against a defender who knows the tables.

    python scripts/play_endings.py KQvKR KBNvK --starts 20 --nodes 300000 -c 2
    quetzal tables generate KRPvKR -o work/tables
    python scripts/play_endings.py KRPvKR --syzygy-path work/tables

The starts are drawn by a seed from all positions that the tables call won for the first side, whose move it is. It
searches so many nodes a move, without tables and from an empty memory at the start of a game; the other side plays what
keeps it from mate, capture and pawn moves for longest, or searches as well where a table is missing. Starts that are
not won are printed.
"""

import argparse
import random
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import chess
import chess.syzygy

from board import Board
from book.endgame.table_paths import shipped_directories
from command.arguments import positive
from search import Limits, Searcher

USUAL = ("KQvK", "KRvK", "KBBvK", "KBNvK", "KPvK", "KQvKR")
LEAST_PLIES = 5  # nearer wins say nothing


class Start(NamedTuple):
    """A position to play on from."""

    ending: str
    fen: str
    nodes: int
    tables: tuple  # directories


class Ended(NamedTuple):
    """What came of it."""

    start: Start
    is_won: bool
    moves: int


def open_tables(directories):
    tables = chess.syzygy.Tablebase()
    for directory in directories:
        tables.add_directory(directory)
    return tables


def random_board(ending, dice):
    """A legal position of an ending such as KQvKR, the first side to move; or None."""
    board = chess.Board(None)
    free = list(chess.SQUARES)
    dice.shuffle(free)
    for colour, men in zip((chess.WHITE, chess.BLACK), ending.split("v"), strict=True):
        for letter in men:
            square = free.pop()
            if letter == "P" and chess.square_rank(square) in (0, 7):
                return None
            board.set_piece_at(square, chess.Piece.from_symbol(letter if colour else letter.lower()))
    return board if board.is_valid() and not board.is_game_over() else None


def won_starts(ending, count, seed, tables):
    """So many different FENs from which the first side wins whatever the fifty-move rule says, and not at once."""
    dice = random.Random(f"{ending} {seed}")
    found = {}
    while len(found) < count:
        board = random_board(ending, dice)
        if board is not None and tables.probe_wdl(board) == 2 and tables.probe_dtz(board) >= LEAST_PLIES:
            found[board.fen()] = None
    return list(found)


def best_defence(board, tables):
    """The move after which the winner needs longest until the next capture or pawn move; None where a table is missing."""
    moves = []
    for move in board.legal_moves:
        board.push(move)
        # A small distance is good for the winner; a draw or a win for the defender would be better still.
        distance = tables.get_dtz(board)
        board.pop()
        if distance is None:
            return None
        moves.append((distance or 10_000, move.uci(), move))
    return max(moves)[2]


def play(start):
    """Plays one start to its end by the rules."""
    board, oracle = Board(start.fen), chess.Board(start.fen)
    searcher = Searcher(megabytes=16)
    with open_tables(start.tables) as tables:
        try:
            while board.outcome() is None:
                move = best_defence(oracle, tables) if oracle.turn == chess.BLACK else None
                if move is None:
                    move = oracle.parse_uci(board.uci(searcher.think(board, Limits(nodes=start.nodes)).best))
                board.push_uci(move.uci())
                oracle.push(move)
        finally:
            searcher.close()
    return Ended(start, oracle.is_checkmate() and oracle.turn == chess.BLACK, oracle.fullmove_number - 1)


def table_line(ending, ended):
    won = [each.moves for each in ended if each.is_won]
    longest = f"{max(won)}" if won else ""
    mean = f"{sum(won) / len(won):.1f}" if won else ""
    return f"| {ending} | {len(ended)} | {len(won)} | {mean} | {longest} |"


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("endings", nargs="*", default=USUAL, metavar="ENDING", help=f"(default: {' '.join(USUAL)})")
    parser.add_argument("--starts", type=positive, default=20, metavar="N", help="of each (default: 20)")
    parser.add_argument("--nodes", type=positive, default=300_000, metavar="N", help="a move (default: 300,000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="other starts (default: 1)")
    parser.add_argument(
        "--syzygy-path", action="append", default=[], metavar="DIR", help="tables beside the bundled ones"
    )
    parser.add_argument("-c", "--concurrency", type=positive, default=1, metavar="N", help="games at once (default: 1)")
    return parser


def run(options):
    directories = (*map(str, shipped_directories()), *options.syzygy_path)
    complete = True
    with open_tables(directories) as tables, ProcessPoolExecutor(options.concurrency) as pool:
        print("| ending | starts | won | moves on average | at most |\n|---|--:|--:|--:|--:|")
        for ending in options.endings:
            fens = won_starts(ending, options.starts, options.seed, tables)
            starts = [Start(ending, fen, options.nodes, directories) for fen in fens]
            ended = list(pool.map(play, starts))
            print(table_line(ending, ended), flush=True)
            for each in ended:
                if not each.is_won:
                    complete = False
                    print(f"not won: {each.start.fen}", file=sys.stderr, flush=True)
    return 0 if complete else 1


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        return run(options)
    except (KeyError, ValueError, OSError) as error:  # python-chess's MissingTableError is a KeyError
        print(f"play_endings: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

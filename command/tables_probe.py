"""`quetzal tables probe`."""

import sys

from board import Board
from book.endgame.endings import MOST_MEN, ending_of, men
from book.endgame.syzygy import Tables
from book.endgame.table_paths import shipped_directories, split_path
from book.endgame.verdicts import RESULTS, verdicts
from command.arguments import add_syzygy_path

SIDES = ("White", "Black")


def add_arguments(parser):
    parser.add_argument(
        "--fen", default="8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", help="the position (default: a king and pawn ending)"
    )
    add_syzygy_path(parser)


def open_tables(path):
    """The tables of a SyzygyPath, or those of the package; problems go to stderr."""
    directories = split_path(path) if path else shipped_directories()
    tables = Tables(directories, on_problem=lambda text: print(f"quetzal tables: {text}", file=sys.stderr))
    if not tables.largest:
        raise ValueError(
            f"there are no tables in {path}" if path else "there are no tables: say where with --syzygy-path DIRS"
        )
    return tables


def line_of(move, width):
    dtz = "" if move.dtz is None or move.is_mate else str(abs(move.dtz))
    return f"{move.san:{width}}  {dtz:>4}  {move.words}{' (zeroes the clock)' if move.is_zeroing else ''}".rstrip()


def probe_lines(tables, board):
    """What a position is worth and what each of its moves does. ValueError where the tables do not know."""
    name = ending_of(board.fen())
    wdl = tables.wdl(board)
    if wdl is None:
        if board.has_castling_rights:
            raise ValueError("tables know no positions with castling rights")
        if men(name) > MOST_MEN:
            raise ValueError(f"there are {men(name)} men on the board, and no tables for more than {MOST_MEN}")
        raise ValueError(f"no table here knows this position of {name}")
    dtz = tables.dtz(board)
    yield str(board)
    yield ""
    yield f"Ending: {name}, {SIDES[board.turn]} to move"
    yield f"WDL: {wdl} ({RESULTS[wdl]})"
    yield f"DTZ: {'unknown' if dtz is None else dtz}"
    moves = verdicts(tables, board)
    if not moves:
        yield "No legal moves: " + ("checkmate" if board.is_check() else "stalemate")
        return
    width = max(len(move.san) for move in moves)
    yield ""
    yield f"{'Move':{width}}   DTZ  result"
    for move in moves:
        yield line_of(move, width)


def run(options):
    board = Board(options.fen)
    for line in probe_lines(open_tables(options.syzygy_path), board):
        print(line)

"""`quetzal tables probe`."""

import sys

from board import Board, Termination
from book.endgame.endings import MOST_MEN, ending_of, men
from book.endgame.syzygy import Tables
from book.endgame.table_paths import shipped_directories, split_path
from command.arguments import add_syzygy_path

SIDES = ("White", "Black")
RESULTS = {
    2: "win",
    1: "win, but the fifty-move rule makes it a draw",
    0: "draw",
    -1: "loss, but the fifty-move rule makes it a draw",
    -2: "loss",
}


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


class Move:
    """A legal move, as the tables see it: the result for who plays it, and the DTZ of the position it leads to."""

    def __init__(self, tables, board, move):
        self.san = board.san(move)
        board.push(move)
        outcome = board.outcome()
        self.is_mate = outcome is not None and outcome.termination is Termination.CHECKMATE
        self.is_stalemate = outcome is not None and outcome.termination is Termination.STALEMATE
        self.is_zeroing = board.halfmove_clock == 0
        result = tables.wdl(board)
        self.result = None if result is None else -result
        self.dtz = tables.dtz(board)
        board.pop()

    def order(self):
        """Best first: the better result, mates, then quick wins and long losses."""
        if self.result is None:
            return (3, 0, 0, self.san)
        distance = abs(self.dtz or 0) if not self.is_zeroing else 0
        return (-self.result, not self.is_mate, distance if self.result > 0 else -distance, self.san)

    def words(self):
        if self.is_mate:
            return "checkmate"
        if self.is_stalemate:
            return "stalemate"
        return "unknown" if self.result is None else RESULTS[self.result]

    def line(self, width):
        dtz = "" if self.dtz is None or self.is_mate else str(abs(self.dtz))
        return (
            f"{self.san:{width}}  {dtz:>4}  {self.words()}{' (zeroes the clock)' if self.is_zeroing else ''}".rstrip()
        )


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
    moves = sorted((Move(tables, board, move) for move in board.legal_moves()), key=Move.order)
    if not moves:
        yield "No legal moves: " + ("checkmate" if board.is_check() else "stalemate")
        return
    width = max(len(move.san) for move in moves)
    yield ""
    yield f"{'Move':{width}}   DTZ  result"
    for move in moves:
        yield move.line(width)


def run(options):
    board = Board(options.fen)
    for line in probe_lines(open_tables(options.syzygy_path), board):
        print(line)

"""The Python face of the rules: one class, `Board`, that knows its game so far.

Moves are plain integers (see `board/types.pxd`); 0 is no move. Turn them into text and back with the board they belong
to, because how castling is written depends on it.
"""

import enum
from typing import NamedTuple

import cython
from cython.cimports.board.bits import popcount
from cython.cimports.board.fen import format_fen, parse_fen
from cython.cimports.board.legality import gives_check, is_legal, is_pseudo_legal
from cython.cimports.board.material import FULL_PHASE, game_phase
from cython.cimports.board.movegen import ALL_MOVES, QUIET_MOVES, TACTICAL_MOVES, generate
from cython.cimports.board.notation import parse_san_text, parse_uci_text, san_text, uci_text
from cython.cimports.board.perft import count_leaves
from cython.cimports.board.position import (
    Position,
    attacked_squares,
    is_insufficient_material,
    make_move,
    make_null_move,
    occupied,
    polyglot_key,
    repetition_distance,
)
from cython.cimports.board.see import see_at_least
from cython.cimports.board.types import MAX_MOVES, NO_PIECE, NO_SQUARE, Move, u16, u64
from cython.cimports.libc.stdlib import free, malloc, realloc
from cython.cimports.libc.string import memcmp, memcpy

from board.fen import MAX_COUNTER, PIECE_LETTERS, STARTING_FEN, square_name
from board.notation import MoveError

_MAX_COUNTER = cython.declare(u16, MAX_COUNTER)

WHITE_TO_MOVE, BLACK_TO_MOVE = 0, 1
MOST_PHASE = FULL_PHASE


class Termination(enum.Enum):
    """Why a game is over."""

    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    INSUFFICIENT_MATERIAL = "insufficient material"
    FIFTY_MOVES = "fifty-move rule"
    THREEFOLD_REPETITION = "threefold repetition"


class Outcome(NamedTuple):
    """How a game ended: the reason, and the winner (0 White, 1 Black, None for a draw)."""

    termination: Termination
    winner: int | None

    @property
    def result(self):
        return {None: "1/2-1/2", 0: "1-0", 1: "0-1"}[self.winner]


@cython.final
@cython.cclass
class Board:
    """A game: the position on the board and all positions before it.

    >>> board = Board()
    >>> board.push_san("e4")
    >>> board.fen()
    'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1'

    Text that cannot be read or played raises FenError or MoveError (both ValueError) and changes nothing.
    """

    def __cinit__(self):
        self.line = cython.cast(cython.pointer(Position), malloc(64 * cython.sizeof(Position)))
        if self.line == cython.NULL:
            raise MemoryError("no memory for a board")
        self.room = 64
        self.last = 0

    def __init__(self, fen: str = STARTING_FEN, *, chess960: bool = False):
        parse_fen(fen, self.line, chess960)
        self.last = 0

    def __dealloc__(self):
        free(self.line)

    def current(self):
        return cython.address(self.line[self.last])

    def copy_keys(self, keys, most):
        """Writes the keys of the last `most` positions at the most, oldest first, and returns their number."""
        count: cython.int = most if self.last + 1 > most else self.last + 1
        index: cython.int
        for index in range(count):
            keys[index] = self.line[self.last + 1 - count + index].key
        return count

    def reserve(self, room):
        """Makes sure that a line of `room` positions fits."""
        if room <= self.room:
            return
        room = max(room, 2 * self.room)
        line: cython.pointer(Position) = cython.cast(
            cython.pointer(Position), realloc(self.line, cython.cast(cython.size_t, room) * cython.sizeof(Position))
        )
        if line == cython.NULL:
            raise MemoryError("no memory for a longer game")
        self.line = line
        self.room = room

    # Setting up

    def set_fen(self, fen: str, *, chess960: bool | None = None):
        """Starts a new game from a position. If the FEN is bad, FenError, and the game stays as it was."""
        position: Position
        parse_fen(fen, cython.address(position), self.chess960 if chess960 is None else chess960)
        self.line[0] = position
        self.last = 0

    def fen(self, *, shredder: bool = False) -> str:
        return format_fen(self.current(), shredder)

    def copy(self) -> Board:
        """An independent board with the same game behind it."""
        other: Board = Board.__new__(Board)
        other.reserve(self.last + 1)
        memcpy(other.line, self.line, (self.last + 1) * cython.sizeof(Position))
        other.last = self.last
        return other

    def mirrored(self) -> Board:
        """The position with its colours exchanged, without the game behind it: White's men stand where Black's stood."""
        placement, turn, castling, passed, *counters = self.fen(shredder=True).split()
        placement = "/".join(reversed(placement.swapcase().split("/")))
        if passed != "-":
            passed = passed[0] + str(9 - int(passed[1]))
        fen = " ".join((placement, "b" if turn == "w" else "w", castling.swapcase(), passed, *counters))
        return Board(fen, chess960=self.chess960)

    # What stands where

    @property
    def turn(self) -> int:
        """0 when White is to move, 1 when Black is."""
        return self.current().turn

    @property
    def ply(self) -> int:
        """How many moves were made on this board (and can be popped)."""
        return self.last

    @property
    def halfmove_clock(self) -> int:
        return self.current().halfmove_clock

    @property
    def fullmove_number(self) -> int:
        return self.current().fullmove_number

    @property
    def men(self) -> int:
        """How many men, kings and pawns included, are on the board."""
        return popcount(occupied(self.current()))

    @property
    def phase(self) -> int:
        """The weight of the pieces that are left: MOST_PHASE with all of them, 0 with kings and pawns only."""
        return game_phase(self.current())

    @property
    def has_castling_rights(self) -> bool:
        return self.current().castling_rooks != 0

    @property
    def chess960(self) -> bool:
        """Whether castling is written king-takes-rook."""
        return self.current().chess960 != 0

    @property
    def en_passant(self) -> str | None:
        """The square where a pawn can be captured en passant, legally."""
        square: cython.int = self.current().en_passant
        return None if square == NO_SQUARE else square_name(square)

    @property
    def key(self) -> int:
        """The Zobrist key; en passant counts only when the capture is legal."""
        return self.current().key

    @property
    def polyglot_key(self) -> int:
        """The key that Polyglot books use."""
        return polyglot_key(self.current())

    @property
    def partial_keys(self) -> dict[str, int]:
        """Keys of parts of the position, which the search keeps statistics under."""
        position: cython.pointer(Position) = self.current()
        return {
            "pawns": position.pawn_key,
            "minors": position.minor_key,
            "white pieces": position.piece_keys[0],
            "black pieces": position.piece_keys[1],
        }

    def piece_at(self, square: int) -> str | None:
        """The piece's FEN letter, or None. Squares count from a1 = 0 to h8 = 63."""
        if not 0 <= square < 64:
            raise ValueError(f"{square} is no square")
        piece: cython.int = self.current().squares[square]
        return None if piece == NO_PIECE else PIECE_LETTERS[piece]

    def attacked_squares(self, colour: int) -> set[int]:
        """The squares that pieces of that colour (0 White, 1 Black) attack or protect."""
        if colour not in (0, 1):
            raise ValueError(f"{colour} is no colour")
        found: u64 = attacked_squares(self.current(), colour)
        return {square for square in range(64) if found >> square & 1}

    def position_bytes(self) -> bytes:
        """The position as it lies in memory: equal bytes, equal position."""
        return cython.cast(cython.p_char, self.current())[: cython.sizeof(Position)]

    # Moves

    def _moves(self, wanted):
        moves: Move[MAX_MOVES]
        count: cython.int = generate(self.current(), moves, wanted)
        return [moves[index] for index in range(count)]

    def legal_moves(self) -> list[int]:
        return self._moves(ALL_MOVES)

    def tactical_moves(self) -> list[int]:
        """The legal captures and promotions."""
        return self._moves(TACTICAL_MOVES)

    def quiet_moves(self) -> list[int]:
        """The legal moves that are neither."""
        return self._moves(QUIET_MOVES)

    def is_pseudo_legal(self, move: int) -> bool:
        """Does the piece move like that here, leaving its own king's safety aside? Any 16-bit number may be asked."""
        return 0 < move < 65536 and is_pseudo_legal(self.current(), move)

    def is_legal(self, move: int) -> bool:
        return self.is_pseudo_legal(move) and is_legal(self.current(), move)

    def _require_legal(self, move):
        if not self.is_legal(move):
            raise MoveError(f"move {move} is not legal here")

    def gives_check(self, move: int) -> bool:
        self._require_legal(move)
        return gives_check(self.current(), move)

    def see(self, move: int, threshold: int = 0) -> bool:
        """Does the exchange that this move starts win at least `threshold` centipawns (1-3-3-5-9)?"""
        self._require_legal(move)
        return see_at_least(self.current(), move, threshold)

    def _step(self):
        """Goes on to the position just written behind the current one. Its counters stop at their limit."""
        self.last += 1
        position: cython.pointer(Position) = self.current()
        position.halfmove_clock = min(position.halfmove_clock, _MAX_COUNTER)
        position.fullmove_number = min(position.fullmove_number, _MAX_COUNTER)

    def push(self, move: int):
        """Plays a legal move."""
        self._require_legal(move)
        self.reserve(self.last + 2)
        make_move(self.current(), cython.address(self.line[self.last + 1]), move)
        self._step()

    def push_null(self):
        """Passes the turn; not allowed in check."""
        if self.current().checkers:
            raise MoveError("a side in check cannot pass")
        self.reserve(self.last + 2)
        make_null_move(self.current(), cython.address(self.line[self.last + 1]))
        self._step()

    def pop(self):
        """Takes the last move back."""
        if self.last == 0:
            raise IndexError("no move to take back")
        self.last -= 1

    def uci(self, move: int) -> str:
        self._require_legal(move)
        return uci_text(self.current(), move)

    def parse_uci(self, text: str) -> int:
        return parse_uci_text(self.current(), text)

    def push_uci(self, text: str):
        self.push(parse_uci_text(self.current(), text))

    def san(self, move: int) -> str:
        self._require_legal(move)
        return san_text(self.current(), move)

    def parse_san(self, text: str) -> int:
        return parse_san_text(self.current(), text)

    def push_san(self, text: str):
        self.push(parse_san_text(self.current(), text))

    # How the game stands

    def is_check(self) -> bool:
        return self.current().checkers != 0

    def is_insufficient_material(self) -> bool:
        return is_insufficient_material(self.current())

    def repetitions(self) -> int:
        """How often the position has been on the board, this time included."""
        index: cython.int = self.last
        left: cython.int = self.current().halfmove_clock
        count: cython.int = 1
        keys: cython.pointer(u64) = cython.cast(
            cython.pointer(u64), malloc(cython.cast(cython.size_t, index + 1) * cython.sizeof(u64))
        )
        if keys == cython.NULL:
            raise MemoryError("no memory to look for repetitions")
        self.copy_keys(keys, index + 1)
        while True:
            distance: cython.int = repetition_distance(keys, index, left)
            if distance == 0:
                break
            count += 1
            index -= distance
            left -= distance
        free(keys)
        return count

    def outcome(self) -> Outcome | None:
        """Whether and how the game is over, as engine matches count it: fifty moves and threefold need no claim."""
        moves: Move[MAX_MOVES]
        position: cython.pointer(Position) = self.current()
        if generate(position, moves, ALL_MOVES) == 0:
            if position.checkers:
                return Outcome(Termination.CHECKMATE, position.turn ^ 1)
            return Outcome(Termination.STALEMATE, None)
        if is_insufficient_material(position):
            return Outcome(Termination.INSUFFICIENT_MATERIAL, None)
        if position.halfmove_clock >= 100:
            return Outcome(Termination.FIFTY_MOVES, None)
        if self.repetitions() >= 3:
            return Outcome(Termination.THREEFOLD_REPETITION, None)
        return None

    def perft(self, depth: int) -> int:
        """The number of move sequences of that length. Runs without the interpreter lock."""
        if not 0 <= depth <= 30:
            raise ValueError("perft takes a depth from 0 to 30")
        position: Position = self.current()[0]
        leaves: u64
        levels: cython.int = depth
        with cython.nogil:
            leaves = count_leaves(cython.address(position), levels)
        return leaves

    def __eq__(self, other) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        theirs: Board = other
        return memcmp(self.current(), theirs.current(), cython.sizeof(Position)) == 0

    def __str__(self) -> str:
        """The board as a diagram, White below."""
        rows = []
        for rank in range(7, -1, -1):
            row = [self.piece_at(rank * 8 + file) or "." for file in range(8)]
            rows.append(f"{rank + 1}  {' '.join(row)}")
        return "\n".join(rows) + "\n\n   a b c d e f g h"

    def __repr__(self) -> str:
        return f"Board({self.fen()!r}{', chess960=True' if self.chess960 else ''})"

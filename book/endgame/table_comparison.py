"""Compares the answers of two collections of tables. Millions of positions, so this is compiled."""

from typing import NamedTuple

import cython
from cython.cimports.board.bits import popcount
from cython.cimports.board.fen import format_fen
from cython.cimports.board.position import Position, complete, is_attacked, king_square, occupied, put_piece
from cython.cimports.board.types import NO_PIECE, NO_SQUARE, i64, make_piece, u8, u64
from cython.cimports.book.endgame.retrograde_index import KING_PAIR, PositionIndex, squares_at
from cython.cimports.book.endgame.syzygy import UNKNOWN, Tables, probe_dtz, probe_wdl
from cython.cimports.libc.string import memset

MOST_SHOWN = 3


class Comparison(NamedTuple):
    """How many positions were compared, on how many the answers differ, and some of these."""

    seen: int
    different: int
    examples: list  # (FEN, our WDL and DTZ, the other ones)


def _set_up(position, geometry, squares, side, is_swapped):
    """The position of these men, or False if it is not legal."""
    man: cython.int
    taken: u64 = 0
    for man in range(geometry.men):
        taken |= cython.cast(u64, 1) << squares[man]
    memset(position, 0, cython.sizeof(Position))
    memset(position.squares, NO_PIECE, 64)
    position.en_passant = NO_SQUARE
    position.passed_beside = NO_SQUARE
    position.fullmove_number = 1
    position.turn = side ^ is_swapped
    if popcount(taken) != geometry.men or KING_PAIR[squares[0] << 6 | squares[1]] < 0:
        return False
    for man in range(geometry.men):
        put_piece(
            position,
            make_piece(geometry.colours[man] ^ is_swapped, geometry.kinds[man]),
            squares[man] ^ 56 if is_swapped else squares[man],
        )
    complete(position)
    return not is_attacked(position, king_square(position, position.turn ^ 1), position.turn, occupied(position))


@cython.cclass
class _Comparer:
    """Counts while positions come in."""

    def __cinit__(self, ours: Tables, theirs: Tables):
        self.ours, self.theirs = ours, theirs
        self.examples = []

    def add(self, position):
        answers: cython.int[4]
        with cython.nogil:
            answers[0] = probe_wdl(self.ours.collection, position)
            answers[1] = probe_dtz(self.ours.collection, position)
            answers[2] = probe_wdl(self.theirs.collection, position)
            answers[3] = probe_dtz(self.theirs.collection, position)
        self.seen += 1
        if answers[0] != answers[2] or answers[1] != answers[3] or answers[0] == UNKNOWN or answers[1] == UNKNOWN:
            self.different += 1
            if len(self.examples) < MOST_SHOWN:
                fen = format_fen(position, False)
                self.examples.append((fen, (answers[0], answers[1]), (answers[2], answers[3])))


def compare_every(name: str, ours: Tables, theirs: Tables) -> Comparison:
    """All positions of an ending, up to turning the board; colours as the name has them."""
    index: PositionIndex = PositionIndex(name)
    comparer: _Comparer = _Comparer(ours, theirs)
    position: Position
    squares: u8[8]
    at: cython.size_t
    side: cython.int
    for at in range(index.geometry.slices * index.geometry.slice_size):
        squares_at(cython.address(index.geometry), at, squares)
        for side in range(2):
            if _set_up(cython.address(position), cython.address(index.geometry), squares, side, False):
                comparer.add(cython.address(position))
    return Comparison(comparer.seen, comparer.different, comparer.examples)


@cython.overflowcheck(False)
def compare_random(name: str, ours: Tables, theirs: Tables, count: i64, seed: u64 = 1) -> Comparison:
    """Positions anywhere on the board, half of them with colours changed."""
    index: PositionIndex = PositionIndex(name)
    comparer: _Comparer = _Comparer(ours, theirs)
    geometry: cython.pointer(cython.const[Geometry]) = cython.address(index.geometry)
    position: Position
    squares: u8[8]
    man: cython.int
    mixed: u64
    state: u64 = seed
    while comparer.seen < count:
        # Steele, Lea and Flood's SplitMix64.
        state += cython.cast(u64, 0x9E3779B97F4A7C15)
        mixed = state
        mixed = (mixed ^ mixed >> 30) * cython.cast(u64, 0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> 27) * cython.cast(u64, 0x94D049BB133111EB)
        mixed ^= mixed >> 31
        for man in range(geometry.men):
            squares[man] = mixed & 63
            mixed >>= 6
            if man >= geometry.pieces:
                squares[man] = 8 + squares[man] % 48
        if _set_up(cython.address(position), geometry, squares, mixed & 1, mixed >> 1 & 1):
            comparer.add(cython.address(position))
    return Comparison(comparer.seen, comparer.different, comparer.examples)

"""How many positions of an ending are won, drawn and lost; positions that symmetry makes equal are counted once."""

from typing import NamedTuple

import cython
from cython.cimports.board.attacks import KING_ATTACKS
from cython.cimports.board.bits import bit
from cython.cimports.board.types import i64, u8, u64
from cython.cimports.book.endgame.retrograde import Ending
from cython.cimports.book.endgame.retrograde_index import (
    IMPOSSIBLE,
    IS_WIN,
    PLIES,
    TURN,
    position_index,
    squares_at,
    value_of,
)


class OutcomeCounts(NamedTuple):
    """One side to move."""

    arrangements: int  # of the men on different squares, kings apart: legal or not
    boards: int  # legal positions with all mirror images and turned boards
    lost: int
    blessed: int
    drawn: int
    cursed: int
    won: int
    longest: int  # win, in plies; 0 if there is none
    at: int  # the number of the position where it begins

    @property
    def positions(self):
        return self.lost + self.blessed + self.drawn + self.cursed + self.won


def _images(geometry, at, squares):
    """How many positions of the whole board this number stands for; 0 if a mirror image has a smaller number."""
    image: u8[8]
    man: cython.int
    other: cython.int
    held: u8
    for man in range(geometry.men):
        image[man] = squares[man] ^ 7 if geometry.pawns else TURN[4][squares[man]]
    for man in range(3, geometry.pieces):
        held = image[man]
        other = man
        while (
            other > 2
            and geometry.kinds[other - 1] == geometry.kinds[man]
            and geometry.colours[other - 1] == geometry.colours[man]
            and image[other - 1] > held
        ):
            image[other] = image[other - 1]
            other -= 1
        image[other] = held
    if at > position_index(geometry, image):
        return 0
    # No king stands on an axis between files or ranks, so only the diagonal can leave a position as it is.
    unchanged: cython.bint = not geometry.pawns
    for man in range(geometry.men):
        unchanged = unchanged and image[man] == squares[man]
    return 2 if geometry.pawns else 4 if unchanged else 8


def count_outcomes(ending: Ending, side: cython.int) -> OutcomeCounts:
    geometry: cython.pointer(cython.const[Geometry]) = cython.address(ending.geometry)
    squares: u8[8]
    at: cython.size_t
    size: cython.size_t = ending.size
    man: cython.int
    state: cython.int
    longest: cython.int = 0
    begin: cython.size_t = 0
    arrangements: i64 = 0
    boards: i64 = 0
    images: cython.int
    counts: i64[5]
    for man in range(5):
        counts[man] = 0
    with cython.nogil:
        for at in range(size):
            squares_at(geometry, at, squares)
            taken: u64 = 0
            counted: cython.bint = not KING_ATTACKS[squares[0]] & bit(squares[1])
            for man in range(geometry.men):
                counted = counted and not taken & bit(squares[man])
                taken |= bit(squares[man])
                # Equal pieces are counted in one order only.
                if (
                    2 < man < geometry.pieces
                    and geometry.kinds[man] == geometry.kinds[man - 1]
                    and geometry.colours[man] == geometry.colours[man - 1]
                ):
                    counted = counted and squares[man - 1] < squares[man]
            if not counted:
                continue
            arrangements += 1
            state = ending.values[side][at]
            if state == IMPOSSIBLE:
                continue
            images = _images(geometry, at, squares)
            if images == 0:
                continue
            boards += images
            counts[value_of(state) + 2] += 1
            if state & IS_WIN and (state & PLIES) > longest:
                longest = state & PLIES
                begin = at
            elif state & IS_WIN and longest == 0:
                longest = 1
                begin = at
    return OutcomeCounts(arrangements, boards, counts[0], counts[1], counts[2], counts[3], counts[4], longest, begin)

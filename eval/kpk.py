"""The bitbase of king and pawn against king: one bit for each of 196,608 arrangements, 24 KB, computed at import.

Retrograde analysis, on 64 squares of the weak king at a time. For every pawn and every strong king there are two sets
of weak-king squares: where the strong side to move wins, and where the weak side to move is lost. Starting from
promotions that win, each set grows out of the other until nothing changes: the strong side wins if one move leads to
a lost square, the weak side is lost if it has moves and all of them lead to won squares. Everything else is a draw.
The board is turned so that the pawn walks up on the a- to d-file; pawns nearer to promotion are worked out first.
"""

import cython
from cython.cimports.board.attacks import KING_ATTACKS, PAWN_ATTACKS
from cython.cimports.board.bits import bit, east, has, north, pop_lsb, south, west
from cython.cimports.board.types import WHITE, u64


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(pawn: cython.int) -> cython.int:
    """Pawns stand on the second to seventh rank and the a- to d-file."""
    return ((pawn >> 3) - 1) * 4 + (pawn & 3)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _neighbours(squares: u64) -> u64:
    """All squares that a king on one of these attacks."""
    beside: u64 = east(squares) | west(squares)
    row: u64 = squares | beside
    return beside | north(row) | south(row)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _won_by_pawn(pawn: cython.int, king: cython.int) -> u64:
    """Weak-king squares from which a pawn move wins at once or leads to a lost position."""
    stop: cython.int = pawn + 8
    if king == stop:
        return 0
    if stop >= 56:
        # The new queen must not be lost: out of the weak king's reach, or guarded.
        return ~bit(stop) if has(KING_ATTACKS[king], stop) else ~(bit(stop) | KING_ATTACKS[stop])
    won: u64 = KPK_LOST[_slot(stop)][king]
    if pawn < 16:
        won |= KPK_LOST[_slot(stop + 8)][king] & ~bit(stop)
    return won


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _solve(pawn: cython.int) -> cython.void:
    """Both sets of one pawn square, from those of the squares ahead."""
    slot: cython.int = _slot(pawn)
    king: cython.int
    changed: cython.bint = True
    while changed:
        changed = False
        for king in range(64):
            if king == pawn:
                continue
            possible: u64 = ~(KING_ATTACKS[king] | bit(king) | bit(pawn))
            won: u64 = _won_by_pawn(pawn, king)
            steps: u64 = KING_ATTACKS[king] & ~bit(pawn)
            while steps:
                won |= KPK_LOST[slot][pop_lsb(cython.address(steps))]
            won &= possible & ~PAWN_ATTACKS[WHITE][pawn]
            # The weak king may step to what is not attacked, and onto a pawn that is not guarded.
            open_squares: u64 = ~(KING_ATTACKS[king] | PAWN_ATTACKS[WHITE][pawn] | bit(king))
            lost: u64 = possible & _neighbours(open_squares) & ~_neighbours(open_squares & ~won)
            if won != KPK_WON[slot][king] or lost != KPK_LOST[slot][king]:
                KPK_WON[slot][king] = won
                KPK_LOST[slot][king] = lost
                changed = True


def kpk_is_won(strong_king, weak_king, pawn, strong_to_move):
    """Does the side with the pawn win? Squares as that side sees them, so that its pawn walks up the board."""
    mirror: cython.int = 7 if pawn & 4 else 0
    slot: cython.int = _slot(pawn ^ mirror)
    if strong_to_move:
        return has(KPK_WON[slot][strong_king ^ mirror], weak_king ^ mirror)
    return has(KPK_LOST[slot][strong_king ^ mirror], weak_king ^ mirror)


def _fill():
    pawn: cython.int
    for pawn in range(55, 7, -1):
        if pawn & 7 < 4:
            _solve(pawn)


_fill()

"""Fills the attack tables when the module is imported (about two milliseconds)."""

import cython
from cython.cimports.board.bits import FILE_A, RANK_1, bit, has, magic_index, popcount
from cython.cimports.board.types import BLACK, WHITE, u64

from board import magics

# One slot for every arrangement of blockers that matters, over all squares.
_ROOK_TABLE = cython.declare(u64[102400])
_BISHOP_TABLE = cython.declare(u64[5248])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _ray(square: cython.int, file_step: cython.int, rank_step: cython.int, occupied: u64, edge: cython.bint) -> u64:
    """The squares from `square` on in one direction, up to and with the first blocker.

    Without `edge` the last square before the rim is left out: a piece standing there blocks nothing.
    """
    reached: u64 = 0
    file: cython.int = (square & 7) + file_step
    rank: cython.int = (square >> 3) + rank_step
    while 0 <= file < 8 and 0 <= rank < 8:
        beyond_rim: cython.bint = not (0 <= file + file_step < 8 and 0 <= rank + rank_step < 8)
        if beyond_rim and not edge:
            break
        reached |= bit(rank * 8 + file)
        if occupied & bit(rank * 8 + file):
            break
        file += file_step
        rank += rank_step
    return reached


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _slider(square: cython.int, diagonal: cython.bint, occupied: u64, edge: cython.bint) -> u64:
    if diagonal:
        return (
            _ray(square, 1, 1, occupied, edge)
            | _ray(square, 1, -1, occupied, edge)
            | _ray(square, -1, 1, occupied, edge)
            | _ray(square, -1, -1, occupied, edge)
        )
    return (
        _ray(square, 1, 0, occupied, edge)
        | _ray(square, -1, 0, occupied, edge)
        | _ray(square, 0, 1, occupied, edge)
        | _ray(square, 0, -1, occupied, edge)
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _step(square: cython.int, file_step: cython.int, rank_step: cython.int) -> u64:
    file: cython.int = (square & 7) + file_step
    rank: cython.int = (square >> 3) + rank_step
    return bit(rank * 8 + file) if 0 <= file < 8 and 0 <= rank < 8 else 0


def _fill_steps():
    square: cython.int
    long_step: cython.int
    short_step: cython.int
    for square in range(64):
        for long_step in (-2, 2):
            for short_step in (-1, 1):
                KNIGHT_ATTACKS[square] |= _step(square, long_step, short_step) | _step(square, short_step, long_step)
        for long_step in (-1, 0, 1):
            for short_step in (-1, 0, 1):
                if long_step != 0 or short_step != 0:
                    KING_ATTACKS[square] |= _step(square, long_step, short_step)
        PAWN_ATTACKS[WHITE][square] = _step(square, -1, 1) | _step(square, 1, 1)
        PAWN_ATTACKS[BLACK][square] = _step(square, -1, -1) | _step(square, 1, -1)


@cython.overflowcheck(False)  # the walk over the subsets ends by wrapping around
def _fill_magics():
    """Lays the squares' tables one behind the other and enters every arrangement of blockers."""
    square: cython.int
    diagonal: cython.bint
    subset: u64
    free: cython.pointer(u64)
    magic: cython.pointer(Magic)
    for diagonal in (False, True):
        free = cython.address(_BISHOP_TABLE[0]) if diagonal else cython.address(_ROOK_TABLE[0])
        for square in range(64):
            magic = cython.address(BISHOP_MAGICS[square]) if diagonal else cython.address(ROOK_MAGICS[square])
            magic.mask = _slider(square, diagonal, 0, False)
            magic.multiplier = magics.BISHOP[square] if diagonal else magics.ROOK[square]
            magic.shift = 64 - popcount(magic.mask)
            magic.attacks = free
            free += 1 << popcount(magic.mask)
            subset = 0
            while True:
                magic.attacks[magic_index(subset, magic.multiplier, magic.shift)] = _slider(
                    square, diagonal, subset, True
                )
                subset = ((subset | ~magic.mask) + 1) & magic.mask
                if subset == 0:
                    break


def _fill_lines():
    a: cython.int
    b: cython.int
    for a in range(64):
        FILES[a] = FILE_A << (a & 7)
        RANKS[a] = RANK_1 << (a & 56)
        DIAGONALS[a] = bit(a) | _ray(a, 1, 1, 0, True) | _ray(a, -1, -1, 0, True)
        ANTIDIAGONALS[a] = bit(a) | _ray(a, 1, -1, 0, True) | _ray(a, -1, 1, 0, True)
    for a in range(64):
        for b in range(64):
            if a == b:
                continue
            if has(FILES[a] | RANKS[a], b):
                BETWEEN[a][b] = rook_attacks(a, bit(b)) & rook_attacks(b, bit(a))
                LINE[a][b] = FILES[a] if has(FILES[a], b) else RANKS[a]
            elif has(DIAGONALS[a] | ANTIDIAGONALS[a], b):
                BETWEEN[a][b] = bishop_attacks(a, bit(b)) & bishop_attacks(b, bit(a))
                LINE[a][b] = DIAGONALS[a] if has(DIAGONALS[a], b) else ANTIDIAGONALS[a]


_fill_steps()
_fill_magics()
_fill_lines()

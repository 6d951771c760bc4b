"""What pawns and kings are worth by themselves: computed once for an arrangement and remembered.

Everything here depends on the pawns and the two king squares only, the key of the cache.
"""

import cython
from cython.cimports.board.attacks import PAWN_ATTACKS
from cython.cimports.board.bits import FILE_A, bit, east, forward, lsb, msb, pop_lsb, popcount, west
from cython.cimports.board.position import ConstPosition, king_square, pieces
from cython.cimports.board.types import BLACK, KING, PAWN, WHITE, file_of, relative_rank, u64
from cython.cimports.eval.geometry import distance
from cython.cimports.eval.weights import (
    BACKWARD,
    CANDIDATE,
    DOUBLED,
    ISOLATED,
    PASSED,
    PASSED_ENEMY_KING,
    PASSED_OWN_KING,
    PHALANX,
    SHELTER,
    STORM,
    SUPPORTED,
    Counts,
    i32,
    orientation,
    square_term,
    term,
)
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.libc.string import memset


def new_pawn_cache():
    """An empty cache for one thread; NULL, which evaluates without one, when there is no memory."""
    return cython.cast(cython.pointer(PawnCache), calloc(1, cython.sizeof(PawnCache)))


def free_pawn_cache(cache):
    free(cache)


def clear_pawn_cache(cache):
    """For new weights. Otherwise an entry is as good in the next game."""
    memset(cache, 0, cython.sizeof(PawnCache))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _shelter(position: cython.pointer(ConstPosition), us: cython.int, counts: Counts) -> i32:
    """The nearest own and enemy pawn on the king's file and the two beside it; rank 0 stands for none.

    A king on the edge is sheltered by the same three files as its neighbour.
    """
    king: cython.int = king_square(position, us)
    ahead: u64 = FORWARD_SPAN[us][king] | FORWARD_FILE[us][king] | (east(bit(king)) | west(bit(king)))
    centre: cython.int = file_of(king)
    score: i32 = 0
    file: cython.int
    centre = 1 if centre < 1 else 6 if centre > 6 else centre
    if centre != file_of(king):
        king = king & 56 | centre
        ahead = FORWARD_SPAN[us][king] | FORWARD_FILE[us][king] | (east(bit(king)) | west(bit(king)) | bit(king))
    for file in range(centre - 1, centre + 2):
        own: u64 = pieces(position, us, PAWN) & ahead & FILE_A << file
        enemy: u64 = pieces(position, us ^ 1, PAWN) & ahead & FILE_A << file
        own_rank: cython.int = 0
        enemy_rank: cython.int = 0
        if own:
            own_rank = relative_rank(us, lsb(own) if us == WHITE else msb(own))
        if enemy:
            enemy_rank = relative_rank(us, lsb(enemy) if us == WHITE else msb(enemy))
        edge: cython.int = file if file < 4 else 7 - file
        score += term(counts, SHELTER + edge * 8 + own_rank, 1)
        blocked: cython.int = 8 if own_rank != 0 and own_rank + 1 == enemy_rank else 0
        score += term(counts, STORM + blocked + enemy_rank, 1)
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _side(
    position: cython.pointer(ConstPosition), entry: cython.pointer(PawnEntry), us: cython.int, counts: Counts
) -> i32:
    """One colour's pawns and king; enters its passed pawns and its span."""
    them: cython.int = us ^ 1
    own: u64 = pieces(position, us, PAWN)
    enemy: u64 = pieces(position, them, PAWN)
    own_king: cython.int = king_square(position, us)
    enemy_king: cython.int = king_square(position, them)
    turn_board: cython.int = orientation(us, own_king)
    wings_differ: cython.int = (own_king ^ enemy_king) >> 2 & 1
    score: i32 = square_term(counts, KING, own_king ^ turn_board, wings_differ)
    span: u64 = 0
    left: u64 = own
    while left:
        square: cython.int = pop_lsb(cython.address(left))
        rank: cython.int = relative_rank(us, square)
        stop: cython.int = square + 8 if us == WHITE else square - 8
        beside: u64 = own & BESIDE_FILES[file_of(square)]
        level: u64 = beside & (east(bit(square)) | west(bit(square)))
        support: u64 = own & PAWN_ATTACKS[them][square]
        stoppers: u64 = enemy & (FORWARD_SPAN[us][square] | FORWARD_FILE[us][square])
        is_open: cython.int = enemy & FORWARD_FILE[us][square] == 0
        leading: cython.bint = own & FORWARD_FILE[us][square] == 0
        span |= FORWARD_SPAN[us][square]
        score += square_term(counts, PAWN, square ^ turn_board, wings_differ)
        if not leading:
            score += term(counts, DOUBLED, 1)
        if beside == 0:
            score += term(counts, ISOLATED + is_open, 1)
        elif beside & ~FORWARD_SPAN[us][square] == 0 and enemy & (PAWN_ATTACKS[us][stop] | bit(stop)):
            # All neighbours have gone ahead, and the step up to them is barred.
            score += term(counts, BACKWARD + is_open, 1)
        if level:
            score += term(counts, PHALANX + rank, 1)
        if support:
            score += term(counts, SUPPORTED + rank, popcount(support))
        if stoppers == 0 and leading:
            entry.passed |= bit(square)
            score += term(counts, PASSED + rank, 1)
            if rank >= 3:
                # How far the kings are matters the more the further the pawn has come.
                score += term(counts, PASSED_OWN_KING + distance(own_king, stop), rank - 2)
                score += term(counts, PASSED_ENEMY_KING + distance(enemy_king, stop), rank - 2)
        elif is_open and leading and popcount(beside & ~FORWARD_SPAN[us][square]) >= popcount(stoppers):
            score += term(counts, CANDIDATE + rank, 1)
    entry.spans[us] = span
    return score + _shelter(position, us, counts)


def analyse_pawns(position, entry, trace):
    """Fills an entry, and the trace if there is one."""
    white: Counts = trace.counts[WHITE] if trace != cython.NULL else cython.NULL
    black: Counts = trace.counts[BLACK] if trace != cython.NULL else cython.NULL
    entry.key = pawn_cache_key(position)
    entry.passed = 0
    entry.score = _side(position, entry, WHITE, white)
    entry.score -= _side(position, entry, BLACK, black)


def _fill_tables():
    square: cython.int
    file: cython.int
    ahead: u64
    for file in range(8):
        BESIDE_FILES[file] = east(FILE_A << file) | west(FILE_A << file)
    for square in range(64):
        for colour in range(2):
            ahead = forward(colour, bit(square))
            while ahead:
                FORWARD_FILE[colour][square] |= ahead
                ahead = forward(colour, ahead)
            FORWARD_SPAN[colour][square] = east(FORWARD_FILE[colour][square]) | west(FORWARD_FILE[colour][square])


_fill_tables()

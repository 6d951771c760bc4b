# cython: overflowcheck=False
"""The features of the classical evaluation, where their weights lie, and the one way to count them.

A weight is a middlegame and an endgame value packed into one 32-bit integer, `endgame * 65536 + middlegame`: sums and
small multiples of packed weights are packed sums. What every feature means is written in weights.json.
"""
from board.types cimport KING, i16, i32

cdef enum:  # where each feature's weights start
    MATERIAL = 0  # pawn to queen
    SQUARES = MATERIAL + 5  # five kinds with 64 squares, then the king with 32
    ENEMY_SQUARES = SQUARES + 5 * 64 + 32  # five kinds with 64 squares
    KNIGHT_MOBILITY = ENEMY_SQUARES + 5 * 64
    BISHOP_MOBILITY = KNIGHT_MOBILITY + 9
    ROOK_MOBILITY = BISHOP_MOBILITY + 14
    QUEEN_MOBILITY = ROOK_MOBILITY + 15
    ISOLATED = QUEEN_MOBILITY + 28  # [no enemy pawn ahead on the file]
    DOUBLED = ISOLATED + 2
    BACKWARD = DOUBLED + 1  # [no enemy pawn ahead on the file]
    PHALANX = BACKWARD + 2  # [rank]
    SUPPORTED = PHALANX + 8  # [rank]
    CANDIDATE = SUPPORTED + 8  # [rank]
    PASSED = CANDIDATE + 8  # [rank]
    PASSED_OWN_KING = PASSED + 8  # [distance]
    PASSED_ENEMY_KING = PASSED_OWN_KING + 8  # [distance]
    PASSED_BLOCKED = PASSED_ENEMY_KING + 8  # [rank]
    PASSED_SAFE_STEP = PASSED_BLOCKED + 8  # [rank]
    PASSED_FREE_PATH = PASSED_SAFE_STEP + 8  # [rank]
    PASSED_UNSTOPPABLE = PASSED_FREE_PATH + 8
    SHELTER = PASSED_UNSTOPPABLE + 1  # [distance of the file from the edge][rank]
    STORM = SHELTER + 4 * 8  # [blocked by an own pawn][rank]
    KING_ATTACKER = STORM + 2 * 8  # knight to queen
    KING_RING = KING_ATTACKER + 4  # knight to queen
    SAFE_CHECK = KING_RING + 4  # knight to queen
    KING_DANGER = SAFE_CHECK + 4  # [danger units]
    PAWN_THREAT = KING_DANGER + 48  # knight to queen
    MINOR_THREAT = PAWN_THREAT + 4  # pawn to queen
    ROOK_THREAT = MINOR_THREAT + 5  # pawn to queen
    KING_THREAT = ROOK_THREAT + 5
    HANGING = KING_THREAT + 1  # pawn to queen
    PUSH_THREAT = HANGING + 5
    BISHOP_PAIR = PUSH_THREAT + 1
    BAD_BISHOP = BISHOP_PAIR + 1
    KNIGHT_OUTPOST = BAD_BISHOP + 1
    BISHOP_OUTPOST = KNIGHT_OUTPOST + 1
    OUTPOST_IN_REACH = BISHOP_OUTPOST + 1
    MINOR_BEHIND_PAWN = OUTPOST_IN_REACH + 1
    ROOK_OPEN_FILE = MINOR_BEHIND_PAWN + 1
    ROOK_HALF_OPEN_FILE = ROOK_OPEN_FILE + 1
    ROOK_ON_SEVENTH = ROOK_HALF_OPEN_FILE + 1
    ROOK_BEHIND_PASSER = ROOK_ON_SEVENTH + 1  # [own passer, enemy's]
    SPACE = ROOK_BEHIND_PASSER + 2  # [free squares, of these behind an own pawn]
    TEMPO = SPACE + 2
    FEATURE_COUNT = TEMPO + 1

cdef enum:
    MOST_DANGER = 47

cdef i32 WEIGHTS[FEATURE_COUNT]

# What a piece is worth where it stands: material and both sets of square values in one. First index: do the kings stand
# on different wings? Squares are seen from the own side, mirrored so that the own king stands on the a- to d-file.
cdef i32 SQUARE_VALUES[2][6][64]

# How often each feature occurs, per colour, and what turns the weighted sum into a score.
cdef struct Trace:
    i16 counts[2][FEATURE_COUNT]
    int phase  # 24 with all pieces on the board, 0 with none
    int scale  # of 64: how much of the score is left in a drawish ending
    bint known  # a known ending whose score does not come from the weights

ctypedef i16* Counts


cdef inline i32 packed(int middlegame, int endgame) noexcept nogil:
    return endgame * 65536 + middlegame


cdef inline int middlegame_part(i32 score) noexcept nogil:
    return <i16>(score & 0xFFFF)


cdef inline int endgame_part(i32 score) noexcept nogil:
    return (score - <i16>(score & 0xFFFF)) // 65536


cdef inline i32 term(Counts counts, int feature, int count) noexcept nogil:
    """The worth of a feature that occurs `count` times. Tracing callers have it entered in `counts`, others pass NULL."""
    if counts != NULL:
        counts[feature] = <i16>(counts[feature] + count)
    return WEIGHTS[feature] * count


cdef inline int own_square_feature(int kind, int square) noexcept nogil:
    """Of a piece on a square as seen from its own side, own king on the a- to d-file."""
    if kind == KING:
        return SQUARES + 5 * 64 + (square >> 3) * 4 + (square & 3)
    return SQUARES + kind * 64 + square


cdef inline int enemy_square_feature(int kind, int square) noexcept nogil:
    """Of a piece but a king on a square as seen from its own side, enemy king on the a- to d-file."""
    return ENEMY_SQUARES + kind * 64 + square


cdef inline i32 square_term(Counts counts, int kind, int square, int wings_differ) noexcept nogil:
    """Material and square values of one piece, its square as in SQUARE_VALUES."""
    if counts != NULL:
        counts[own_square_feature(kind, square)] += 1
        if kind != KING:
            counts[MATERIAL + kind] += 1
            counts[enemy_square_feature(kind, square ^ 7 * wings_differ)] += 1
    return SQUARE_VALUES[wings_differ][kind][square]


cdef inline int orientation(int colour, int king) noexcept nogil:
    """What turns a square into the one that `colour` sees when `king` shall stand on the a- to d-file (exclusive or)."""
    return (56 if colour else 0) ^ (7 if king & 4 else 0)

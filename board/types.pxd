"""The vocabulary of the house: number types, squares, pieces and moves.

Squares run from a1 = 0 along the ranks to h8 = 63, so `square & 7` is the file and `square >> 3` the rank.
A piece is `kind << 1 | colour`. A move is 16 bits: from (6), to (6) and a flag (4); castling is written as
"king takes its own rook", which makes it the same move in standard chess and in Chess960.
"""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef int8_t i8
ctypedef int16_t i16
ctypedef int32_t i32
ctypedef int64_t i64
ctypedef uint8_t u8
ctypedef uint16_t u16
ctypedef uint32_t u32
ctypedef uint64_t u64

ctypedef u16 Move

cdef enum:
    WHITE = 0
    BLACK = 1

cdef enum:
    PAWN = 0
    KNIGHT = 1
    BISHOP = 2
    ROOK = 3
    QUEEN = 4
    KING = 5
    NO_KIND = 6
    NO_PIECE = 12

cdef enum:
    NO_SQUARE = 64

# Fifteen queens with 27 moves each and a king with eight: more than any position that a FEN can set up.
cdef enum:
    MAX_MOVES = 416

# Move flags: bit 2 means capture, bit 3 means promotion, whose two low bits are the piece (knight + n).
cdef enum:
    NO_MOVE = 0
    QUIET = 0
    DOUBLE_PUSH = 1
    CASTLING = 2
    CAPTURE = 4
    EN_PASSANT = 5
    PROMOTION = 8
    PROMOTION_CAPTURE = 12


cdef inline Move new_move(int origin, int target, int flag) noexcept nogil:
    return <Move>(origin | target << 6 | flag << 12)


cdef inline int move_from(Move move) noexcept nogil:
    return move & 63


cdef inline int move_to(Move move) noexcept nogil:
    return move >> 6 & 63


cdef inline int move_flag(Move move) noexcept nogil:
    return move >> 12


cdef inline bint is_capture(Move move) noexcept nogil:
    return (move >> 12 & CAPTURE) != 0


cdef inline bint is_promotion(Move move) noexcept nogil:
    return (move >> 12 & PROMOTION) != 0


cdef inline bint is_castling(Move move) noexcept nogil:
    return move >> 12 == CASTLING


cdef inline bint is_tactical(Move move) noexcept nogil:
    """A capture or a promotion: what a quiescence search looks at."""
    return (move >> 12 & (CAPTURE | PROMOTION)) != 0


cdef inline int promotion_kind(Move move) noexcept nogil:
    return KNIGHT + (move >> 12 & 3)


cdef inline int make_piece(int colour, int kind) noexcept nogil:
    return kind << 1 | colour


cdef inline int piece_kind(int piece) noexcept nogil:
    return piece >> 1


cdef inline int piece_colour(int piece) noexcept nogil:
    return piece & 1


cdef inline int file_of(int square) noexcept nogil:
    return square & 7


cdef inline int rank_of(int square) noexcept nogil:
    return square >> 3


cdef inline int relative_rank(int colour, int square) noexcept nogil:
    """The rank as that colour's player counts it, from 0."""
    return square >> 3 ^ (7 if colour == BLACK else 0)

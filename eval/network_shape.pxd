"""What the engine and the trainer agree on: the network's shape, and which input a man on a square is."""
from board.types cimport BLACK, piece_colour, piece_kind, u8

cdef extern from "network_shape.h" nogil:
    enum:
        INPUTS "QZ_INPUTS"
        MOST_NEURONS "QZ_MOST_NEURONS"
        MOST_OUTPUTS "QZ_MOST_OUTPUTS"
        MOST_KING_BUCKETS "QZ_MOST_KING_BUCKETS"
        ACTIVATION_ONE "QZ_ACTIVATION_ONE"
        OUTPUT_ONE "QZ_OUTPUT_ONE"
        CENTIPAWNS "QZ_CENTIPAWNS"

cdef struct KingBuckets:
    int count
    u8 of_squares[64]  # by the king's square as its side sees it


cdef inline int view_of(int perspective, int king) noexcept nogil:
    """How a side turns the squares: its first rank below, its king on the left half."""
    return (56 if perspective == BLACK else 0) ^ (7 if (king & 7) > 3 else 0)


cdef inline int input_of(int piece, int square, int perspective, int view) noexcept nogil:
    """The input that this piece switches on, own men first."""
    return ((piece_colour(piece) ^ perspective) * 6 + piece_kind(piece)) * 64 + (square ^ view)


cdef inline void set_king_buckets(KingBuckets* buckets, table):
    """From a table of eval/king_buckets.py, which has the files a to d."""
    cdef int square
    for square in range(64):
        buckets.of_squares[square] = table[(square >> 3) * 4 + min(square & 7, 7 - (square & 7))]
    buckets.count = max(table) + 1


cdef inline int output_of(int men, int outputs) noexcept nogil:
    """Which of the outputs says what a position with so many men is worth: 2 to 32 men in equal parts."""
    return min((men - 2) * outputs // 31, outputs - 1)

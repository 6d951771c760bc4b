"""Positions to learn from: 32 bytes each, in memory, none of them twice.

A position knows no more than the network sees: the men and the side to move. The score of the search and the result of
the game are those of the side to move.
"""
from board.bits cimport pop_lsb
from board.position cimport Position
from board.types cimport i8, i16, u8, u16, u64
from eval.network_shape cimport INPUTS, KingBuckets, input_of, view_of
from libc.math cimport exp
from training.records cimport GameCursor

cdef enum:
    MOST_MEN = 32

cdef struct PackedPosition:
    u64 occupied
    u8 pieces[16]  # four bits for each occupied square from a1 on, the lower half of a byte first
    i16 score  # centipawns
    i8 result  # 1 won, 0 drawn, -1 lost
    u8 turn
    u8 kings[2]  # their squares, White's first
    u16 ply  # moves played before in the game

# On the way into a shard.
cdef struct PositionRecord:
    PackedPosition position
    u64 key

cdef enum:
    MOST_SHARDS = 256
    SHARD_STARTS = 257  # and where the last one ends

cdef enum:
    MEN_BARS = 33  # 0 to 32 men
    SCORE_STEP = 100  # centipawns to a bar of the histogram
    SCORE_BARS = 41  # the middle one around 0, the outer ones hold everything beyond


cdef inline int bucket_of(const PackedPosition* position, int perspective, const KingBuckets* buckets) noexcept nogil:
    """That of a side's own king."""
    cdef int king = position.kings[perspective]
    return buckets.of_squares[king ^ view_of(perspective, king)]


cdef inline int unpack_features(
    const PackedPosition* position, const KingBuckets* buckets, u16* mine, u16* theirs
) noexcept nogil:
    """The inputs of the network that are 1, as seen by the side to move and by the other one; returns their number.

    Each king bucket has all inputs, one bucket's after the other's.
    """
    cdef int me = position.turn
    cdef int my_view = view_of(me, position.kings[me])
    cdef int their_view = view_of(me ^ 1, position.kings[me ^ 1])
    cdef int my_first = bucket_of(position, me, buckets) * INPUTS
    cdef int their_first = bucket_of(position, me ^ 1, buckets) * INPUTS
    cdef u64 rest = position.occupied
    cdef int men = 0
    cdef int square, piece
    while rest:
        square = pop_lsb(&rest)
        piece = position.pieces[men >> 1] >> (4 * (men & 1)) & 15
        mine[men] = <u16>(my_first + input_of(piece, square, me, my_view))
        theirs[men] = <u16>(their_first + input_of(piece, square, me ^ 1, their_view))
        men += 1
    return men


cdef inline double expected_score(double output) noexcept nogil:
    """What a network's output says about the game: 1 for a win, 0 for a loss."""
    return 1 / (1 + exp(-output))


cdef class KeySet:
    cdef u64* slots
    cdef u64 mask
    cdef u64 count

    cdef bint _grow(self) noexcept nogil
    cdef int _insert(self, u64 key) noexcept nogil
    cdef void _prefetch(self, u64 key) noexcept nogil


cdef class PositionSet:
    cdef PackedPosition* positions
    cdef u64* keys  # only in a set that has them
    cdef size_t count
    cdef size_t room
    cdef bint is_keyed

    cdef bint _reserve(self, size_t room) noexcept nogil
    cdef PackedPosition* _at(self, Py_ssize_t index)
    cdef int _add_game(
        self, GameCursor* cursor, int most_score, int from_ply, double later_share, i16* scores, u64* fates
    ) noexcept nogil
    cdef void _look_ahead(self, size_t first, const i16* scores, int plies, double share) noexcept nogil

"""Legal moves: lists of them, and the questions asked about one that comes from elsewhere."""
from board.position cimport Position
from board.types cimport Move

cdef enum:
    ALL_MOVES = 0
    TACTICAL_MOVES = 1  # captures and every promotion
    QUIET_MOVES = 2  # the rest, castling among them

cdef int generate(const Position* position, Move* moves, int wanted) noexcept nogil
cdef bint castling_is_open(const Position* position, int king, int rook) noexcept nogil
cdef bint castling_is_safe(const Position* position, int king, int rook) noexcept nogil

"""The classical evaluation: a weighted sum of features."""
from board.position cimport Position
from eval.pawns cimport PawnCache
from eval.weights cimport Trace

cdef enum:
    MOST_SCORE = 9999  # no static score is larger; mates begin far above
    FULL_SCALE = 64

cdef int evaluate(const Position* position, PawnCache* cache) noexcept nogil
cdef int trace_evaluation(const Position* position, Trace* trace) noexcept nogil
cdef int tapered(int middlegame, int endgame, int phase) noexcept nogil

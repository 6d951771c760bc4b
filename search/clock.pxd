"""Time for one move, in four verbs: start, update after every iteration, soft_stop between iterations, hard_stop inside."""
from board.types cimport Move, i64

cdef struct Clock:
    bint active
    i64 started  # microseconds, on the clock of search.platform
    i64 soft  # no new iteration after this, times `factor`
    i64 hard  # never longer than this
    double factor
    int stable_moves  # iterations with the same best move, 0 to 8
    int stable_scores  # iterations with nearly the same score, 0 to 8
    Move best
    int score

cdef void start_clock(Clock* clock, i64 soft, i64 hard, i64 spent) noexcept nogil
cdef void update_clock(Clock* clock, Move best, int score, double share) noexcept nogil
cdef bint soft_stop(const Clock* clock) noexcept nogil
cdef bint hard_stop(const Clock* clock) noexcept nogil

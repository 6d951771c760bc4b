"""Time for one move, in five verbs: start, watch inside, weigh after an iteration, soft_stop between two, hard_stop inside."""
from board.types cimport Move, i64

cdef enum:
    MOST_STALL = 250000  # microseconds; longer waits are accidents, not the rule

cdef struct Clock:
    bint active
    i64 started  # microseconds, on the clock of search.platform
    i64 soft  # no new iteration after this, times the `factor` of most threads
    i64 hard  # never longer than this
    i64 stall  # the longest wait for a processor in the last searches, slowly forgotten
    i64 watched  # when thread 0 last looked, 0: not yet in this search
    i64 thread_time  # the processor time it had had then

# What one thread's last iterations say about how long to think.
cdef struct Opinion:
    double factor
    int stable_moves  # iterations with the same best move, 0 to 8
    int stable_scores  # iterations with nearly the same score, 0 to 8
    Move best
    int score
    int is_enough  # a flag: another iteration is not worth its time

cdef void start_clock(Clock* clock, i64 soft, i64 hard, i64 spent) noexcept nogil
cdef void start_opinion(Opinion* opinion) noexcept nogil
cdef void weigh(Opinion* opinion, Move best, int score, double share) noexcept nogil
cdef void note_stall(Clock* clock, i64 stall) noexcept nogil
cdef void watch_processor(Clock* clock) noexcept nogil
cdef bint soft_stop(const Clock* clock, const Opinion* opinion) noexcept nogil
cdef bint hard_stop(const Clock* clock) noexcept nogil

"""The transposition table: one block of memory, shared by all threads without a lock.

An entry is two 64-bit words: `data` and `key ^ data`. Whoever reads a word of one writer and a word of another gets a
key that does not match, so a torn entry is a miss, never a wrong move or score (R. Hyatt's idea).

    data   bits  0-15  move
                16-31  score, mates counted from this node
                32-47  static evaluation, before correction
                48-55  depth + 1 (0: only the evaluation is known)
                56-57  bound
                58     on a principal variation once
                59-63  generation

Four entries share a bucket of 64 bytes, one line of the cache. A new position takes the entry that is worth least:
the shallowest, where every search that has passed since counts as AGE_COST plies less. The generation is the number of
the search, modulo 32.
"""
from board.types cimport Move, u64
from search.score cimport NO_SCORE

cdef enum:
    NO_BOUND = 0
    UPPER_BOUND = 1  # the true score is at most this: every move failed low
    LOWER_BOUND = 2  # at least this: a move was good enough to stop looking
    EXACT = 3

cdef enum:
    BUCKET_ENTRIES = 4
    BUCKET_BYTES = 64
    GENERATIONS = 32
    AGE_COST = 6

cdef enum:  # where the fields of `data` begin; the move is the lowest
    SCORE_SHIFT = 16
    EVALUATION_SHIFT = 32
    DEPTH_SHIFT = 48
    BOUND_SHIFT = 56
    PV_SHIFT = 58
    GENERATION_SHIFT = 59

cdef struct TTEntry:
    u64 check
    u64 data

cdef struct TranspositionTable:
    TTEntry* entries
    u64 buckets
    int generation

cdef struct TTHit:
    bint hit
    bint was_pv
    Move move
    int score
    int evaluation
    int depth
    int bound

cdef TTHit tt_probe(const TranspositionTable* table, u64 key, int ply, int halfmove_clock) noexcept nogil
cdef void tt_store(
    TranspositionTable* table, u64 key, int ply, Move move, int score, int evaluation, int depth, int bound, bint was_pv
) noexcept nogil
cdef void tt_prefetch(const TranspositionTable* table, u64 key) noexcept nogil
cdef int tt_hashfull(const TranspositionTable* table) noexcept nogil
cdef bint tt_allocate(TranspositionTable* table, u64 megabytes) noexcept nogil
cdef void tt_release(TranspositionTable* table) noexcept nogil
cdef void tt_wipe(TranspositionTable* table, int part, int parts) noexcept nogil


cdef inline bint bound_is_enough(const TTHit* found, int limit) noexcept nogil:
    """Does a stored score prove that this node is on its side of `limit`?"""
    if found.score >= limit:
        return (found.bound & LOWER_BOUND) != 0
    return (found.bound & UPPER_BOUND) != 0


cdef inline void tt_new_search(TranspositionTable* table) noexcept nogil:
    """From now on, what is in the table is one search older."""
    table.generation = (table.generation + 1) % GENERATIONS


cdef inline TTHit tt_miss() noexcept nogil:
    cdef TTHit found
    found.hit = False
    found.was_pv = False
    found.move = 0
    found.score = NO_SCORE
    found.evaluation = NO_SCORE
    found.depth = -1
    found.bound = NO_BOUND
    return found

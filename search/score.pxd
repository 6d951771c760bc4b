"""Scores: centipawns from the side to move, with room at both ends for mates and table results."""

cdef enum:
    MAX_PLY = 240  # as deep as a line may grow

cdef enum:
    DRAW = 0
    LIMIT_OF_EVALUATION = 20000  # no static evaluation goes beyond
    TB_WIN = 31000  # less the plies to reach the table
    DECIDED = 30000  # from here on a result is known: a table win or a mate
    MATE = 32000  # less the plies to the mate
    MATE_IN_SIGHT = 31700  # from here on it is a mate
    INFINITE = 32001
    NO_SCORE = 32002


cdef inline int mate_in(int ply) noexcept nogil:
    return MATE - ply


cdef inline int mated_in(int ply) noexcept nogil:
    return ply - MATE


cdef inline bint is_win(int score) noexcept nogil:
    return score >= DECIDED


cdef inline bint is_loss(int score) noexcept nogil:
    return score <= -DECIDED


cdef inline bint is_decided(int score) noexcept nogil:
    return score >= DECIDED or score <= -DECIDED


cdef inline bint is_mate(int score) noexcept nogil:
    return score >= MATE_IN_SIGHT or score <= -MATE_IN_SIGHT


cdef inline int clamp(int value, int low, int high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef inline int larger(int a, int b) noexcept nogil:
    return a if a > b else b


cdef inline int smaller(int a, int b) noexcept nogil:
    return a if a < b else b

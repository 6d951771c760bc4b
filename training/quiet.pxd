"""Quiet positions, the ones that an evaluation learns from: the search resolves the others before it evaluates."""
from board.position cimport Position
from board.types cimport Move, is_tactical

cdef enum:
    DEFAULT_MOST_SCORE = 2000  # centipawns: the game is decided beyond

# What becomes of a position of a game.
cdef enum:
    IS_KEPT
    IN_OPENING  # nobody searched it
    IS_EARLY
    IN_CHECK
    IS_TACTICAL  # the move played was a capture or a promotion
    HAS_LARGE_SCORE
    FATES


cdef inline int fate_of(const Position* position, Move move, int score, int most_score) noexcept nogil:
    """IS_KEPT for a quiet position, or what it is instead; `move` was played in it, and `score` is the search's."""
    if position.checkers != 0:
        return IN_CHECK
    if is_tactical(move):
        return IS_TACTICAL
    if score > most_score or score < -most_score:
        return HAS_LARGE_SCORE
    return IS_KEPT


cdef inline bint is_quiet(const Position* position, Move move, int score, int most_score) noexcept nogil:
    return fate_of(position, move, score, most_score) == IS_KEPT

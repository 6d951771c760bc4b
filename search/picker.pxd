"""Hands out the legal moves of a position one by one, the most promising first, generating as late as possible.

A node that is cut off by its hash move generates nothing; one cut off by a capture never sees its quiet moves.
"""
from board.position cimport Position
from board.types cimport MAX_MOVES, Move
from search.history cimport Histories, MoveContext

cdef enum:  # stages, in the order of a normal node
    HASH_MOVE
    GENERATE_TACTICAL
    GOOD_TACTICAL
    FIRST_KILLER
    SECOND_KILLER
    GENERATE_QUIET
    QUIET_MOVE
    BAD_TACTICAL
    NO_MORE

cdef struct Picker:
    const Position* position
    Histories* histories
    const MoveContext* context
    Move hash_move
    Move killers[2]
    int stage
    int threshold  # a tactical move is good when it wins at least this much
    bint only_good  # quiescence and ProbCut: nothing but good tactical moves
    bint skip_quiets  # set by the caller when no further quiet move is wanted
    int next
    int end
    int bad
    Move moves[MAX_MOVES]
    int scores[MAX_MOVES]

cdef void pick_all(
    Picker* picker,
    const Position* position,
    Histories* histories,
    const MoveContext* context,
    Move hash_move,
    const Move* killers,
) noexcept nogil
cdef void pick_tactical(
    Picker* picker, const Position* position, Histories* histories, Move hash_move, int threshold
) noexcept nogil
cdef Move next_move(Picker* picker) noexcept nogil

"""The evaluation in use, for the search: the network or the classical one."""
from board.position cimport Position
from eval.network cimport Accumulators
from eval.pawns cimport PawnCache

# What a thread needs to evaluate quickly.
cdef struct Workspace:
    PawnCache* pawns
    Accumulators* accumulators

cdef Workspace* new_workspace() noexcept nogil
cdef void free_workspace(Workspace* workspace) noexcept nogil
cdef void clear_workspace(Workspace* workspace) noexcept nogil
cdef int evaluate(const Position* position, Workspace* workspace, int ply) noexcept nogil

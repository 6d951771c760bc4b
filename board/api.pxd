"""The Board class, for compiled callers that want the positions behind it."""
from board.position cimport Position
from board.types cimport u64


cdef class Board:
    cdef Position* line  # every position of the game, the current one last
    cdef int last
    cdef int room

    cdef Position* current(self) noexcept nogil
    cdef int copy_keys(self, u64* keys, int most) noexcept nogil
    cdef void reserve(self, int room) except *
    cdef list _moves(self, int wanted)
    cdef void _step(self) noexcept nogil
    cdef void _require_legal(self, object move) except *

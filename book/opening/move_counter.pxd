"""How often each move was played in each position, and with what result."""
from board.types cimport u16, u32, u64
from book.opening.movetext cimport Ply

cdef struct Count:
    u64 key
    u16 code  # never 0 in use: a1a1 is no move
    u16 unused
    u32 wins  # of the side that moved
    u32 draws
    u32 losses

cdef class MoveCounter:
    cdef Count* slots
    cdef Py_ssize_t room  # a power of two
    cdef Py_ssize_t used
    cdef Py_ssize_t most_room
    cdef Ply* line
    cdef readonly object spill_file
    cdef readonly list runs
    cdef object _directory

    cdef Count* _slot(self, Count* slots, Py_ssize_t room, u64 key, u16 code) noexcept nogil
    cdef int _grow(self) except -1
    cdef Py_ssize_t _sort(self) noexcept nogil
    cdef int _add(self, Ply* ply, int result, u32 times) except -1

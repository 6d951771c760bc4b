"""Two collections of tables on the same positions."""
from board.position cimport Position
from board.types cimport i64, u8, u64
from book.endgame.retrograde_index cimport Geometry, PositionIndex
from book.endgame.syzygy cimport Tables

cdef bint _set_up(Position* position, const Geometry* geometry, const u8* squares, int side, bint is_swapped) noexcept nogil


cdef class _Comparer:
    cdef Tables ours
    cdef Tables theirs
    cdef readonly i64 seen
    cdef readonly i64 different
    cdef readonly list examples

    cdef object add(self, Position* position)

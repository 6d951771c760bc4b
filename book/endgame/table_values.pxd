"""A solved ending in the order of a table file: values side by side, ready for compression."""
from board.types cimport u8, u16, u64
from book.endgame.retrograde_index cimport Geometry
from book.endgame.compression cimport Sequence
from book.endgame.retrograde cimport Ending
from book.endgame.syzygy_layout cimport Layout

cdef enum:
    ANY_VALUE = 31  # all five outcomes
    UNUSED = 0xFFFF  # a distance that nobody will ask for
    CLASS_SHIFT = 10

cdef class TableValues:
    cdef Layout layout
    cdef Ending _ending
    cdef int side
    cdef int places[8]  # [place from the fastest]: group
    cdef int first[8]  # of each group's pieces
    cdef u8* tables[8]  # [group]: squares for every number, of the leading group; counted without taken ones, of others
    cdef int men[8]  # [piece of the layout]: our man
    cdef u64 digits[8]

    cdef void _seek(self, u64 index) noexcept nogil
    cdef void _squares(self, int group, u8* squares) noexcept nogil
    cdef int _advance(self) noexcept nogil
    cdef void _states(self, u64 first, u64 last, u16* states) noexcept nogil

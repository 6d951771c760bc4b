"""Counts the outcomes of a solved ending."""
from board.types cimport u8
from book.endgame.retrograde_index cimport Geometry

cdef int _images(const Geometry* geometry, size_t at, const u8* squares) noexcept nogil

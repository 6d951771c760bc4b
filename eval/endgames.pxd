"""Endings that are known, and endings in which an advantage is worth less than it seems."""
from board.position cimport Position

cdef bint is_known_ending(const Position* position, int* score) noexcept nogil
cdef int scale_factor(const Position* position, int strong) noexcept nogil

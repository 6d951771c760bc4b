"""Counting leaves, the proof of a move generator."""
from board.position cimport Position
from board.types cimport u64

cdef u64 count_leaves(const Position* position, int depth) noexcept nogil

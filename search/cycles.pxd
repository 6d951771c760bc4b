"""Seeing a repetition one move ahead: is there a move that brings an earlier position back?"""
from board.position cimport Position
from board.types cimport u64

cdef bint can_repeat(const Position* position, const u64* keys, int last, int reversible, int ply) noexcept nogil

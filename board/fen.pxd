"""Positions as text."""
from board.position cimport Position

cdef void parse_fen(str text, Position* position, bint chess960) except *
cdef str format_fen(const Position* position, bint shredder)

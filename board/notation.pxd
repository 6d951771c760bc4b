"""Moves as text."""
from board.position cimport Position
from board.types cimport Move

cdef str uci_text(const Position* position, Move move)
cdef Move parse_uci_text(const Position* position, str text) except? 0
cdef str san_text(const Position* position, Move move)
cdef Move parse_san_text(const Position* position, str text) except? 0

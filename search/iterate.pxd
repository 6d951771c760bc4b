"""Iterative deepening: one thread's whole search of a position."""
from board.position cimport Position
from board.types cimport Move
from search.state cimport Worker

cdef void set_root(Worker* worker, const Position* position, const Move* moves, int count) noexcept nogil
cdef void iterate(Worker* worker) noexcept nogil

"""Iterative deepening: one thread's whole search of a position."""
from search.state cimport Worker

cdef void iterate(Worker* worker) noexcept nogil

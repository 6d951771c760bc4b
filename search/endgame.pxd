"""Endgame tables inside the tree."""
from search.state cimport Frame, Worker

cdef int probe_endgame(Worker* worker, Frame* frame, int depth, int* score) noexcept nogil

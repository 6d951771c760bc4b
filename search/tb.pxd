"""Endgame tables inside the tree."""
from search.state cimport Frame, Worker

cdef int tb_probe(Worker* worker, Frame* frame, int depth, int* score) noexcept nogil

"""The quiescence search at the leaves of the tree."""
from search.state cimport Frame, Worker

cdef int search_quiet(Worker* worker, Frame* frame, int alpha, int beta) noexcept nogil

"""The search of one tree: the node, and the quiescence search below it."""
from search.state cimport Frame, Worker

cdef int search_node(Worker* worker, Frame* frame, int alpha, int beta, int depth, bint cut_node) noexcept nogil
cdef int search_quiet(Worker* worker, Frame* frame, int alpha, int beta) noexcept nogil

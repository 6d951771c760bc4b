"""The search of one tree: the node. The quiescence search below it is quiescence.py."""
from search.state cimport Frame, Worker

cdef enum:
    MULTI_CUT = 100  # instead of an extension: several moves reach beta, and the node is cut

cdef int search_node(Worker* worker, Frame* frame, int alpha, int beta, int depth, bint cut_node) noexcept nogil

"""Draws inside the tree: the rules, what a draw is worth, and repetitions seen one move ahead."""
from search.parameters cimport tune
from search.score cimport DRAW
from search.state cimport Frame, Worker

cdef bint is_draw(Worker* worker, Frame* frame) noexcept nogil
cdef bint can_repeat(Worker* worker, Frame* frame) noexcept nogil


cdef inline int draw_score(Worker* worker) noexcept nogil:
    """Zero, give or take one: a search that sees two ways to draw shall not take them for the same."""
    return DRAW + tune.draw_noise * (<int>(worker.nodes & 2) - 1)

"""Searches whose trees are recorded: the engine's own, and those of the textbook."""
from search.recording cimport Tree
from search.state cimport Frame, Worker

cdef struct Lesson:
    Worker* worker
    Tree* tree
    bint has_window  # alpha-beta; otherwise plain minimax
    int order  # 1: best first, -1: worst first, 0: as they are generated

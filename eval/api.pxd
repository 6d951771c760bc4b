"""The Evaluator class, for compiled callers."""
from eval.evaluator cimport Workspace


cdef class Evaluator:
    cdef Workspace* workspace

"""The Evaluator class, for compiled callers."""
from eval.pawns cimport PawnCache


cdef class Evaluator:
    cdef PawnCache* cache

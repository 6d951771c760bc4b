"""Doors through which tests and tools reach compiled parts that nobody else needs to see from Python."""
from search.tt cimport TranspositionTable


cdef class TableBench:
    cdef TranspositionTable table

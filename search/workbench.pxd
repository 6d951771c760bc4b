"""Doors through which tests and tools reach compiled parts that nobody else needs to see from Python."""
from search.table cimport Table


cdef class TableBench:
    cdef Table table

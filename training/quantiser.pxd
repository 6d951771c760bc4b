"""A learned network rounded to the integers of its file."""
from board.types cimport i16, i64
from eval.network_shape cimport MOST_OUTPUTS, KingBuckets
from training.network_trainer cimport Shape
from training.positions cimport PackedPosition

cdef enum:
    MOST_VALUES = 2048  # of the neurons of both sides


cdef class RoundedNetwork:
    cdef Shape shape
    cdef KingBuckets buckets
    cdef size_t size  # of all weights but the outputs' biases
    cdef i16* weights  # features' rows, biases, output weights
    cdef i64 output_biases[MOST_OUTPUTS]

    cdef int _activate(self, const PackedPosition* position, int* values) noexcept nogil
    cdef i64 _sum(self, const int* values, int output) noexcept nogil
    cdef int _score(self, const PackedPosition* position) noexcept nogil

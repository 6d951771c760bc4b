"""Quiet positions as sparse rows of feature counts, and the loss of weights over them."""
from board.position cimport Position
from board.types cimport i8, i16, u8, u16, u32, u64
from eval.pawns cimport PawnCache

cdef struct Coefficient:
    u16 feature
    i16 count  # White's less Black's

cdef struct Sample:
    u64 first  # of its coefficients
    u16 size  # number of them
    u8 phase
    u8 scale
    i8 result  # White's: 1, 0, -1
    i16 score  # of the search that played on, White's view


cdef class Dataset:
    cdef Coefficient* coefficients
    cdef Sample* samples
    cdef size_t coefficient_count
    cdef size_t coefficient_room
    cdef size_t count
    cdef size_t room
    cdef PawnCache* cache

    cdef bint _reserve(self, size_t samples, size_t coefficients) noexcept nogil
    cdef int _add(self, const Position* position, int result, int score) noexcept nogil
    cdef double _accumulate(
        self,
        const u32* order,
        size_t first,
        size_t last,
        const double* weights,
        double k,
        double share,
        double* gradient,
    ) noexcept nogil

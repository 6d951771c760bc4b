"""Sequences of small numbers, and the Re-Pair grammar that compresses them."""
from board.types cimport i64, u8, u16, u32, u64

cdef enum:
    MOST_SYMBOLS = 4095  # 0xFFF marks a leaf in the files
    MOST_VALUES = 256  # that one symbol stands for: probers keep the length less one in a byte
    BLOCK_POSITIONS = 65536
    MOST_CHOSEN = 2048  # candidates for pairs that one round looks at
    IS_CHOSEN = 0x40000000  # among the counts: this pair becomes the symbol in the low bits
    NO_PAIR = 0x7FFFFFFF

cdef struct Candidate:
    u32 count
    u32 pair  # first << 12 | second


cdef class Sequence:
    cdef u16* values
    cdef readonly size_t size


cdef class Grammar:
    cdef readonly int symbols
    cdef readonly int leaves
    cdef readonly size_t positions  # that the sequence stood for at the beginning
    cdef u16 left[4096]
    cdef u16 right[4096]  # 0xFFF for a leaf, whose value is `left`
    cdef u16 lengths[4096]  # values that a symbol stands for
    cdef u16* text
    cdef size_t length
    cdef Sequence _sequence

    cdef int _round(self, u32* counts, u32* touched, size_t* used, Candidate* chosen, u32 least, int most) noexcept nogil

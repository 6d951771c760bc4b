# cython: overflowcheck=False
"""Bitboards: a 64-bit word with one bit per square, and what is done with it all the time."""
from board.types cimport WHITE, u32, u64

cdef extern from "intrinsics.h" nogil:
    int lsb "qz_lsb"(u64 word)
    int msb "qz_msb"(u64 word)
    int popcount "qz_popcount"(u64 word)
    u64 byteswap64 "qz_byteswap64"(u64 word)
    u32 byteswap32 "qz_byteswap32"(u32 word)
    void prefetch "qz_prefetch"(const void* address)
    unsigned int magic_index "qz_magic_index"(u64 occupied, u64 magic, unsigned int shift)
    u64 multiply_high "qz_multiply_high"(u64 a, u64 b)
    void* find_shared "qz_find_shared"(void** place)
    void share "qz_share"(void** place, void* value)

cdef extern from "intrinsics.h" nogil:  # macros: a C enum is too narrow for them where MSVC compiles
    const u64 RANK_1 "QZ_RANK_1"
    const u64 RANK_2 "QZ_RANK_2"
    const u64 RANK_3 "QZ_RANK_3"
    const u64 RANK_6 "QZ_RANK_6"
    const u64 RANK_7 "QZ_RANK_7"
    const u64 RANK_8 "QZ_RANK_8"
    const u64 FILE_A "QZ_FILE_A"
    const u64 FILE_H "QZ_FILE_H"
    const u64 LIGHT_SQUARES "QZ_LIGHT_SQUARES"
    const u64 ALL_SQUARES "QZ_ALL_SQUARES"


cdef inline u64 bit(int square) noexcept nogil:
    return <u64>1 << square


cdef inline bint has(u64 word, int square) noexcept nogil:
    return (word >> square & 1) != 0


cdef inline int pop_lsb(u64* word) noexcept nogil:
    """Takes the lowest square out of a word that is not empty."""
    cdef int square = lsb(word[0])
    word[0] &= word[0] - 1
    return square


cdef inline bint more_than_one(u64 word) noexcept nogil:
    return popcount(word) > 1


cdef inline u64 north(u64 word) noexcept nogil:
    return word << 8


cdef inline u64 south(u64 word) noexcept nogil:
    return word >> 8


cdef inline u64 east(u64 word) noexcept nogil:
    return (word & ~FILE_H) << 1


cdef inline u64 west(u64 word) noexcept nogil:
    return (word & ~FILE_A) >> 1


cdef inline u64 forward(int colour, u64 word) noexcept nogil:
    """One step towards the opponent."""
    return word << 8 if colour == WHITE else word >> 8

# cython: overflowcheck=False
"""One table file: what its header says, and how a value is decompressed."""
from board.types cimport u8, u16, u32, u64
from book.endgame.syzygy_layout cimport Material, Layout

ctypedef const u8* Bytes

cdef extern from "guard.h" nogil:
    ctypedef int (*Work "qz_work")(const void* subject, u64 number) noexcept nogil
    void prepare_guard "qz_prepare_guard"()
    int guarded "qz_guarded"(Work work, const void* subject, u64 number, int otherwise) noexcept

cdef enum:
    WDL = 0
    DTZ = 1

# Flags of a subtable. All but SINGLE_VALUE have a meaning in DTZ files only.
cdef enum:
    STORED_SIDE = 1  # Black to move is stored
    MAPPED = 2  # values are places in a list
    WIN_IN_PLIES = 4  # distances of wins are exact, else they count two plies
    LOSS_IN_PLIES = 8
    WIDE_MAP = 16  # lists of 16-bit numbers
    SINGLE_VALUE = 128  # every position has the same value, nothing is stored

cdef enum:
    DAMAGED = -1  # what decode returns for bytes that make no sense
    UNREADABLE = -2  # and for bytes that are not there any more
    MOST_SYMBOLS = 4096
    LONGEST_CODE = 32

# A compressed subtable: one side to move, and with pawns one file of the leading pawn.
cdef struct Subtable:
    Layout layout
    bint is_mapped  # reading index, lengths and data may fail; all else is a copy
    int flags
    int single  # the only value
    int span_bits  # an index entry for every so many positions, as a power of two
    Bytes index  # {u32 block, u16 offset} for the middle of each span
    u64 index_count
    Bytes lengths  # u16 for each block: positions in it, less one
    u64 length_count  # a few more than there are blocks
    Bytes data
    Bytes end  # of the whole file: nothing is read from here on
    u64 block_count
    int block_bits  # a block's size in bytes, as a power of two
    int shortest  # code, in bits
    int longest
    int lowest[LONGEST_CODE + 1]  # the first symbol of each length of code
    u8 likely[256]  # the shortest code that begins with these eight bits
    int symbols
    Bytes tree  # three bytes for each symbol: its two halves, or a value
    u16* symbol_lengths  # positions that a symbol stands for, less one
    u64 base[LONGEST_CODE + 1]  # left-aligned first code of each length
    Bytes maps[4]  # DTZ values of wins, losses, cursed wins, blessed losses
    int map_counts[4]

cdef struct TableFile:
    Material material
    int kind
    int sides
    int files
    Subtable subtables[4][2]  # [file of the leading pawn][side to move]


cdef inline u32 read16(Bytes place) noexcept nogil:
    return place[0] | <u32>place[1] << 8


cdef inline u32 read32(Bytes place) noexcept nogil:
    return read16(place) | read16(place + 2) << 16


cdef inline u32 read_code32(Bytes place) noexcept nogil:
    """Codes are written with the highest bit first."""
    return <u32>place[0] << 24 | <u32>place[1] << 16 | <u32>place[2] << 8 | place[3]


cdef inline int left_half(const Subtable* subtable, int symbol) noexcept nogil:
    """The first of a symbol's two halves; the value, if it is a leaf."""
    return subtable.tree[3 * symbol] | (subtable.tree[3 * symbol + 1] & 15) << 8


cdef inline int right_half(const Subtable* subtable, int symbol) noexcept nogil:
    return subtable.tree[3 * symbol + 1] >> 4 | subtable.tree[3 * symbol + 2] << 4


cdef int decode(const Subtable* subtable, u64 index) noexcept nogil

# What a look through a subtable has found.
cdef struct Finding:
    const Subtable* subtable
    bint is_wdl
    int problem  # 0 if there is none
    u64 number  # of the symbol or block, or the sum of positions

cdef class MappedTable:
    cdef TableFile table
    cdef readonly object path
    cdef object mapping
    cdef Py_buffer buffer
    cdef bint has_buffer
    cdef Bytes start
    cdef u64 length
    cdef object stream  # while the header is read
    cdef list copies  # of the header's parts

    cdef Bytes _copy(self, u64* cursor, u64 size) except *
    cdef Bytes _find(self, u64* cursor, u64 size) except *
    cdef void _read_header(self, u64* cursor) except *
    cdef void _read_subtable(self, Subtable* subtable, u64* cursor) except *
    cdef void _measure_symbols(self, Subtable* subtable) except *
    cdef void _read_maps(self, Subtable* subtable, u64* cursor) except *
    cdef void _check_subtable(self, Subtable* subtable) except *

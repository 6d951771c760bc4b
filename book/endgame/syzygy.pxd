# cython: overflowcheck=False
"""A collection of tables, and the questions that are put to it. All `probe_` functions may be called by any thread."""
from board.position cimport Position
from board.types cimport u64
from book.endgame.syzygy_file cimport TableFile

cdef enum:
    UNKNOWN = 1 << 20  # no answer: no table, a damaged one, castling rights
    SLOTS = 8192  # 1,511 endings of up to seven men, each under two keys, in a half-empty hash table
    MOST_ENTRIES = 2048

# An ending: its files, opened when first asked.
cdef struct Entry:
    bint exists[2]  # [WDL, DTZ]
    void* files[2]  # NULL: not opened yet; the collection's `broken`: cannot be used; else a TableFile

cdef struct Slot:
    u64 key  # of the material; 0 is an empty slot
    int entry
    bint is_mirrored  # the first-named side has the black pieces

cdef struct Collection:
    Slot slots[SLOTS]
    Entry entries[MOST_ENTRIES]
    TableFile broken
    void* owner  # the Tables object

cdef int probe_wdl(void* collection, const Position* position) noexcept nogil
cdef int probe_dtz(void* collection, const Position* position) noexcept nogil

cdef class Tables:
    cdef Collection* collection
    cdef list paths  # for each entry, two lists of files
    cdef dict opened  # the table of (entry, kind); one that was dropped lives on in `dropped`
    cdef list dropped
    cdef dict numbers  # entry of each ending
    cdef object lock
    cdef object on_problem
    cdef readonly list problems
    cdef readonly int largest
    cdef readonly tuple counts

    cdef void _insert(self, u64 key, int entry, bint is_mirrored) noexcept
    cdef void _open(self, int entry, int kind) except *
    cdef void _drop(self, int entry, int kind, str why) except *
    cdef void _report(self, str what, object why) except *

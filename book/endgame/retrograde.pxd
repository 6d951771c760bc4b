"""Retrograde analysis: every position of an ending solved, backwards from mates, captures and pawn moves."""
from board.types cimport i64, u8, u16, u64
from book.endgame.retrograde_index cimport Geometry, Link, PositionIndex, Outcomes

# A position with everything that is asked about it again and again.
cdef struct Scene:
    u8 squares[8]
    u64 occupied

cdef class Ending(PositionIndex):
    cdef u16* values[2]  # [side to move][number]
    cdef Link links[6][6][4]  # [captured man][promoted man][new kind - knight]
    cdef list _outcomes  # keeps alive what the links point into
    cdef int stopped
    cdef readonly i64 visited  # positions begun, for progress
    cdef readonly int plies  # the longest distance so far

    cdef void _begin(self, size_t first, size_t last) noexcept nogil
    cdef void _settle(self, size_t first, size_t last) noexcept nogil
    cdef i64 _seed_cursed(self, size_t first, size_t last) noexcept nogil
    cdef i64 _step(self, int plies, size_t first, size_t last) noexcept nogil
    cdef bint _is_attacked(self, const Scene* scene, int square, int colour, int missing) noexcept nogil
    cdef int _try_zeroing(self, Scene* scene, int man, int target, int captured, int kind, int side) noexcept nogil
    cdef int _try_push(self, Scene* scene, int man, int target, int side, bint is_double) noexcept nogil
    cdef int _with_en_passant(self, Scene* scene, int pushed, int side, int value) noexcept nogil
    cdef int _best_zeroing(self, Scene* scene, int side, int* best_capture) noexcept nogil
    cdef bint _has_quiet_move(self, Scene* scene, int side) noexcept nogil
    cdef bint _set_scene(self, size_t at, Scene* scene) noexcept nogil
    cdef bint _all_quiet_lose(self, size_t at, int side, int limit) noexcept nogil
    cdef int _retract(self, size_t at, int mover, int plies, bint is_win) noexcept nogil
    cdef int _touch(self, size_t at, int mover, int plies, bint is_win) noexcept nogil

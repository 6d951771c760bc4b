"""Endings that are known, and endings in which an advantage is worth less than it seems."""
from board.bits cimport more_than_one, popcount
from board.position cimport Position, occupied


cdef inline bint may_be_known(const Position* position) noexcept nogil:
    """The cheap test that nearly all positions fail: four men at most, or a bare king."""
    return (
        not more_than_one(position.colours[0])
        or not more_than_one(position.colours[1])
        or popcount(occupied(position)) <= 4
    )


cdef bint is_known_ending(const Position* position, int* score) noexcept nogil
cdef int scale_factor(const Position* position, int strong) noexcept nogil

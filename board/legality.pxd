"""Questions about a single move that may come from a hash table, a killer slot or another position."""
from board.position cimport Position
from board.types cimport Move

cdef bint is_pseudo_legal(const Position* position, Move move) noexcept nogil
cdef bint is_legal(const Position* position, Move move) noexcept nogil
cdef bint gives_check(const Position* position, Move move) noexcept nogil

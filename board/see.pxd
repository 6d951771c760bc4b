"""Static exchange evaluation: who wins the fight over one square?"""
from board.position cimport Position
from board.types cimport Move

cdef int EXCHANGE_VALUES[7]  # pawn to king, and nothing

cdef bint see_at_least(const Position* position, Move move, int threshold) noexcept nogil

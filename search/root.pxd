"""The position at the root, and the records of its moves."""
from board.position cimport Position
from board.types cimport Move, u64
from search.state cimport RootMove, Worker

cdef void set_root(Worker* worker, const Position* position, const Move* moves, int count) noexcept nogil
cdef void sort_root_moves(RootMove* moves, int first, int end) noexcept nogil
cdef RootMove* find_root_move(Worker* worker, Move move) noexcept nogil
cdef void begin_root_move(Worker* worker, Move move, int number) noexcept nogil
cdef void finish_root_move(
    Worker* worker, RootMove* root_move, int score, int alpha, int beta, bint is_first, u64 nodes
) noexcept nogil

"""The position at the root, and the records of its moves."""
from board.position cimport Position
from board.types cimport Move, u64
from search.state cimport RootMove, SearchLimits, Shared, Worker

cdef void start_search(
    Shared* shared,
    const SearchLimits* limits,
    const Position* position,
    const u64* keys,
    int key_count,
    const Move* moves,
    int move_count,
) noexcept nogil
cdef void sort_root_moves(RootMove* moves, int first, int end) noexcept nogil
cdef RootMove* find_root_move(Worker* worker, Move move) noexcept nogil
cdef void begin_root_move(Worker* worker, Move move, int number) noexcept nogil
cdef void finish_root_move(
    Worker* worker, RootMove* root_move, int score, int alpha, int beta, bint is_first, u64 nodes
) noexcept nogil

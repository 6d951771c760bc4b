"""Pawn structure, king shelter and all else that depends on pawns and kings alone, with a cache per search thread."""
from board.position cimport Position, king_square
from board.types cimport i32, u64
from board.zobrist cimport PIECE_KEYS
from eval.weights cimport Trace

cdef struct PawnEntry:
    u64 key  # pawns and both kings
    u64 passed  # passed pawns of both colours
    u64 spans[2]  # what a colour's pawns attack or can attack by advancing
    i32 score  # packed, White less Black

cdef enum:
    PAWN_ENTRIES = 8192  # 320 KB; a power of two

cdef struct PawnCache:
    PawnEntry entries[PAWN_ENTRIES]

cdef u64 FORWARD_FILE[2][64]  # the squares ahead on the own file
cdef u64 FORWARD_SPAN[2][64]  # … and on both files beside it: no enemy pawn here makes a passed pawn
cdef u64 BESIDE_FILES[8]  # the files next to a file


cdef inline u64 pawn_cache_key(const Position* position) noexcept nogil:
    return position.pawn_key ^ PIECE_KEYS[10][king_square(position, 0)] ^ PIECE_KEYS[11][king_square(position, 1)]


cdef PawnCache* new_pawn_cache() noexcept nogil
cdef void free_pawn_cache(PawnCache* cache) noexcept nogil
cdef void clear_pawn_cache(PawnCache* cache) noexcept nogil
cdef void analyse_pawns(const Position* position, PawnEntry* entry, Trace* trace) noexcept nogil

"""Where pieces attack: tables for the short steps, magic multiplication for the sliders, lines between squares."""
from board.bits cimport magic_index
from board.types cimport BISHOP, KING, KNIGHT, QUEEN, ROOK, u64

cdef struct Magic:
    u64* attacks  # this square's part of the shared table
    u64 mask  # the squares whose occupation matters
    u64 multiplier
    unsigned int shift

cdef Magic ROOK_MAGICS[64]
cdef Magic BISHOP_MAGICS[64]

cdef u64 KNIGHT_ATTACKS[64]
cdef u64 KING_ATTACKS[64]
cdef u64 PAWN_ATTACKS[2][64]  # [colour of the pawn][its square]

cdef u64 BETWEEN[64][64]  # strictly between two squares of one line, else empty
cdef u64 LINE[64][64]  # the whole line through both, edge to edge, else empty
cdef u64 FILES[64]  # the four lines through a square
cdef u64 RANKS[64]
cdef u64 DIAGONALS[64]  # parallel to a1-h8
cdef u64 ANTIDIAGONALS[64]  # parallel to a8-h1


cdef inline u64 rook_attacks(int square, u64 occupied) noexcept nogil:
    cdef Magic* magic = &ROOK_MAGICS[square]
    return magic.attacks[magic_index(occupied & magic.mask, magic.multiplier, magic.shift)]


cdef inline u64 bishop_attacks(int square, u64 occupied) noexcept nogil:
    cdef Magic* magic = &BISHOP_MAGICS[square]
    return magic.attacks[magic_index(occupied & magic.mask, magic.multiplier, magic.shift)]


cdef inline u64 queen_attacks(int square, u64 occupied) noexcept nogil:
    return rook_attacks(square, occupied) | bishop_attacks(square, occupied)


cdef inline u64 piece_attacks(int kind, int square, u64 occupied) noexcept nogil:
    """Attacks of any piece but a pawn."""
    if kind == KNIGHT:
        return KNIGHT_ATTACKS[square]
    if kind == BISHOP:
        return bishop_attacks(square, occupied)
    if kind == ROOK:
        return rook_attacks(square, occupied)
    if kind == QUEEN:
        return queen_attacks(square, occupied)
    return KING_ATTACKS[square]

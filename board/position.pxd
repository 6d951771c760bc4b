"""A position as one flat block of 200 bytes. Making a move copies it; the older one stays as it was, so nothing is undone.

Rights to castle are the set of rooks that may still castle: the same thing in standard chess and in Chess960.
"""
from board.attacks cimport (KING_ATTACKS, KNIGHT_ATTACKS, PAWN_ATTACKS, bishop_attacks, rook_attacks)
from board.bits cimport bit, lsb
from board.types cimport BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, Move, u8, u16, u32, u64

cdef struct Position:
    u64 kinds[6]  # both colours' pawns, knights, …
    u64 colours[2]
    u64 key  # en-passant file only when the capture is legal
    u64 pawn_key
    u64 minor_key  # knights and bishops
    u64 piece_keys[2]  # everything of a colour but its pawns
    u64 checkers  # pieces that give check to the side to move
    u64 pinned  # pieces of the side to move that shield their king
    u64 castling_rooks
    u8 squares[64]
    u16 halfmove_clock
    u16 fullmove_number
    u8 turn
    u8 en_passant  # square behind the pawn, only when a capture is legal, else NO_SQUARE
    u8 passed_beside  # the same when an enemy pawn merely stands beside: Polyglot's rule
    u8 chess960  # how castling is written and read, nothing else

ctypedef const Position ConstPosition


cdef inline u64 occupied(const Position* position) noexcept nogil:
    return position.colours[0] | position.colours[1]


cdef inline u64 pieces(const Position* position, int colour, int kind) noexcept nogil:
    return position.colours[colour] & position.kinds[kind]


cdef inline int king_square(const Position* position, int colour) noexcept nogil:
    return lsb(position.colours[colour] & position.kinds[KING])


cdef inline u64 attackers(const Position* position, int square, u64 blockers) noexcept nogil:
    """Pieces of both colours that attack a square, when `blockers` are all that stand on the board."""
    return (
        PAWN_ATTACKS[0][square] & pieces(position, 1, PAWN)
        | PAWN_ATTACKS[1][square] & pieces(position, 0, PAWN)
        | KNIGHT_ATTACKS[square] & position.kinds[KNIGHT]
        | KING_ATTACKS[square] & position.kinds[KING]
        | rook_attacks(square, blockers) & (position.kinds[ROOK] | position.kinds[QUEEN])
        | bishop_attacks(square, blockers) & (position.kinds[BISHOP] | position.kinds[QUEEN])
    )


cdef inline bint is_attacked(const Position* position, int square, int by, u64 blockers) noexcept nogil:
    """Does that colour attack the square? The cheap tests first, as most calls end there."""
    cdef u64 theirs = position.colours[by]
    if PAWN_ATTACKS[by ^ 1][square] & theirs & position.kinds[PAWN]:
        return True
    if KNIGHT_ATTACKS[square] & theirs & position.kinds[KNIGHT]:
        return True
    if KING_ATTACKS[square] & theirs & position.kinds[KING]:
        return True
    if rook_attacks(square, blockers) & theirs & (position.kinds[ROOK] | position.kinds[QUEEN]):
        return True
    return (bishop_attacks(square, blockers) & theirs & (position.kinds[BISHOP] | position.kinds[QUEEN])) != 0


cdef inline int castling_king_target(int king, int rook) noexcept nogil:
    """Whatever the start squares, the king ends on the g- or c-file …"""
    return (king & 56) | (6 if rook > king else 2)


cdef inline int castling_rook_target(int king, int rook) noexcept nogil:
    """… and the rook beside it, on the f- or d-file."""
    return (king & 56) | (5 if rook > king else 3)


cdef u64 attacked_squares(const Position* position, int by) noexcept nogil
cdef void make_move(const Position* before, Position* after, Move move) noexcept nogil
cdef void make_null_move(const Position* before, Position* after) noexcept nogil
cdef u64 key_after(const Position* position, Move move) noexcept nogil
cdef u64 key_after_null(const Position* position) noexcept nogil
cdef bint en_passant_is_legal(const Position* position, int origin, int target) noexcept nogil
cdef void put_piece(Position* position, int piece, int square) noexcept nogil
cdef void complete(Position* position) noexcept nogil
cdef u64 polyglot_key(const Position* position) noexcept nogil
cdef bint is_insufficient_material(const Position* position) noexcept nogil
cdef int repetition_distance(const u64* keys, int last, int reversible) noexcept nogil

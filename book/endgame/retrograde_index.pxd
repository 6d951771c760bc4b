"""The index of the positions of an ending in retrograde analysis, and what is known about each of them.

A position is indexed by its pawns (a *slice*) and, within the slice, by six bits for each king and piece. Without pawns
there is one slice, and the two kings together are one of 462 pairs: the board is turned so that the first king stands
in the triangle a1-d1-d4.
"""
from board.types cimport i16, i32, u8, u16, u64

cdef enum:
    MOST_GENERATED = 5  # men
    NOBODY = 5  # in place of a man's number
    KING_PAIRS = 462

# What is known about a position with one side to move: 16 bits.
cdef enum:
    PLIES = 0x1FF  # to the next capture, pawn move or mate; a win has 0 when such a move itself wins
    IS_WIN = 0x200
    IS_LOSS = 0x400
    CAPTURE_SHIFT = 11  # three bits: 0 for no capture, else 3 + value of the best one
    CAPTURE_BITS = 0x3800
    ZEROING_SHIFT = 14  # two bits for the best capture or pawn move, as below
    IMPOSSIBLE = 0xFFFF  # pieces on one square, kings side by side, or the side not to move in check

# The best capture or pawn move of a position that no such move wins outright.
cdef enum:
    CAN_LOSE = 0  # there is none, or all of them lose
    CAN_BE_BLESSED = 1  # loses, but only after fifty moves
    HOLDS = 2  # draws
    IS_CURSED = 3  # wins, but only after fifty moves

cdef enum:
    FIFTY_MOVES = 100  # in plies

# How the men of an ending are numbered: White's king, Black's king, White's pieces, Black's pieces, White's pawns, Black's.
cdef struct Geometry:
    int men
    int pieces  # kings among them
    int pawns
    u8 kinds[8]
    u8 colours[8]
    int slices
    size_t slice_size
    i32* slice_of  # [squares of the pawns]: twice the slice, + 1 if left and right are to be exchanged
    u8* slice_pawns  # three squares for every slice

# Where a capture or a promotion leads.
cdef struct Link:
    const Geometry* geometry  # NULL: bare kings, a draw
    const u8* outcomes  # four bits for each side to move: 0 to 4 as in the files
    bint is_swapped  # colours change
    u8 source[8]  # which of our men is each man of the smaller ending

cdef i16 KING_PAIR[4096]  # [first king << 6 | second]: 0 to 461, or -1 if they touch
cdef u8 KING_TURN[4096]  # how the board is turned for that
cdef u8 PAIR_SQUARES[462][2]
cdef bint PAIR_IS_DIAGONAL[462]  # both on a1-h8: a position and its mirror image have two numbers
cdef u8 TURN[8][64]


cdef inline size_t position_index(const Geometry* geometry, const u8* squares) noexcept nogil:
    """The index of a position. The kings must not touch."""
    cdef size_t at
    cdef int man
    cdef int code
    cdef int mirror
    cdef const u8* turn
    if geometry.pawns == 0:
        code = squares[0] << 6 | squares[1]
        turn = TURN[KING_TURN[code]]
        at = KING_PAIR[code]
        for man in range(2, geometry.pieces):
            at = at << 6 | turn[squares[man]]
        return at
    code = 0
    for man in range(geometry.pieces, geometry.men):
        code = code << 6 | squares[man]
    code = geometry.slice_of[code]
    mirror = 7 if code & 1 else 0
    at = code >> 1
    for man in range(geometry.pieces):
        at = at << 6 | (squares[man] ^ mirror)
    return at


cdef inline void squares_at(const Geometry* geometry, size_t at, u8* squares) noexcept nogil:
    """The way back."""
    cdef int man
    cdef int last = 0 if geometry.pawns else 2
    for man in range(geometry.pieces - 1, last - 1, -1):
        squares[man] = at & 63
        at >>= 6
    if geometry.pawns == 0:
        squares[0] = PAIR_SQUARES[at][0]
        squares[1] = PAIR_SQUARES[at][1]
    else:
        for man in range(geometry.pawns):
            squares[geometry.pieces + man] = geometry.slice_pawns[3 * at + man]


cdef inline int value_of(int state) noexcept nogil:
    """-2 to 2 for lost, blessed, drawn, cursed, won."""
    if state & IS_WIN:
        return 2 if (state & PLIES) <= FIFTY_MOVES else 1
    if state & IS_LOSS:
        return -2 if (state & PLIES) <= FIFTY_MOVES else -1
    return 0


cdef inline int linked_value(const Link* link, const u8* squares, int side) noexcept nogil:
    """The value of a smaller ending's position for the side to move; `squares` are our men's after the move."""
    cdef u8 there[8]
    cdef int man
    cdef int flip
    if link.geometry == NULL:
        return 0
    flip = 56 if link.is_swapped else 0
    for man in range(link.geometry.men):
        there[man] = squares[link.source[man]] ^ flip
    return (link.outcomes[position_index(link.geometry, there)] >> (4 * (side ^ link.is_swapped)) & 15) - 2


cdef class PositionIndex:
    cdef Geometry geometry
    cdef readonly str name


cdef class Outcomes(PositionIndex):
    cdef u8* values

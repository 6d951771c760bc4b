"""How a position changes: moves, null moves, keys; and what can be seen on the board: draws, attacked squares."""

import cython
from cython.cimports.board.attacks import (
    ANTIDIAGONALS,
    BETWEEN,
    DIAGONALS,
    FILES,
    KING_ATTACKS,
    KNIGHT_ATTACKS,
    PAWN_ATTACKS,
    RANKS,
    bishop_attacks,
    rook_attacks,
)
from cython.cimports.board.bits import LIGHT_SQUARES, bit, east, forward, more_than_one, pop_lsb, west
from cython.cimports.board.types import (
    BISHOP,
    CAPTURE,
    CASTLING,
    DOUBLE_PUSH,
    EN_PASSANT,
    KING,
    KNIGHT,
    NO_PIECE,
    NO_SQUARE,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
    is_promotion,
    make_piece,
    move_flag,
    move_from,
    move_to,
    piece_colour,
    piece_kind,
    promotion_kind,
    u64,
)
from cython.cimports.board.zobrist import CASTLING_KEYS, EN_PASSANT_KEYS, PIECE_KEYS, TURN_KEY
from cython.cimports.libc.string import memcpy


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _toggle(position: cython.pointer(Position), piece: cython.int, square: cython.int) -> cython.void:
    """Puts a piece into, or takes it out of, the bitboards and the keys; the mailbox is the caller's."""
    kind: cython.int = piece_kind(piece)
    colour: cython.int = piece_colour(piece)
    key: u64 = PIECE_KEYS[piece][square]
    position.kinds[kind] ^= bit(square)
    position.colours[colour] ^= bit(square)
    position.key ^= key
    if kind == PAWN:
        position.pawn_key ^= key
    else:
        position.piece_keys[colour] ^= key
        if kind in (KNIGHT, BISHOP):
            position.minor_key ^= key


def put_piece(position, piece, square):
    """For setting a position up: an empty square gets a piece."""
    _toggle(position, piece, square)
    position.squares[square] = piece


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _shift_piece(
    position: cython.pointer(Position), piece: cython.int, origin: cython.int, target: cython.int
) -> cython.void:
    """Moves a piece to an empty square, bitboards, keys and mailbox."""
    kind: cython.int = piece_kind(piece)
    colour: cython.int = piece_colour(piece)
    both: u64 = bit(origin) | bit(target)
    key: u64 = PIECE_KEYS[piece][origin] ^ PIECE_KEYS[piece][target]
    position.kinds[kind] ^= both
    position.colours[colour] ^= both
    position.squares[origin] = NO_PIECE
    position.squares[target] = piece
    position.key ^= key
    if kind == PAWN:
        position.pawn_key ^= key
    else:
        position.piece_keys[colour] ^= key
        if kind in (KNIGHT, BISHOP):
            position.minor_key ^= key


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _find_checks_and_pins(position: cython.pointer(Position)) -> cython.void:
    """Looks out from the king: an enemy slider with nothing between gives check, with one piece between it pins."""
    us: cython.int = position.turn
    theirs: u64 = position.colours[us ^ 1]
    everything: u64 = occupied(position)
    king: cython.int = king_square(position, us)
    checkers: u64 = (
        PAWN_ATTACKS[us][king] & position.kinds[PAWN] | KNIGHT_ATTACKS[king] & position.kinds[KNIGHT]
    ) & theirs
    pinned: u64 = 0
    snipers: u64 = (
        (FILES[king] | RANKS[king]) & (position.kinds[ROOK] | position.kinds[QUEEN])
        | (DIAGONALS[king] | ANTIDIAGONALS[king]) & (position.kinds[BISHOP] | position.kinds[QUEEN])
    ) & theirs
    while snipers:
        sniper: cython.int = pop_lsb(cython.address(snipers))
        shield: u64 = BETWEEN[king][sniper] & everything
        if shield == 0:
            checkers |= bit(sniper)
        elif not more_than_one(shield):
            pinned |= shield
    position.checkers = checkers
    position.pinned = pinned & position.colours[us]


def en_passant_is_legal(position, origin, target):
    """Two pawns leave one rank at once, so no pin or check mask tells the truth: play it and look at the king."""
    us: cython.int = position.turn
    captured: u64 = bit(target ^ 8)
    blockers: u64 = (occupied(position) ^ bit(origin) ^ captured) | bit(target)
    enemies: u64 = position.colours[us ^ 1] & ~captured
    return attackers(position, king_square(position, us), blockers) & enemies == 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _offer_en_passant(position: cython.pointer(Position), square: cython.int) -> cython.void:
    """A pawn has just passed `square`: notes whether it may be captured there, in fact or by Polyglot's looser rule."""
    us: cython.int = position.turn
    beside: u64 = PAWN_ATTACKS[us ^ 1][square] & pieces(position, us, PAWN)
    if beside:
        position.passed_beside = square
    while beside:
        if en_passant_is_legal(position, pop_lsb(cython.address(beside)), square):
            position.en_passant = square
            position.key ^= EN_PASSANT_KEYS[square & 7]
            return


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _drop_castling(position: cython.pointer(Position), rooks: u64) -> cython.void:
    """Takes the right away from these rooks. Asked before the kings move, which tell one wing from the other."""
    position.castling_rooks ^= rooks
    while rooks:
        rook: cython.int = pop_lsb(cython.address(rooks))
        colour: cython.int = piece_colour(position.squares[rook])
        position.key ^= CASTLING_KEYS[colour][rook > king_square(position, colour)]


def make_move(before, after, move):
    """Writes into `after` the position that a legal move leads to."""
    origin: cython.int = move_from(move)
    target: cython.int = move_to(move)
    flag: cython.int = move_flag(move)
    piece: cython.int = before.squares[origin]
    us: cython.int = before.turn
    victim: cython.int

    memcpy(after, before, cython.sizeof(Position))
    after.turn = us ^ 1
    after.key ^= TURN_KEY
    after.halfmove_clock += 1
    after.fullmove_number += us
    if before.en_passant != NO_SQUARE:
        after.key ^= EN_PASSANT_KEYS[before.en_passant & 7]
        after.en_passant = NO_SQUARE
    after.passed_beside = NO_SQUARE

    if before.castling_rooks:
        stale: u64 = bit(origin) | bit(target)
        if piece_kind(piece) == KING:
            stale = before.colours[us] | bit(target)
        stale &= before.castling_rooks
        if stale:
            _drop_castling(after, stale)

    if flag == CASTLING:
        # In Chess960 either piece may land where the other one stood: lift both, then put both down.
        rook: cython.int = make_piece(us, ROOK)
        _toggle(after, piece, origin)
        _toggle(after, rook, target)
        after.squares[origin] = NO_PIECE
        after.squares[target] = NO_PIECE
        put_piece(after, piece, castling_king_target(origin, target))
        put_piece(after, rook, castling_rook_target(origin, target))
        _find_checks_and_pins(after)
        return

    if flag & CAPTURE:
        victim = target ^ 8 if flag == EN_PASSANT else target
        _toggle(after, before.squares[victim], victim)
        after.squares[victim] = NO_PIECE
        after.halfmove_clock = 0

    if is_promotion(move):
        _toggle(after, piece, origin)
        after.squares[origin] = NO_PIECE
        put_piece(after, make_piece(us, promotion_kind(move)), target)
        after.halfmove_clock = 0
    else:
        _shift_piece(after, piece, origin, target)
        if piece_kind(piece) == PAWN:
            after.halfmove_clock = 0
            if flag == DOUBLE_PUSH:
                _offer_en_passant(after, target ^ 8)
    _find_checks_and_pins(after)


def make_null_move(before, after):
    """Passes the turn. Only for a side that is not in check."""
    memcpy(after, before, cython.sizeof(Position))
    after.turn = before.turn ^ 1
    after.key = key_after_null(before)
    after.halfmove_clock += 1
    after.fullmove_number += before.turn
    after.en_passant = NO_SQUARE
    after.passed_beside = NO_SQUARE
    _find_checks_and_pins(after)


def key_after(position, move):
    """The key a move leads to, to prefetch its table entry; castling, rights and en passant are not counted."""
    origin: cython.int = move_from(move)
    target: cython.int = move_to(move)
    piece: cython.int = position.squares[origin]
    victim: cython.int = position.squares[target]
    key: u64 = position.key ^ TURN_KEY ^ PIECE_KEYS[piece][origin] ^ PIECE_KEYS[piece][target]
    if victim != NO_PIECE:
        key ^= PIECE_KEYS[victim][target]
    if position.en_passant != NO_SQUARE:
        key ^= EN_PASSANT_KEYS[position.en_passant & 7]
    return key


def key_after_null(position):
    """The key that passing leads to."""
    key: u64 = position.key ^ TURN_KEY
    if position.en_passant != NO_SQUARE:
        key ^= EN_PASSANT_KEYS[position.en_passant & 7]
    return key


def complete(position):
    """After setting up by hand (pieces put, rights, turn, `passed_beside` = the square passed): keys, checks, pins."""
    rooks: u64 = position.castling_rooks
    while rooks:
        rook: cython.int = pop_lsb(cython.address(rooks))
        colour: cython.int = piece_colour(position.squares[rook])
        position.key ^= CASTLING_KEYS[colour][rook > king_square(position, colour)]
    if position.turn == WHITE:
        position.key ^= TURN_KEY
    passed: cython.int = position.passed_beside
    position.passed_beside = NO_SQUARE
    position.en_passant = NO_SQUARE
    if passed != NO_SQUARE:
        _offer_en_passant(position, passed)
    _find_checks_and_pins(position)


def polyglot_key(position):
    """The key of Polyglot books, where a pawn standing beside the passed pawn is enough to count the file."""
    key: u64 = position.key
    if position.passed_beside != NO_SQUARE and position.en_passant == NO_SQUARE:
        key ^= EN_PASSANT_KEYS[position.passed_beside & 7]
    return key


def is_insufficient_material(position):
    """No sequence of legal moves can mate: a lone minor piece, or nothing but bishops of one square colour."""
    if position.kinds[PAWN] | position.kinds[ROOK] | position.kinds[QUEEN]:
        return False
    if not more_than_one(position.kinds[KNIGHT] | position.kinds[BISHOP]):
        return True
    if position.kinds[KNIGHT]:
        return False
    bishops: u64 = position.kinds[BISHOP]
    return (bishops & LIGHT_SQUARES) == 0 or (bishops & ~LIGHT_SQUARES) == 0


def repetition_distance(keys, last, reversible):
    """How many plies ago the position keys[last] was on the board before, or 0.

    Only the last `reversible` plies can hold it: the halfmove clock, or less where less is known.
    """
    distance: cython.int = 4
    if reversible > last:
        reversible = last
    while distance <= reversible:
        if keys[last - distance] == keys[last]:
            return distance
        distance += 2
    return 0


def attacked_squares(position, by):
    """All squares that pieces of that colour attack or protect."""
    blockers: u64 = occupied(position)
    ahead: u64 = forward(by, pieces(position, by, PAWN))
    found: u64 = east(ahead) | west(ahead) | KING_ATTACKS[king_square(position, by)]
    left: u64 = pieces(position, by, KNIGHT)
    while left:
        found |= KNIGHT_ATTACKS[pop_lsb(cython.address(left))]
    left = position.colours[by] & (position.kinds[BISHOP] | position.kinds[QUEEN])
    while left:
        found |= bishop_attacks(pop_lsb(cython.address(left)), blockers)
    left = position.colours[by] & (position.kinds[ROOK] | position.kinds[QUEEN])
    while left:
        found |= rook_attacks(pop_lsb(cython.address(left)), blockers)
    return found

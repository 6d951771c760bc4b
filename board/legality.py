"""Is this move possible here? For moves that this position's generator did not write."""

import cython
from cython.cimports.board.attacks import (
    BETWEEN,
    LINE,
    PAWN_ATTACKS,
    bishop_attacks,
    piece_attacks,
    rook_attacks,
)
from cython.cimports.board.bits import bit, has, lsb, more_than_one
from cython.cimports.board.movegen import castling_is_open, castling_is_safe
from cython.cimports.board.position import (
    ConstPosition,
    castling_king_target,
    castling_rook_target,
    en_passant_is_legal,
    is_attacked,
    king_square,
    occupied,
)
from cython.cimports.board.types import (
    BISHOP,
    CAPTURE,
    CASTLING,
    DOUBLE_PUSH,
    EN_PASSANT,
    KING,
    NO_PIECE,
    PAWN,
    QUEEN,
    QUIET,
    ROOK,
    WHITE,
    Move,
    is_capture,
    is_promotion,
    move_flag,
    move_from,
    move_to,
    piece_colour,
    piece_kind,
    promotion_kind,
    relative_rank,
    u64,
)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_pawn_move(position: cython.pointer(ConstPosition), move: Move) -> cython.bint:
    us: cython.int = position.turn
    origin: cython.int = move_from(move)
    target: cython.int = move_to(move)
    flag: cython.int = move_flag(move)
    up: cython.int = 8 if us == WHITE else -8
    if flag == EN_PASSANT:
        return target == position.en_passant and has(PAWN_ATTACKS[us][origin], target)
    # A pawn that reaches the last rank promotes, and only that one does.
    if is_promotion(move) != (relative_rank(us, target) == 7):
        return False
    if is_capture(move):
        return has(PAWN_ATTACKS[us][origin], target)
    if flag == DOUBLE_PUSH:
        return (
            relative_rank(us, origin) == 1
            and target == origin + 2 * up
            and position.squares[origin + up] == NO_PIECE
            and position.squares[target] == NO_PIECE
        )
    return target == origin + up and position.squares[target] == NO_PIECE


def is_pseudo_legal(position, move):
    """Does the piece move like that here, flags and all? Checks and pins are left to `is_legal`."""
    us: cython.int = position.turn
    origin: cython.int = move_from(move)
    target: cython.int = move_to(move)
    flag: cython.int = move_flag(move)
    piece: cython.int = position.squares[origin]
    if piece == NO_PIECE or piece_colour(piece) != us:
        return False
    if flag == CASTLING:
        return (
            piece_kind(piece) == KING
            and has(position.castling_rooks & position.colours[us], target)
            and castling_is_open(position, origin, target)
        )
    if has(position.colours[us], target):
        return False
    # Flag and board agree on whether something is captured (en passant has its victim elsewhere).
    if flag != EN_PASSANT and is_capture(move) != has(position.colours[us ^ 1], target):
        return False
    if piece_kind(piece) == PAWN:
        # 3, 6 and 7 are no flags; QUIET, DOUBLE_PUSH, CAPTURE, EN_PASSANT and the promotions are looked at there.
        return flag != 3 and flag != 6 and flag != 7 and _is_pawn_move(position, move)
    if flag != QUIET and flag != CAPTURE:
        return False
    return has(piece_attacks(piece_kind(piece), origin, occupied(position)), target)


def is_legal(position, move):
    """Does a pseudo-legal move leave its own king safe?"""
    us: cython.int = position.turn
    origin: cython.int = move_from(move)
    target: cython.int = move_to(move)
    flag: cython.int = move_flag(move)
    king: cython.int = king_square(position, us)
    if flag == CASTLING:
        return position.checkers == 0 and castling_is_safe(position, origin, target)
    if flag == EN_PASSANT:
        return en_passant_is_legal(position, origin, target)
    if origin == king:
        return not is_attacked(position, target, us ^ 1, occupied(position) ^ bit(king))
    if has(position.pinned, origin) and not has(LINE[king][origin], target):
        return False
    if position.checkers == 0:
        return True
    if more_than_one(position.checkers):
        return False
    return has(position.checkers | BETWEEN[king][lsb(position.checkers)], target)


def gives_check(position, move):
    """Is the enemy king in check after a legal move?"""
    us: cython.int = position.turn
    origin: cython.int = move_from(move)
    target: cython.int = move_to(move)
    flag: cython.int = move_flag(move)
    king: cython.int = king_square(position, us ^ 1)
    ours: u64 = position.colours[us]
    blockers: u64 = (occupied(position) ^ bit(origin)) | bit(target)
    kind: cython.int = piece_kind(position.squares[origin])

    if flag == CASTLING:
        rook: cython.int = castling_rook_target(origin, target)
        blockers = occupied(position) & ~(bit(origin) | bit(target))
        blockers |= bit(rook) | bit(castling_king_target(origin, target))
        return has(rook_attacks(rook, blockers), king)

    # Directly, by the piece that moved or that the pawn became.
    if is_promotion(move):
        kind = promotion_kind(move)
    if kind == PAWN:
        if has(PAWN_ATTACKS[us][target], king):
            return True
    elif kind != KING and has(piece_attacks(kind, target, blockers), king):
        return True

    # By a slider behind it: only if a line was left open.
    if flag == EN_PASSANT:
        blockers ^= bit(target ^ 8)
    elif LINE[king][origin] == 0 or has(LINE[king][origin], target):
        return False
    sliders: u64 = ours & ~bit(origin)
    return (
        rook_attacks(king, blockers) & sliders & (position.kinds[ROOK] | position.kinds[QUEEN])
        | bishop_attacks(king, blockers) & sliders & (position.kinds[BISHOP] | position.kinds[QUEEN])
    ) != 0

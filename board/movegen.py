"""Generates legal moves directly: what a pin or a check forbids is never written down.

Pinned pieces stay on the line through their king; in check, every piece but the king must capture the checker or step
between (`allowed`); the king may go where nothing attacks it once it has left its square.
"""

import cython
from cython.cimports.board.attacks import (
    ANTIDIAGONALS,
    BETWEEN,
    DIAGONALS,
    FILES,
    KING_ATTACKS,
    KNIGHT_ATTACKS,
    LINE,
    PAWN_ATTACKS,
    bishop_attacks,
    rook_attacks,
)
from cython.cimports.board.bits import (
    ALL_SQUARES,
    FILE_A,
    FILE_H,
    RANK_1,
    RANK_3,
    RANK_6,
    RANK_8,
    bit,
    forward,
    has,
    lsb,
    more_than_one,
    pop_lsb,
)
from cython.cimports.board.position import (
    ConstPosition,
    castling_king_target,
    castling_rook_target,
    en_passant_is_legal,
    is_attacked,
    king_square,
    occupied,
    pieces,
)
from cython.cimports.board.types import (
    BISHOP,
    CAPTURE,
    CASTLING,
    DOUBLE_PUSH,
    EN_PASSANT,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    PROMOTION,
    PROMOTION_CAPTURE,
    QUEEN,
    QUIET,
    ROOK,
    WHITE,
    Move,
    new_move,
    u64,
)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _emit(moves: cython.pointer(Move), origin: cython.int, targets: u64, flag: cython.int) -> cython.pointer(Move):
    """Writes one move per target and returns the place behind the last."""
    while targets:
        moves[0] = new_move(origin, pop_lsb(cython.address(targets)), flag)
        moves += 1
    return moves


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _emit_pawns(moves: cython.pointer(Move), targets: u64, step: cython.int, flag: cython.int) -> cython.pointer(Move):
    """Pawn moves that all go the same way: the origin is the target less the step."""
    while targets:
        target: cython.int = pop_lsb(cython.address(targets))
        moves[0] = new_move(target - step, target, flag)
        moves += 1
    return moves


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _emit_promotions(moves: cython.pointer(Move), targets: u64, step: cython.int, flag: cython.int) -> cython.pointer(
    Move
):
    """Four moves per target, the queen first."""
    piece: cython.int
    while targets:
        target: cython.int = pop_lsb(cython.address(targets))
        for piece in range(QUEEN - KNIGHT, -1, -1):
            moves[0] = new_move(target - step, target, flag | piece)
            moves += 1
    return moves


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _pawn_moves(
    position: cython.pointer(ConstPosition), moves: cython.pointer(Move), wanted: cython.int, allowed: u64
) -> cython.pointer(Move):
    """All pawns at once, shifted as a set.

    A pinned pawn may still push when its king stands on the same file, or capture when the king stands on the
    capture's diagonal: then the pin runs along that line.
    """
    us: cython.int = position.turn
    king: cython.int = king_square(position, us)
    pawns: u64 = pieces(position, us, PAWN)
    free: u64 = ~position.pinned
    empty: u64 = ~occupied(position)
    victims: u64 = position.colours[us ^ 1] & allowed
    last_rank: u64 = RANK_8 if us == WHITE else RANK_1
    up: cython.int = 8 if us == WHITE else -8
    left_line: u64 = ANTIDIAGONALS[king] if us == WHITE else DIAGONALS[king]
    right_line: u64 = DIAGONALS[king] if us == WHITE else ANTIDIAGONALS[king]

    pushed: u64 = forward(us, pawns & (free | FILES[king])) & empty
    once: u64 = pushed & allowed

    if wanted != QUIET_MOVES:
        left: u64 = forward(us, (pawns & (free | left_line) & ~FILE_A) >> 1) & victims
        right: u64 = forward(us, (pawns & (free | right_line) & ~FILE_H) << 1) & victims
        moves = _emit_pawns(moves, left & ~last_rank, up - 1, CAPTURE)
        moves = _emit_pawns(moves, right & ~last_rank, up + 1, CAPTURE)
        if (left | right | once) & last_rank:
            moves = _emit_promotions(moves, left & last_rank, up - 1, PROMOTION_CAPTURE)
            moves = _emit_promotions(moves, right & last_rank, up + 1, PROMOTION_CAPTURE)
            moves = _emit_promotions(moves, once & last_rank, up, PROMOTION)
        if position.en_passant != NO_SQUARE:
            capturers: u64 = PAWN_ATTACKS[us ^ 1][position.en_passant] & pawns
            while capturers:
                origin: cython.int = pop_lsb(cython.address(capturers))
                if en_passant_is_legal(position, origin, position.en_passant):
                    moves[0] = new_move(origin, position.en_passant, EN_PASSANT)
                    moves += 1

    if wanted != TACTICAL_MOVES:
        third_rank: u64 = RANK_3 if us == WHITE else RANK_6
        twice: u64 = forward(us, pushed & third_rank) & empty & allowed
        moves = _emit_pawns(moves, once & ~last_rank, up, QUIET)
        moves = _emit_pawns(moves, twice, 2 * up, DOUBLE_PUSH)
    return moves


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _castling_moves(position: cython.pointer(ConstPosition), moves: cython.pointer(Move)) -> cython.pointer(Move):
    """For a king that is not in check."""
    us: cython.int = position.turn
    king: cython.int = king_square(position, us)
    rooks: u64 = position.castling_rooks & position.colours[us]
    while rooks:
        rook: cython.int = pop_lsb(cython.address(rooks))
        if castling_is_open(position, king, rook) and castling_is_safe(position, king, rook):
            moves[0] = new_move(king, rook, CASTLING)
            moves += 1
    return moves


def castling_is_open(position, king, rook):
    """Nothing but the two themselves stands where either of them passes or lands."""
    king_target: cython.int = castling_king_target(king, rook)
    rook_target: cython.int = castling_rook_target(king, rook)
    path: u64 = BETWEEN[king][king_target] | BETWEEN[rook][rook_target] | bit(king_target) | bit(rook_target)
    return path & occupied(position) & ~(bit(king) | bit(rook)) == 0


def castling_is_safe(position, king, rook):
    """The king passes no attacked square and stands safe at the end, when the rook no longer shields it."""
    them: cython.int = position.turn ^ 1
    king_target: cython.int = castling_king_target(king, rook)
    path: u64 = BETWEEN[king][king_target]
    while path:
        if is_attacked(position, pop_lsb(cython.address(path)), them, occupied(position)):
            return False
    settled: u64 = occupied(position) & ~(bit(king) | bit(rook)) | bit(castling_rook_target(king, rook))
    return not is_attacked(position, king_target, them, settled)


@cython.overflowcheck(False)  # the check would subtract the two pointers as numbers, in bytes
def generate(position, moves, wanted):
    """Writes the legal moves of the wanted sort into `moves` (room for MAX_MOVES) and returns how many there are.

    In check these are the evasions.
    """
    start: cython.pointer(Move) = moves
    us: cython.int = position.turn
    them: cython.int = us ^ 1
    ours: u64 = position.colours[us]
    theirs: u64 = position.colours[them]
    everything: u64 = ours | theirs
    king: cython.int = king_square(position, us)
    captures: u64 = theirs if wanted != QUIET_MOVES else 0
    quiets: u64 = ~everything if wanted != TACTICAL_MOVES else 0
    origin: cython.int
    target: cython.int
    reach: u64
    movers: u64

    steps: u64 = KING_ATTACKS[king] & (captures | quiets)
    while steps:
        target = pop_lsb(cython.address(steps))
        if not is_attacked(position, target, them, everything ^ bit(king)):
            moves[0] = new_move(king, target, CAPTURE if has(theirs, target) else QUIET)
            moves += 1

    allowed: u64 = ALL_SQUARES
    if position.checkers:
        if more_than_one(position.checkers):
            return cython.cast(cython.int, moves - start)
        allowed = position.checkers | BETWEEN[king][lsb(position.checkers)]
        captures &= allowed
        quiets &= allowed
    elif wanted != TACTICAL_MOVES and position.castling_rooks & ours:
        moves = _castling_moves(position, moves)

    moves = _pawn_moves(position, moves, wanted, allowed)

    movers = ours & position.kinds[KNIGHT] & ~position.pinned
    while movers:
        origin = pop_lsb(cython.address(movers))
        reach = KNIGHT_ATTACKS[origin]
        moves = _emit(moves, origin, reach & captures, CAPTURE)
        moves = _emit(moves, origin, reach & quiets, QUIET)

    movers = ours & (position.kinds[BISHOP] | position.kinds[QUEEN])
    while movers:
        origin = pop_lsb(cython.address(movers))
        reach = bishop_attacks(origin, everything)
        if has(position.pinned, origin):
            reach &= LINE[king][origin]
        moves = _emit(moves, origin, reach & captures, CAPTURE)
        moves = _emit(moves, origin, reach & quiets, QUIET)

    movers = ours & (position.kinds[ROOK] | position.kinds[QUEEN])
    while movers:
        origin = pop_lsb(cython.address(movers))
        reach = rook_attacks(origin, everything)
        if has(position.pinned, origin):
            reach &= LINE[king][origin]
        moves = _emit(moves, origin, reach & captures, CAPTURE)
        moves = _emit(moves, origin, reach & quiets, QUIET)

    return cython.cast(cython.int, moves - start)

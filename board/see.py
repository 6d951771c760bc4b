"""Plays out all captures on one square, the cheapest piece first, without making a move.

Each side may stop when going on would lose. Instead of the exact balance the question is only whether it reaches a
threshold, which ends most exchanges after one or two captures.
"""

import cython
from cython.cimports.board.attacks import bishop_attacks, rook_attacks
from cython.cimports.board.bits import bit, lsb
from cython.cimports.board.position import attackers, occupied
from cython.cimports.board.types import (
    BISHOP,
    CASTLING,
    EN_PASSANT,
    KING,
    KNIGHT,
    NO_KIND,
    PAWN,
    QUEEN,
    ROOK,
    is_promotion,
    move_flag,
    move_from,
    move_to,
    piece_kind,
    promotion_kind,
    u64,
)

# Textbook values. A king can capture but never be captured, so its own value plays no part.
EXCHANGE_VALUES[PAWN] = 100
EXCHANGE_VALUES[KNIGHT] = 300
EXCHANGE_VALUES[BISHOP] = 300
EXCHANGE_VALUES[ROOK] = 500
EXCHANGE_VALUES[QUEEN] = 900
EXCHANGE_VALUES[KING] = 0
EXCHANGE_VALUES[NO_KIND] = 0


def see_at_least(position, move, threshold):
    """Does the exchange that `move` starts win at least `threshold` centipawns for the side that moves?

    Pins are not considered; x-ray attackers behind a capturing slider are.
    """
    origin: cython.int = move_from(move)
    target: cython.int = move_to(move)
    flag: cython.int = move_flag(move)
    side: cython.int = position.turn
    kind: cython.int

    if flag == CASTLING:
        return threshold <= 0

    standing: cython.int = piece_kind(position.squares[origin])
    gain: cython.int = EXCHANGE_VALUES[piece_kind(position.squares[target])]
    blockers: u64 = (occupied(position) ^ bit(origin)) | bit(target)
    if flag == EN_PASSANT:
        gain = EXCHANGE_VALUES[PAWN]
        blockers ^= bit(target ^ 8)
    elif is_promotion(move):
        standing = promotion_kind(move)
        gain += EXCHANGE_VALUES[standing] - EXCHANGE_VALUES[PAWN]

    # Is the goal missed even if nothing recaptures, or reached even if the mover is lost for nothing?
    balance: cython.int = gain - threshold
    if balance < 0:
        return False
    balance -= EXCHANGE_VALUES[standing]
    if balance >= 0:
        return True

    straight: u64 = position.kinds[ROOK] | position.kinds[QUEEN]
    diagonal: u64 = position.kinds[BISHOP] | position.kinds[QUEEN]
    fighters: u64 = attackers(position, target, blockers) & blockers
    # From here on `balance` is what the side that is not to capture has above its goal, were the piece on the
    # square lost; a side that cannot or will not capture loses the argument.
    while True:
        side ^= 1
        own: u64 = fighters & position.colours[side]
        if own == 0:
            break
        kind = PAWN
        while own & position.kinds[kind] == 0:
            kind += 1
        if kind == KING:
            # A king captures last, and only when nothing defends any more.
            if fighters & position.colours[side ^ 1]:
                break
            side ^= 1
            break
        blockers ^= bit(lsb(own & position.kinds[kind]))
        if kind in (PAWN, BISHOP, QUEEN):
            fighters |= bishop_attacks(target, blockers) & diagonal
        if kind in (ROOK, QUEEN):
            fighters |= rook_attacks(target, blockers) & straight
        fighters &= blockers
        balance = -balance - 1 - EXCHANGE_VALUES[kind]
        if balance >= 0:
            # Even losing the capturer does not save the other side. (If the other side's only recapture is by a
            # king into a defended square, it cannot even do that: the outcome is the same.)
            side ^= 1
            break
    # `side` is the one that has to give in.
    return side != position.turn

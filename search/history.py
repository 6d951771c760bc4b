"""The verbs of the histories: ask for a score, reward or punish a move, learn where the evaluation errs."""

import cython
from cython.cimports.board.bits import popcount
from cython.cimports.board.position import ConstPosition, occupied
from cython.cimports.board.types import (
    EN_PASSANT,
    PAWN,
    Move,
    i16,
    is_tactical,
    move_flag,
    move_to,
    piece_kind,
    u64,
)
from cython.cimports.libc.string import memset
from cython.cimports.search.parameters import tune
from cython.cimports.search.platform import load_short, store_short
from cython.cimports.search.score import LIMIT_OF_EVALUATION, clamp, smaller


def quiet_score(histories, position, context, move):
    """How well a quiet move did: by itself, with this pawn structure, and as the answer to the moves 1, 2 and 4 plies ago.

    By itself means with attacks on its squares as they are now: that is the context's other part.
    """
    at: cython.int = piece_to(position, move)
    return (
        quiet_entry(histories, position, context, move)[0]
        + histories.pawn[position.pawn_key & (PAWN_ENTRIES - 1)][at]
        + context.rows[0][at]
        + context.rows[1][at]
        + context.rows[2][at] // 2
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _victim(position: cython.pointer(ConstPosition), move: Move) -> cython.int:
    """The captured kind; NO_KIND for a promotion without capture."""
    if move_flag(move) == EN_PASSANT:
        return PAWN
    return piece_kind(position.squares[move_to(move)])


def capture_score(histories, position, move):
    return histories.capture[piece_to(position, move)][_victim(position, move)]


def reward_quiet(histories, position, context, move, bonus):
    """Moves all entries behind `quiet_score` towards the bonus (or, below zero, the malus)."""
    at: cython.int = piece_to(position, move)
    gravity(quiet_entry(histories, position, context, move), bonus)
    gravity(cython.address(histories.pawn[position.pawn_key & (PAWN_ENTRIES - 1)][at]), bonus)
    gravity(context.rows[0] + at, bonus)
    gravity(context.rows[1] + at, bonus)
    gravity(context.rows[2] + at, bonus // 2)


def reward_capture(histories, position, move, bonus):
    gravity(cython.address(histories.capture[piece_to(position, move)][_victim(position, move)]), bonus)


def update_on_cutoff(histories, position, context, killers, best, depth, tried):
    """The move that was good enough gains; those that were tried before it in vain lose."""
    bonus: cython.int = clamp(tune.bonus_slope * depth - tune.bonus_offset, 0, tune.bonus_limit)
    malus: cython.int = clamp(tune.malus_slope * depth - tune.malus_offset, 0, tune.malus_limit)
    index: cython.int
    if is_tactical(best):
        reward_capture(histories, position, best, bonus)
    else:
        if killers[0] != best and depth >= tune.killer_depth:
            killers[1] = killers[0]
            killers[0] = best
        reward_quiet(histories, position, context, best, bonus)
        for index in range(tried.quiet_count):
            reward_quiet(histories, position, context, tried.quiets[index], -malus)
    for index in range(tried.capture_count):
        reward_capture(histories, position, tried.captures[index], -malus)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(key: u64) -> cython.int:
    return cython.cast(cython.int, key & (CORRECTION_ENTRIES - 1))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _correction(
    corrections: cython.pointer(cython.const[Corrections]), position: cython.pointer(ConstPosition), line: cython.int
) -> cython.int:
    """Centipawns to add to the static evaluation, from how far it was off in positions that share a part or moves with this."""
    side: cython.int = position.turn
    total: cython.int = (
        tune.correction_pawn_weight * load_short(cython.address(corrections.pawn[side][_slot(position.pawn_key)]))
        + tune.correction_minor_weight * load_short(cython.address(corrections.minor[side][_slot(position.minor_key)]))
        + tune.correction_piece_weight
        * load_short(cython.address(corrections.pieces[side][0][_slot(position.piece_keys[0])]))
        + tune.correction_piece_weight
        * load_short(cython.address(corrections.pieces[side][1][_slot(position.piece_keys[1])]))
        + tune.correction_line_weight * load_short(cython.address(corrections.line[line]))
    )
    return total // (128 * CORRECTION_UNIT)


def corrected_eval(corrections, position, line, raw):
    """The static evaluation as the search uses it: faded as the fifty-move rule comes near, and with experience added.

    `line` stands for the last two moves (state.pxd).
    With five men or fewer neither is done: a step of a mating drive is worth less than a ply of fading would cost.
    """
    if popcount(occupied(position)) <= 5:
        return raw
    value: cython.int = raw * (200 - smaller(position.halfmove_clock, 100)) // 200
    value += _correction(corrections, position, line)
    return clamp(value, -LIMIT_OF_EVALUATION, LIMIT_OF_EVALUATION)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _blend(entry: cython.pointer(i16), target: cython.int, weight: cython.int) -> cython.void:
    """A moving average that takes over `weight` 1024ths of the newest error."""
    value: cython.int = (load_short(entry) * (1024 - weight) + target * weight) // 1024
    store_short(entry, cython.cast(i16, clamp(value, -CORRECTION_LIMIT, CORRECTION_LIMIT)))


def learn_correction(corrections, position, line, error, depth):
    """The search found `error` centipawns more than the static evaluation had said; a deep search counts for more."""
    side: cython.int = position.turn
    weight: cython.int = clamp(8 * depth + 8, 0, tune.correction_weight_limit)
    target: cython.int = clamp(error, -400, 400) * CORRECTION_UNIT
    _blend(cython.address(corrections.pawn[side][_slot(position.pawn_key)]), target, weight)
    _blend(cython.address(corrections.minor[side][_slot(position.minor_key)]), target, weight)
    _blend(cython.address(corrections.pieces[side][0][_slot(position.piece_keys[0])]), target, weight)
    _blend(cython.address(corrections.pieces[side][1][_slot(position.piece_keys[1])]), target, weight)
    _blend(cython.address(corrections.line[line]), target, weight)


def forget(histories):
    memset(histories, 0, cython.sizeof(Histories))

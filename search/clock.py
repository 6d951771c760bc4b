"""How long to think. Easy moves are played early, doubtful ones get more time, and the flag never falls."""

import cython
from cython.cimports.board.types import i64
from cython.cimports.search.parameters import tune
from cython.cimports.search.platform import now, thread_time
from cython.cimports.search.score import clamp


def budget(remaining, increment, moves_to_go, overhead, stall=0.0):
    """The soft and the hard limit in milliseconds for a move, from what the clock shows.

    `overhead` is what the GUI and the connection may lose per move; it is never spent, and neither is a cushion for the
    hiccups of a busy machine, which may stop a process for a tenth of a second. Where waits for a processor were seen
    (`stall`, the longest of them), the cushion has room for two more. The soft limit is a share of the clock
    plus most of the increment, the hard limit a few times that, but at most seven tenths of what is left. Below ten
    increments on the clock, part of each is saved up, so that fast games do not live from hand to mouth.
    """
    cushion = min(120.0 + 2 * stall, remaining * 0.85)
    usable = max(1.0, remaining - overhead - cushion)
    increment = max(0, increment)
    gained = min(increment, usable / 10) * tune.time_increment / 100
    if moves_to_go > 0:
        # The next moves share the clock; the last one before the time control may use nearly all of it.
        share = usable / min(moves_to_go, 50) * (0.9 if moves_to_go > 1 else 0.7)
        soft = share + gained
    else:
        soft = min(usable * tune.time_share / 10000 + gained, max(1.0, usable / 4))
    most = max(1.0, usable * 0.7)
    hard = min(most, soft * tune.time_hard / 100)
    return min(soft, most), hard


def time_limits(limits, choices, overhead, stall=0.0):
    """The soft and the hard limit in milliseconds that a `Limits` means with so many root moves; -1 for none."""
    soft = hard = -1.0
    if limits.remaining is not None:
        soft, hard = budget(limits.remaining, limits.increment, limits.moves_to_go, overhead, stall)
        if choices == 1:
            soft = 0.0  # an only move needs no thought
    if limits.movetime is not None:
        lost = min(overhead, limits.movetime / 4) + min(stall, limits.movetime / 2)
        movetime = max(1.0, limits.movetime - lost)
        hard = movetime if hard < 0 else min(hard, movetime)
        soft = hard if soft < 0 else min(soft, hard)
    return soft, hard


def start_clock(clock, soft, hard, spent):
    """Begins to count `spent` before now. All in microseconds; a limit below zero is none."""
    clock.started = now() - spent
    clock.active = hard >= 0
    clock.soft = soft
    clock.hard = hard
    clock.stall -= clock.stall // 16
    clock.watched = 0


def start_opinion(opinion):
    opinion.factor = 1.0
    opinion.stable_moves = 0
    opinion.stable_scores = 0
    opinion.best = 0
    opinion.score = 0
    opinion.is_enough = 0


def note_stall(clock, stall):
    """The longest wait counts."""
    if stall > clock.stall:
        clock.stall = stall if stall < MOST_STALL else MOST_STALL


def watch_processor(clock):
    """Notices how long thread 0 was kept from running since its last look: time that passed without work."""
    if not clock.active:
        return
    moment: i64 = now()
    busy: i64 = thread_time()
    if clock.watched != 0 and busy >= 0:
        note_stall(clock, moment - clock.watched - (busy - clock.thread_time))
    clock.watched = moment
    clock.thread_time = busy


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _part(deviation: cython.double, weight: cython.int) -> cython.double:
    """A factor near 1 for the time, of which `weight` per cent count."""
    factor: cython.double = 1.0 + deviation * weight / 100.0
    return factor if factor > 0.1 else 0.1


def weigh(opinion, best, score, share):
    """Takes in the iteration that has just ended. `share` is the part of all nodes that went into the best move."""
    drop: cython.int = clamp(opinion.score - score, 0, 60) if opinion.best != 0 else 0
    opinion.stable_moves = clamp(opinion.stable_moves + 1, 0, 8) if best == opinion.best else 0
    opinion.stable_scores = clamp(opinion.stable_scores + 1, 0, 8) if -10 <= score - opinion.score <= 10 else 0
    opinion.best = best
    opinion.score = score
    opinion.factor = (
        _part(1.15 - 1.5 * share, tune.time_rivals)  # 0.65 .. 2.15: all nodes on one move, or many rivals
        * _part(
            0.25 - 0.05 * opinion.stable_moves, tune.time_stability
        )  # 0.85 .. 1.25: the same move again, or a new one
        * _part(
            0.15 - 0.04 * opinion.stable_scores, tune.time_settled
        )  # 0.83 .. 1.15: a settled score, or a moving one
        * _part(drop / 120.0, tune.time_drop)  # 1.00 .. 1.50: the score is falling
    )


def soft_stop(clock, opinion):
    """Is another iteration not worth its time?"""
    if not clock.active:
        return False
    spent: i64 = now() - clock.started
    return spent >= clock.hard or spent > clock.soft * opinion.factor


def hard_stop(clock):
    """Must the search end now?"""
    return clock.active and now() - clock.started >= clock.hard

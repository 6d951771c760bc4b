"""What happens on the way from node to node: limits, draws, moves made, and what is learned from a cut-off."""

import cython
from cython.cimports.board.bits import popcount
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import (
    ConstPosition,
    Position,
    attacked_squares,
    is_insufficient_material,
    make_move,
    make_null_move,
    occupied,
    repetition_distance,
)
from cython.cimports.board.types import MAX_MOVES, NO_MOVE, Move, is_tactical, u64
from cython.cimports.search.clock import hard_stop
from cython.cimports.search.history import NO_ROW, Situation, correction, piece_to, reward_capture, reward_quiet
from cython.cimports.search.parameters import tune
from cython.cimports.search.platform import load_flag, store_flag
from cython.cimports.search.score import LIMIT_OF_EVALUATION, clamp, smaller
from cython.cimports.search.state import Frame, RootMove, Shared, Worker
from cython.cimports.search.table import store


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def poll(worker: cython.pointer(Worker)) -> cython.void:
    """Looks at the limits that can end a search from outside: the stop flag, the clock, the node count."""
    shared: cython.pointer(Shared) = worker.shared
    total: u64 = 0
    index: cython.int
    if load_flag(cython.address(shared.stop)):
        worker.stopped = True
        return
    if worker.index != 0:
        return
    if not load_flag(cython.address(shared.pondering)) and hard_stop(cython.address(shared.clock)):
        worker.stopped = True
    if shared.limits.nodes != 0 and shared.threads > 1:
        for index in range(shared.threads):
            total += shared.workers[index].nodes
        if total >= shared.limits.nodes:
            worker.stopped = True
    if worker.stopped:
        store_flag(cython.address(shared.stop), 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_draw(worker: cython.pointer(Worker), frame: cython.pointer(Frame)) -> cython.bint:
    """Fifty moves, insufficient material, or a repetition.

    Inside the tree one repetition is enough: what was right the first time is right the second time. A position from
    the game counts only when it comes for the third time, as the rules say.
    """
    position: cython.pointer(Position) = cython.address(frame.position)
    moves: Move[MAX_MOVES]
    if position.halfmove_clock >= 100:
        # Mate goes before the fifty-move rule.
        return position.checkers == 0 or generate(position, moves, ALL_MOVES) != 0
    if is_insufficient_material(position):
        return True
    reversible: cython.int = smaller(position.halfmove_clock, frame.plies_since_null)
    if reversible < 4:
        return False
    last: cython.int = worker.root_key + frame.ply
    distance: cython.int = repetition_distance(worker.keys, last, reversible)
    if distance == 0:
        return False
    if distance < frame.ply:
        return True
    return repetition_distance(worker.keys, last - distance, reversible - distance) != 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def corrected(worker: cython.pointer(Worker), position: cython.pointer(ConstPosition), raw: cython.int) -> cython.int:
    """The static evaluation as the search uses it: faded as the fifty-move rule comes near, and with experience added.

    With five men or fewer neither is done: a step of a mating drive is worth less than a ply of fading would cost.
    """
    if popcount(occupied(position)) <= 5:
        return raw
    value: cython.int = raw * (200 - smaller(position.halfmove_clock, 100)) // 200
    if tune.use_correction:
        value += correction(cython.address(worker.histories), position)
    return clamp(value, -LIMIT_OF_EVALUATION, LIMIT_OF_EVALUATION)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def look_around(frame: cython.pointer(Frame)) -> cython.void:
    """Notes what the worth of this node's quiet moves depends on: the moves before it, and what the other side attacks."""
    position: cython.pointer(Position) = cython.address(frame.position)
    frame.situation.rows[0] = (frame - 1).row
    frame.situation.rows[1] = (frame - 2).row
    frame.situation.rows[2] = (frame - 4).row
    frame.situation.threats = attacked_squares(position, position.turn ^ 1) if tune.use_threats else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def set_move(worker: cython.pointer(Worker), frame: cython.pointer(Frame), move: Move) -> cython.void:
    """Notes the move that is about to be searched, and prepares the child's place in the line."""
    child: cython.pointer(Frame) = frame + 1
    frame.move = move
    frame.row = cython.address(worker.histories.continuation[piece_to(cython.address(frame.position), move)][0])
    make_move(cython.address(frame.position), cython.address(child.position), move)
    child.plies_since_null = frame.plies_since_null + 1
    worker.keys[worker.root_key + frame.ply + 1] = child.position.key


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def set_null_move(worker: cython.pointer(Worker), frame: cython.pointer(Frame)) -> cython.void:
    child: cython.pointer(Frame) = frame + 1
    frame.move = NO_MOVE
    frame.row = cython.address(worker.histories.continuation[NO_ROW][0])
    make_null_move(cython.address(frame.position), cython.address(child.position))
    child.plies_since_null = 0
    worker.keys[worker.root_key + frame.ply + 1] = child.position.key


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_root_move(worker: cython.pointer(Worker), move: Move) -> cython.pointer(RootMove):
    """The root move's record, if it is to be searched now: allowed, and not in an earlier MultiPV line."""
    index: cython.int
    for index in range(worker.pv_index, worker.pv_last):
        if worker.root_moves[index].move == move:
            return cython.address(worker.root_moves[index])
    return cython.NULL


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reward_cutoff(
    worker: cython.pointer(Worker),
    frame: cython.pointer(Frame),
    best: Move,
    depth: cython.int,
    quiets: cython.pointer(Move),
    quiet_count: cython.int,
    captures: cython.pointer(Move),
    capture_count: cython.int,
) -> cython.void:
    """The move that was good enough gains; those that were tried before it in vain lose."""
    position: cython.pointer(Position) = cython.address(frame.position)
    situation: cython.pointer(Situation) = cython.address(frame.situation)
    bonus: cython.int = clamp(tune.bonus_slope * depth - tune.bonus_offset, 0, tune.bonus_limit)
    malus: cython.int = clamp(tune.malus_slope * depth - tune.malus_offset, 0, tune.malus_limit)
    index: cython.int
    if is_tactical(best):
        reward_capture(cython.address(worker.histories), position, best, bonus)
    else:
        if frame.killers[0] != best and tune.use_killers:
            frame.killers[1] = frame.killers[0]
            frame.killers[0] = best
        reward_quiet(cython.address(worker.histories), position, situation, best, bonus)
        for index in range(quiet_count):
            reward_quiet(cython.address(worker.histories), position, situation, quiets[index], -malus)
    for index in range(capture_count):
        reward_capture(cython.address(worker.histories), position, captures[index], -malus)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def remember(
    worker: cython.pointer(Worker),
    frame: cython.pointer(Frame),
    move: Move,
    score: cython.int,
    evaluation: cython.int,
    depth: cython.int,
    bound: cython.int,
) -> cython.void:
    """Enters what was found out about this node into the table."""
    if tune.use_table:
        store(
            cython.address(worker.shared.table),
            frame.position.key,
            frame.ply,
            move,
            score,
            evaluation,
            depth,
            bound,
            frame.on_pv,
        )

"""The root and its moves: what a search begins with, and the record that it keeps of each of them."""

import cython
from cython.cimports.board.position import ConstPosition
from cython.cimports.board.types import Move, u64
from cython.cimports.libc.string import memcpy
from cython.cimports.search.clock import start_clock, start_opinion
from cython.cimports.search.history import NO_ROW
from cython.cimports.search.platform import store_flag
from cython.cimports.search.score import INFINITE, MAX_PLY, NO_SCORE
from cython.cimports.search.state import (
    FRAMES_BELOW,
    REPORT_CURRENT,
    Frame,
    RootMove,
    SearchLimits,
    Shared,
    Worker,
)
from cython.cimports.search.tt import EXACT, LOWER_BOUND, NO_BOUND, UPPER_BOUND, tt_new_search


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _set_root(
    worker: cython.pointer(Worker),
    position: cython.pointer(ConstPosition),
    moves: cython.pointer(cython.const[Move]),
    count: cython.int,
) -> cython.void:
    """Puts a position and the moves to be searched at the root of one thread."""
    index: cython.int
    root: cython.pointer(RootMove)
    frame: cython.pointer(Frame)
    for index in range(MAX_PLY + FRAMES_BELOW + 6):
        frame = cython.address(worker.frames[index])
        frame.ply = index - FRAMES_BELOW
        frame.static_eval = NO_SCORE
        frame.plies_since_null = 0
        frame.cutoffs = 0
        frame.double_extensions = 0
        frame.on_pv = False
        frame.move = 0
        frame.excluded = 0
        frame.killers[0] = 0
        frame.killers[1] = 0
        frame.row = cython.address(worker.histories.continuation[NO_ROW][0])
        frame.pv_length = 0
    frame = cython.address(worker.frames[FRAMES_BELOW])
    memcpy(cython.address(frame.position), position, cython.sizeof(frame.position))
    frame.plies_since_null = position.halfmove_clock
    worker.nodes = 0
    worker.tb_hits = 0
    worker.seldepth = 0
    worker.root_depth = 0
    worker.completed_depth = 0
    worker.null_move_floor = 0
    worker.pv_index = 0
    worker.stopped = False
    for index in range(count):
        root = cython.address(worker.root_moves[index])
        root.move = moves[index]
        root.score = -INFINITE
        root.previous_score = -INFINITE
        root.average_score = -INFINITE
        root.tb_rank = 0
        root.seldepth = 0
        root.bound = NO_BOUND
        root.nodes = 0
        root.pv_length = 1
        root.pv[0] = root.move
    worker.root_count = count


def start_search(shared, limits, position, keys, key_count, moves, move_count):
    """Sets up all threads for a search and starts the clock; `iterate` does the rest. UCI and self-play begin here.

    `keys` are those of the game, at most GAME_KEYS, the root's last. Endgame tables are not asked and nothing is reported,
    unless the caller sets `tb_probe_wdl` and `report` afterwards.
    """
    index: cython.int
    worker: cython.pointer(Worker)
    memcpy(cython.address(shared.limits), limits, cython.sizeof(SearchLimits))
    shared.tb_probe_wdl = cython.NULL
    shared.report = cython.NULL
    store_flag(cython.address(shared.stop), 0)
    store_flag(cython.address(shared.pondering), limits.ponder)
    tt_new_search(cython.address(shared.tt))
    for index in range(shared.threads):
        worker = shared.workers[index]
        memcpy(worker.keys, keys, key_count * cython.sizeof(u64))
        worker.root_key = key_count - 1
        start_opinion(cython.address(worker.opinion))
        _set_root(worker, position, moves, move_count)
    start_clock(cython.address(shared.clock), limits.soft_time, limits.hard_time, limits.spent)
    shared.began = shared.clock.started


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_better(a: cython.pointer(RootMove), b: cython.pointer(RootMove)) -> cython.bint:
    if a.tb_rank != b.tb_rank:
        return a.tb_rank > b.tb_rank
    if a.score != b.score:
        return a.score > b.score
    return a.previous_score > b.previous_score


def sort_root_moves(moves, first, behind):
    """A stable insertion sort: equal moves keep their order, and little changes from one iteration to the next."""
    held: RootMove
    index: cython.int
    place: cython.int
    for index in range(first + 1, behind):
        if not _is_better(cython.address(moves[index]), cython.address(moves[index - 1])):
            continue
        held = moves[index]
        place = index
        while place > first and _is_better(cython.address(held), cython.address(moves[place - 1])):
            moves[place] = moves[place - 1]
            place -= 1
        moves[place] = held


def find_root_move(worker, move):
    """The root move's record, if it is to be searched now: allowed, and not in an earlier MultiPV line."""
    index: cython.int
    for index in range(worker.pv_index, worker.pv_last):
        if worker.root_moves[index].move == move:
            return cython.address(worker.root_moves[index])
    return cython.NULL


def begin_root_move(worker, move, number):
    """Tells the listener which root move is being searched, as number so many."""
    shared: cython.pointer(Shared) = worker.shared
    worker.current_move = move
    if worker.index == 0 and shared.report != cython.NULL:
        shared.report(shared.report_context, worker, REPORT_CURRENT, number)


def finish_root_move(worker, root_move, score, alpha, beta, is_first, nodes):
    """Enters a root move's result, its nodes and its line into its record.

    A score that is only known to be no better than the best is not kept: the sort is stable, so the move keeps its place.
    """
    child: cython.pointer(Frame) = cython.address(worker.frames[FRAMES_BELOW + 1])
    root_move.nodes += nodes
    if not is_first and score <= alpha:
        root_move.score = -INFINITE
        return
    root_move.score = score
    if root_move.average_score == -INFINITE:
        root_move.average_score = score
    else:
        root_move.average_score = (score + root_move.average_score) // 2
    root_move.seldepth = worker.seldepth
    root_move.bound = UPPER_BOUND if score <= alpha else LOWER_BOUND if score >= beta else EXACT
    root_move.pv[0] = root_move.move
    memcpy(cython.address(root_move.pv[1]), child.pv, child.pv_length * cython.sizeof(Move))
    root_move.pv_length = child.pv_length + 1

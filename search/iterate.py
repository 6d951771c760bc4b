"""Iterative deepening with aspiration windows: depth 1, 2, 3 … until a limit is reached.

Each iteration leaves its best line in the table and in the histories, so the next one orders its moves well; together
they cost little more than the last alone, and there is a best move at any time.
"""

import cython
from cython.cimports.search.clock import soft_stop, weigh
from cython.cimports.search.parameters import tune
from cython.cimports.search.platform import load_flag, store_flag
from cython.cimports.search.root import sort_root_moves
from cython.cimports.search.score import INFINITE, MATE, MAX_PLY, clamp, is_mate, is_win
from cython.cimports.search.state import (
    FRAMES_BELOW,
    REPORT_LINE,
    Frame,
    RootMove,
    Shared,
    Worker,
)
from cython.cimports.search.tree import search_node
from cython.cimports.search.tt import EXACT, NO_BOUND, UPPER_BOUND


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _report(worker: cython.pointer(Worker), kind: cython.int, number: cython.int) -> cython.void:
    if worker.index == 0 and worker.shared.report != cython.NULL:
        worker.shared.report(worker.shared.report_context, worker, kind, number)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_window(worker: cython.pointer(Worker), depth: cython.int) -> cython.void:
    """One iteration of one MultiPV line. The score will be close to the last: a narrow window cuts more.

    Outside the window the search is repeated with a wider one; a fail high, which only wants confirmation, a ply less
    deep each time.
    """
    best: cython.pointer(RootMove) = cython.address(worker.root_moves[worker.pv_index])
    root: cython.pointer(Frame) = cython.address(worker.frames[FRAMES_BELOW])
    alpha: cython.int = -INFINITE
    beta: cython.int = INFINITE
    delta: cython.int = tune.aspiration_window
    reduced: cython.int = 0
    centre: cython.int = best.average_score
    if depth >= tune.aspiration_depth and best.previous_score != -INFINITE:
        delta += clamp(centre * centre // 16384, 0, 1000)
        alpha = clamp(centre - delta, -INFINITE, INFINITE)
        beta = clamp(centre + delta, -INFINITE, INFINITE)
    while True:
        score: cython.int = search_node(worker, root, alpha, beta, clamp(depth - reduced, 1, MAX_PLY), False)
        sort_root_moves(worker.root_moves, worker.pv_index, worker.pv_last)
        if worker.stopped:
            return
        if score <= alpha:
            beta = (alpha + beta) // 2
            alpha = clamp(score - delta, -INFINITE, INFINITE)
            reduced = 0
        elif score >= beta:
            beta = clamp(score + delta, -INFINITE, INFINITE)
            if not is_win(score):
                reduced = clamp(reduced + 1, 0, 3)
        else:
            return
        if worker.shared.limits.multipv == 1:
            _report(worker, REPORT_LINE, 0)
        delta += delta // 2 + 3
        if delta > 1000:
            alpha = -INFINITE
            beta = INFINITE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_enough(worker: cython.pointer(Worker)) -> cython.bint:
    """Do most threads think that another iteration is not worth its time?

    Each has its own best move and its own doubts about it. Asking only the first would make the length of the search as
    uncertain as one search is (Reckless measured +4.5 Elo with eight threads).
    """
    shared: cython.pointer(Shared) = worker.shared
    best: cython.pointer(RootMove) = cython.address(worker.root_moves[0])
    share: cython.double = cython.cast(cython.double, best.nodes) / (worker.nodes + 1)
    weigh(cython.address(worker.opinion), best.move, best.score, share)
    if load_flag(cython.address(shared.pondering)):
        return False
    is_enough: cython.bint = soft_stop(cython.address(shared.clock), cython.address(worker.opinion))
    store_flag(cython.address(worker.opinion.is_enough), is_enough)
    if not is_enough:
        return False
    votes: cython.int = 0
    index: cython.int
    for index in range(shared.threads):
        votes += load_flag(cython.address(shared.workers[index].opinion.is_enough))
    return 2 * votes > shared.threads


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_done(worker: cython.pointer(Worker)) -> cython.bint:
    """Between iterations: has a limit been reached that the tree does not watch? All but the clock is the first thread's."""
    shared: cython.pointer(Shared) = worker.shared
    if shared.clock.active and _is_enough(worker):
        return True
    if worker.index != 0:
        return False
    best: cython.pointer(RootMove) = cython.address(worker.root_moves[0])
    if is_mate(best.score):
        plies: cython.int = MATE - (best.score if best.score > 0 else -best.score)
        if shared.limits.mate > 0 and plies <= 2 * shared.limits.mate:
            return True
        # With a clock running, a mate that twice its depth has not shortened is played.
        if shared.clock.active and worker.root_depth > 2 * plies and shared.limits.multipv == 1:
            return not load_flag(cython.address(shared.pondering))
    return shared.limits.soft_nodes != 0 and worker.nodes >= shared.limits.soft_nodes


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keep_complete_line(worker: cython.pointer(Worker)) -> cython.void:
    """A search stopped between two windows leaves only a bound for its best move: the last exact line says more."""
    best: cython.pointer(RootMove) = cython.address(worker.root_moves[0])
    if worker.completed_depth == 0 or best.bound == EXACT:
        return
    if best.move == worker.last_best.move or best.bound == UPPER_BOUND:
        index: cython.int
        for index in range(worker.root_count):
            if worker.root_moves[index].move == worker.last_best.move:
                worker.root_moves[index] = worker.root_moves[0]
                worker.root_moves[0] = worker.last_best
                return


def iterate(worker):
    """Searches until a limit or the stop flag ends it; the result lies in root_moves[0]."""
    shared: cython.pointer(Shared) = worker.shared
    depth: cython.int
    index: cython.int
    lines: cython.int = shared.limits.multipv if shared.limits.multipv < worker.root_count else worker.root_count
    for depth in range(1, shared.limits.depth + 1):
        worker.root_depth = depth
        for index in range(worker.root_count):
            # What is left from the iteration before is no result of this one, should it be stopped early.
            worker.root_moves[index].previous_score = worker.root_moves[index].score
            worker.root_moves[index].score = -INFINITE
            worker.root_moves[index].bound = NO_BOUND
        worker.pv_last = 0
        worker.pv_index = 0
        while worker.pv_index < lines:
            if worker.pv_index == worker.pv_last:
                # Moves that endgame tables rank alike are searched together.
                while worker.pv_last < worker.root_count and (
                    worker.root_moves[worker.pv_last].tb_rank == worker.root_moves[worker.pv_index].tb_rank
                ):
                    worker.pv_last += 1
            worker.seldepth = 0
            _search_window(worker, depth)
            if worker.stopped:
                break
            sort_root_moves(worker.root_moves, 0, worker.pv_index + 1)
            worker.pv_index += 1
        if worker.stopped:
            _keep_complete_line(worker)
            break
        worker.completed_depth = depth
        worker.last_best = worker.root_moves[0]
        for index in range(lines):
            _report(worker, REPORT_LINE, index)
        if _is_done(worker):
            if worker.index != 0:
                store_flag(cython.address(shared.stop), 1)  # the last vote was this one's: the first thread ends, too
            break

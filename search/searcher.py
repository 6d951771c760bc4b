"""Runs searches: keeps the threads, hands them their work, and reports through a listener. Nothing here prints.

Lazy SMP: every thread searches the same position on its own; they help each other only through the shared
transposition table. Threads are started once and sleep on a condition between searches.
"""

import os
import sys
import threading
from typing import NamedTuple

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.pages import allocate_pages, free_pages
from cython.cimports.board.types import MAX_MOVES, Move, i64, u64
from cython.cimports.book.endgame.syzygy import Tables, probe_wdl
from cython.cimports.eval.evaluator import clear_workspace, free_workspace, new_workspace
from cython.cimports.libc.string import memset
from cython.cimports.search.clock import note_stall
from cython.cimports.search.history import forget
from cython.cimports.search.joined import iterate
from cython.cimports.search.platform import load_flag, load_word, now, store_flag
from cython.cimports.search.root import start_search
from cython.cimports.search.score import DRAW, INFINITE, MATE, MATE_IN_SIGHT, MAX_PLY, TB_WIN
from cython.cimports.search.state import (
    GAME_KEYS,
    REPORT_CURRENT,
    REPORT_LINE,
    RootMove,
    SearchLimits,
    Shared,
    Worker,
)
from cython.cimports.search.tt import (
    tt_allocate,
    tt_hashfull,
    tt_release,
    tt_wipe,
)

from search.clock import time_limits

MAX_THREADS = 256
MAX_MULTIPV = 256
MAX_DEPTH = MAX_PLY - 1
_STACK_BYTES = 16 << 20
_BOUNDS = {0: "exact", 1: "upper", 2: "lower", 3: "exact"}


def effective_branching_factor(nodes, depth):
    """The width b of a uniform tree with as many nodes: b + b² + … + b^depth = nodes (Russell and Norvig's measure)."""
    if depth < 1 or nodes < depth:
        return 0.0
    low, high = 1.0, float(nodes)
    for _ in range(60):
        middle = (low + high) / 2
        if middle > 1 and (middle ** (depth + 1) - middle) / (middle - 1) > nodes:
            high = middle
        else:
            low = middle
    return (low + high) / 2


class Limits(NamedTuple):
    """When a search ends: whichever comes first. None and False mean that this limit is not set.

    Times are milliseconds; `remaining`, `increment` and `moves_to_go` are the clock of the side to move, and `spent` is
    what passed since it began to run. `soft_nodes` ends the search after the iteration that crosses it. `moves`
    restricts the root to these moves, and `ranks`, a dict from root move to number, makes only the moves of the highest
    rank count (endgame tables set it). `results`, from root move to -2 … 2, are what tables say of the moves: shown as
    the score, unless a mate is found. `probe` is False when the tables have said all at the root, so that the tree need
    not ask them again.
    """

    depth: int | None = None
    nodes: int | None = None
    soft_nodes: int | None = None
    movetime: int | None = None
    remaining: int | None = None
    increment: int = 0
    moves_to_go: int = 0
    spent: float = 0.0
    mate: int | None = None
    infinite: bool = False
    ponder: bool = False
    moves: tuple | None = None
    ranks: dict | None = None
    results: dict | None = None
    probe: bool = True


class Info(NamedTuple):
    """One line of a search in progress. The score is in centipawns, or in moves to mate when `is_mate` is set."""

    depth: int
    seldepth: int
    multipv: int
    score: int
    is_mate: bool
    bound: str
    nodes: int
    nps: int
    hashfull: int
    tb_hits: int
    milliseconds: int
    pv: tuple

    @property
    def branching(self) -> float:
        """The effective branching factor so far."""
        return effective_branching_factor(self.nodes, self.depth)


class Result(NamedTuple):
    """What a search found. `best` is 0 when there is no legal move; `ponder` is the expected reply or 0."""

    best: int
    ponder: int
    info: Info


class Listener:
    """Receives what a search reports. Override what you want to hear; calls come from the search's first thread."""

    def on_info(self, info):
        """A line has a new result."""

    def on_current(self, move, number):
        """A root move is being searched, after the first three seconds."""

    def on_waiting(self):
        """Everything has been searched, but the result is not wanted yet: infinite analysis, or pondering."""

    def on_result(self, result):
        """The search is over."""


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _report(
    context: cython.p_void, worker: cython.pointer(Worker), kind: cython.int, number: cython.int
) -> cython.void:
    """From compiled code into Python: only what will be heard takes the interpreter lock."""
    if kind == REPORT_CURRENT and now() - worker.shared.began < 3000000:
        return
    with cython.gil:
        cython.cast(Searcher, context)._on_report(worker, kind, number)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _total_nodes(shared: cython.pointer(Shared)) -> u64:
    total: u64 = 0
    index: cython.int
    for index in range(shared.threads):
        total += load_word(cython.address(shared.workers[index].nodes))
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _total_tb_hits(shared: cython.pointer(Shared)) -> u64:
    total: u64 = 0
    index: cython.int
    for index in range(shared.threads):
        total += load_word(cython.address(shared.workers[index].tb_hits))
    return total


@cython.final
@cython.cclass
class Searcher:
    """A search engine without a protocol: set it up, `start` or `think`, `stop`."""

    def __cinit__(self):
        self.shared = cython.cast(cython.pointer(Shared), allocate_pages(cython.sizeof(Shared)))
        if self.shared == cython.NULL:
            raise MemoryError("no memory for a search")

    def __init__(self, *, megabytes: int = 16, threads: int = 1):
        self._wake = threading.Condition()
        self._threads = []
        self.overhead = 10
        self.multipv = 1
        self.set_hash(megabytes)
        self.set_threads(threads)

    def __dealloc__(self):
        if self.shared != cython.NULL:
            self._drop_workers(0)
            tt_release(cython.address(self.shared.tt))
            free_pages(self.shared, cython.sizeof(Shared))

    # Setting up: only between searches

    def _add_worker(self):
        worker: cython.pointer(Worker) = cython.cast(cython.pointer(Worker), allocate_pages(cython.sizeof(Worker)))
        if worker == cython.NULL:
            raise MemoryError("no memory for another search thread")
        worker.workspace = new_workspace()
        if worker.workspace == cython.NULL:
            free_pages(worker, cython.sizeof(Worker))
            raise MemoryError("no memory for another search thread")
        worker.shared = self.shared
        worker.index = self.shared.threads
        self.shared.workers[worker.index] = worker
        self.shared.threads += 1

    def _drop_workers(self, keep):
        while self.shared.threads > keep:
            self.shared.threads -= 1
            worker: cython.pointer(Worker) = self.shared.workers[self.shared.threads]
            free_workspace(worker.workspace)
            free_pages(worker, cython.sizeof(Worker))

    @property
    def threads(self) -> int:
        return self.shared.threads

    @property
    def stall(self) -> float:
        """The longest wait for a processor that the last searches with a clock have seen, in milliseconds."""
        return self.shared.clock.stall / 1000

    def note_wait(self, milliseconds: float):
        """Tells of a wait that no search could see; the next one keeps as much in reserve."""
        self.wait()
        note_stall(cython.address(self.shared.clock), int(milliseconds * 1000))

    @property
    def megabytes(self) -> int:
        return self._megabytes

    def set_hash(self, megabytes: int):
        """Resizes (and empties) the transposition table. MemoryError when there is no room; then the old one stays."""
        self.wait()
        if megabytes < 1:
            raise ValueError("the transposition table needs at least 1 MB")
        if megabytes >= 1 << 40 or not tt_allocate(cython.address(self.shared.tt), megabytes):
            raise MemoryError(f"no memory for a table of {megabytes} MB")
        self._megabytes = megabytes
        self._wipe_tt()  # touches every page now: the first search shall not pay for it

    def set_threads(self, count: int):
        """Changes the number of search threads; those that stay keep what they have learned.

        Where there is no room for all, there are fewer of them afterwards: `threads` tells.
        """
        if not 1 <= count <= MAX_THREADS:
            raise ValueError(f"the number of threads lies between 1 and {MAX_THREADS}")
        self.wait()
        self._end_threads()
        self._drop_workers(count)
        while self.shared.threads < count:
            try:
                self._add_worker()
            except MemoryError:
                if self.shared.threads == 0:
                    raise
                break

    def set_tables(self, tables, *, men: int = 7, depth: int = 1, rule50: bool = True):
        """Endgame tables (a `book.endgame.syzygy.Tables`, or None) for positions of up to `men` pieces and, where they have that
        many, at least `depth` plies of search to go.
        """
        self.wait()
        self._tables = tables
        self.shared.tb_context = cython.NULL
        self.shared.tb_men = 0
        if tables is not None:
            known: Tables = tables
            self.shared.tb_context = known.collection
            self.shared.tb_men = min(men, known.largest)
        self.shared.tb_depth = depth
        self.shared.tb_rule50 = rule50

    def clear(self):
        """Forgets everything that was learned: transposition table, histories, caches. For a new game."""
        self.wait()
        index: cython.int
        for index in range(self.shared.threads):
            forget(cython.address(self.shared.workers[index].histories))
            clear_workspace(self.shared.workers[index].workspace)
        memset(cython.address(self.shared.corrections), 0, cython.sizeof(self.shared.corrections))
        self._wipe_tt()

    def _wipe_tt(self):
        """Empties the transposition table; above 1 GB, where it takes a while, on all cores."""
        parts = 1 if self._megabytes <= 1024 else min(os.cpu_count() or 1, 16)
        cleaners = [threading.Thread(target=self._wipe, args=(part, parts)) for part in range(1, parts)]
        for cleaner in cleaners:
            cleaner.start()
        self._wipe(0, parts)
        for cleaner in cleaners:
            cleaner.join()

    def _wipe(self, part: cython.int, parts: cython.int):
        with cython.nogil:
            tt_wipe(cython.address(self.shared.tt), part, parts)

    # Searching

    @property
    def is_running(self) -> bool:
        return self._running

    def _prepare(self, board, limits):
        """From Python's `Limits` and `Board` to what `start_search` takes."""
        game: Board = board
        shared: cython.pointer(Shared) = self.shared
        index: cython.int
        number: cython.int
        wanted: SearchLimits
        keys: u64[GAME_KEYS]
        root_moves: Move[MAX_MOVES]
        moves = board.legal_moves()
        if limits.moves is not None:
            moves = [move for move in moves if move in limits.moves]
        choices = len(moves)
        if limits.ranks:
            moves.sort(key=lambda move: -limits.ranks.get(move, 0))
            choices = sum(limits.ranks.get(move, 0) == limits.ranks.get(moves[0], 0) for move in moves)
        for index in range(len(moves)):
            root_moves[index] = moves[index]
        soft, hard = time_limits(limits, choices, self.overhead, self.stall)
        wanted.depth = min(MAX_DEPTH, limits.depth) if limits.depth is not None else MAX_DEPTH
        wanted.mate = limits.mate or 0
        wanted.multipv = self.multipv
        wanted.ponder = limits.ponder
        wanted.nodes = limits.nodes or 0
        wanted.soft_nodes = limits.soft_nodes or 0
        wanted.soft_time = int(soft * 1000)
        wanted.hard_time = int(hard * 1000)
        wanted.spent = int(limits.spent * 1000)
        self._board = board
        self._tb_results = limits.results
        start_search(
            shared,
            cython.address(wanted),
            game.current(),
            keys,
            game.copy_keys(keys, GAME_KEYS),
            root_moves,
            len(moves),
        )
        if self._tables is not None and limits.probe:
            shared.tb_probe_wdl = probe_wdl
        if self._listener is not None:
            shared.report = _report
            shared.report_context = cython.cast(cython.p_void, self)
        if limits.ranks and moves:
            shared.workers[0].tb_hits = len(limits.ranks)
            for index in range(shared.threads):
                for number in range(len(moves)):
                    shared.workers[index].root_moves[number].tb_rank = limits.ranks.get(moves[number], 0)

    def think(self, board, limits, listener=None) -> Result:
        """Searches and waits for the result. With one thread it runs in the caller's."""
        if self.shared.threads > 1:
            self.start(board, limits._replace(infinite=False, ponder=False), listener)
            self.wait()
            return self._result
        self.wait()
        self._listener = listener
        self._prepare(board.copy(), limits._replace(infinite=False, ponder=False))
        if self.shared.workers[0].root_count:
            with cython.nogil:
                iterate(self.shared.workers[0])
        return self._make_result()

    def start(self, board, limits, listener=None):
        """Begins a search and returns at once. The listener hears of it from another thread."""
        with self._wake:
            if self._running:
                raise RuntimeError("a search is running")
            self._start_threads()
            self._listener = listener
            self._prepare(board.copy(), limits)
            self._held = limits.infinite or limits.ponder
            self._helpers_at_work = self.shared.threads - 1
            self._running = True
            self._job += 1
            self._wake.notify_all()

    def stop(self):
        """Ends the running search, if there is one; its result is on the way."""
        with self._wake:
            if self._running:
                store_flag(cython.address(self.shared.stop), 1)
                self._held = False
                self._wake.notify_all()

    def ponderhit(self):
        """The expected move was played: from now on the clock counts."""
        with self._wake:
            if self._running and load_flag(cython.address(self.shared.pondering)):
                self.shared.clock.started = now()
                store_flag(cython.address(self.shared.pondering), 0)
                self._held = False
                self._wake.notify_all()

    def wait(self, timeout=None) -> bool:
        """Waits until no search is running; False if it still is after `timeout` seconds."""
        if self._wake is None:
            return True
        with self._wake:
            return self._wake.wait_for(lambda: not self._running, timeout)

    def close(self):
        """Stops everything and ends the threads."""
        self.stop()
        self.wait()
        self._end_threads()

    # Threads

    def _start_threads(self):
        if self._threads:
            return
        old = threading.stack_size(_STACK_BYTES)
        try:
            for index in range(self.shared.threads):
                thread = threading.Thread(
                    target=self._serve, args=(index, self._job), name=f"search-{index}", daemon=True
                )
                thread.start()
                self._threads.append(thread)
        except RuntimeError:
            # Without memory for all of them, those that run do the work. What the others would have had may be enough
            # for one. Without any, the next search tries again.
            if not self._threads and self.shared.threads == 1:
                raise MemoryError("no memory for a search thread") from None
            self._drop_workers(max(1, len(self._threads)))
        finally:
            threading.stack_size(old)
        if not self._threads:
            self._start_threads()

    def _end_threads(self):
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads = []
        self._closing = False

    def _serve(self, index: cython.int, job: cython.int):
        """A search thread's life: sleep, search, report, sleep."""
        worker: cython.pointer(Worker) = self.shared.workers[index]
        while True:
            with self._wake:
                while self._job == job and not self._closing:
                    self._wake.wait()
                if self._closing:
                    return
                job = self._job
            if worker.root_count:
                with cython.nogil:
                    iterate(worker)
            if index == 0:
                self._finish()
            else:
                with self._wake:
                    self._helpers_at_work -= 1
                    self._wake.notify_all()

    def _finish(self):
        """The first thread's last act: wait until a result is wanted, call the others back, tell the listener."""
        if self._held and self._listener is not None:
            try:
                self._listener.on_waiting()
            except Exception:
                sys.excepthook(*sys.exc_info())
        with self._wake:
            while self._held:
                self._wake.wait()
            store_flag(cython.address(self.shared.stop), 1)
            while self._helpers_at_work:
                self._wake.wait()
        self._result = self._make_result()
        listener, result = self._listener, self._result
        # The search is over before the listener hears of it, so that it may start the next one right away.
        with self._wake:
            self._running = False
            self._wake.notify_all()
        try:
            if listener is not None:
                listener.on_result(result)
        except Exception:
            sys.excepthook(*sys.exc_info())

    # Results

    def _vote(self):
        """The thread whose move most threads believe in, counted by depth and score. A shorter mate needs no vote.

        The vote is Stockfish's.
        """
        shared: cython.pointer(Shared) = self.shared
        best: cython.pointer(Worker) = shared.workers[0]
        least: cython.int = INFINITE
        index: cython.int
        other: cython.int
        a: cython.pointer(Worker)
        b: cython.pointer(Worker)
        if shared.threads == 1 or shared.limits.multipv > 1 or best.root_count == 0:
            return best
        for index in range(shared.threads):
            if shared.workers[index].root_moves[0].score < least:
                least = shared.workers[index].root_moves[0].score
        best_votes: i64 = -1
        for index in range(shared.threads):
            a = shared.workers[index]
            if a.completed_depth == 0:
                continue
            votes: i64 = 0
            for other in range(shared.threads):
                b = shared.workers[other]
                if b.completed_depth and b.root_moves[0].move == a.root_moves[0].move:
                    votes += cython.cast(i64, b.root_moves[0].score - least + 14) * b.completed_depth
            if a.root_moves[0].score >= MATE_IN_SIGHT:
                votes = (cython.cast(i64, 1) << 40) + a.root_moves[0].score
            if votes > best_votes:
                best_votes = votes
                best = a
        return best

    def _tb_score(self, move, score):
        """What the endgame tables say of a root move, or else the search's score."""
        result = self._tb_results.get(move) if self._tb_results is not None else None
        if result is None:
            return score
        if result in (-2, 2):
            return TB_WIN - 1 if result > 0 else 1 - TB_WIN
        return DRAW + result

    def _make_info(self, worker, line):
        shared: cython.pointer(Shared) = self.shared
        root: cython.pointer(RootMove) = cython.address(worker.root_moves[line])
        elapsed: i64 = max(1, now() - shared.began)
        nodes: u64 = _total_nodes(shared)
        depth: cython.int = max(1, worker.completed_depth if worker.stopped else worker.root_depth)
        score: cython.int = root.score if root.score != -INFINITE else root.previous_score
        is_mate: cython.bint = score >= MATE_IN_SIGHT or score <= -MATE_IN_SIGHT
        if score == -INFINITE:
            depth = score = 0  # stopped before the first move had a score
            is_mate = False
        if not is_mate:
            score = self._tb_score(root.move, score)
        if is_mate:
            score = (MATE - score + 1) // 2 if score > 0 else -((MATE + score) // 2)
        return Info(
            depth=depth,
            seldepth=root.seldepth,
            multipv=line + 1,
            score=score,
            is_mate=is_mate,
            bound=_BOUNDS[root.bound],
            nodes=nodes,
            nps=int(nodes * 1000000 // elapsed),
            hashfull=tt_hashfull(cython.address(shared.tt)),
            tb_hits=_total_tb_hits(shared),
            milliseconds=int(elapsed // 1000),
            pv=tuple(root.pv[index] for index in range(root.pv_length)),
        )

    def _make_result(self):
        worker: cython.pointer(Worker) = self._vote()
        if worker.root_count == 0:
            is_mated = self._board.is_check()
            info = Info(0, 0, 1, 0, is_mated, "exact", 0, 0, 0, 0, 0, ())
            return Result(0, 0, info)
        info = self._make_info(worker, 0)
        return Result(info.pv[0], info.pv[1] if len(info.pv) > 1 else 0, info)

    def _on_report(self, worker, kind, number):
        """A listener's mistake must not end the search: it is shown, and the search goes on."""
        try:
            if kind == REPORT_LINE:
                self._listener.on_info(self._make_info(worker, number))
            else:
                self._listener.on_current(worker.current_move, number)
        except Exception:
            sys.excepthook(*sys.exc_info())

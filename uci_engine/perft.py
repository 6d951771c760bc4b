"""Perft for people: counts on several threads, per first move if wanted, with the time it took."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

MOST_DEPTH = 30
UNDIVIDED = 4  # plies that are counted in one go, some milliseconds; in between a count can be cancelled


def parts(board, depth):
    """Splits a count into small ones: yields boards with the plies that are left."""
    if depth <= UNDIVIDED:
        yield board, depth
        return
    for move in board.legal_moves():
        after = board.copy()
        after.push(move)
        yield from parts(after, depth - 1)


def divide(board, depth, is_cancelled=lambda: False):
    """Yields the count behind every legal move, as pairs of UCI text and leaves, in generation order."""
    for move in board.legal_moves():
        after = board.copy()
        after.push(move)
        leaves = 0
        for part, plies in parts(after, depth - 1):
            leaves += part.perft(plies)
            if is_cancelled():
                return
        yield board.uci(move), leaves


def divide_in_threads(board, depth, threads, on_part=lambda done, total: None):
    """The same on several threads. Deep counts are split two plies down: many parts of similar size to take.

    `on_part` is called from this thread whenever one is counted. Whatever ends the count early ends all threads soon.
    """
    work = []
    for move in board.legal_moves():
        after = board.copy()
        after.push(move)
        text = board.uci(move)
        replies = after.legal_moves() if depth >= 4 else []
        if not replies:
            work.append((text, after, depth - 1))
        for reply in replies:
            part = after.copy()
            part.push(reply)
            work.append((text, part, depth - 2))
    ended = threading.Event()

    def count(task):
        leaves = 0
        for part, plies in parts(*task[1:]):
            if ended.is_set():
                break
            leaves += part.perft(plies)
        return leaves

    totals = {}
    pool = ThreadPoolExecutor(threads)
    try:
        for done, (task, leaves) in enumerate(zip(work, pool.map(count, work), strict=True), 1):
            totals[task[0]] = totals.get(task[0], 0) + leaves
            on_part(done, len(work))
    finally:
        ended.set()
        pool.shutdown(cancel_futures=True)
    yield from totals.items()


def report(board, depth, *, per_move=False, threads=1, is_cancelled=lambda: False, on_part=lambda done, total: None):
    """Yields the lines that `quetzal perft` and UCI's `go perft` print."""
    if not 0 <= depth <= MOST_DEPTH:
        raise ValueError(f"perft takes a depth from 0 to {MOST_DEPTH}")
    started = time.perf_counter()
    if depth <= UNDIVIDED and (depth < 1 or (threads == 1 and not per_move)):
        nodes = board.perft(depth)
    else:
        nodes = 0
        counts = (
            divide(board, depth, is_cancelled) if threads == 1 else divide_in_threads(board, depth, threads, on_part)
        )
        for text, count in counts:
            nodes += count
            if per_move:
                yield f"{text}: {count}"
        if per_move:
            yield ""
    if is_cancelled():
        yield "info string the count was stopped"
        return
    seconds = max(time.perf_counter() - started, 1e-9)
    yield f"Nodes searched: {nodes}"
    yield f"Time: {seconds:.3f} s"
    yield f"Nodes per second: {nodes / seconds:.0f}"

"""Perft for people: counts on several threads, per first move if wanted, with the time it took."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait

MOST_DEPTH = 30
REPORT_SECONDS = 0.2
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

    `on_part` hears now and then, in this thread, how many of the small counts are done. Whatever ends this one early
    ends all threads soon.
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
    total = max(len(work), board.perft(depth - UNDIVIDED) if depth > UNDIVIDED else 0)
    ended = threading.Event()
    done = [0] * len(work)

    def count(number):
        leaves = 0
        for part, plies in parts(*work[number][1:]):
            if ended.is_set():
                break
            leaves += part.perft(plies)
            done[number] += 1
        return leaves

    pool = ThreadPoolExecutor(threads)
    try:
        counts = [pool.submit(count, number) for number in range(len(work))]
        waiting = counts
        while waiting:
            waiting = wait(waiting, REPORT_SECONDS).not_done
            on_part(sum(done), total)
    finally:
        ended.set()
        pool.shutdown(cancel_futures=True)
    totals = {}
    for (text, *_), leaves in zip(work, counts, strict=True):
        totals[text] = totals.get(text, 0) + leaves.result()
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

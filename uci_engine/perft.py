"""Perft for people: counts on several threads, per first move if wanted, with the time it took."""

import time
from concurrent.futures import ThreadPoolExecutor

from board import STARTING_FEN, Board


def divide(board, depth, threads=1):
    """The count behind every legal move, as a dict from UCI text to leaves, in generation order.

    Deep counts are split two plies down, so that threads have many parts of similar size to take.
    """
    if depth < 1:
        raise ValueError("a count per move needs a depth of at least 1")
    parts = []
    for move in board.legal_moves():
        after = board.copy()
        after.push(move)
        text = board.uci(move)
        if depth < 4:
            parts.append((text, after, depth - 1))
            continue
        replies = after.legal_moves()
        if not replies:
            parts.append((text, after, depth - 1))
        for reply in replies:
            part = after.copy()
            part.push(reply)
            parts.append((text, part, depth - 2))
    with ThreadPoolExecutor(threads) as pool:
        counts = list(pool.map(lambda part: part[1].perft(part[2]), parts))
    totals = {}
    for (text, _, _), count in zip(parts, counts, strict=True):
        totals[text] = totals.get(text, 0) + count
    return totals


def report(board, depth, *, per_move=False, threads=1):
    """Yields the lines that `quetzal perft` and UCI's `go perft` print."""
    started = time.perf_counter()
    if depth < 1 or (threads == 1 and not per_move):
        nodes = board.perft(depth)
    else:
        totals = divide(board, depth, threads)
        nodes = sum(totals.values())
        if per_move:
            yield from (f"{text}: {count}" for text, count in totals.items())
            yield ""
    seconds = max(time.perf_counter() - started, 1e-9)
    yield f"Nodes searched: {nodes}"
    yield f"Time: {seconds:.3f} s"
    yield f"Nodes per second: {nodes / seconds:.0f}"


def run_perft(options):
    board = Board(STARTING_FEN if options.fen is None else options.fen, chess960=options.chess960)
    for line in report(board, options.depth, per_move=options.divide, threads=options.threads):
        print(line)

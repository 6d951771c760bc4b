"""The Python face of the evaluation: a score, and where it comes from."""

import time
from typing import NamedTuple

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.position import Position
from cython.cimports.board.types import BLACK, WHITE
from cython.cimports.eval.classical import FULL_PHASE, FULL_SCALE, tapered, trace_evaluation
from cython.cimports.eval.classical import evaluate as evaluate_position
from cython.cimports.eval.kpk import kpk_is_won
from cython.cimports.eval.pawns import clear_pawn_cache, free_pawn_cache, new_pawn_cache
from cython.cimports.eval.weights import Trace
from cython.cimports.libc.stdlib import free, malloc

from eval import weights
from eval.weights_file import GROUPS


class Row(NamedTuple):
    """One feature group's part of a score, in centipawns; all but `black_…` count for White."""

    group: str
    white_middlegame: int
    white_endgame: int
    black_middlegame: int
    black_endgame: int
    middlegame: int
    endgame: int
    tapered: int


class Explanation(NamedTuple):
    """A score from White's side and the rows that sum to it: middlegame, endgame and tapered columns alike.

    What scaling a drawish ending takes away, or a known ending's own score, stands in a last row whose first
    columns are empty.
    """

    rows: list
    total: int
    phase: int
    scale: int
    is_known_ending: bool


def evaluate(board: Board) -> int:
    """The score of the position on the board, in centipawns from the side to move."""
    return evaluate_position(board.current(), cython.NULL)


@cython.final
@cython.cclass
class Evaluator:
    """Scores positions one after the other with a pawn cache of its own, as a search thread does."""

    def __cinit__(self):
        self.cache = new_pawn_cache()
        if self.cache == cython.NULL:
            raise MemoryError("no memory for a pawn cache")

    def __dealloc__(self):
        free_pawn_cache(self.cache)

    def evaluate(self, board: Board) -> int:
        """The same score as `evaluate`."""
        return evaluate_position(board.current(), self.cache)

    def clear(self):
        """Forgets all pawns; wanted after new weights."""
        clear_pawn_cache(self.cache)


def trace(board: Board) -> dict:
    """How often each single weight counts: {(feature, place): (White's count, Black's)}, zeros left out."""
    counted: Trace
    trace_evaluation(board.current(), cython.address(counted))
    found = {}
    for feature in weights.FEATURES:
        for place in range(feature.size):
            index: cython.int = feature.start + place
            if counted.counts[WHITE][index] or counted.counts[BLACK][index]:
                found[feature.name, place] = (counted.counts[WHITE][index], counted.counts[BLACK][index])
    return found


def _share_out(numerators, total):
    """Whole numbers near numerators / FULL_PHASE that sum to `total`: the largest remainders are rounded up."""
    shares = [numerator // FULL_PHASE for numerator in numerators]
    by_remainder = sorted(range(len(shares)), key=lambda row: shares[row] * FULL_PHASE - numerators[row])
    for row in by_remainder[: total - sum(shares)]:
        shares[row] += 1
    return shares


def explain(board: Board) -> Explanation:
    """The score taken apart by feature group. Uses the counts of the evaluation itself."""
    counted: Trace
    index: cython.int
    total: cython.int = trace_evaluation(board.current(), cython.address(counted))
    phase: cython.int = counted.phase
    middlegame, endgame = weights.current_weights()
    sums = {group: [0, 0, 0, 0] for group in GROUPS}
    for feature in weights.FEATURES:
        row = sums[feature.group]
        for index in range(feature.start, feature.start + feature.size):
            row[0] += counted.counts[WHITE][index] * middlegame[index]
            row[1] += counted.counts[WHITE][index] * endgame[index]
            row[2] += counted.counts[BLACK][index] * middlegame[index]
            row[3] += counted.counts[BLACK][index] * endgame[index]
    differences = [(row[0] - row[2], row[1] - row[3]) for row in sums.values()]
    unscaled: cython.int = tapered(sum(pair[0] for pair in differences), sum(pair[1] for pair in differences), phase)
    # Python's division rounds down and the compiled one towards zero: a negative total is shared out as its mirror.
    sign = -1 if unscaled < 0 else 1
    numerators = [sign * (pair[0] * phase + pair[1] * (24 - phase)) for pair in differences]
    shares = [sign * share for share in _share_out(numerators, sign * unscaled)]
    rows = [
        Row(group, *sums[group], *pair, share) for group, pair, share in zip(sums, differences, shares, strict=True)
    ]
    if counted.known:
        rows.append(Row("known ending", 0, 0, 0, 0, 0, 0, total - unscaled))
    elif total != unscaled:
        name = "limit" if counted.scale == FULL_SCALE else f"scaled {counted.scale}/{FULL_SCALE}"
        rows.append(Row(name, 0, 0, 0, 0, 0, 0, total - unscaled))
    return Explanation(rows, total, phase, counted.scale, bool(counted.known))


def is_won_pawn_ending(strong_king: int, weak_king: int, pawn: int, strong_to_move: bool) -> bool:
    """King and pawn against king, squares as the side with the pawn sees them. What the evaluation knows exactly."""
    return kpk_is_won(strong_king, weak_king, pawn, strong_to_move)


def benchmark(boards, rounds: int) -> float:
    """Evaluations per second of processor time over these boards, by one thread with a warm pawn cache."""
    count: cython.int = len(boards)
    repeat: cython.int = rounds
    index: cython.int
    sink: cython.int = 0
    board: Board
    if count == 0:
        raise ValueError("a benchmark needs positions")
    positions: cython.pointer(Position) = cython.cast(cython.pointer(Position), malloc(count * cython.sizeof(Position)))
    cache = new_pawn_cache()
    if positions == cython.NULL or cache == cython.NULL:
        free(positions)
        free_pawn_cache(cache)
        raise MemoryError("no memory for a benchmark")
    for index in range(count):
        board = boards[index]
        positions[index] = board.current()[0]
        sink += evaluate_position(cython.address(positions[index]), cache)
    started = time.thread_time()
    with cython.nogil:
        for _ in range(repeat):
            for index in range(count):
                sink ^= evaluate_position(cython.address(positions[index]), cache)
    seconds = time.thread_time() - started
    free(positions)
    free_pawn_cache(cache)
    return repeat * count / max(seconds, 1e-9)

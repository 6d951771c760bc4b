"""The Python face of the evaluation: a score, and where it comes from."""

import time
from typing import NamedTuple

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.bits import bit
from cython.cimports.board.material import FULL_PHASE
from cython.cimports.board.position import Position
from cython.cimports.board.types import BLACK, KING, NO_PIECE, WHITE, piece_colour, piece_kind
from cython.cimports.eval.classical import FULL_SCALE, tapered, trace_evaluation
from cython.cimports.eval.classical import evaluate as evaluate_classically
from cython.cimports.eval.evaluator import clear_workspace, free_workspace, new_workspace
from cython.cimports.eval.evaluator import evaluate as evaluate_position
from cython.cimports.eval.kpk import kpk_is_won
from cython.cimports.eval.network import (
    ACCUMULATED_PLIES,
    Accumulators,
    free_accumulators,
    network,
    network_score,
    new_accumulators,
)
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


def evaluate_classical(board: Board) -> int:
    """The classical evaluation's score of the position on the board, in centipawns from the side to move."""
    return evaluate_classically(board.current(), cython.NULL)


@cython.final
@cython.cclass
class Evaluator:
    """Scores positions one after the other by the evaluation in use, with a memory of its own, as a search thread does.

    Positions that follow each other in a line are asked about with their ply, as the search asks.
    """

    def __cinit__(self):
        self.workspace = new_workspace()
        if self.workspace == cython.NULL:
            raise MemoryError("no memory to evaluate")

    def __dealloc__(self):
        free_workspace(self.workspace)

    def evaluate(self, board: Board, ply: cython.int = 0) -> int:
        """The same score as `evaluate`, whatever was evaluated before."""
        if not 0 <= ply < ACCUMULATED_PLIES:
            raise ValueError(f"no ply {ply} in a line")
        return evaluate_position(board.current(), self.workspace, ply)

    def clear(self):
        """Forgets all pawns; wanted after new weights."""
        clear_workspace(self.workspace)


def evaluate(board: Board) -> int:
    """The score of the position on the board by the evaluation in use, in centipawns from the side to move."""
    return Evaluator().evaluate(board)


def evaluate_network(board: Board) -> int:
    """The network's own score from the side to move, whether or not the ending is known."""
    if network.neurons == 0:
        raise ValueError("no network is loaded")
    accumulators = new_accumulators()
    if accumulators == cython.NULL:
        raise MemoryError("no memory to evaluate")
    score: cython.int = network_score(board.current(), accumulators, 0)
    free_accumulators(accumulators)
    return score


def piece_values(board: Board) -> dict:
    """What each piece but the kings is worth to its side: the network's score less the score without the piece.

    Centipawns by square.
    """
    position: Position = board.current()[0]
    square: cython.int
    piece: cython.int
    colour: cython.int
    sign: cython.int
    if network.neurons == 0:
        raise ValueError("no network is loaded")
    accumulators: cython.pointer(Accumulators) = new_accumulators()
    if accumulators == cython.NULL:
        raise MemoryError("no memory to evaluate")
    whole: cython.int = network_score(cython.address(position), accumulators, 0)
    values = {}
    for square in range(64):
        piece = position.squares[square]
        if piece == NO_PIECE or piece_kind(piece) == KING:
            continue
        colour = piece_colour(piece)
        position.squares[square] = NO_PIECE
        position.kinds[piece_kind(piece)] ^= bit(square)
        position.colours[colour] ^= bit(square)
        sign = 1 if colour == position.turn else -1
        values[square] = sign * (whole - network_score(cython.address(position), accumulators, 1))
        position.squares[square] = piece
        position.kinds[piece_kind(piece)] ^= bit(square)
        position.colours[colour] ^= bit(square)
    free_accumulators(accumulators)
    return values


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
    """Evaluations per second of processor time over these boards, by one thread with the evaluation in use."""
    count: cython.int = len(boards)
    repeat: cython.int = rounds
    index: cython.int
    sink: cython.int = 0
    board: Board
    if count == 0:
        raise ValueError("a benchmark needs positions")
    positions: cython.pointer(Position) = cython.cast(cython.pointer(Position), malloc(count * cython.sizeof(Position)))
    workspace = new_workspace()
    if positions == cython.NULL or workspace == cython.NULL:
        free(positions)
        free_workspace(workspace)
        raise MemoryError("no memory for a benchmark")
    for index in range(count):
        board = boards[index]
        positions[index] = board.current()[0]
        sink += evaluate_position(cython.address(positions[index]), workspace, 0)
    started = time.thread_time()
    with cython.nogil:
        for _ in range(repeat):
            for index in range(count):
                sink ^= evaluate_position(cython.address(positions[index]), workspace, 0)
    seconds = time.thread_time() - started
    free(positions)
    free_workspace(workspace)
    return repeat * count / max(seconds, 1e-9)

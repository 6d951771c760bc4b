"""The tuner's compiled part: from games to quiet positions, from positions to coefficients, from weights to a loss.

The coefficients are the counts that the evaluation itself enters in its trace, so each feature has one definition.
A position's score is linear in the weights: Σ count · (middlegame · phase + endgame · (24 - phase)) / 24 · scale / 64.
"""

import cython
from cython.cimports.board.material import FULL_PHASE
from cython.cimports.board.movegen import TACTICAL_MOVES, generate
from cython.cimports.board.position import ConstPosition, Position, make_move
from cython.cimports.board.see import see_at_least
from cython.cimports.board.types import BLACK, MAX_MOVES, WHITE, Move, u32, u64
from cython.cimports.eval.classical import FULL_SCALE, evaluate, trace_evaluation
from cython.cimports.eval.pawns import clear_pawn_cache, free_pawn_cache, new_pawn_cache
from cython.cimports.eval.weights import FEATURE_COUNT, Trace
from cython.cimports.libc.math import exp, fabs, log1p, sqrt
from cython.cimports.libc.stdlib import free, realloc
from cython.cimports.libc.string import memcpy
from cython.cimports.training.quiet import is_quiet
from cython.cimports.training.records import GameCursor, next_ply, open_game

from training.records import RecordError

WEIGHT_COUNT = 2 * FEATURE_COUNT  # middlegame and endgame by turns
_DEEPEST = cython.declare(cython.int, 16)  # captures in a row that are followed


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _settle(
    position: cython.pointer(ConstPosition),
    leaf: cython.pointer(Position),
    alpha: cython.int,
    beta: cython.int,
    depth: cython.int,
    cache: cython.pointer(PawnCache),
) -> cython.int:
    """A plain quiescence search. Writes the position at the end of the best line into `leaf`, returns its score."""
    moves: Move[MAX_MOVES]
    after: Position
    end: Position
    index: cython.int
    score: cython.int
    best: cython.int = evaluate(position, cache)
    leaf[0] = position[0]
    if best >= beta or depth == 0:
        return best
    alpha = best if best > alpha else alpha
    count: cython.int = generate(position, moves, TACTICAL_MOVES)
    for index in range(count):
        if not see_at_least(position, moves[index], 0):
            continue
        make_move(position, cython.address(after), moves[index])
        score = -_settle(cython.address(after), cython.address(end), -beta, -alpha, depth - 1, cache)
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                leaf[0] = end
            if score >= beta:
                break
    return best


@cython.final
@cython.cclass
class Dataset:
    """A set of positions with results, in memory: about 250 bytes each."""

    def __cinit__(self):
        self.cache = new_pawn_cache()
        if self.cache == cython.NULL:
            raise MemoryError("no memory for a pawn cache")

    def __dealloc__(self):
        free(self.coefficients)
        free(self.samples)
        free_pawn_cache(self.cache)

    def __len__(self) -> int:
        return self.count

    @property
    def coefficient_total(self) -> int:
        return self.coefficient_count

    def _reserve(self, samples, coefficients):
        """Makes room for that many in all; False when there is no memory."""
        room: cython.size_t
        block: cython.p_void
        if samples > self.room:
            room = max(samples, 2 * self.room, cython.cast(cython.size_t, 1024))
            block = realloc(self.samples, room * cython.sizeof(Sample))
            if block == cython.NULL:
                return False
            self.samples = cython.cast(cython.pointer(Sample), block)
            self.room = room
        if coefficients > self.coefficient_room:
            room = max(coefficients, 2 * self.coefficient_room, cython.cast(cython.size_t, 65536))
            block = realloc(self.coefficients, room * cython.sizeof(Coefficient))
            if block == cython.NULL:
                return False
            self.coefficients = cython.cast(cython.pointer(Coefficient), block)
            self.coefficient_room = room
        return True

    def _add(self, position, result, score):
        """Enters a position: 1 when it was taken, 0 when no weight has a say in it, -1 without memory."""
        trace: Trace
        feature: cython.int
        difference: cython.int
        trace_evaluation(position, cython.address(trace))
        if trace.known or trace.scale == 0:
            return 0
        if not self._reserve(self.count + 1, self.coefficient_count + FEATURE_COUNT):
            return -1
        sample: cython.pointer(Sample) = cython.address(self.samples[self.count])
        sample.first = self.coefficient_count
        for feature in range(FEATURE_COUNT):
            difference = trace.counts[WHITE][feature] - trace.counts[BLACK][feature]
            if difference != 0:
                self.coefficients[self.coefficient_count].feature = feature
                self.coefficients[self.coefficient_count].count = difference
                self.coefficient_count += 1
        sample.size = self.coefficient_count - sample.first
        sample.phase = trace.phase
        sample.scale = trace.scale
        sample.result = result
        sample.score = score
        self.count += 1
        return 1

    def add_game(self, payload: bytes, *, most_score: int = 1000, settle: bool = True) -> int:
        """Takes a game's quiet positions; returns how many.

        What is quiet stands in quiet.pxd; moves of the opening were not searched. With `settle` each position is followed
        through its captures to the one that a search would judge.
        Raises RecordError, without having taken anything, when the payload is damaged.
        """
        cursor: GameCursor
        leaf: Position
        state: cython.int
        taken: cython.int = 0
        bound: cython.int = most_score
        follow: cython.bint = settle
        count: cython.size_t = self.count
        coefficient_count: cython.size_t = self.coefficient_count
        open_game(payload, cython.address(cursor))
        with cython.nogil:
            state = next_ply(cython.address(cursor))
            while state > 0:
                if cursor.ply > cursor.opening and is_quiet(
                    cython.address(cursor.position), cursor.move, cursor.score, bound
                ):
                    leaf = cursor.position
                    if follow:
                        _settle(
                            cython.address(cursor.position), cython.address(leaf), -30000, 30000, _DEEPEST, self.cache
                        )
                    if leaf.checkers == 0:
                        taken = self._add(cython.address(leaf), cursor.result, cursor.score)
                        if taken < 0:
                            break
                state = next_ply(cython.address(cursor))
        if taken < 0 or state < 0:
            self.count = count
            self.coefficient_count = coefficient_count
            if taken < 0:
                raise MemoryError("no memory for more positions")
            raise RecordError(f"ply {cursor.ply + 1} cannot be read")
        return self.count - count

    def extend(self, other: Dataset):
        """Appends another set."""
        index: cython.size_t
        if not self._reserve(self.count + other.count, self.coefficient_count + other.coefficient_count):
            raise MemoryError("no memory for more positions")
        if other.count == 0:
            return
        memcpy(
            self.coefficients + self.coefficient_count,
            other.coefficients,
            other.coefficient_count * cython.sizeof(Coefficient),
        )
        for index in range(other.count):
            self.samples[self.count + index] = other.samples[index]
            self.samples[self.count + index].first += self.coefficient_count
        self.count += other.count
        self.coefficient_count += other.coefficient_count

    def forget_pawns(self):
        """For new weights: the cache of the settling search still has the old ones."""
        clear_pawn_cache(self.cache)

    def _accumulate(self, order, first, last, weights, k, share, gradient):
        """The sum of the losses of samples order[first:last] (all in a row without an order), and of their gradients."""
        total: cython.double = 0
        place: cython.size_t
        index: cython.int
        for place in range(first, last):
            sample: cython.pointer(Sample) = cython.address(
                self.samples[order[place] if order != cython.NULL else place]
            )
            row: cython.pointer(Coefficient) = self.coefficients + sample.first
            endgame: cython.double = (FULL_PHASE - sample.phase) / cython.cast(cython.double, FULL_PHASE)
            scale: cython.double = sample.scale / cython.cast(cython.double, FULL_SCALE)
            early: cython.double = (1 - endgame) * scale
            late: cython.double = endgame * scale
            score: cython.double = 0
            for index in range(sample.size):
                score += row[index].count * (
                    weights[2 * row[index].feature] * early + weights[2 * row[index].feature + 1] * late
                )
            target: cython.double = 0.5 + 0.5 * sample.result
            if share > 0:
                target += share * (1 / (1 + exp(-k * sample.score)) - target)
            # Cross-entropy in a form that cannot overflow: log(1 + e^z) - t z.
            z: cython.double = k * score
            total += (z if z > 0 else 0) + log1p(exp(-fabs(z))) - target * z
            if gradient != cython.NULL:
                slope: cython.double = k * (1 / (1 + exp(-z)) - target)
                for index in range(sample.size):
                    gradient[2 * row[index].feature] += slope * row[index].count * early
                    gradient[2 * row[index].feature + 1] += slope * row[index].count * late
        return total

    def loss(
        self, weights: cython.double[::1], k: float, share: float = 0.0, first: int = 0, last: int | None = None
    ) -> float:
        """The sum of the losses of samples first to last. `share` is how much of the target comes from the score."""
        total: cython.double
        slope: cython.double = k
        part: cython.double = share
        begin: cython.size_t = first
        end: cython.size_t = self.count if last is None else last
        if len(weights) != WEIGHT_COUNT or not begin <= end <= self.count:
            raise ValueError("these weights or samples do not belong to this set")
        with cython.nogil:
            total = self._accumulate(cython.NULL, begin, end, cython.address(weights[0]), slope, part, cython.NULL)
        return total

    def gradient(
        self,
        weights: cython.double[::1],
        k: float,
        share: float,
        order: u32[::1],
        first: int,
        last: int,
        gradient: cython.double[::1],
    ) -> float:
        """Adds the gradient of samples order[first:last] to `gradient`; returns the sum of their losses."""
        total: cython.double
        slope: cython.double = k
        part: cython.double = share
        begin: cython.size_t = first
        end: cython.size_t = last
        known: cython.size_t = len(order)
        if len(weights) != WEIGHT_COUNT or len(gradient) != WEIGHT_COUNT or not begin <= end <= known:
            raise ValueError("these weights or samples do not belong to this set")
        if end > begin:
            with cython.nogil:
                total = self._accumulate(
                    cython.address(order[0]),
                    begin,
                    end,
                    cython.address(weights[0]),
                    slope,
                    part,
                    cython.address(gradient[0]),
                )
            return total
        return 0.0


@cython.overflowcheck(False)
def shuffle(order: u32[::1], seed: int):
    """Fisher and Yates' shuffle, driven by splitmix64: the same seed gives the same order on every machine."""
    state: u64 = seed
    index: cython.Py_ssize_t
    for index in range(len(order) - 1, 0, -1):
        state += cython.cast(u64, 0x9E3779B97F4A7C15)
        mixed: u64 = state
        mixed = (mixed ^ (mixed >> 30)) * cython.cast(u64, 0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> 27)) * cython.cast(u64, 0x94D049BB133111EB)
        mixed ^= mixed >> 31
        other: cython.Py_ssize_t = mixed % cython.cast(u64, index + 1)
        kept: u32 = order[index]
        order[index] = order[other]
        order[other] = kept


def adam_step(
    weights: cython.double[::1],
    start: cython.double[::1],
    first_moment: cython.double[::1],
    second_moment: cython.double[::1],
    gradients: list,
    size: int,
    pull: float,
    rate: float,
    step: int,
):
    """One step of Adam (Kingma and Ba 2014) on the mean of the threads' gradient sums over `size` samples.

    `pull` draws every weight back to its start: the gradient of pull / 2 · (weight - start)². Sums are set to zero.
    """
    index: cython.Py_ssize_t
    count: cython.Py_ssize_t = len(weights)
    slope: cython.double
    scale: cython.double = 1.0 / size
    spring: cython.double = pull
    first_fix: cython.double = 1 - 0.9**step
    second_fix: cython.double = 1 - 0.999**step
    speed: cython.double = rate
    part: cython.double[::1]
    total: cython.double[::1] = gradients[0]
    for other in gradients[1:]:
        part = other
        for index in range(count):
            total[index] += part[index]
            part[index] = 0
    for index in range(count):
        slope = total[index] * scale + spring * (weights[index] - start[index])
        total[index] = 0
        first_moment[index] += 0.1 * (slope - first_moment[index])
        second_moment[index] += 0.001 * (slope * slope - second_moment[index])
        weights[index] -= speed * (first_moment[index] / first_fix) / (sqrt(second_moment[index] / second_fix) + 1e-12)

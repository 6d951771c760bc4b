"""The network's compiled teacher: the loss of positions, its gradient, and the steps of AdamW.

The loops themselves are in training_loops.h. While learning the first layer's sums are made of a copy of its weights in
16 bits; the weights that are learned, and all evaluation beside, have single precision. Threads share the weights while
they add up gradients, each its own, and then share the weights among them for the step; so the outcome depends on their
number only by the order of additions.

With several king buckets a feature's row is the sum of two that are learned: one that all buckets share and one of the
bucket's own. So what is true wherever the king stands is learned from all positions, also for squares where kings are
rare. Positions are evaluated with the sums, and the gradient there is that of both summands.

Once `start_rounding` was called positions are evaluated with the weights as the file will have them. The gradient found
there moves the exact weights behind: what rounding does to one weight is made good by the others. The output weights
are rounded once and stay: their steps are coarse and they are always wanted larger or smaller together, so that many would
cross a step at once, back and forth, and carry the score of every position with them.
"""

import cython
from cython.cimports.board.bits import prefetch
from cython.cimports.board.types import i16, u16, u64
from cython.cimports.eval.network_shape import (
    ACTIVATION_ONE,
    INPUTS,
    MOST_KING_BUCKETS,
    MOST_NEURONS,
    MOST_OUTPUTS,
    OUTPUT_ONE,
    output_of,
    set_king_buckets,
)
from cython.cimports.libc.string import memcpy, memset
from cython.cimports.training.positions import MOST_MEN, PositionSet, bucket_of, unpack_features

from eval.king_buckets import bucket_table

MOST_WEIGHT = 1.98  # so that rounded weights fit their integers: 1.98 · 255 < 505, 1.98 · 64 < 127
DECAY = 0.01
LEVEL_NAMES = ("base", "AVX2", "AVX-512")
NEURON_STEP = STRIPE_SIZE
MAXIMUM_NEURONS = MOST_NEURONS
MAXIMUM_OUTPUTS = MOST_OUTPUTS
MAXIMUM_KING_BUCKETS = MOST_KING_BUCKETS
_MOST_WEIGHT = cython.declare(cython.float, MOST_WEIGHT)
_MOST_OUTPUT_BIAS = cython.declare(cython.float, 60.0)
_AHEAD = cython.declare(u64, 16)  # how early a position's memory is asked for


@cython.final
@cython.cclass
class NetworkTrainer:
    """A network of `neurons` per side, and so many outputs and king buckets, that `threads` threads may teach at once."""

    def __cinit__(
        self, neurons: int, threads: int = 1, level: int | None = None, outputs: int = 1, king_buckets: int = 1
    ):
        thread: cython.int
        if neurons % NEURON_STEP or not 0 < neurons <= MOST_NEURONS:
            raise ValueError(
                f"{neurons} neurons: their number must be a multiple of {NEURON_STEP}, at most {MOST_NEURONS}"
            )
        if not 0 < outputs <= MOST_OUTPUTS:
            raise ValueError(f"{outputs} outputs: there must be 1 to {MOST_OUTPUTS}")
        if not 0 < king_buckets <= MOST_KING_BUCKETS:
            raise ValueError(f"{king_buckets} king buckets: there must be 1 to {MOST_KING_BUCKETS}")
        if not 0 < threads <= MOST_THREADS:
            raise ValueError(f"{threads} threads: there must be 1 to {MOST_THREADS}")
        self.shape.neurons = neurons
        self.shape.rows = INPUTS * king_buckets
        self.shape.outputs = outputs
        set_king_buckets(cython.address(self.buckets), bucket_table(king_buckets))
        self.threads = threads
        self.level = cpu_level() if level is None else min(level, cpu_level())
        self.size = output_bias_at(cython.address(self.shape)) + outputs
        self.shared_size = INPUTS * neurons if king_buckets > 1 else 0
        self.shared = self._new_block(self.shared_size)
        self.weights = self.shared + self.shared_size
        self.merged = self._new_block(0) if king_buckets > 1 else self.weights
        self.rounded = self._new_block(0)
        self.used = self.merged
        self.first_moments = self._new_block(self.shared_size)
        self.second_moments = self._new_block(self.shared_size)
        self.shorts = cython.cast(
            cython.pointer(i16), new_lines(bias_start(cython.address(self.shape)) * cython.sizeof(i16))
        )
        if self.shorts == cython.NULL:
            raise MemoryError("no memory for a network")
        for thread in range(self.threads):
            self.gradients[thread] = self._new_block(0)
            self.groups[thread] = new_group(self.shape.neurons)
            if self.groups[thread] == cython.NULL:
                raise MemoryError("no memory for positions to learn from")
            if king_buckets > 1:
                self.sorters[thread] = cython.cast(cython.pointer(Sorter), new_lines(cython.sizeof(Sorter)))
                if self.sorters[thread] == cython.NULL:
                    raise MemoryError("no memory for positions to learn from")

    def __dealloc__(self):
        thread: cython.int
        if self.merged != self.weights:
            free_lines(self.merged)
        free_lines(self.shared)
        free_lines(self.rounded)
        free_lines(self.first_moments)
        free_lines(self.second_moments)
        free_lines(self.shorts)
        for thread in range(MOST_THREADS):
            free_lines(self.gradients[thread])
            free_group(self.groups[thread])
            free_lines(self.sorters[thread])

    def _new_block(self, before):
        # Room for whole vectors at the end.
        size: cython.size_t = before + self.size + NEURON_STEP
        block: cython.pointer(cython.float) = cython.cast(
            cython.pointer(cython.float), new_lines(size * cython.sizeof(cython.float))
        )
        if block == cython.NULL:
            raise MemoryError("no memory for a network")
        return block

    @property
    def parts(self) -> tuple:
        """Where biases, output weights and the outputs' biases begin in a block after its shared rows, and where it ends."""
        shape: cython.pointer(Shape) = cython.address(self.shape)
        return bias_start(shape), output_start(shape), output_bias_at(shape), self.size

    # Blocks as bytes, in this machine's order

    def get_weights(self) -> bytes:
        """As they are learned: shared rows first, if there are any."""
        return self._bytes_of(self.shared, self.shared_size + self.size)

    def get_network(self) -> bytes:
        """The weights of the network that was learned: each bucket's rows with what they share."""
        return self._bytes_of(self.merged, self.size)

    def get_gradient(self, thread: int) -> bytes:
        """What a thread has added up since the last step, at the weights of the network."""
        if not 0 <= thread < self.threads:
            raise ValueError(f"there is no thread {thread}")
        return self._bytes_of(self.gradients[thread], self.size)

    def set_weights(self, block: bytes):
        self._fill(self.shared, block)
        self._refresh()

    def start_rounding(self):
        """Evaluates with rounded weights from now on; the output weights keep them."""
        outputs: cython.size_t = output_start(cython.address(self.shape))
        count: cython.size_t = output_bias_at(cython.address(self.shape)) - outputs
        self._round(0, self.size)
        memcpy(self.weights + outputs, self.rounded + outputs, count * cython.sizeof(cython.float))
        self.used = self.rounded
        self._refresh()

    def get_moments(self) -> tuple:
        size = self.shared_size + self.size
        return self._bytes_of(self.first_moments, size), self._bytes_of(self.second_moments, size)

    def set_moments(self, first: bytes, second: bytes):
        self._fill(self.first_moments, first)
        self._fill(self.second_moments, second)

    def _bytes_of(self, block, size):
        return cython.cast(cython.p_char, block)[: size * cython.sizeof(cython.float)]

    def _fill(self, block, data):
        size: cython.size_t = (self.shared_size + self.size) * cython.sizeof(cython.float)
        if cython.cast(cython.size_t, len(data)) != size:
            raise ValueError(
                f"{len(data)} bytes are no block of a network of {self.shape.neurons} neurons, {self.shape.outputs} outputs "
                f"and {self.buckets.count} king buckets"
            )
        memcpy(block, cython.cast(cython.p_char, data), size)

    # Learning

    def _output(self, position):
        mine: u16[MOST_MEN]
        theirs: u16[MOST_MEN]
        men: cython.int = unpack_features(position, cython.address(self.buckets), mine, theirs)
        output: cython.int = output_of(men, self.shape.outputs)
        return evaluate(self.level, self.used, cython.address(self.shape), output, mine, theirs, men)

    def _sort(self, sorter, count):
        """Puts the places of so many positions in the order of their king buckets, each pair next to one that is like it."""
        index: cython.int
        mine: cython.int
        theirs: cython.int
        pair: cython.int
        memset(sorter.starts, 0, cython.sizeof(sorter.starts))
        for index in range(count):
            turn: cython.int = sorter.positions[index].turn
            mine = bucket_of(cython.address(sorter.positions[index]), turn, cython.address(self.buckets))
            theirs = bucket_of(cython.address(sorter.positions[index]), turn ^ 1, cython.address(self.buckets))
            if mine & 1:
                theirs = MOST_KING_BUCKETS - 1 - theirs
            pair = mine * MOST_KING_BUCKETS + theirs
            sorter.pairs[index] = pair
            sorter.starts[pair + 1] += 1
        for pair in range(BUCKET_PAIRS):
            sorter.starts[pair + 1] += sorter.starts[pair]
        for index in range(count):
            pair = sorter.pairs[index]
            sorter.places[sorter.starts[pair]] = index
            sorter.starts[pair] += 1

    def _learn_group(self, thread):
        """The sum of the losses of the positions that the thread's group has. It is empty afterwards."""
        group: cython.pointer(Group) = self.groups[thread]
        total: cython.double = 0
        if group.count:
            total = learn(self.level, self.used, self.shorts, self.gradients[thread], cython.address(self.shape), group)
            group.count = 0
        return total

    def _learn_position(self, position, result_share, thread):
        """Adds a position to the thread's group; the sum of the losses if the group is full and learned thereby."""
        group: cython.pointer(Group) = self.groups[thread]
        number: cython.int = group.count
        group.men[number] = unpack_features(
            position, cython.address(self.buckets), group.features[2 * number], group.features[2 * number + 1]
        )
        group.outputs[number] = output_of(group.men[number], self.shape.outputs)
        group.targets[number] = target_of(position, result_share)
        group.count += 1
        return self._learn_group(thread) if group.count == GROUP_SIZE else 0

    def _learn(self, positions, count, place, stride, size, result_share, thread):
        """The sum of the losses of `size` positions from `place` on, in steps of `stride`, round and round."""
        total: cython.double = 0
        sorter: cython.pointer(Sorter) = self.sorters[thread]
        number: cython.int = 0
        index: cython.int
        ahead: u64 = (place + _AHEAD * stride) % count
        while size > 0:
            prefetch(cython.address(positions[ahead]))
            size -= 1
            if sorter == cython.NULL:
                total += self._learn_position(cython.address(positions[place]), result_share, thread)
            else:
                sorter.positions[number] = positions[place]
                number += 1
                if number == SORTED_AT_ONCE or size == 0:
                    self._sort(sorter, number)
                    for index in range(number):
                        total += self._learn_position(
                            cython.address(sorter.positions[sorter.places[index]]), result_share, thread
                        )
                    number = 0
            place = place + stride if place + stride < count else place + stride - count
            ahead = ahead + stride if ahead + stride < count else ahead + stride - count
        return total + self._learn_group(thread)

    def gradient(
        self, positions: PositionSet, begin: int, stride: int, first: int, last: int, result_share: float, thread: int
    ) -> float:
        """Adds up the gradient of the walk's positions first to last in the thread's block; returns their losses' sum.

        A walk over n positions begins at `begin` and goes on in steps of `stride`, modulo n. If the stride has no
        divisor in common with n it meets every position once: another stride is another order.
        """
        total: cython.double
        share: cython.double = result_share
        count: u64 = len(positions)
        step: u64 = stride
        size: u64
        place: u64
        number: cython.int = thread
        if not 0 <= thread < self.threads:
            raise ValueError(f"there is no thread {thread}")
        if not 0 <= first <= last <= count or not 0 <= begin < count or not 0 <= stride < count:
            raise ValueError("this walk leads beyond the positions")
        size = last - first
        place = (begin + stride * first) % len(positions)
        with cython.nogil:
            total = self._learn(positions.positions, count, place, step, size, share, number)
        return total

    def loss(self, positions: PositionSet, first: int, last: int, result_share: float) -> float:
        """The sum of the losses of positions first to last."""
        total: cython.double = 0
        error: cython.double
        share: cython.double = result_share
        index: cython.size_t
        begin: cython.size_t = first
        end: cython.size_t = last
        if not begin <= end <= positions.count:
            raise ValueError("these positions are not in the set")
        with cython.nogil:
            for index in range(begin, end):
                error = expected_score(self._output(cython.address(positions.positions[index])))
                error -= target_of(cython.address(positions.positions[index]), share)
                total += error * error
        return total

    def outputs(self, positions: PositionSet) -> list:
        """What the network says to every position."""
        index: cython.size_t
        found = []
        for index in range(positions.count):
            found.append(self._output(cython.address(positions.positions[index])))
        return found

    def _round(self, begin, end):
        outputs: cython.size_t = output_start(cython.address(self.shape))
        bias: cython.size_t = output_bias_at(cython.address(self.shape))
        if begin < outputs:
            round_to(self.level, self.rounded, self.merged, begin, min(end, outputs), ACTIVATION_ONE)
        if begin < bias and end > outputs:
            round_to(self.level, self.rounded, self.merged, max(begin, outputs), min(end, bias), OUTPUT_ONE)
        if end > bias:
            round_to(self.level, self.rounded, self.merged, bias, end, ACTIVATION_ONE * OUTPUT_ONE)

    # After a change of weights all copies are brought up to date.

    def _refresh_feature(self, feature):
        bucket: cython.int
        for bucket in range(self.buckets.count):
            row: cython.int = bucket * INPUTS + feature
            at: cython.size_t = cython.cast(cython.size_t, row) * self.shape.neurons
            if self.shared_size:
                merge(
                    self.level,
                    self.merged + at,
                    self.weights + at,
                    self.shared + cython.cast(cython.size_t, feature) * self.shape.neurons,
                    self.shape.neurons,
                    _MOST_WEIGHT,
                )
            if self.used == self.rounded:
                self._round(at, at + self.shape.neurons)
            shorten(self.level, self.shorts, self.used, cython.address(self.shape), row, row + 1)

    def _refresh_rest(self):
        """What is behind the first layer's rows."""
        begin: cython.size_t = bias_start(cython.address(self.shape))
        if self.shared_size:
            memcpy(self.merged + begin, self.weights + begin, (self.size - begin) * cython.sizeof(cython.float))
        if self.used == self.rounded:
            self._round(begin, self.size)

    def _refresh(self):
        feature: cython.int
        for feature in range(INPUTS):
            self._refresh_feature(feature)
        self._refresh_rest()

    def _step_feature(self, feature, plan, thread):
        """The rows of a feature: the one that is shared, then each bucket's own."""
        neurons: cython.int = self.shape.neurons
        shared: cython.size_t = cython.cast(cython.size_t, feature) * neurons
        bucket: cython.int
        if self.shared_size:
            sums: cython.pointer(cython.float) = self.groups[thread].values
            gather(self.level, sums, self.gradients, self.threads, cython.address(self.shape), feature)
            adam(
                self.level,
                self.shared + shared,
                self.first_moments + shared,
                self.second_moments + shared,
                cython.address(sums),
                1,
                0,
                neurons,
                plan,
            )
        for bucket in range(self.buckets.count):
            at: cython.size_t = cython.cast(cython.size_t, bucket * INPUTS + feature) * neurons
            adam(
                self.level,
                self.weights,
                self.first_moments + self.shared_size,
                self.second_moments + self.shared_size,
                self.gradients,
                self.threads,
                at,
                at + neurons,
                plan,
            )
            if self.shared_size:
                confine(self.level, self.weights + at, self.shared + shared, neurons, plan.most)

    def _step_rest(self, plan):
        """Part by part: biases do not decay, the outputs' biases may be large, and rounded output weights stay."""
        starts: cython.size_t[4]
        part: cython.int
        rate: cython.float = plan.rate
        decay: cython.float = plan.decay
        starts[0] = bias_start(cython.address(self.shape))
        starts[1] = output_start(cython.address(self.shape))
        starts[2] = output_bias_at(cython.address(self.shape))
        starts[3] = self.size
        for part in range(3):
            plan.decay = decay if part == 1 else 0
            plan.most = _MOST_WEIGHT if part < 2 else _MOST_OUTPUT_BIAS
            plan.rate = 0 if part == 1 and self.used == self.rounded else rate
            adam(
                self.level,
                self.weights,
                self.first_moments + self.shared_size,
                self.second_moments + self.shared_size,
                self.gradients,
                self.threads,
                starts[part],
                starts[part + 1],
                plan,
            )

    def step(self, share: int, size: int, rate: float, number: int, decay: float = DECAY):
        """Step `number` of AdamW (I. Loshchilov and F. Hutter 2017) on the gradients of `size` positions.

        Does the part of thread `share` of the weights; all threads have to, and none may be adding up meanwhile.
        """
        plan: AdamPlan
        feature: cython.int
        if not 0 <= share < self.threads or size < 1 or number < 1:
            raise ValueError(f"no step {number} of thread {share} on {size} positions")
        plan.scale = 1.0 / size
        plan.rate = rate
        plan.first_fix = 1 - 0.9**number
        plan.second_fix = 1 - 0.999**number
        plan.decay = decay
        plan.most = _MOST_WEIGHT
        thread: cython.int = share
        begin: cython.int = INPUTS * share // self.threads
        end: cython.int = INPUTS * (share + 1) // self.threads
        with cython.nogil:
            for feature in range(begin, end):
                self._step_feature(feature, cython.address(plan), thread)
                self._refresh_feature(feature)
            if thread + 1 == self.threads:
                self._step_rest(cython.address(plan))
                self._refresh_rest()

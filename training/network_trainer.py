"""The network's compiled teacher: the loss of positions, its gradient, and the steps of AdamW.

The loops themselves are in training_loops.h. While learning the first layer's sums are made of a copy of its weights in
16 bits; the weights that are learned, and all evaluation beside, have single precision. Threads share the weights while they add up gradients, each its own, and
then share the weights among them for the step; so the outcome depends on their number only by the order of additions.

Once `start_rounding` was called positions are evaluated with the weights as the file will have them. The gradient found
there moves the exact weights behind: what rounding does to one weight is made good by the others. The output weights
are rounded once and stay: their steps are coarse and they are always wanted larger or smaller together, so that many would
cross a step at once, back and forth, and carry the score of every position with them.
"""

import cython
from cython.cimports.board.bits import prefetch
from cython.cimports.board.types import i16, u16, u64
from cython.cimports.eval.network_shape import ACTIVATION_ONE, INPUTS, MOST_NEURONS, MOST_OUTPUTS, OUTPUT_ONE, output_of
from cython.cimports.libc.string import memcpy
from cython.cimports.training.positions import MOST_MEN, PositionSet, unpack_features

MOST_WEIGHT = 1.98  # so that rounded weights fit their integers: 1.98 · 255 < 505, 1.98 · 64 < 127
DECAY = 0.01
LEVEL_NAMES = ("base", "AVX2", "AVX-512")
NEURON_STEP = STRIPE_SIZE
MAXIMUM_NEURONS = MOST_NEURONS
MAXIMUM_OUTPUTS = MOST_OUTPUTS
_MOST_WEIGHT = cython.declare(cython.float, MOST_WEIGHT)
_MOST_OUTPUT_BIAS = cython.declare(cython.float, 60.0)
_AHEAD = cython.declare(u64, 16)  # how early a position's memory is asked for


@cython.final
@cython.cclass
class NetworkTrainer:
    """A network of `neurons` per side, and so many outputs, that `threads` threads may teach at once."""

    def __cinit__(self, neurons: int, threads: int = 1, level: int | None = None, outputs: int = 1):
        thread: cython.int
        if neurons % NEURON_STEP or not 0 < neurons <= MOST_NEURONS:
            raise ValueError(
                f"{neurons} neurons: their number must be a multiple of {NEURON_STEP}, at most {MOST_NEURONS}"
            )
        if not 0 < outputs <= MOST_OUTPUTS:
            raise ValueError(f"{outputs} outputs: there must be 1 to {MOST_OUTPUTS}")
        if not 0 < threads <= MOST_THREADS:
            raise ValueError(f"{threads} threads: there must be 1 to {MOST_THREADS}")
        self.neurons = neurons
        self.count_of_outputs = outputs
        self.threads = threads
        self.level = cpu_level() if level is None else min(level, cpu_level())
        self.size = output_bias_at(self.neurons, self.count_of_outputs) + self.count_of_outputs
        self.weights = self._new_block()
        self.rounded = self._new_block()
        self.used = self.weights
        self.first_moments = self._new_block()
        self.second_moments = self._new_block()
        self.shorts = cython.cast(cython.pointer(i16), new_lines(bias_start(self.neurons) * cython.sizeof(i16)))
        if self.shorts == cython.NULL:
            raise MemoryError("no memory for a network")
        for thread in range(self.threads):
            self.gradients[thread] = self._new_block()
            self.groups[thread] = new_group(self.neurons)
            if self.groups[thread] == cython.NULL:
                raise MemoryError("no memory for positions to learn from")

    def __dealloc__(self):
        thread: cython.int
        free_lines(self.weights)
        free_lines(self.rounded)
        free_lines(self.first_moments)
        free_lines(self.second_moments)
        free_lines(self.shorts)
        for thread in range(MOST_THREADS):
            free_lines(self.gradients[thread])
            free_group(self.groups[thread])

    def _new_block(self):
        # Room for whole vectors at the end.
        block: cython.pointer(cython.float) = cython.cast(
            cython.pointer(cython.float), new_lines((self.size + NEURON_STEP) * cython.sizeof(cython.float))
        )
        if block == cython.NULL:
            raise MemoryError("no memory for a network")
        return block

    @property
    def parts(self) -> tuple:
        """Where biases, output weights and the outputs' biases begin in a block, and where it ends."""
        output_biases = output_bias_at(self.neurons, self.count_of_outputs)
        return bias_start(self.neurons), output_start(self.neurons), output_biases, self.size

    # Blocks as bytes, in this machine's order

    def get_weights(self) -> bytes:
        return self._bytes_of(self.weights)

    def get_gradient(self, thread: int) -> bytes:
        """What a thread has added up since the last step."""
        if not 0 <= thread < self.threads:
            raise ValueError(f"there is no thread {thread}")
        return self._bytes_of(self.gradients[thread])

    def set_weights(self, block: bytes):
        self._fill(self.weights, block)
        self._refresh(0, self.size)

    def start_rounding(self):
        """Evaluates with rounded weights from now on; the output weights keep them."""
        outputs: cython.size_t = output_start(self.neurons)
        count: cython.size_t = output_bias_at(self.neurons, self.count_of_outputs) - outputs
        self._round(0, self.size)
        memcpy(self.weights + outputs, self.rounded + outputs, count * cython.sizeof(cython.float))
        self.used = self.rounded
        self._refresh(0, self.size)

    def get_moments(self) -> tuple:
        return self._bytes_of(self.first_moments), self._bytes_of(self.second_moments)

    def set_moments(self, first: bytes, second: bytes):
        self._fill(self.first_moments, first)
        self._fill(self.second_moments, second)

    def _bytes_of(self, block):
        return cython.cast(cython.p_char, block)[: self.size * cython.sizeof(cython.float)]

    def _fill(self, block, data):
        if cython.cast(cython.size_t, len(data)) != self.size * cython.sizeof(cython.float):
            raise ValueError(
                f"{len(data)} bytes are no block of a network of {self.neurons} neurons and {self.count_of_outputs} outputs"
            )
        memcpy(block, cython.cast(cython.p_char, data), self.size * cython.sizeof(cython.float))

    # Learning

    def _output(self, position):
        mine: u16[MOST_MEN]
        theirs: u16[MOST_MEN]
        men: cython.int = unpack_features(position, mine, theirs)
        output: cython.int = output_of(men, self.count_of_outputs)
        return evaluate(self.level, self.used, self.neurons, self.count_of_outputs, output, mine, theirs, men)

    def _learn(self, positions, count, place, stride, size, result_share, thread):
        """The sum of the losses of `size` positions from `place` on, in steps of `stride`, round and round."""
        total: cython.double = 0
        group: cython.pointer(Group) = self.groups[thread]
        number: cython.int = 0
        ahead: u64 = (place + _AHEAD * stride) % count
        while size > 0:
            prefetch(cython.address(positions[ahead]))
            group.men[number] = unpack_features(
                cython.address(positions[place]), group.features[2 * number], group.features[2 * number + 1]
            )
            group.outputs[number] = output_of(group.men[number], self.count_of_outputs)
            group.targets[number] = target_of(cython.address(positions[place]), result_share)
            place = place + stride if place + stride < count else place + stride - count
            ahead = ahead + stride if ahead + stride < count else ahead + stride - count
            size -= 1
            number += 1
            if number == GROUP_SIZE or size == 0:
                group.count = number
                total += learn(
                    self.level,
                    self.used,
                    self.shorts,
                    self.gradients[thread],
                    self.neurons,
                    self.count_of_outputs,
                    group,
                )
                number = 0
        return total

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
        outputs: cython.size_t = output_start(self.neurons)
        bias: cython.size_t = output_bias_at(self.neurons, self.count_of_outputs)
        if begin < outputs:
            round_to(self.level, self.rounded, self.weights, begin, min(end, outputs), ACTIVATION_ONE)
        if begin < bias and end > outputs:
            round_to(self.level, self.rounded, self.weights, max(begin, outputs), min(end, bias), OUTPUT_ONE)
        if end > bias:
            round_to(self.level, self.rounded, self.weights, bias, end, ACTIVATION_ONE * OUTPUT_ONE)

    def _refresh(self, begin, end):
        """Brings the copies of weights up to date. `begin` is where a row begins, and so is `end`, or else all ends there."""
        if self.used == self.rounded:
            self._round(begin, end)
        end = min(end, bias_start(self.neurons))
        if begin < end:
            shorten(
                self.level,
                self.shorts,
                self.used,
                self.neurons,
                cython.cast(cython.int, begin // self.neurons),
                cython.cast(cython.int, end // self.neurons),
            )

    def _step(self, begin, end, plan, decay):
        """Part by part: biases do not decay, the outputs' biases may be large, and rounded output weights stay."""
        starts: cython.size_t[5]
        part: cython.int
        low: cython.size_t
        high: cython.size_t
        rate: cython.float = plan.rate
        starts[0] = 0
        starts[1] = bias_start(self.neurons)
        starts[2] = output_start(self.neurons)
        starts[3] = output_bias_at(self.neurons, self.count_of_outputs)
        starts[4] = self.size
        for part in range(4):
            low = max(begin, starts[part])
            high = min(end, starts[part + 1])
            if low < high:
                plan.decay = decay if part == 0 or part == 2 else 0
                plan.most = _MOST_WEIGHT if part < 3 else _MOST_OUTPUT_BIAS
                plan.rate = 0 if part == 2 and self.used == self.rounded else rate
                adam(
                    self.level,
                    self.weights,
                    self.first_moments,
                    self.second_moments,
                    self.gradients,
                    self.threads,
                    low,
                    high,
                    plan,
                )

    def step(self, share: int, size: int, rate: float, number: int, decay: float = DECAY):
        """Step `number` of AdamW (I. Loshchilov and F. Hutter 2017) on the gradients of `size` positions.

        Does the part of thread `share` of the weights; all threads have to, and none may be adding up meanwhile.
        """
        plan: AdamPlan
        loss_of_weight: cython.float = decay
        if not 0 <= share < self.threads or size < 1 or number < 1:
            raise ValueError(f"no step {number} of thread {share} on {size} positions")
        plan.scale = 1.0 / size
        plan.rate = rate
        plan.first_fix = 1 - 0.9**number
        plan.second_fix = 1 - 0.999**number
        # Whole rows, of which the copies are made; the last one has the rest.
        begin: cython.size_t = INPUTS * share // self.threads * self.neurons
        end: cython.size_t = (
            self.size if share + 1 == self.threads else INPUTS * (share + 1) // self.threads * self.neurons
        )
        with cython.nogil:
            self._step(begin, end, cython.address(plan), loss_of_weight)
            self._refresh(begin, end)

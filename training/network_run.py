"""One training run of the network: order of the positions, learning rate, threads, checkpoints, and the way into a file.

docs/training.md explains what is learned and why so.
"""

import hashlib
import json
import math
import random
import struct
from array import array
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from board.files import parse_json, read_bytes, replace_file
from eval.king_buckets import bucket_table, origins
from eval.network_file import ACTIVATION_ONE, FEATURES, OUTPUT_ONE, SCALE, NetworkData, bytes_from, numbers_from
from training.gather import Filters
from training.network_trainer import (
    MAXIMUM_KING_BUCKETS,
    MAXIMUM_NEURONS,
    MAXIMUM_OUTPUTS,
    NEURON_STEP,
    NetworkTrainer,
)
from training.quantiser import RoundedNetwork
from training.schedule import Ramp, rate_at, rate_steps
from training.shards import Shards

MOST_DIFFERENCE = 2.0  # centipawns on average between the trainer's evaluation and the engine's
FEATURE_REACH = 0.1  # of the random weights at the beginning
WARM_UP = 500  # steps at most in which the rate rises
ROUNDED_PART = 0.2  # of the run, at its end: evaluated with rounded weights

_MAGIC = b"QZTRAIN1"
_LENGTH = struct.Struct("<I")


class TrainError(ValueError):
    """The run cannot start or go on. The message says why."""


class Settings(NamedTuple):
    """Everything that decides the outcome of a run, given the games and the number of threads."""

    neurons: int = 128
    outputs: int = 1
    king_buckets: int = 1
    epochs: int = 20
    batch: int = 8192
    rate: float = 1e-3
    last_rate: float = 1e-5
    rate_curve: str = "cosine"
    result_share: Ramp = Ramp(0.1, 0.1)
    seed: int = 1
    filters: Filters = Filters()
    shards_at_once: int = 8  # in memory, if the positions are on disk

    def check(self):
        """Raises TrainError for what cannot be done."""
        if self.neurons % NEURON_STEP or not NEURON_STEP <= self.neurons <= MAXIMUM_NEURONS:
            raise TrainError(
                f"{self.neurons} neurons: their number must be a multiple of {NEURON_STEP}, at most {MAXIMUM_NEURONS}"
            )
        if not 1 <= self.outputs <= MAXIMUM_OUTPUTS:
            raise TrainError(f"{self.outputs} outputs: there must be 1 to {MAXIMUM_OUTPUTS}")
        if not 1 <= self.king_buckets <= MAXIMUM_KING_BUCKETS:
            raise TrainError(f"{self.king_buckets} king buckets: there must be 1 to {MAXIMUM_KING_BUCKETS}")
        if not self.result_share.is_share():
            raise TrainError(f"the result's share is {self.result_share}, but must be from 0 to 1")
        try:
            rate_steps(self.rate_curve)
        except ValueError as error:
            raise TrainError(str(error)) from error
        if self.shards_at_once < 1:
            raise TrainError("at least one shard has to be in memory")
        if not 0 <= self.filters.later_share < 1:
            raise TrainError(f"the later scores' share is {self.filters.later_share:g}, but must be from 0 to below 1")
        if not 0 < self.last_rate <= self.rate <= 1:
            raise TrainError(
                f"the learning rate goes from {self.rate:g} to {self.last_rate:g}, but must lie between 0 and 1 and not rise"
            )


class Stretch(NamedTuple):
    """A part of an epoch: positions that are in memory together, met once each on a walk in steps of `stride`."""

    shards: tuple  # none if all positions are in memory anyway
    count: int
    begin: int  # of the walk
    stride: int
    first_batch: int  # of the epoch's
    batches: int


class Comparison(NamedTuple):
    """The network in integers on the held-out positions; all but the losses in centipawns."""

    mean_difference: float  # from the trainer's arithmetic with the same, rounded weights
    largest_difference: float
    mean_rounding: float  # difference from the exact weights behind
    exact_loss: float  # of these
    mean_evaluation: float  # of |score|
    mean_search_score: float


def random_weights(neurons, seed, outputs=1, king_buckets=1):
    """A network that knows nothing: small random weights, the same for all outputs and king buckets, and biases of 0."""
    dice = random.Random(f"weights {seed}")
    reach = 1 / math.sqrt(2 * neurons)
    weights = array("f", (dice.uniform(-FEATURE_REACH, FEATURE_REACH) for _ in range(FEATURES * neurons)))
    if king_buckets > 1:
        weights.frombytes(bytes(4 * king_buckets * FEATURES * neurons))
    weights.extend(array("f", bytes(4 * neurons)))
    weights.extend(outputs * [dice.uniform(-reach, reach) for _ in range(2 * neurons)])
    weights.extend(outputs * [0.0])
    return weights.tobytes()


def _rows_of(network, king_buckets):
    """The first layer's rows in the file's integers, and in the order in which so many buckets are learned.

    Several buckets are preceded by what they share: the mean of what is there.
    """
    numbers, had, size = numbers_from(network.feature_weights), network.king_buckets, FEATURES * network.neurons
    parts = [numbers[bucket * size : (bucket + 1) * size] for bucket in range(had)]
    if king_buckets > 1:
        shared = parts[0] if had == 1 else [round(sum(column) / had) for column in zip(*parts, strict=True)]
        own = [[number - mean for number, mean in zip(part, shared, strict=True)] for part in parts]
        parts = [shared, *(own[origin] for origin in origins(bucket_table(king_buckets), network.bucket_table))]
    for part in parts:
        for start in range(0, size, network.neurons):
            yield part[start : start + network.neurons]


def weights_of(network, neurons=None, seed=1, outputs=None, king_buckets=None):
    """The weights of a network's file, to go on from there. Its centipawns stay what they were.

    With more `neurons` than it has it grows: the new ones see random features, and nobody listens to them yet. More
    `outputs` and `king_buckets` begin as copies of those that it has.
    """
    had, unit = network.neurons, network.scale / SCALE
    neurons = neurons or had
    outputs = outputs or network.outputs
    king_buckets = king_buckets or network.king_buckets
    old_outputs = numbers_from(network.output_weights)
    silence = array("f", bytes(4 * (neurons - had)))
    fresh = array("f")
    fresh.frombytes(random_weights(neurons, seed, king_buckets=king_buckets))
    weights = array("f")
    for row, numbers in enumerate(_rows_of(network, king_buckets)):
        weights.extend(number / ACTIVATION_ONE for number in numbers)
        weights.extend(fresh[row * neurons + had : (row + 1) * neurons])
    weights.extend(number / ACTIVATION_ONE for number in numbers_from(network.biases))
    weights.extend(silence)
    copied = [output * network.outputs // outputs for output in range(outputs)]
    for old in copied:
        for side in (2 * old, 2 * old + 1):
            weights.extend(number * unit / OUTPUT_ONE for number in old_outputs[side * had : (side + 1) * had])
            weights.extend(silence)
    weights.extend(network.output_biases[old] * unit / (ACTIVATION_ONE * OUTPUT_ONE) for old in copied)
    return weights.tobytes()


class TrainingRun:
    """Weights, Adam's moments and the place in the schedule. All of it goes into the checkpoint."""

    def __init__(self, data, settings, threads, start=None):
        settings.check()
        if not len(data.training) or not len(data.held_out):
            raise TrainError(
                f"{data.games} games give {len(data.training)} positions to learn from and {len(data.held_out)} held out: "
                "too few"
            )
        self.data, self.settings, self.threads = data, settings, threads
        self.trainer = self._new_trainer(threads)
        weights = start or random_weights(settings.neurons, settings.seed, settings.outputs, settings.king_buckets)
        self.trainer.set_weights(weights)
        self.epoch = 0  # finished ones
        self.batch = 0  # finished ones of this epoch
        self.step = 0  # finished ones of the whole run
        self.loss = 0.0  # summed over this epoch's positions
        self.history = []  # the epochs' losses: of training, of the held-out positions
        self.steps = sum(sum(part.batches for part in self._plan(epoch)) for epoch in range(settings.epochs))
        self.rounded_from = self.steps - max(
            1, int(ROUNDED_PART * self.steps)
        )  # this step is the first with rounded weights
        self.pool = ThreadPoolExecutor(threads)
        told = (settings, len(data.training), data.training.checksum(), data.held_out.checksum())
        self.identity = hashlib.sha256(repr(told).encode() + weights).hexdigest()
        self.stretches = self._plan(0)
        self._positions = (None, None)  # a stretch and its positions
        self._ahead = (None, None)  # the next one, and the future of its positions
        self._reader = ThreadPoolExecutor(1)

    def _new_trainer(self, threads=1):
        settings = self.settings
        return NetworkTrainer(settings.neurons, threads, outputs=settings.outputs, king_buckets=settings.king_buckets)

    def close(self):
        self.pool.shutdown()
        self._reader.shutdown()

    # The order of the positions

    def _plan(self, epoch):
        """The stretches of an epoch: which shards are read together is its own choice, and so is each one's order."""
        source, settings = self.data.training, self.settings
        if not isinstance(source, Shards):
            return [self._stretch(f"walk {settings.seed} {epoch}", (), len(source), 0)]
        dice = random.Random(f"shards {settings.seed} {epoch}")
        order = dice.sample(range(len(source.counts)), len(source.counts))
        stretches, batch = [], 0
        for first in range(0, len(order), settings.shards_at_once):
            numbers = tuple(order[first : first + settings.shards_at_once])
            if count := sum(source.counts[number] for number in numbers):
                stretches.append(self._stretch(f"walk {settings.seed} {epoch} {first}", numbers, count, batch))
                batch += stretches[-1].batches
        return stretches

    def _stretch(self, seed, shards, count, first_batch):
        """Where the walk begins among the shuffled positions, and its stride: without a divisor in common."""
        dice = random.Random(seed)
        begin = dice.randrange(count)
        while True:
            stride = dice.randrange(count)
            if math.gcd(stride, count) == 1:
                return Stretch(shards, count, begin, stride, first_batch, -(-count // self.settings.batch))

    @property
    def stretch(self):
        """That of the next batch."""
        return next(part for part in self.stretches if self.batch < part.first_batch + part.batches)

    def positions(self):
        """Those of the stretch. The next one's shards are read in the meantime."""
        stretch = self.stretch
        if not stretch.shards:
            return self.data.training
        if self._positions[0] != stretch:
            self._positions = (None, None)  # gives its memory back first
            load, (expected, future) = self.data.training.load, self._ahead
            self._positions = (stretch, future.result() if expected == stretch else load(stretch.shards))
            later = self.stretches[self.stretches.index(stretch) + 1 :]
            if not later and self.epoch + 1 < self.settings.epochs:
                later = self._plan(self.epoch + 1)
            self._ahead = (later[0], self._reader.submit(load, later[0].shards)) if later else (None, None)
        return self._positions[1]

    @property
    def batches(self):
        """Of this epoch."""
        return self.stretches[-1].first_batch + self.stretches[-1].batches

    @property
    def is_finished(self):
        return self.epoch == self.settings.epochs

    @property
    def positions_done(self):
        """Over the whole run."""
        done = self.epoch * len(self.data.training)
        for part in self.stretches:
            if self.batch > part.first_batch:
                done += min((self.batch - part.first_batch) * self.settings.batch, part.count)
        return done

    def rate(self):
        """The next step's: rising at first, because Adam's moments know nothing yet, then falling."""
        settings = self.settings
        warm_up = min(WARM_UP, self.steps // 10)
        if self.step < warm_up:
            return settings.rate * (self.step + 1) / warm_up
        done = (self.step - warm_up) / max(1, self.steps - warm_up - 1)
        return rate_at(settings.rate_curve, settings.rate, settings.last_rate, done)

    def result_share(self):
        """The next step's."""
        return self.settings.result_share.at(self.step / max(1, self.steps - 1))

    def learn_batch(self):
        """One step; returns its number of positions. After an epoch's last batch `end_epoch` must be called."""
        threads, stretch, positions = self.threads, self.stretch, self.positions()
        first = (self.batch - stretch.first_batch) * self.settings.batch
        last = min(first + self.settings.batch, stretch.count)
        bounds = [first + (last - first) * part // threads for part in range(threads + 1)]

        def add_up(part):
            return self.trainer.gradient(
                positions, stretch.begin, stretch.stride, bounds[part], bounds[part + 1], share, part
            )

        if self.step == self.rounded_from:
            self.trainer.start_rounding()
        rate, share = self.rate(), self.result_share()
        loss = sum(self.pool.map(add_up, range(threads)))
        list(self.pool.map(lambda part: self.trainer.step(part, last - first, rate, self.step + 1), range(threads)))
        self.loss += loss
        self.step += 1
        self.batch += 1
        return last - first

    @property
    def epoch_is_over(self):
        return self.batch == self.batches

    def end_epoch(self):
        """Judges the epoch and goes on to the next; returns its losses, of training and of the held-out positions."""
        losses = self.loss / len(self.data.training), self.held_out_loss()
        self.history.append(losses)
        self.epoch += 1
        self.batch = 0
        self.loss = 0.0
        if not self.is_finished:
            self.stretches = self._plan(self.epoch)
        return losses

    def _parts(self, size):
        return [(size * part // self.threads, size * (part + 1) // self.threads) for part in range(self.threads)]

    def held_out_loss(self):
        """With the result share of the run's end, so that all epochs are judged by the same targets."""
        held_out, share = self.data.held_out, self.settings.result_share.last
        parts = self.pool.map(lambda part: self.trainer.loss(held_out, *part, share), self._parts(len(held_out)))
        return sum(parts) / len(held_out)

    # The result

    def round_off(self):
        """The network in integers, and how it compares with the trainer's arithmetic on the held-out positions."""
        rounded, held_out = RoundedNetwork(self.trainer), self.data.held_out
        exact = self._new_trainer()
        exact.set_weights(self.trainer.get_weights())

        def compare(part):
            return (
                *rounded.compare(self.trainer, held_out, *part),
                rounded.compare(exact, held_out, *part)[0],
                exact.loss(held_out, *part, self.settings.result_share.last),
            )

        found = list(self.pool.map(compare, self._parts(len(held_out))))
        difference, evaluation, searched, _, rounding, loss = (
            sum(sums) / len(held_out) for sums in zip(*found, strict=True)
        )
        largest = max(sums[3] for sums in found)
        return rounded, Comparison(difference, largest, rounding, loss, evaluation, searched)

    def export(self, rounded, training):
        """What goes into the file; `training` is the summary."""
        *blocks, output_biases = rounded.numbers()
        features, biases, outputs = (bytes_from(array("h", block)) for block in blocks)
        table = bucket_table(self.settings.king_buckets)
        return NetworkData(self.settings.neurons, SCALE, features, biases, outputs, output_biases, training, table)

    # Checkpoints

    def save(self, path):
        """Writes a checkpoint."""
        head = json.dumps(
            {
                "identity": self.identity,
                "epoch": self.epoch,
                "batch": self.batch,
                "step": self.step,
                "loss": self.loss,
                "history": self.history,
            }
        ).encode()
        blocks = self.trainer.get_weights(), *self.trainer.get_moments()
        body = b"".join((_MAGIC, _LENGTH.pack(len(head)), head, *blocks))
        replace_file(path, body + hashlib.sha256(body).digest())

    def load(self, path):
        """Goes on where a checkpoint of the same run stopped."""
        blob = read_bytes(path)
        body, start = blob[:-32], len(_MAGIC) + _LENGTH.size
        if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != blob[-32:]:
            raise TrainError(f"{path} is no checkpoint of a training run, or a damaged one")
        (length,) = _LENGTH.unpack_from(body, len(_MAGIC))
        try:
            head = parse_json(body[start : start + length])
        except ValueError as error:
            raise TrainError(f"{path} is no checkpoint of a training run: {error}") from None
        if head["identity"] != self.identity:
            raise TrainError(f"{path} belongs to another run: other games, settings or starting weights")
        blocks = body[start + length :]
        size = len(blocks) // 3
        if head["step"] > self.rounded_from:
            self.trainer.start_rounding()
        self.trainer.set_weights(blocks[:size])
        self.trainer.set_moments(blocks[size : 2 * size], blocks[2 * size :])
        self.epoch, self.batch, self.step = head["epoch"], head["batch"], head["step"]
        self.loss = head["loss"]
        self.history = [tuple(losses) for losses in head["history"]]
        self.stretches = self._plan(min(self.epoch, self.settings.epochs - 1))

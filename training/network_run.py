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

from book.files import replace_file
from eval.network_file import ACTIVATION_ONE, FEATURES, OUTPUT_ONE, SCALE, NetworkData, bytes_from, numbers_from
from training.gather import Filters
from training.network_trainer import MAXIMUM_NEURONS, NEURON_STEP, NetworkTrainer
from training.quantiser import RoundedNetwork

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
    epochs: int = 20
    batch: int = 8192
    rate: float = 1e-3
    last_rate: float = 1e-5
    result_share: float = 0.1
    seed: int = 1
    filters: Filters = Filters()

    def check(self):
        """Raises TrainError for what cannot be done."""
        if self.neurons % NEURON_STEP or not NEURON_STEP <= self.neurons <= MAXIMUM_NEURONS:
            raise TrainError(
                f"{self.neurons} neurons: their number must be a multiple of {NEURON_STEP}, at most {MAXIMUM_NEURONS}"
            )
        if not 0 <= self.result_share <= 1:
            raise TrainError(f"the result's share is {self.result_share:g}, but must be from 0 to 1")
        if not 0 <= self.filters.later_share < 1:
            raise TrainError(f"the later scores' share is {self.filters.later_share:g}, but must be from 0 to below 1")
        if not 0 < self.last_rate <= self.rate <= 1:
            raise TrainError(
                f"the learning rate goes from {self.rate:g} to {self.last_rate:g}, but must lie between 0 and 1 and not rise"
            )


class Comparison(NamedTuple):
    """The network in integers on the held-out positions; all but the losses in centipawns."""

    mean_difference: float  # from the trainer's arithmetic with the same, rounded weights
    largest_difference: float
    mean_rounding: float  # difference from the exact weights behind
    exact_loss: float  # of these
    mean_evaluation: float  # of |score|
    mean_search_score: float


def random_weights(neurons, seed):
    """A network that knows nothing: small random weights, biases of 0."""
    dice = random.Random(f"weights {seed}")
    reach = 1 / math.sqrt(2 * neurons)
    weights = array("f", (dice.uniform(-FEATURE_REACH, FEATURE_REACH) for _ in range(FEATURES * neurons)))
    weights.extend(array("f", bytes(4 * neurons)))
    weights.extend(dice.uniform(-reach, reach) for _ in range(2 * neurons))
    weights.append(0.0)
    return weights.tobytes()


def weights_of(network, neurons=None, seed=1):
    """The weights of a network's file, to go on from there. Its centipawns stay what they were.

    With more `neurons` than it has it grows: the new ones see random features, and nobody listens to them yet.
    """
    had, unit = network.neurons, network.scale / SCALE
    neurons = neurons or had
    features = numbers_from(network.feature_weights)
    outputs = numbers_from(network.output_weights)
    silence = array("f", bytes(4 * (neurons - had)))
    fresh = array("f")
    fresh.frombytes(random_weights(neurons, seed))
    weights = array("f")
    for row in range(FEATURES):
        weights.extend(number / ACTIVATION_ONE for number in features[row * had : (row + 1) * had])
        weights.extend(fresh[row * neurons + had : (row + 1) * neurons])
    weights.extend(number / ACTIVATION_ONE for number in numbers_from(network.biases))
    weights.extend(silence)
    for side in (outputs[:had], outputs[had:]):
        weights.extend(number * unit / OUTPUT_ONE for number in side)
        weights.extend(silence)
    weights.append(network.output_bias * unit / (ACTIVATION_ONE * OUTPUT_ONE))
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
        self.trainer = NetworkTrainer(settings.neurons, threads)
        weights = start or random_weights(settings.neurons, settings.seed)
        self.trainer.set_weights(weights)
        self.epoch = 0  # finished ones
        self.batch = 0  # finished ones of this epoch
        self.step = 0  # finished ones of the whole run
        self.loss = 0.0  # summed over this epoch's positions
        self.history = []  # the epochs' losses: of training, of the held-out positions
        self.batches = -(-len(data.training) // settings.batch)
        steps = settings.epochs * self.batches
        self.rounded_from = steps - max(1, int(ROUNDED_PART * steps))  # this step is the first with rounded weights
        self.pool = ThreadPoolExecutor(threads)
        told = (settings, len(data.training), data.training.checksum(), data.held_out.checksum())
        self.identity = hashlib.sha256(repr(told).encode() + weights).hexdigest()
        self._walk = self._plan_walk()

    def close(self):
        self.pool.shutdown()

    def _plan_walk(self):
        """Where an epoch begins among the shuffled positions, and its stride: an order that its number decides."""
        count = len(self.data.training)
        dice = random.Random(f"walk {self.settings.seed} {self.epoch}")
        begin = dice.randrange(count)
        while True:
            stride = dice.randrange(count)
            if math.gcd(stride, count) == 1:
                return begin, stride

    @property
    def is_finished(self):
        return self.epoch == self.settings.epochs

    @property
    def positions_done(self):
        """Over the whole run."""
        size = len(self.data.training)
        return self.epoch * size + min(self.batch * self.settings.batch, size)

    def rate(self):
        """The next step's: rising at first, because Adam's moments know nothing yet, then falling along a cosine."""
        settings, steps = self.settings, self.settings.epochs * self.batches
        warm_up = min(WARM_UP, steps // 10)
        if self.step < warm_up:
            return settings.rate * (self.step + 1) / warm_up
        done = (self.step - warm_up) / max(1, steps - warm_up - 1)
        return settings.last_rate + (settings.rate - settings.last_rate) * (1 + math.cos(math.pi * done)) / 2

    def learn_batch(self):
        """One step; returns its number of positions. After an epoch's last batch `end_epoch` must be called."""
        settings, threads = self.settings, self.threads
        first = self.batch * settings.batch
        last = min(first + settings.batch, len(self.data.training))
        bounds = [first + (last - first) * part // threads for part in range(threads + 1)]

        def add_up(part):
            return self.trainer.gradient(
                self.data.training, *self._walk, bounds[part], bounds[part + 1], settings.result_share, part
            )

        if self.step == self.rounded_from:
            self.trainer.start_rounding()
        rate = self.rate()
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
        self._walk = self._plan_walk()
        return losses

    def _parts(self, size):
        return [(size * part // self.threads, size * (part + 1) // self.threads) for part in range(self.threads)]

    def held_out_loss(self):
        held_out = self.data.held_out
        parts = self.pool.map(
            lambda part: self.trainer.loss(held_out, *part, self.settings.result_share), self._parts(len(held_out))
        )
        return sum(parts) / len(held_out)

    # The result

    def round_off(self):
        """The network in integers, and how it compares with the trainer's arithmetic on the held-out positions."""
        rounded, held_out = RoundedNetwork(self.trainer), self.data.held_out
        exact = NetworkTrainer(self.settings.neurons)
        exact.set_weights(self.trainer.get_weights())

        def compare(part):
            return (
                *rounded.compare(self.trainer, held_out, *part),
                rounded.compare(exact, held_out, *part)[0],
                exact.loss(held_out, *part, self.settings.result_share),
            )

        found = list(self.pool.map(compare, self._parts(len(held_out))))
        difference, evaluation, searched, _, rounding, loss = (
            sum(sums) / len(held_out) for sums in zip(*found, strict=True)
        )
        largest = max(sums[3] for sums in found)
        return rounded, Comparison(difference, largest, rounding, loss, evaluation, searched)

    def export(self, rounded, training):
        """What goes into the file; `training` is the summary."""
        *blocks, output_bias = rounded.numbers()
        features, biases, outputs = (bytes_from(array("h", block)) for block in blocks)
        return NetworkData(self.settings.neurons, SCALE, features, biases, outputs, output_bias, training)

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
        with open(path, "rb") as file:
            blob = file.read()
        body, start = blob[:-32], len(_MAGIC) + _LENGTH.size
        if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != blob[-32:]:
            raise TrainError(f"{path} is no checkpoint of a training run, or a damaged one")
        (length,) = _LENGTH.unpack_from(body, len(_MAGIC))
        head = json.loads(body[start : start + length])
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
        self._walk = self._plan_walk()

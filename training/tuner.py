"""Fits the weights of the classical evaluation to the results of games.

Texel's method by gradient descent: the score of a quiet position, put through a logistic curve, shall predict how the
game ended. All weights move at once, by Adam in small batches, and a mild pull holds those that the games say little
about near their start. Some games are held out; their loss tells whether the fit is knowledge or memory.
"""

import hashlib
import json
import math
from array import array
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import NamedTuple, TypedDict

from arena.formats import check_shape, demand
from board.files import parse_json, read_text, replace_file
from eval.weights import LAYOUT, current_weights
from eval.weights_file import MOST_WEIGHT
from training.dataset import WEIGHT_COUNT, Dataset, adam_step, shuffle
from training.files import GameReader, is_held_out

CHECKPOINT_FORMAT = 1
GAMES_AT_ONCE = 200
PIECES = ("pawn", "knight", "bishop", "rook", "queen")
TEXTBOOK = (1, 3, 3, 5, 9)


class TuneError(ValueError):
    """The run cannot start or go on. The message says why."""


class Settings(NamedTuple):
    """Everything that decides the outcome of a run, given the games."""

    epochs: int = 30
    batch: int = 16384
    rate: float = 1.0  # centipawns per step at the beginning; falls to a fiftieth along a cosine
    prior: float = 60.0  # centipawns: how far from its start a weight is expected to move
    held_out: int = 5  # percent of the games
    score_share: float = 0.0  # how much of the target is the search's score instead of the result
    most_score: int = 1000
    settle: bool = True
    seed: int = 1
    threads: int = 2


class Checkpoint(TypedDict):
    """What Tuner.save keeps."""

    format: int
    identity: str
    epoch: int
    step: int
    k: float
    first_loss: float
    history: list[list[float]]
    weights: list[float]
    moments: list[list[float]]


def read_checkpoint(path):
    """ValueError if that is none."""
    found = parse_json(read_text(path))
    check_shape(found, Checkpoint)
    rows = [found["weights"], *found["moments"]]
    demand([len(row) for row in rows] == 3 * [WEIGHT_COUNT], "weights or moments of another number")
    demand(all(len(losses) == 2 for losses in found["history"]), "an epoch has not two losses")
    demand(found["k"] > 0, f"k is {found['k']}")
    demand(0 <= found["epoch"] <= found["step"], f"epoch is {found['epoch']}, step {found['step']}")
    return found


class Data(NamedTuple):
    """Positions to learn from and positions to judge by, from different games."""

    training: Dataset
    held_out: Dataset
    games: int
    damaged: list


def _payloads(paths, damaged):
    for path in paths:
        with GameReader(path) as reader:
            yield from reader
            if reader.damage is not None:
                damaged.append((path, reader.damage))


def read_games(paths, settings, progress=None):
    """Quiet positions of all games in these files, in an order that does not depend on the threads."""
    training, held_out, damaged = Dataset(), Dataset(), []
    numbered = enumerate(_payloads(paths, damaged))
    games = 0

    def extract(chunk):
        parts = Dataset(), Dataset()
        for number, payload in chunk:
            parts[is_held_out(number, settings.seed, settings.held_out)].add_game(
                payload, most_score=settings.most_score, settle=settings.settle
            )
        return parts

    with ThreadPoolExecutor(settings.threads) as pool:
        while chunks := [
            chunk for _ in range(4 * settings.threads) if (chunk := list(islice(numbered, GAMES_AT_ONCE)))
        ]:
            for parts in pool.map(extract, chunks):
                training.extend(parts[0])
                held_out.extend(parts[1])
                if progress:
                    progress.advance(len(parts[0]) + len(parts[1]))
            games += sum(len(chunk) for chunk in chunks)
    return Data(training, held_out, games, damaged)


def flatten(middlegame, endgame):
    """Two rows of weights as the one that the data set wants."""
    return array("d", (value for pair in zip(middlegame, endgame, strict=True) for value in pair))


class Tuner:
    """One run: weights, Adam's moments, the epoch reached. All of it goes into the checkpoint."""

    def __init__(self, data, settings):
        if not len(data.training) or not len(data.held_out):
            raise TuneError(
                f"{data.games} games give {len(data.training)} positions to learn from and {len(data.held_out)} held out: "
                "too few"
            )
        self.data, self.settings = data, settings
        self.start = flatten(*current_weights())
        self.weights = array("d", self.start)
        self.moments = array("d", bytes(8 * WEIGHT_COUNT)), array("d", bytes(8 * WEIGHT_COUNT))
        self.gradients = [array("d", bytes(8 * WEIGHT_COUNT)) for _ in range(settings.threads)]
        self.order = array("I", range(len(data.training)))
        self.epoch = 0
        self.step = 0
        self.pool = ThreadPoolExecutor(settings.threads)
        self.k = self._fit_k()
        self.first_loss = self.held_out_loss()
        self.history = []

    def close(self):
        self.pool.shutdown()

    def _mean_loss(self, dataset, k, share):
        size, threads = len(dataset), self.settings.threads
        bounds = [size * part // threads for part in range(threads + 1)]
        parts = self.pool.map(
            lambda part: dataset.loss(self.weights, k, share, bounds[part], bounds[part + 1]), range(threads)
        )
        return sum(parts) / size

    def _fit_k(self):
        """The steepness of the logistic curve that suits the starting weights best, by golden-section search.

        Only results count: the scores are put through the same curve, and would reward a steep one for its own sake.
        """

        def loss(logarithm):
            return self._mean_loss(self.data.training, math.exp(logarithm), 0.0)

        ratio = (math.sqrt(5) - 1) / 2
        low, high = math.log(1e-4), math.log(0.1)
        while high - low > 1e-3:
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            if loss(left) < loss(right):
                high = right
            else:
                low = left
        return math.exp((low + high) / 2)

    def held_out_loss(self):
        return self._mean_loss(self.data.held_out, self.k, self.settings.score_share)

    def _rate(self):
        """Along a cosine from the full rate to a fiftieth of it."""
        done = self.epoch / max(1, self.settings.epochs - 1)
        return self.settings.rate * (0.02 + 0.98 * (1 + math.cos(math.pi * min(done, 1))) / 2)

    def run_epoch(self, progress=None):
        """One pass over the training positions in a new order; returns its mean loss and the held-out one."""
        settings, size = self.settings, len(self.order)
        # From the identity, so that an epoch's order depends on its number only and a resumed run equals a whole one.
        self.order[:] = array("I", range(size))
        shuffle(self.order, settings.seed * 1_000_003 + self.epoch)
        pull = 1 / (size * settings.prior**2)
        rate = self._rate()
        total = 0.0
        for first in range(0, size, settings.batch):
            last = min(first + settings.batch, size)
            bounds = [first + (last - first) * part // settings.threads for part in range(settings.threads + 1)]

            def part_gradient(part, bounds=bounds):
                return self.data.training.gradient(
                    self.weights,
                    self.k,
                    settings.score_share,
                    self.order,
                    bounds[part],
                    bounds[part + 1],
                    self.gradients[part],
                )

            total += sum(self.pool.map(part_gradient, range(settings.threads)))
            self.step += 1
            adam_step(self.weights, self.start, *self.moments, self.gradients, last - first, pull, rate, self.step)
            if progress:
                progress.advance(last - first, f"epoch {self.epoch + 1}")
        self.epoch += 1
        losses = total / size, self.held_out_loss()
        self.history.append(losses)
        return losses

    def rounded(self):
        """Whole centipawns, as two rows."""
        values = [max(-MOST_WEIGHT, min(MOST_WEIGHT, round(value))) for value in self.weights]
        return values[::2], values[1::2]

    # Checkpoints

    def _identity(self):
        """Another run's checkpoint must not be continued: what the outcome depends on, as a digest."""
        settings = self.settings._replace(epochs=0)
        told = repr((settings, len(self.data.training), len(self.data.held_out), self.data.games, list(self.start)))
        return hashlib.sha256(told.encode()).hexdigest()

    def save(self, path):
        """Writes a checkpoint."""
        state = {
            "format": CHECKPOINT_FORMAT,
            "identity": self._identity(),
            "epoch": self.epoch,
            "step": self.step,
            "k": self.k,
            "first_loss": self.first_loss,
            "history": self.history,
            "weights": list(self.weights),
            "moments": [list(moment) for moment in self.moments],
        }
        replace_file(path, json.dumps(state))

    def load(self, path):
        """Goes on where a checkpoint of the same run stopped."""
        try:
            state = read_checkpoint(path)
        except ValueError as error:
            raise TuneError(f"{path} is no checkpoint: {error}") from None
        if state["format"] != CHECKPOINT_FORMAT or state["identity"] != self._identity():
            raise TuneError(f"{path} belongs to another run: other games, settings or starting weights")
        self.epoch, self.step = state["epoch"], state["step"]
        self.k, self.first_loss = state["k"], state["first_loss"]
        self.history = [tuple(losses) for losses in state["history"]]
        self.weights = array("d", state["weights"])
        self.moments = tuple(array("d", moment) for moment in state["moments"])


def piece_values(middlegame, endgame):
    """Lines that compare the learned values of the pieces with the textbook's.

    A piece's worth is its material weight and the mean of its square values over the board.
    """
    starts = {name: (start, size) for name, start, size in LAYOUT}

    def worth(row, number, kind):
        total = row[starts["material"][0] + number]
        for table in (f"squares_{kind}", f"enemy_squares_{kind}"):
            start, size = starts[table]
            squares = row[start + 8 : start + size - 8] if kind == "pawn" else row[start : start + size]
            total += sum(squares) / len(squares)
        return total

    values = [
        (kind, worth(middlegame, number, kind), worth(endgame, number, kind)) for number, kind in enumerate(PIECES)
    ]
    yield f"{'':8}{'mg':>8}{'eg':>8}{'in pawns':>16}{'textbook':>10}"
    for (kind, early, late), textbook in zip(values, TEXTBOOK, strict=True):
        ratios = f"{early / values[0][1]:.2f} {late / values[0][2]:.2f}"
        yield f"{kind:8}{early:>8.0f}{late:>8.0f}{ratios:>16}{textbook:>10}"

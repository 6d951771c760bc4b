"""Simultaneous perturbation stochastic approximation (J. C. Spall, IEEE Transactions on Automatic Control 37, 1992).

In every iteration each parameter is moved a little up or down, at random, and the engine plays against its own mirror
image, in which every parameter is moved the other way. All parameters then go a part of the way towards the winner. One
match so says something about all of them at once. spsa_run.py has the games played.
"""

import math
import random
from typing import NamedTuple

from arena.errors import InputError
from search.parameters import TABLE

# Without names: the margins, which are measured in the evaluation's centipawns and so depend on it, and reductions.
USUAL = (
    "aspiration_window",
    "reverse_futility_margin",
    "razoring_base",
    "null_move_eval_divisor",
    "null_move_margin",
    "probcut_margin",
    "futility_base",
    "futility_slope",
    "see_quiet_slope",
    "see_capture_slope",
    "singular_margin",
    "double_extension_margin",
    "delta_margin",
    "reduction_base",
    "reduction_divisor",
    "reduction_history_divisor",
    "reduction_cut_node",
    "reduction_not_improving",
)

# Standard deviation of a game's result, as 1, 0 or -1, by the spread of the pairs in docs/strength-log.md.
NOISE = 0.8


class Gains(NamedTuple):
    """How far an iteration looks and how far it goes, in steps of each parameter. The names are Spall's."""

    a: float
    A: float
    alpha: float
    gamma: float
    c: float

    def look(self, iteration):
        return self.c / (iteration + 1) ** self.gamma

    def go(self, iteration):
        return self.a / (self.A + iteration + 1) ** self.alpha


def usual_a(gains, iterations, games):
    """The gain with which results that mean nothing would lead each parameter about one step astray in the whole run.

    A larger one follows the noise, a smaller one stays where it is. `games` is the number in one iteration.
    """
    unit = gains._replace(a=1.0)
    spread = sum((unit.go(number) / (2 * unit.look(number))) ** 2 for number in range(iterations))
    return 1 / math.sqrt(spread * NOISE**2 / games)


def complete_gains(given, iterations, games):
    """The gains that were chosen, and the usual ones where none was. `games` is the number in one iteration."""
    usual = {"a": 0.0, "A": iterations / 10, "alpha": 0.602, "gamma": 0.101, "c": 1.0}
    gains = Gains(**{**usual, **given})
    if gains.c <= 0 or gains.A < 0 or ("a" in given and gains.a <= 0):
        raise InputError("--a and --c are more than 0, and --A is not less")
    return gains if "a" in given else gains._replace(a=usual_a(gains, iterations, games))


class Optimiser:
    """Asks for a match between two settings, learns from its result, and asks for the next."""

    def __init__(self, parameters, gains, seed):
        self.parameters = parameters
        self.gains = gains
        self.seed = seed
        self.iteration = 0
        self.values = {each.name: float(each.default) for each in parameters}

    def _draw(self):
        """A direction and a chance for each parameter. They depend on the iteration alone: resuming changes nothing."""
        dice = random.Random(f"{self.seed} {self.iteration}")
        return [(each, dice.choice((-1, 1)), dice.random()) for each in self.parameters]

    def pair(self):
        """The settings of the two sides, in whole numbers.

        Rounding is by chance, so that in the mean the sides stand where they should, and with the same chance for both,
        so that it adds little noise.
        """
        look = self.gains.look(self.iteration)
        sides = ({}, {})
        for each, direction, chance in self._draw():
            for side, sign in zip(sides, (direction, -direction), strict=True):
                wanted = self.values[each.name] + sign * look * each.step
                side[each.name] = min(each.most, max(each.least, math.floor(wanted + chance)))
        return sides

    def learn(self, advantage):
        """Takes what the first side of `pair` scored more than the second, per game: -1 to 1."""
        slope = advantage / (2 * self.gains.look(self.iteration))
        for each, direction, _ in self._draw():
            moved = self.values[each.name] + self.gains.go(self.iteration) * slope * direction * each.step
            self.values[each.name] = min(float(each.most), max(float(each.least), moved))
        self.iteration += 1


# What is tuned


def choose(names):
    """The parameters that names and beginnings of names mean, in the order of the table."""
    numbers = [each for each in TABLE if not each.name.startswith("use_")]
    wanted = set()
    for name in names or USUAL:
        found = [each.name for each in numbers if each.name == name] or [
            each.name for each in numbers if each.name.startswith(name.rstrip("_") + "_")
        ]
        if not found:
            kind = "a switch" if any(each.name == name for each in TABLE) else "no parameter or group"
            raise InputError(f"'{name}' is {kind}; see search/parameters.py")
        wanted.update(found)
    return [each for each in numbers if each.name in wanted]


def table_lines(parameters, values):
    """Where every parameter came from and where it is now, and the same as options that a match understands."""
    width = max(len(each.name) for each in parameters)
    changed = []
    for each in parameters:
        value = values[each.name]
        tuned = round(value)
        steps = (value - each.default) / each.step
        yield f"{each.name:{width}} {each.default:>6} -> {tuned:<6} ({steps:+.2f} steps)"
        if tuned != each.default:
            changed.append(f"{each.name}={tuned}")
    if changed:
        yield f"values: {' '.join(changed)}"
        yield f"options: {' '.join(f'--option-a {text}' for text in changed)}"
    else:
        yield "no parameter has moved to another whole number"

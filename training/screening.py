"""Which of many small changes help? All of them are measured in the same games.

Whether a change is worth three Elo takes ten hours of fast games to see, and a dozen changes would take a dozen times
that. So each match is played between a half of the changes and the other half, and the halves are chosen such that any
two changes are together in half of the matches and apart in the others (R. Plackett and J. Burman, 1946). Then every
game says something about every change, and each is known as well as if all games had been about it alone.

That takes worths that add up, which small ones nearly do. A pair of changes that help each other does no harm: it works
for both sides of a match alike, or for neither.
"""

import math
import os
from pathlib import Path
from typing import NamedTuple

from arena.errors import InputError
from arena.statistics import CONFIDENT, moments, normal_share
from arena.toml_file import read_toml
from training.network_history import describe_match
from training.programs import as_engine, option, run_step
from uci_engine.options import TUNING

ELO_OF_SCORE = 1600 / math.log(10)  # near an equal score


def read_changes(path):
    """The changes of a TOML file by name: for each the options that make it."""
    changes, _ = read_toml(path)
    for name, options in changes.items():
        if not isinstance(options, dict) or not options:
            raise InputError(f"{name}: a change is a table of options", path)
        for option_name, value in options.items():
            if isinstance(value, (dict, list)):
                raise InputError(f"{name}: {option_name} is no number and no text", path)
    if not changes:
        raise InputError("has no changes", path)
    return {name: {key: str(value) for key, value in options.items()} for name, options in changes.items()}


def _is_prime(number):
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def design(changes):
    """For each match a list with +1 (for the first engine) or -1 (for the second) for each of so many changes.

    Any two columns agree in as many rows as they differ. R. Paley's construction (1933) by the squares modulo a prime.
    """
    prime = changes
    while not (_is_prime(prime) and prime % 4 == 3):
        prime += 1
    squares = {number * number % prime for number in range(1, prime)} | {0}
    cyclic = [[1 if (column - row) % prime in squares else -1 for column in range(changes)] for row in range(prime)]
    return [*cyclic, [-1] * changes]


class Effect(NamedTuple):
    """What a change is worth, in Elo."""

    name: str
    elo: float
    deviation: float  # standard deviation of the estimate

    @property
    def error(self):
        return CONFIDENT * self.deviation

    @property
    def superiority(self):
        return normal_share(self.elo / self.deviation)


def effects(names, signs, matches):
    """An Effect for each change, the best first, from the pentanomial counts of the matches.

    None while a match (`None`) is missing: until then the changes cannot be told apart.
    """
    if any(pairs is None or not sum(pairs) for pairs in matches):
        return None
    # Half a pair elsewhere, as in arena.statistics: a few equal results are no certainty.
    known = [moments([count + 0.5 / len(pairs) for count in pairs]) for pairs in matches]
    deviation = math.sqrt(sum(variance / pairs for pairs, _, variance in known)) / len(known)
    found = []
    for column, name in enumerate(names):
        score = sum(row[column] * (mean - 0.5) for row, (_, mean, _) in zip(signs, known, strict=True)) / len(known)
        found.append(Effect(name, ELO_OF_SCORE * score, ELO_OF_SCORE * deviation))
    return sorted(found, key=lambda effect: -effect.elo)


class Settings(NamedTuple):
    """How the matches are played. `more` are further words for `quetzal match`, such as a cluster's address."""

    quetzal: list
    control: str
    games: int  # of each match
    concurrency: int
    openings: str | None
    megabytes: int
    more: list


class Screening:
    """The matches of some changes in a directory, each in one of its own."""

    def __init__(self, directory, changes, settings):
        if settings.games % 2:
            raise InputError("--games is an even number: every opening is played with both colours")
        self.directory = Path(directory).absolute()
        self.changes = changes
        self.settings = settings
        self.signs = design(len(changes))

    def match_directory(self, number):
        return self.directory / f"match-{number + 1:02}"

    def words(self, number):
        """The options of both engines of a match."""
        for sign, options in zip(self.signs[number], self.changes.values(), strict=True):
            for name, value in options.items():
                yield from ("--option-a" if sign > 0 else "--option-b", f"{name}={value}")

    def command(self, number):
        settings, directory = self.settings, self.match_directory(number)
        running = [*option("--games", settings.games), *option("-c", settings.concurrency), *settings.more]
        if (directory / "run.json").exists():
            return [*settings.quetzal, "match", "--resume", str(directory), *running]
        engine = as_engine(settings.quetzal)
        return [
            *settings.quetzal, "match", engine, engine, "--dir", str(directory),
            *option("--names", "first,second"),
            *option("--option", f"Hash={settings.megabytes}"),
            *self.words(number),
            *option("--tc", settings.control),
            *option("--openings", settings.openings),
            *option("--first-opening", 1 + number * settings.games // 2 if settings.openings else None),
            *option("--resign", "600,4"),
            *option("--draw", "10,8,40"),
            *running,
        ]  # fmt: skip

    def pairs(self, number):
        """The pentanomial counts of a match, or None where it has no games yet."""
        directory = self.match_directory(number)
        return describe_match(directory)["pentanomial"] if (directory / "results.json").exists() else None

    def play(self, interrupt):
        """Plays what is left."""
        os.environ.update(TUNING)  # for the engines, which show their parameters as options then
        for number in range(len(self.signs)):
            pairs = self.pairs(number)
            if pairs is None or 2 * sum(pairs) < self.settings.games:
                run_step(f"match {number + 1} of {len(self.signs)}", self.command(number), interrupt)

    def effects(self):
        return effects(list(self.changes), self.signs, [self.pairs(number) for number in range(len(self.signs))])


def table_lines(found):
    """Markdown, the best change first."""
    yield "| change | Elo | likelihood that it helps |"
    yield "|---|--:|--:|"
    for effect in found:
        yield f"| {effect.name} | {effect.elo:+.1f} ± {effect.error:.1f} | {100 * effect.superiority:.0f} % |"

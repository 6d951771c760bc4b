"""What each part of the engine is worth in games: the whole engine plays against itself without that part.

Each part has a match of its own in a directory of its own, by `quetzal match`, so that everything can be interrupted,
resumed, watched and played on a cluster. A match begins with a few games; a part without which hardly a point is scored
is not measured more exactly than that.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

from arena.errors import InputError
from arena.figures import signed
from arena.journal import damage
from arena.statistics import estimate
from board.files import parse_json, read_text, replace_file
from eval import CLASSICAL
from eval.weights_file import GROUPS
from search.techniques import CLOCK_TECHNIQUES, TECHNIQUES
from training.network_history import describe_match
from training.programs import as_engine, option, run_step
from uci_engine.options import TUNING

FIRST_GAMES = 100
CLEAR = 0.9  # who scores more than this share of the first games has won clearly

BUNDLED_WEIGHTS = Path(__file__).resolve().parent.parent / "eval" / "weights.json"


class Part(NamedTuple):
    """Something that an engine can be without: the options of an engine with it, and of one without it."""

    name: str
    step: int  # of docs/search.md; 0: none
    meaning: str
    whole: dict
    without: dict
    openings: str | None = None  # other ones than the run's


def parts(directory):
    """All parts by name. Weights that lack a group of terms are written to the directory when they are needed."""
    found = [
        Part(each.name, each.step, each.meaning, {}, {name: str(value) for name, value in each.off.items()})
        for each in (*TECHNIQUES, *CLOCK_TECHNIQUES)
    ]
    found += [
        Part("tables", 5, "the bundled endgame tables", {}, {"SyzygyProbeLimit": "0"}),
        # From the start position: openings of a match leave the book's at once.
        Part("book", 0, "the bundled opening book", {"OwnBook": "true"}, {"OwnBook": "false"}, "none"),
        Part("network", 6, "the network, classical evaluation instead", {}, {"EvalFile": CLASSICAL}),
    ]
    for group in GROUPS:
        path = Path(directory) / "weights" / f"without-{group}.json"
        terms = Part(
            f"eval_{group}", 6, f"{group} in the classical evaluation", {"EvalFile": CLASSICAL}, {"EvalFile": str(path)}
        )
        found.append(terms)
    return {part.name: part for part in found}


def write_weights(path):
    """The bundled weights without the group that the file is named after."""
    group = path.stem.removeprefix("without-")
    document = parse_json(read_text(BUNDLED_WEIGHTS))
    for feature in document["features"]:
        if feature["group"] == group:
            feature.update({phase: [0] * len(feature[phase]) for phase in ("mg", "eg")})
    document["origin"] = f"the bundled weights without {group}"
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps(document) + "\n")


class Settings(NamedTuple):
    """How the matches are played. `more` are further words for `quetzal match`, such as a cluster's address."""

    quetzal: list
    control: str
    games: int
    concurrency: int
    openings: str | None
    megabytes: int
    more: list


class Ablation:
    """The matches of some parts in a directory."""

    def __init__(self, directory, settings):
        self.directory = Path(directory).absolute()
        self.settings = settings
        self.parts = parts(self.directory)
        if settings.games % 2:
            raise InputError("--games is an even number: every opening is played with both colours")

    def match_directory(self, part):
        return self.directory / part.name

    def command(self, part, games):
        """A new match of so many games, or one that was begun and goes on to so many."""
        settings, directory = self.settings, self.match_directory(part)
        running = [*option("--games", games), *option("-c", settings.concurrency), *settings.more]
        if (directory / "run.json").exists():
            self.refuse_other_control(directory)
            return [*settings.quetzal, "match", "--resume", str(directory), *running]
        engine = as_engine(settings.quetzal)
        sides = (("--option-a", part.whole), ("--option-b", part.without))
        return [
            *settings.quetzal, "match", engine, engine, "--dir", str(directory),
            *option("--names", f"whole,without {part.name}"),
            *option("--option", f"Hash={settings.megabytes}"),
            *(word for flag, values in sides for name, value in values.items() for word in (flag, f"{name}={value}")),
            *option("--tc", settings.control),
            *option("--openings", part.openings or settings.openings),
            *option("--resign", "600,4"),
            *option("--draw", "10,8,40"),
            *running,
        ]  # fmt: skip

    def refuse_other_control(self, directory):
        path = directory / "run.json"
        try:
            begun = parse_json(read_text(path))["engines"][0]["control"]
        except (ValueError, LookupError, TypeError) as error:
            raise damage(repr(error), path) from None
        if begun != self.settings.control:
            raise InputError(f"was begun with {begun}, not {self.settings.control}", directory)

    def result(self, part):
        """What a match has come to, or None where there is none yet."""
        path = self.match_directory(part)
        return describe_match(path) if (path / "results.json").exists() else None

    def wanted_games(self, part):
        """How many games the next command plays to; None when the part is measured."""
        found = self.result(part)
        played = 0 if found is None else found["games"]
        first = min(FIRST_GAMES, self.settings.games)
        if played < first:
            return first
        score = (found["wins"] + found["draws"] / 2) / played
        return None if played >= self.settings.games or not 1 - CLEAR <= score <= CLEAR else self.settings.games

    def play(self, part, interrupt):
        os.environ.update(TUNING)  # for the engines, which show their parameters as options then
        path = part.without.get("EvalFile")
        if path:
            write_weights(Path(path))
        while (games := self.wanted_games(part)) is not None:
            run_step(part.name, self.command(part, games), interrupt)


def table_lines(rows):
    """Markdown: of each part its match, and what it does to the tree, where that was measured.

    A row has a Part, its match or None, and a dictionary with nodes (a ratio), branching and depth, or without them.
    """
    yield "| step | without | games | score of the whole | worth in Elo | nodes | branching factor | plies in a second |"
    yield "|--:|---|--:|--:|--:|--:|--:|--:|"
    for part, match, tree in rows:
        cells = [str(part.step or ""), part.meaning, *match_cells(match)]
        cells += [format(tree[name], style) if name in tree else "" for name, style in TREE_CELLS]
        yield f"| {' | '.join(cells)} |"


TREE_CELLS = (("nodes", ".2f"), ("branching", ".3f"), ("depth", ".1f"))


def match_cells(match):
    if match is None:
        return ["", "", "not played"]
    known = estimate(match["pentanomial"])
    return [f"{match['games']:,}", f"{100 * known.score:.1f} %", worth(known)]


def worth(known):
    """Elo with its error; where the whole engine won too much for that, only a bound."""
    if known.error is None or known.score > 0.99:
        return f"above {signed(known.elo_low)}"
    return f"{signed(known.elo)} ± {known.error:.0f}"


def bars(rows):
    """For a plot, the largest first: label, Elo, and the ends of its interval. Parts without a finite figure are left out."""
    found = []
    for part, match, _ in rows:
        known = None if match is None else estimate(match["pentanomial"])
        if known is not None and known.error is not None and known.score <= 0.99:
            found.append((part.meaning, known.elo, known.elo_low, known.elo_high))
    return sorted(found, key=lambda bar: -bar[1])

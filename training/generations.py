"""One generation of the network: games, training, two matches, a verdict, and an entry in the history.

1. generate    the network in use plays games against itself        quetzal selfplay
2. train       a new network learns from them                       quetzal train
3. nodes       it plays the one in use at fixed nodes               quetzal match
4. time        and, unless it has lost, with a clock                quetzal match
5. record      docs/networks.json gets an entry, docs/networks.md a row

Accepted is who is better with a clock: by a sequential test, or by a fixed number of games whose 95 % interval lies above
zero. What is finished stands in the directory's state.json and is not done again; what was interrupted goes on.
"""

import datetime
import json
import os
import re
import shlex
from pathlib import Path
from typing import NotRequired, TypedDict

from arena.control import parse_control
from arena.errors import InputError
from arena.formats import check_shape
from arena.interrupts import Interrupt
from arena.openings import fingerprint, read_openings
from arena.options import parse_sprt
from board.files import parse_json, read_text, replace_file
from training.network_history import (
    check_match,
    decide,
    describe_games,
    describe_match,
    describe_network,
    games_in,
    match_text,
    outcome,
    read_history,
    with_table,
)
from training.programs import InterruptedStepError, as_engine, option, own_quetzal, run_step
from training.schedule import Ramp

FORMAT = 1
STEPS = ("generate", "train", "nodes", "time", "record")
FILES = ("in_use", "teacher", "openings", "data")  # settings that name files

# What decides the outcome, with what holds if nothing is said. None in the second block: quetzal's own defaults.
DEFAULTS = {
    "name": None,
    "in_use": None,
    "teacher": None,
    "openings": None,
    "data": [],
    "games": 20_000,
    "nodes": 500,
    "neurons": None,
    "outputs": None,
    "epochs": None,
    "result_share": None,
    "seed": 1,
    "match_nodes": 5000,
    "tc": "8+0.08",
    "match_games": 400,
    "sprt": None,
    "hash": 16,
    "selfplay_arguments": "",
    "train_arguments": "",
    "match_arguments": "--resign 800,4,both --draw 10,8,40",
}
# What only decides how long it takes may differ when a generation goes on.
FREE = {"threads": os.cpu_count() or 1, "concurrency": 1}


# What state.json holds


class Settings(TypedDict):
    """DEFAULTS, and what was given instead."""

    name: str
    in_use: str | None
    teacher: str | None
    openings: str | None
    data: list[str]
    games: int
    nodes: int
    neurons: int | None
    outputs: int | None
    epochs: int | None
    result_share: str | None
    seed: int
    match_nodes: int
    tc: str
    match_games: int
    sprt: str | None
    hash: int
    selfplay_arguments: str
    train_arguments: str
    match_arguments: str


class Anything(TypedDict):
    """An object that goes from the state into the history as it is."""


class Network(TypedDict):
    sha256: str
    training: Anything


class Entry(TypedDict):
    name: str
    accepted: bool
    reason: str
    matches: Anything


class Done(TypedDict):
    """What each step has left behind."""

    generate: NotRequired[Anything]
    train: NotRequired[Network]
    nodes: NotRequired[Anything]
    time: NotRequired[Anything]
    record: NotRequired[Entry]


class State(TypedDict):
    format: int
    settings: Settings
    inputs: dict[str, str]
    done: Done


# The commands


class Commands:
    """The command lines of the steps, for one set of settings in one directory."""

    def __init__(self, work, settings, free, quetzal):
        self.work = work
        self.settings = settings
        self.free = free
        self.quetzal = quetzal
        self.games = work / "games.qzg"
        self.network = work / f"{settings['name']}.qnn"
        self.checkpoint = work / "checkpoint"
        self.matches = {"nodes": work / "match-nodes", "time": work / "match-time"}

    def of(self, step):
        return {"generate": self.generate, "train": self.train}.get(step, lambda: self.match(step))()

    def generate(self):
        settings = self.settings
        return [
            *self.quetzal, "selfplay", "-o", str(self.games),
            *option("--games", settings["games"]),
            *option("--nodes", settings["nodes"]),
            *option("--seed", settings["seed"]),
            *option("--threads", self.free["threads"]),
            *option("--eval-file", settings["teacher"]),
            *shlex.split(settings["selfplay_arguments"]),
        ]  # fmt: skip

    def training_files(self):
        own = [str(self.games)] if self.settings["games"] else []
        return [*own, *self.settings["data"]]

    def train(self):
        settings = self.settings
        return [
            *self.quetzal, "train", *self.training_files(), "-o", str(self.network),
            *option("--neurons", settings["neurons"]),
            *option("--outputs", settings["outputs"]),
            *option("--epochs", settings["epochs"]),
            *option("--result-share", settings["result_share"]),
            *option("--seed", settings["seed"]),
            *option("--threads", self.free["threads"]),
            *option("--checkpoint", self.checkpoint),
            *(["--resume"] if self.checkpoint.exists() else []),
            *shlex.split(settings["train_arguments"]),
        ]  # fmt: skip

    def match(self, step):
        """A new match, or the rest of one that was begun."""
        settings, directory = self.settings, self.matches[step]
        if (directory / "run.json").exists():
            return [*self.quetzal, "match", "--resume", str(directory), "-c", str(self.free["concurrency"])]
        engine = as_engine(self.quetzal)
        control = f"nodes={settings['match_nodes']}" if step == "nodes" else settings["tc"]
        # The second match takes other openings than the first.
        first = 1 if step == "nodes" else settings["match_games"] // 2 + 1
        return [
            *self.quetzal, "match", engine, engine, "--dir", str(directory),
            *option("--names", f"{settings['name']},{evaluation_name(settings['in_use'])}"),
            *option("--option", f"Hash={settings['hash']}"),
            *option("--option-a", f"EvalFile={self.network}"),
            *option("--option-b", settings["in_use"] and f"EvalFile={settings['in_use']}"),
            *option("--tc", control),
            *option("--games", settings["match_games"]),
            *option("--sprt", settings["sprt"]),
            *option("--openings", settings["openings"]), "--shuffle",
            *option("--seed", settings["seed"]),
            *option("--first-opening", first),
            *option("-c", self.free["concurrency"]),
            *shlex.split(settings["match_arguments"]),
        ]  # fmt: skip


def evaluation_name(path):
    """What an evaluation is called: by its file. `quetzal match` takes both names in one argument, so no commas."""
    return "built-in" if path is None else Path(path).stem.replace(",", " ")


# A generation


class Generation:
    """One directory with its settings, what is done, and how to do the rest."""

    def __init__(self, work, settings, free, quetzal, places):
        self.work = work
        self.settings = settings
        self.commands = Commands(work, settings, free, quetzal)
        self.history, self.document = places
        self.inputs = {}
        self.done = {}
        self.interrupt = Interrupt()

    @property
    def path(self):
        return self.work / "state.json"

    def save(self):
        data = {"format": FORMAT, "settings": self.settings, "inputs": self.inputs, "done": self.done}
        replace_file(self.path, json.dumps(data, indent=1) + "\n")

    def left(self):
        """The steps that are still to do. The match with a clock is not played for a network that has lost already."""
        for step in STEPS:
            if step in self.done:
                continue
            if step == "generate" and not self.settings["games"]:
                continue
            if step == "time" and "nodes" in self.done and outcome(self.done["nodes"]) == "worse":
                continue
            yield step

    def fingerprints(self):
        files = [self.settings[name] for name in FILES if name != "data" and self.settings[name] is not None]
        return {path: fingerprint(path) for path in (*files, *self.settings["data"])}

    def check(self, check_arguments):
        """Whatever can be wrong is said before the first game, not after the last.

        `check_arguments` gets the words of every command of our own Quetzal, and complains as that would.
        """
        settings = self.settings
        if settings["openings"] is None:
            raise InputError("--openings is needed: without them all games of a match at fixed nodes would be the same")
        for path in (settings["in_use"], settings["teacher"], settings["openings"], *settings["data"]):
            if path is not None and not Path(path).is_file():
                raise InputError("there is no such file", path)
        for path in (settings["in_use"], settings["teacher"]):
            # The engine would complain and play on with its own evaluation.
            if path is not None and path.endswith(".qnn"):
                describe_network(Path(path))
        if settings["games"] < 0 or not self.commands.training_files():
            raise InputError("there is nothing to learn from: neither --games nor --data")
        if not re.fullmatch(r"[\w.+-]+", settings["name"]):
            raise InputError(f"a name has letters, digits and .+-_ only, not '{settings['name']}'")
        if settings["match_games"] % 2:
            raise InputError("--match-games is an even number: every opening is played with both colours")
        if settings["neurons"] is not None and settings["neurons"] % 32:
            raise InputError(f"{settings['neurons']} neurons, but there must be a multiple of 32")
        if settings["result_share"] is not None:
            try:
                is_share = Ramp.parse(str(settings["result_share"])).is_share()
            except ValueError as error:
                raise InputError(f"--result-share {error}") from None
            if not is_share:
                raise InputError("--result-share lies between 0 and 1")
        parse_control(settings["tc"])
        parse_sprt(settings["sprt"])
        if self.commands.quetzal == own_quetzal():
            for step in self.left():
                if step != "record":
                    check_arguments(self.commands.of(step)[len(own_quetzal()) :])
        read_openings(settings["openings"])
        for path in settings["data"]:
            games_in(path)
        own = self.done.get("train", {}).get("sha256")
        for entry in read_history(self.history):
            # An entry of our own is there if we were killed right after writing it.
            if entry["name"] == settings["name"] and entry["network"]["sha256"] != own:
                raise InputError(f"has another network '{entry['name']}'; choose another --name", self.history)
        with_table(read_text(self.document), [], self.document)
        inputs = self.fingerprints()
        changed = [path for path, digest in self.inputs.items() if inputs.get(path) != digest]
        if changed:
            raise InputError("has changed since the generation began", changed[0])
        self.inputs = inputs

    def run(self, say):
        """Does what is left, one step after the other. InterruptedStepError when it was asked to stop."""
        with self.interrupt:
            for step in self.left():
                if self.interrupt.is_requested:
                    raise InterruptedStepError(f"interrupted before {step}")
                say(f"{self.settings['name']}: {step}")
                self.done[step] = getattr(self, step)()
                self.save()
        entry = self.done["record"]
        say(f"{entry['name']} is {'accepted' if entry['accepted'] else 'rejected'}: {entry['reason']}")
        for kind, match in entry["matches"].items():
            say(f"  {kind}: {match_text(match)}")

    def command(self, step):
        run_step(step, self.commands.of(step), self.interrupt)

    def generate(self):
        self.command("generate")
        return describe_games(self.commands.games, evaluation_name(self.settings["teacher"]))

    def train(self):
        self.command("train")
        return describe_network(self.commands.network)

    def nodes(self):
        self.command("nodes")
        return describe_match(self.commands.matches["nodes"])

    def time(self):
        self.command("time")
        return describe_match(self.commands.matches["time"])

    def evaluation(self, path):
        return {"name": evaluation_name(path), "sha256": None if path is None else self.inputs[path]}

    def record(self):
        """The entry of this generation, in the history and in the document."""
        settings = self.settings
        matches = {kind: self.done[kind] for kind in ("nodes", "time") if kind in self.done}
        accepted, reason = decide(matches)
        data = [self.done["generate"]] if "generate" in self.done else []
        entry = {
            "name": settings["name"],
            "date": datetime.date.today().isoformat(),
            "teacher": self.evaluation(settings["teacher"]),
            "opponent": self.evaluation(settings["in_use"]),
            "data": [*data, *(describe_games(path) for path in settings["data"])],
            "network": self.done["train"],
            "matches": matches,
            "accepted": accepted,
            "reason": reason,
        }
        others = [each for each in read_history(self.history) if each["name"] != entry["name"]]
        history = [*others, entry]
        replace_file(self.history, json.dumps(history, indent=1) + "\n")
        text = read_text(self.document)
        replace_file(self.document, with_table(text, history, self.document))
        return entry


def complete_settings(directory, given, known):
    """The settings of a new generation, or those that a directory was begun with; others than these are refused.

    `given` has what was asked for, `known` is None for a new one.
    """
    given = dict(given)
    for name in FILES:
        if name in given:
            paths = given[name]
            given[name] = (
                [str(Path(path).absolute()) for path in paths] if name == "data" else str(Path(paths).absolute())
            )
    if known is not None:
        different = [name for name, value in given.items() if known[name] != value]
        if different:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in different)
            raise InputError(f"was begun with other settings: {flags}", directory)
        return known
    settings = {**DEFAULTS, **given}
    settings["name"] = settings["name"] or Path(directory).absolute().name
    settings["teacher"] = settings["teacher"] or settings["in_use"]
    return settings


def matches_of(done):
    return done["record"]["matches"].values() if "record" in done else ()


def read_state(path):
    """What a generation had reached, or None for a new one."""
    if not path.exists():
        return None
    try:
        state = parse_json(read_text(path))
        check_shape(state, State)
        if state["format"] != FORMAT or set(state["settings"]) != set(DEFAULTS):
            raise ValueError("written by another version")
        done = state["done"]
        for match in (*(done[kind] for kind in ("nodes", "time") if kind in done), *matches_of(done)):
            check_match(match)
    except ValueError as error:
        raise InputError(f"is no state of a generation: {error}", path) from None
    return state


def open_generation(directory, given, free, quetzal, places, check_arguments):
    """A new generation in a directory, or the one that was begun there, once everything about it is right.

    `given` and `free` are settings, `quetzal` the words of a command or None for our own, `places` the files of history
    and document. `check_arguments` is explained at `Generation.check`.
    """
    work = Path(directory).absolute()
    state = read_state(work / "state.json")
    settings = complete_settings(directory, given, None if state is None else state["settings"])
    generation = Generation(work, settings, {**FREE, **free}, quetzal or own_quetzal(), places)
    if state is not None:
        generation.inputs, generation.done = state["inputs"], state["done"]
    if "record" not in generation.done:
        generation.check(check_arguments)
    return generation

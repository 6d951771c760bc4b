"""A run of SPSA: matches of the engine against itself, what they taught so far, and a state file after every game."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from arena.calibration import measure_speed
from arena.encounters import Encounters
from arena.engine import EngineFailure, EngineProcess
from arena.errors import InputError
from arena.formats import check_shape, demand
from arena.interrupts import Interrupt
from arena.openings import fingerprint
from arena.options import plan_cores
from arena.run import encounter, openings_description, supply_from
from arena.settings import EngineSettings, Rules, as_dict
from board.files import parse_json, read_text, replace_file
from pool.cluster import ClusterPool
from pool.local import LocalPool
from pool.tasks import PoolError
from training.spsa import Gains, Optimiser, complete_gains
from uci_engine.options import TUNING

FORMAT = 1
TRACED = 100  # how often the way of the parameters is noted, and a line is printed

# Games


class Games:
    """Matches between two settings of one engine, played by the arena's workers, here or on a cluster.

    There, clocks are scaled by `reference`, a speed (arena/calibration.py).
    """

    def __init__(self, description, concurrency, pin, cluster=None, reference=None):
        self.description = description
        self.engine = EngineSettings(**description["engine"])
        self.pairs = description["pairs"]
        self.supply = supply_from(description)
        self.warning = None
        if cluster is None:
            cores, self.warning = plan_cores([self.engine], concurrency, pin)
            self.pool = LocalPool(Encounters(cores=cores), concurrency)
        else:
            work = Encounters([description["engine"]], description["rules"], reference=reference, environment=TUNING)
            self.pool = ClusterPool(cluster, work)
            self.pool.check()

    def tasks(self, iteration, sides, finished):
        """The pairs of games of an iteration, without those games that are finished already."""
        engines = [
            as_dict(
                dataclasses.replace(
                    self.engine,
                    name=name,
                    options={**self.engine.options, **{each: str(value) for each, value in side.items()}},
                )
            )
            for name, side in zip(("plus", "minus"), sides, strict=True)
        ]
        played = {"rules": self.description["rules"], "engines": engines}
        for number in range(iteration * self.pairs, (iteration + 1) * self.pairs):
            task = encounter(
                played,
                self.supply,
                number,
                (0, 1),
                round_number=iteration + 1,
                opening_number=number,
                first_game=2 * number,
            )
            task["games"] = [game for game in task["games"] if game["game"] not in finished]
            if task["games"]:
                yield task

    def play(self, tasks, interrupt, on_game, on_warning):
        """Plays all tasks; `on_game` hears of each game and the points of the first side. False when interrupted."""
        waiting = list(tasks)
        while waiting or self.pool.busy:
            while waiting and self.pool.has_room():
                self.pool.give(waiting.pop(0))
            event = self.pool.event(0.5)
            if event is not None and event.kind == "part":
                self.hear(event.value, on_game, on_warning)
            elif event is not None and event.kind == "warning":
                on_warning(event.value)
            if interrupt.is_requested:
                return False
        return True

    def hear(self, part, on_game, on_warning):
        if part["kind"] == "warning":
            on_warning(part["text"])
        elif part["kind"] == "game":
            record = part["record"]
            if record["failure"] == "start":
                raise PoolError(f"an engine did not start: {record['reason']}")
            if record["failure"] is not None:
                on_warning(f"game {record['game']}: {record['reason']}")
            on_game(record["game"], record["points"] if record["players"][0] == 0 else 1 - record["points"])

    def close(self):
        self.pool.close()


def check_engine(settings, rules, names):
    """Starts the engine once, so that a missing option is noticed before thousands of games mean nothing."""
    try:
        engine = EngineProcess(settings, rules)
        try:
            engine.greet()
        finally:
            engine.leave()
    except EngineFailure as failure:
        raise InputError(f"the engine {failure}") from None
    missing = [name for name in names if name not in engine.announced]
    if missing:
        raise InputError(f"the engine has no option {', '.join(missing)}: is it another version of Quetzal?")
    if engine.warnings:
        raise InputError("; ".join(engine.warnings))


# The run


class Begun(TypedDict):
    """Of a run's description, what is more than compared."""

    gains: Gains


class StateFile(TypedDict):
    """What State keeps."""

    format: Literal[1]
    description: Begun
    iteration: int
    values: dict[str, float]
    results: list[int]
    points: dict[str, float]
    trace: list[list[float]]
    reference_speed: NotRequired[float]


def check_state(known, parameters, pairs):
    """ValueError unless a run of these parameters can go on from what was read."""
    demand(known["values"].keys() == {each.name for each in parameters}, "values are not those of the parameters")
    for each in parameters:
        demand(each.least <= known["values"][each.name] <= each.most, f"{each.name} is {known['values'][each.name]}")
    demand(known["iteration"] >= 0, f"iteration is {known['iteration']}")
    demand(len(known["results"]) == 3 and min(known["results"]) >= 0, f"results are {known['results']}")
    first = 2 * pairs * known["iteration"]
    for game, points in known["points"].items():
        demand(first <= int(game) < first + 2 * pairs, f"game {game} is not one of iteration {known['iteration'] + 1}")
        demand(points in (0, 0.5, 1), f"game {game} has {points} points")
    demand(known.get("reference_speed", 1) > 0, "reference_speed is not more than 0")
    demand(all(len(row) == 1 + len(parameters) for row in known["trace"]), "trace has rows of another length")


class State:
    """Everything that a run is and has learned, in one file."""

    def __init__(self, path, description, optimiser):
        self.path = path
        self.description = description
        self.optimiser = optimiser
        self.points = {}  # of finished games of the iteration that is being played
        self.results = [0, 0, 0]  # won, drawn, lost by the first side in all games
        self.trace = [[0, *optimiser.values.values()]]
        self.reference_speed = None  # of the machine that first used a cluster; what clocks mean wherever it is resumed

    def save(self):
        data = {
            "format": FORMAT,
            "description": self.description,
            "iteration": self.optimiser.iteration,
            "values": self.optimiser.values,
            "results": self.results,
            "points": self.points,
            "trace": self.trace,
        }
        if self.reference_speed is not None:
            data["reference_speed"] = self.reference_speed
        replace_file(self.path, json.dumps(data, indent=1) + "\n")

    def load(self, data):
        self.optimiser.iteration = data["iteration"]
        self.optimiser.values = data["values"]
        self.results = data["results"]
        self.points = {int(game): points for game, points in data["points"].items()}
        self.trace = data["trace"]
        self.reference_speed = data.get("reference_speed")

    def add_game(self, game, points):
        self.points[game] = points
        self.results[round(2 - 2 * points)] += 1
        self.save()

    def finish_iteration(self, every):
        """All games of the iteration are played: learns from them."""
        self.optimiser.learn(2 * sum(self.points.values()) / len(self.points) - 1)
        self.points = {}
        if self.optimiser.iteration % every == 0:
            self.trace.append([self.optimiser.iteration, *self.optimiser.values.values()])
        self.save()


def describe(parameters, engine, rules, openings, *, plies=None, pairs=4, seed=1):
    """All that decides the course of a run, but for the gains. `openings` is a file."""
    timed = [each.name for each in parameters if each.name.startswith("time_")]
    if timed and not engine.parsed_control().is_timed:
        raise InputError(f"{', '.join(timed)}: without a clock this makes no difference; use --tc")
    evaluation = engine.options.get("EvalFile")
    openings = Path(openings).absolute()
    if not openings.is_file():
        raise InputError("there is no such file", openings)
    return {
        "parameters": [list(each[:5]) for each in parameters],
        "engine": as_dict(engine),
        "evaluation": None if not evaluation else fingerprint(evaluation),
        "rules": as_dict(rules),
        "openings": openings_description(openings, plies=plies, shuffle=True, seed=seed),
        "pairs": pairs,
        "seed": seed,
    }


def open_state(path, parameters, description, given, iterations):
    """A new run, or the one in the state file if it was begun in the same way. `given` has the gains that were chosen."""
    path = Path(path)
    known = None
    if path.exists():
        try:
            known = parse_json(read_text(path))
            check_shape(known, StateFile)
            begun = known["description"]
            gains = Gains(**begun["gains"])
            demand(gains.a > 0 and gains.A >= 0 and gains.c > 0, f"gains are {begun['gains']}")
        except ValueError as error:
            raise InputError(f"is no state of this program: {error}", path) from None
        different = [name for name, value in description.items() if begun.get(name) != value]
        different += [name for name, value in given.items() if getattr(gains, name) != value]
        if different:
            raise InputError(f"was begun with other settings: {', '.join(different)}", path)
        try:
            check_state(known, parameters, description["pairs"])
        except ValueError as error:
            raise InputError(f"damaged: {error}", path) from None
    else:
        gains = complete_gains(given, iterations, 2 * description["pairs"])
    state = State(path, {**description, "gains": gains._asdict()}, Optimiser(parameters, gains, description["seed"]))
    if known is not None:
        state.load(known)
    return state


def play_on(state, iterations, progress, *, concurrency=1, pin=True, cluster=None):
    """The iterations that are left; False when they were interrupted. `progress` counts games."""
    optimiser = state.optimiser
    os.environ.update(TUNING)  # the workers hand it on to the engines
    settings = EngineSettings(**state.description["engine"])
    check_engine(settings, Rules(**state.description["rules"]), optimiser.values)
    if cluster is not None and state.reference_speed is None:
        state.reference_speed = round(measure_speed())
    games = Games(state.description, concurrency, pin, cluster, state.reference_speed)
    per_iteration = 2 * games.pairs
    progress.resume_at(optimiser.iteration * per_iteration + len(state.points))
    progress.finish(
        f"{len(optimiser.parameters)} parameters, {per_iteration} games in each of {iterations} iterations, "
        + ", ".join(f"{name} = {value:.4g}" for name, value in optimiser.gains._asdict().items())
    )
    if games.warning is not None:
        progress.finish(games.warning)
    every = max(1, iterations // TRACED)

    def hear(game, points):
        state.add_game(game, points)
        progress.advance(1, f"iteration {optimiser.iteration + 1}")

    state.save()
    with Interrupt() as interrupt:
        try:
            while optimiser.iteration < iterations:
                tasks = games.tasks(optimiser.iteration, optimiser.pair(), state.points)
                if not games.play(tasks, interrupt, hear, progress.finish):
                    return False
                state.finish_iteration(every)
                if optimiser.iteration % every == 0:
                    progress.finish(status_line(state, iterations, progress))
        except KeyboardInterrupt:
            return False
        finally:
            games.close()
            progress.clear()
    return True


def status_line(state, iterations, progress):
    """How far the run is, and which parameters have gone furthest."""
    optimiser = state.optimiser
    moved = [((optimiser.values[each.name] - each.default) / each.step, each.name) for each in optimiser.parameters]
    furthest = sorted(moved, key=lambda pair: -abs(pair[0]))[:3]
    won, drawn, lost = state.results
    return (
        f"iteration {optimiser.iteration}/{iterations}: +{won} ={drawn} -{lost}, {60 * progress.rate():.0f} games/min, "
        f"{progress.left()} left; steps: {', '.join(f'{name} {steps:+.1f}' for steps, name in furthest)}"
    )

"""Tunes numbers of the search by games of the engine against itself.

    python scripts/spsa.py --openings openings.epd --nodes 5000 -c 2
    python scripts/spsa.py reduction futility_base --openings openings.epd --tc 2+0.02 --iterations 4000 -c 2

Simultaneous perturbation stochastic approximation (J. C. Spall, IEEE Transactions on Automatic Control 37, 1992): in
every iteration each parameter is moved a little up or down, at random, and the engine plays against its own mirror
image, in which every parameter is moved the other way. All parameters then go a part of the way towards the winner. One
match so says something about all of them at once.

Names are those of search/parameters.py; a beginning such as `reduction` or `null_move` means all that begin so.
Everything is kept in the state file after every game. The same command goes on after Ctrl-C, and with more --iterations
after the end. The result is a suggestion: a match at another time control has to confirm it.
"""

import argparse
import dataclasses
import json
import math
import os
import random
import sys
from pathlib import Path
from typing import NamedTuple

from arena.engine import EngineFailure, EngineProcess
from arena.errors import InputError
from arena.journal import replace_file
from arena.openings import fingerprint
from arena.options import check_rules, make_engine, named_values, parse_draw, parse_resign, plan_cores
from arena.pool import LocalPool, PoolError
from arena.run import Ending, encounter, openings_description, supply_from
from arena.settings import EngineSettings, Rules, as_dict
from command.arguments import positive
from command.progress import Progress
from search.parameters import TABLE

FORMAT = 1
TRACED = 100  # how often the way of the parameters is noted, and a line is printed

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


# The optimiser


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


# Games


class Games:
    """Matches between two settings of one engine, played by the arena's workers."""

    def __init__(self, description, concurrency, pin):
        self.description = description
        self.engine = EngineSettings(**description["engine"])
        self.pairs = description["pairs"]
        self.supply = supply_from(description)
        cores, self.warning = plan_cores([self.engine], concurrency, pin)
        self.pool = LocalPool(concurrency, cores=cores)

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

    def play(self, tasks, ending, on_game, on_warning):
        """Plays all tasks; `on_game` hears of each game and the points of the first side. False when interrupted."""
        waiting = list(tasks)
        while waiting or self.pool.busy:
            while waiting and self.pool.has_room():
                self.pool.give(waiting.pop(0))
            event = self.pool.event(0.5)
            if event is not None and event["kind"] == "game":
                record = event["record"]
                if record["failure"] == "start":
                    raise PoolError(f"an engine did not start: {record['reason']}")
                if record["failure"] is not None:
                    on_warning(f"game {record['game']}: {record['reason']}")
                on_game(record["game"], record["points"] if record["players"][0] == 0 else 1 - record["points"])
            elif event is not None and event["kind"] in ("warning", "error"):
                on_warning(event["text"])
            if ending.is_asked_for:
                return False
        return True

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


class State:
    """Everything that a run is and has learned, in one file."""

    def __init__(self, path, description, optimiser):
        self.path = path
        self.description = description
        self.optimiser = optimiser
        self.points = {}  # of finished games of the iteration that is being played
        self.results = [0, 0, 0]  # won, drawn, lost by the first side in all games
        self.trace = [[0, *optimiser.values.values()]]

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
        replace_file(self.path, json.dumps(data, indent=1) + "\n")

    def load(self, data):
        self.optimiser.iteration = data["iteration"]
        self.optimiser.values = data["values"]
        self.results = data["results"]
        self.points = {int(game): points for game, points in data["points"].items()}
        self.trace = data["trace"]

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


def describe(options, parameters):
    """All that decides the course of a run, but for the gains."""
    rules = Rules(most_moves=options.max_moves, **parse_resign(options.resign), **parse_draw(options.draw))
    rules.startup_seconds = options.startup_timeout
    check_rules(rules)
    control = options.tc or f"nodes={options.nodes}"
    shared = {"Hash": "16", **named_values(options.option)}
    if options.engine is None:
        engine = EngineSettings("quetzal", [sys.executable, "-m", "uci_engine"], control, shared)
        engine.parsed_control()
    else:
        engine = make_engine(options.engine, control=control, options=shared)
    timed = [each.name for each in parameters if each.name.startswith("time_")]
    if timed and not engine.parsed_control().is_timed:
        raise InputError(f"{', '.join(timed)}: without a clock this makes no difference; use --tc")
    evaluation = shared.get("EvalFile")
    openings = Path(options.openings).absolute()
    if not openings.is_file():
        raise InputError("there is no such file", openings)
    return {
        "parameters": [list(each[:5]) for each in parameters],
        "engine": as_dict(engine),
        "evaluation": None if not evaluation else fingerprint(evaluation),
        "rules": as_dict(rules),
        "openings": openings_description(openings, plies=options.plies, shuffle=True, seed=options.seed),
        "pairs": options.pairs,
        "seed": options.seed,
    }


def open_state(options):
    """A new run, or the one in the state file if it was begun in the same way."""
    parameters = choose(options.names)
    description = describe(options, parameters)
    path = Path(options.state)
    known = None
    if path.exists():
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["format"] != FORMAT:
                raise ValueError(f"format {known['format']}")
            begun = known["description"]
            given = {name: getattr(options, name) for name in Gains._fields if getattr(options, name) is not None}
            gains = Gains(**begun["gains"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"is no state of this program: {error!r}", path) from None
        different = [name for name, value in description.items() if begun.get(name) != value]
        different += [name for name, value in given.items() if getattr(gains, name) != value]
        if different:
            raise InputError(f"was begun with other settings: {', '.join(different)}", path)
    else:
        gains = Gains(
            a=options.a or 0.0,
            A=options.iterations / 10 if options.A is None else options.A,
            alpha=0.602 if options.alpha is None else options.alpha,
            gamma=0.101 if options.gamma is None else options.gamma,
            c=1.0 if options.c is None else options.c,
        )
        if gains.c <= 0 or gains.A < 0 or (options.a is not None and gains.a <= 0):
            raise InputError("--a and --c are more than 0, and --A is not less")
        if options.a is None:
            gains = gains._replace(a=usual_a(gains, options.iterations, 2 * options.pairs))
    state = State(path, {**description, "gains": gains._asdict()}, Optimiser(parameters, gains, description["seed"]))
    if known is not None:
        state.load(known)
    return state


def tune(options):
    """Plays and learns until all iterations are done. Exit status 130 when it was interrupted."""
    state = open_state(options)
    optimiser = state.optimiser
    os.environ["QUETZAL_TUNING"] = "1"  # the workers hand it on to the engines
    complete = True
    if optimiser.iteration < options.iterations:
        complete = play_on(state, options)
    for line in table_lines(optimiser.parameters, optimiser.values):
        print(line)
    if complete:
        return 0
    print(f"interrupted in iteration {optimiser.iteration + 1}; the same command goes on", file=sys.stderr)
    return 130


def play_on(state, options):
    """The iterations that are left; False when they were interrupted."""
    optimiser = state.optimiser
    settings = EngineSettings(**state.description["engine"])
    check_engine(settings, Rules(**state.description["rules"]), optimiser.values)
    games = Games(state.description, options.concurrency, not options.no_pin)
    per_iteration = 2 * games.pairs
    progress = Progress("tuning", "games", options.iterations * per_iteration)
    progress.resume_at(optimiser.iteration * per_iteration + len(state.points))
    progress.finish(
        f"{len(optimiser.parameters)} parameters, {per_iteration} games in each of {options.iterations} iterations, "
        + ", ".join(f"{name} = {value:.4g}" for name, value in optimiser.gains._asdict().items())
    )
    if games.warning is not None:
        progress.finish(games.warning)
    every = max(1, options.iterations // TRACED)

    def hear(game, points):
        state.add_game(game, points)
        progress.advance(1, f"iteration {optimiser.iteration + 1}")

    state.save()
    with Ending() as ending:
        try:
            while optimiser.iteration < options.iterations:
                tasks = games.tasks(optimiser.iteration, optimiser.pair(), state.points)
                if not games.play(tasks, ending, hear, progress.finish):
                    return False
                state.finish_iteration(every)
                if optimiser.iteration % every == 0:
                    progress.finish(status_line(state, options.iterations, progress))
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


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to tune (default: {len(USUAL)} of them)")
    parser.add_argument("--state", default="spsa.json", metavar="FILE", help="continued if it exists (spsa.json)")
    parser.add_argument("--iterations", type=positive, default=1000, metavar="N", help="(default: 1000)")
    parser.add_argument("--pairs", type=positive, default=4, metavar="N", help="of games in an iteration (default: 4)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of directions and openings (default: 1)")

    games = parser.add_argument_group("games")
    games.add_argument("--openings", required=True, metavar="FILE", help=".epd, .pgn, or .bin for a Polyglot book")
    games.add_argument("--plies", type=positive, metavar="N", help="cut lines of PGN and book here (book: 12)")
    limits = games.add_mutually_exclusive_group()
    limits.add_argument("--nodes", type=positive, default=5000, metavar="N", help="for each move (default: 5000)")
    limits.add_argument("--tc", metavar="CONTROL", help="a clock instead, such as 5+0.05")
    games.add_argument("--engine", metavar="COMMAND", help="another Quetzal (default: this one)")
    games.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="such as EvalFile=NET.qnn")
    games.add_argument("--resign", default="600,4", metavar="CP,MOVES[,both]", help="(default: 600,4)")
    games.add_argument("--draw", default="10,8,40", metavar="CP,MOVES,FROM", help="(default: 10,8,40)")
    games.add_argument("--max-moves", type=positive, default=200, metavar="N", help="drawn then (default: 200)")
    games.add_argument("--startup-timeout", type=float, default=60.0, metavar="S", help="until uciok (default: 60)")
    games.add_argument("-c", "--concurrency", type=positive, default=1, metavar="N", help="games at once (default: 1)")
    games.add_argument("--no-pin", action="store_true", help="let the system choose the processors")

    gains = parser.add_argument_group("gains, in steps of each parameter")
    gains.add_argument("--a", type=float, metavar="X", help="how far to go (default: about one step astray by chance)")
    gains.add_argument("--A", type=float, metavar="X", help="slows the start down (default: a tenth of --iterations)")
    gains.add_argument("--alpha", type=float, metavar="X", help="how fast --a falls (default: 0.602)")
    gains.add_argument("--gamma", type=float, metavar="X", help="how fast --c falls (default: 0.101)")
    gains.add_argument("--c", type=float, metavar="X", help="how far to look (default: 1, the parameter's step)")
    return parser


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        return tune(options)
    except KeyboardInterrupt:
        return 130
    except PoolError as error:
        print(f"spsa: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"spsa: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

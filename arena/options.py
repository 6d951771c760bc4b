"""From the words of a command line to the settings of a run. What is wrong is said before anything starts."""

import datetime
import os
from pathlib import Path

from arena.adjudication import open_tables
from arena.errors import InputError
from arena.processes import resolve_command, share_cores
from arena.settings import EngineSettings, Rules

DEFAULT_CONTROL = "10+0.1"


def named_values(texts, flag="--option"):
    """NAME=VALUE as a dictionary."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{flag} wants NAME=VALUE, not '{text}'")
        values[name.strip()] = value.strip()
    return values


def numbers(text, flag, form):
    """Whole numbers between commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} wants {form}, not '{text}'") from None


def parse_resign(text):
    words = text.split(",")
    both = words[-1].strip() == "both"
    found = numbers(",".join(words[:-1] if both else words), "resign", "CP,MOVES[,both]")
    if len(found) != 2 or min(found) < 1:
        raise InputError(f"resign wants CP,MOVES[,both], not '{text}'")
    return {"resign_score": found[0], "resign_moves": found[1], "resign_both": both}


def parse_draw(text):
    found = numbers(text, "draw", "CP,MOVES,FROM")
    if len(found) != 3 or found[0] < 0 or found[1] < 1 or found[2] < 0:
        raise InputError(f"draw wants CP,MOVES,FROM, not '{text}'")
    return {"draw_score": found[0], "draw_moves": found[1], "draw_from": found[2]}


def rules_from_options(options):
    rules = Rules(chess960=options.chess960, most_moves=options.max_moves, margin=options.margin)
    if options.resign is not None:
        rules = Rules(**{**vars(rules), **parse_resign(options.resign)})
    if options.draw is not None:
        rules = Rules(**{**vars(rules), **parse_draw(options.draw)})
    for name, value in (
        ("startup_seconds", options.startup_timeout),
        ("ping_seconds", options.ping_timeout),
        ("move_seconds", options.move_timeout),
    ):
        if value is not None:
            setattr(rules, name, value)
    if options.syzygy is not None:
        rules.syzygy = os.pathsep.join(str(Path(part).absolute()) for part in options.syzygy.split(os.pathsep))
    check_rules(rules)
    return rules


def check_rules(rules):
    if rules.syzygy is not None:
        open_tables(rules.syzygy).close()
    if rules.margin is not None and rules.margin < 0:
        raise InputError(f"a margin of {rules.margin:g} ms is less than nothing")
    for seconds in (rules.startup_seconds, rules.ping_seconds, rules.move_seconds):
        if seconds <= 0:
            raise InputError(f"a timeout of {seconds:g} s is too short")


def make_engine(command, *, name=None, control=None, options=None, ponder=False, restart=False, base=None, **more):
    """Settings of an engine whose program exists and whose control can be read."""
    words = resolve_command(command, base)
    settings = EngineSettings(
        name or Path(words[0]).stem,
        words,
        control or DEFAULT_CONTROL,
        dict(options or {}),
        ponder,
        restart,
        **more,
    )
    settings.parsed_control()
    return settings


def distinct_names(engines):
    """Engines that would be called the same get numbers."""
    names = [engine.name for engine in engines]
    for name in {name for name in names if names.count(name) > 1}:
        for number, engine in enumerate([engine for engine in engines if engine.name == name], 1):
            engine.name = f"{name} {number}"


def plan_cores(engines, concurrency, pin):
    """Processors for each game that runs at once, or None; and a warning where there are too few."""
    needed = max(engine.threads for engine in engines)
    if any(engine.ponder for engine in engines):
        needed *= 2  # both think at the same time
    if not pin:
        return None, None
    cores = share_cores(concurrency, needed)
    if cores is None:
        return (
            None,
            f"{concurrency} games with {needed} processors each are more than this machine has: clocks will suffer",
        )
    return cores, None


def new_directory(kind):
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    path = Path("runs") / f"{kind}-{stamp}"
    number = 1
    while path.exists():
        number += 1
        path = Path("runs") / f"{kind}-{stamp}-{number}"
    return path

"""From words to the settings of a run. What is wrong is said before anything starts."""

import itertools
from pathlib import Path

from arena.adjudication import open_tables
from arena.control import LONGEST_SECONDS
from arena.errors import InputError
from arena.processes import available_cores, resolve_command, share_cores
from arena.settings import EngineSettings
from arena.statistics import Sprt
from arena.text import visible

DEFAULT_CONTROL = "10+0.1"


def named_values(texts, flag="--option"):
    """NAME=VALUE as a dictionary."""
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError(f"{flag} takes NAME=VALUE, not '{text}'")
        values[name.strip()] = value.strip()
    return values


def numbers(text, flag, form):
    """Whole numbers between commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{flag} takes {form}, not '{text}'") from None


def parse_resign(text):
    words = text.split(",")
    both = words[-1].strip() == "both"
    found = numbers(",".join(words[:-1] if both else words), "resign", "CP,MOVES[,both]")
    if len(found) != 2 or min(found) < 1:
        raise InputError(f"resign takes CP,MOVES[,both], not '{text}'")
    return {"resign_score": found[0], "resign_moves": found[1], "resign_both": both}


def parse_draw(text):
    found = numbers(text, "draw", "CP,MOVES,FROM")
    if len(found) != 3 or found[0] < 0 or found[1] < 1 or found[2] < 0:
        raise InputError(f"draw takes CP,MOVES,FROM, not '{text}'")
    return {"draw_score": found[0], "draw_moves": found[1], "draw_from": found[2]}


def parse_sprt(text, alpha=None, beta=None, normalized=False):
    """A sequential test as a run's description has it, or None. The chances of error are 0.05 unless they are given."""
    if text is None:
        for value, flag in ((alpha, "--alpha"), (beta, "--beta"), (normalized, "--normalized")):
            if value:
                raise InputError(f"{flag} needs --sprt")
        return None
    try:
        elo0, elo1 = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--sprt takes ELO0,ELO1, not '{text}'") from None
    try:
        return (
            Sprt(elo0, elo1, 0.05 if alpha is None else alpha, 0.05 if beta is None else beta, normalized)
            .check()
            ._asdict()
        )
    except ValueError as error:
        raise InputError(f"--sprt: {error}") from None


def check_rules(rules):
    if rules.syzygy is not None:
        open_tables(rules.syzygy).close()
    if rules.margin is not None and not 0 <= rules.margin <= 1000 * LONGEST_SECONDS:
        raise InputError(f"a margin of {rules.margin:g} ms is not between 0 and {1000 * LONGEST_SECONDS}")
    for seconds in (rules.startup_seconds, rules.ping_seconds, rules.move_seconds):
        if not 0 < seconds <= LONGEST_SECONDS:
            text = "too short" if seconds <= 0 else f"more than {LONGEST_SECONDS} s"
            raise InputError(f"a timeout of {seconds:g} s is {text}")


def make_engine(command, *, name=None, control=None, options=None, ponder=False, restart=False, base=None, **more):
    """Settings of an engine whose program exists and whose control can be read."""
    words = resolve_command(command, base)
    settings = EngineSettings(
        visible(name or Path(words[0]).stem),
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
    """Engines that would be called the same get numbers, and no number that another one has already."""
    names = [engine.name for engine in engines]
    taken = set(names)
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        numbers = (f"{name} {number}" for number in itertools.count(1) if f"{name} {number}" not in taken)
        for engine in engines:
            if engine.name == name:
                engine.name = next(numbers)
                taken.add(engine.name)


def plan_cores(engines, concurrency, pin):
    """Processors for each game that runs at once, or None; and a warning where there are too few."""
    needed = max(engine.threads for engine in engines)
    if any(engine.ponder for engine in engines):
        needed *= 2  # both think at the same time
    if not pin:
        return None, None
    if concurrency * needed > len(available_cores()):
        return (
            None,
            f"{concurrency} games with {needed} processors each are more than this machine has: clocks will suffer",
        )
    return share_cores(concurrency, needed), None

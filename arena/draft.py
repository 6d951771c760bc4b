"""From a TOML file, flags, or both to the description of a tournament."""

import contextlib
import math
import os
from pathlib import Path

from arena.config import ENGINE, Config
from arena.control import parse_control
from arena.errors import InputError
from arena.formats import MOST_CONCURRENCY, MOST_MEETING_GAMES, MOST_RATING, MOST_ROUNDS
from arena.openings import DEFAULT, chosen_openings, read_openings
from arena.options import (
    DEFAULT_CONTROL,
    check_rules,
    distinct_names,
    make_engine,
    named_values,
    parse_draw,
    parse_resign,
)
from arena.run import openings_description
from arena.settings import Rules, as_dict
from arena.text import visible
from arena.tournament import FORMATS


def option_text(value):
    """An option's value as UCI writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def engine_from_flag(text):
    """A plain command, or fields between semicolons."""
    if not text.startswith(tuple(f"{key}=" for key in ENGINE)):
        return {"command": text}
    found = {"options": {}}
    for field in text.split(";"):
        key, equals, value = field.partition("=")
        key = key.strip()
        if not equals:
            raise InputError(f"--engine: '{field}' is no KEY=VALUE")
        if key.startswith("option."):
            found["options"][key.removeprefix("option.")] = value
        elif key in ("ponder", "restart"):
            found[key] = value.lower() in ("true", "1", "yes")
        elif key == "rating":
            try:
                found[key] = float(value)
            except ValueError:
                raise InputError(f"--engine: rating '{value}' is no number") from None
        elif key in ENGINE and key != "options":
            found[key] = value
        else:
            raise InputError(f"--engine: unknown key '{key}'; known are {', '.join(ENGINE)} and option.NAME")
    if "command" not in found:
        raise InputError(f"--engine: '{text}' has no command")
    return found


class Draft:
    """The values of a file with flags on top, and where a mistake in them is to be reported.

    `flags` are values by (table or None, key), `engines` and `options` the texts of `--engine` and `--option`.
    """

    def __init__(self, file=None, flags=None, engines=(), options=()):
        self.config = Config(file) if file is not None else None
        self.values = self.config.values if self.config is not None else {}
        self.from_flags = set(flags or ())
        for (table, key), value in (flags or {}).items():
            (self.values if table is None else self.values.setdefault(table, {}))[key] = value
        self.values.setdefault("options", {}).update(named_values(options))
        self.file_engines = len(self.values.get("engine", []))
        self.engines = [*self.values.get("engine", []), *map(engine_from_flag, engines)]

    def get(self, table, key, default=None):
        return (self.values if table is None else self.values.get(table, {})).get(key, default)

    def at(self, table, key):
        """Mistakes in this value are reported with its line, if it came from the file."""
        if self.config is None or (table, key) in self.from_flags:
            return contextlib.nullcontext()
        return self.config.at(table or "", None, key)

    def at_engine(self, index, key):
        if self.config is None or index >= self.file_engines:
            return contextlib.nullcontext()
        return self.config.at("engine", index, key)

    def path(self, table, key, text):
        """Paths in the file start from the file's directory, those of flags from here."""
        if self.config is None or (table, key) in self.from_flags:
            return Path(text).absolute()
        return self.config.relative(text).absolute()


def draft_rules(draft):
    rules = {"chess960": draft.get(None, "chess960", False)}
    for key, parse in (("resign", parse_resign), ("draw", parse_draw)):
        text = draft.get("adjudication", key)
        if text is not None:
            with draft.at("adjudication", key):
                rules.update(parse(text))
    rules["most_moves"] = draft.get("adjudication", "max_moves")
    tables = draft.get("adjudication", "syzygy")
    if tables is not None:
        places = [str(draft.path("adjudication", "syzygy", part)) for part in tables.split(os.pathsep)]
        rules["syzygy"] = os.pathsep.join(places)
    names = (
        ("startup", "startup_seconds"),
        ("ping", "ping_seconds"),
        ("move", "move_seconds"),
        ("margin_ms", "margin"),
    )
    for key, name in names:
        if draft.get("timeouts", key) is not None:
            rules[name] = float(draft.get("timeouts", key))
            with draft.at("timeouts", key):
                check_rules(Rules(**{name: rules[name]}))
    with draft.at("adjudication", "syzygy"):
        check_rules(Rules(**rules))
    return Rules(**rules)


def draft_engines(draft):
    shared = {name: option_text(value) for name, value in draft.get(None, "options", {}).items()}
    engines = []
    with draft.at(None, "tc"):
        parse_control(draft.get(None, "tc", DEFAULT_CONTROL))
    for index, values in enumerate(draft.engines):
        with draft.at_engine(index, "rating"):
            if not abs(values.get("rating") or 0) <= MOST_RATING:
                raise InputError(f"a rating is between -{MOST_RATING} and {MOST_RATING}, not {values['rating']}")
        key = "tc" if "tc" in values else "command"
        if "tc" in values:
            with draft.at_engine(index, "command"):
                make_engine(values["command"], base=draft_base(draft, index))
        with draft.at_engine(index, key):
            engines.append(
                make_engine(
                    values["command"],
                    name=values.get("name"),
                    control=values.get("tc") or draft.get(None, "tc"),
                    options={
                        **shared,
                        **{name: option_text(value) for name, value in values.get("options", {}).items()},
                    },
                    ponder=values.get("ponder", draft.get(None, "ponder", False)),
                    restart=values.get("restart", draft.get(None, "restart", False)),
                    base=draft_base(draft, index),
                    directory=values.get("directory"),
                    rating=values.get("rating"),
                )
            )
    if len(engines) < 2:
        with draft.at(None, "engine"):
            raise InputError(f"a tournament needs at least two engines, not {len(engines)}")
    distinct_names(engines)
    return engines


def draft_base(draft, index):
    return draft.config.path.parent if draft.config is not None and index < draft.file_engines else None


def draft_format(draft, engines):
    """Format, rounds and games, as far as they belong together."""
    kind = draft.get(None, "format", "round-robin")
    with draft.at(None, "format"):
        if kind not in FORMATS:
            raise InputError(f"unknown format '{kind}'; known are {', '.join(FORMATS)}")
    games = draft.get(None, "games", 2)
    with draft.at(None, "games"):
        if games < 2 or games % 2:
            raise InputError(f"a meeting has an even number of games, each opening with both colours; not {games}")
        if games > MOST_MEETING_GAMES:
            raise InputError(f"a meeting has at most {MOST_MEETING_GAMES} games")
    rounds = draft.get(None, "rounds")
    with draft.at(None, "rounds"):
        if rounds is not None and rounds < 1:
            raise InputError("at least one round")
        if rounds is not None and rounds > MOST_ROUNDS:
            raise InputError(f"at most {MOST_ROUNDS} rounds")
        if rounds is not None and kind == "knockout":
            raise InputError("a knockout goes on until one is left; it has no number of rounds")
    if rounds is None:
        rounds = math.ceil(math.log2(len(engines))) if kind == "swiss" else 1
    challengers = draft.get(None, "challengers", 1)
    with draft.at(None, "challengers"):
        if not 1 <= challengers < len(engines):
            raise InputError(f"{challengers} challengers of {len(engines)} engines leave nobody to play")
    extra = draft.get(None, "extra_pairs", 5)
    with draft.at(None, "extra_pairs"):
        if not 0 <= extra <= 900:
            raise InputError("extra pairs are between 0 and 900")
    return {"format": kind, "rounds": rounds, "games": games, "challengers": challengers, "extra_pairs": extra}


def describe_tournament(draft):
    """The whole tournament as it is written to run.json. Raises InputError before anything is written."""
    rules = draft_rules(draft)
    engines = draft_engines(draft)
    form = draft_format(draft, engines)
    seed = draft.get(None, "seed", 1)
    plies = draft.get("openings", "plies")
    with draft.at("openings", "file"):
        name = draft.get("openings", "file")
        path = chosen_openings(name, rules.chess960, lambda text: draft.path("openings", "file", text))
        if path not in (None, DEFAULT) and not path.is_file():
            raise InputError(f"there is no file {path}")
    if path is not None:
        read_openings(path, plies=plies, chess960=rules.chess960, seed=seed)
    concurrency = draft.get(None, "concurrency", 1)
    first = draft.get("openings", "first", 1)
    for table, key, value in ((None, "concurrency", concurrency), ("openings", "first", first)):
        with draft.at(table, key):
            if value < 1:
                raise InputError(f"{key} is at least 1")
    with draft.at(None, "concurrency"):
        if concurrency > MOST_CONCURRENCY:
            raise InputError(f"concurrency is at most {MOST_CONCURRENCY}")
    return {
        "kind": "tournament",
        "name": visible(draft.get(None, "name") or form["format"]),
        **form,
        "engines": [as_dict(engine) for engine in engines],
        "rules": as_dict(rules),
        "openings": openings_description(
            path, plies=plies, shuffle=draft.get("openings", "shuffle", False), seed=seed, first=first - 1
        ),
        "concurrency": concurrency,
        "pin": draft.get(None, "pin", True),
    }

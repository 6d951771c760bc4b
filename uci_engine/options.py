"""The engine's options: one table, from which come the `uci` answer, parsing, the README's table and the tests.

This file is read before the engine exists, so it imports nothing of it: an option's callback gets the engine.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

from uci_engine import __version__

ABOUT = f"Quetzal {__version__}, free software under the GNU General Public License, version 3 or later"


class Option(NamedTuple):
    """`apply` is called with the engine and a new value before that is kept; without it, it is only kept."""

    name: str
    kind: str
    default: object
    help: str
    least: int | None = None
    most: int | None = None
    apply: Callable | None = None
    is_slow: bool = False  # loads files or fills memory

    def declaration(self):
        """The line that announces the option."""
        parts = ["option name", self.name, "type", self.kind]
        if self.kind == "check":
            parts += ["default", "true" if self.default else "false"]
        elif self.kind == "spin":
            parts += ["default", self.default, "min", self.least, "max", self.most]
        elif self.kind == "string":
            parts += ["default", self.default or "<empty>"]
        return " ".join(str(part) for part in parts)

    def parse(self, text):
        """The value that a GUI's text means; ValueError with the reason when it means none."""
        if self.kind == "check":
            if text.lower() not in ("true", "false"):
                raise ValueError(f"{self.name} is true or false, not '{text[:80]}'")
            return text.lower() == "true"
        if self.kind == "spin":
            try:
                number = int(text)
            except ValueError:
                raise ValueError(f"{self.name} takes a whole number, not '{text[:80]}'") from None
            if not self.least <= number <= self.most:
                raise ValueError(f"{self.name} lies between {self.least} and {self.most}, {number} does not")
            return number
        if self.kind == "button":
            return None
        return "" if text.lower() == "<empty>" else text


def refuse_other_text(text):
    """GUIs send back what they were told, which is no error; but the text stays."""
    if text != ABOUT:
        raise ValueError("UCI_EngineAbout is there to be read")


OPTIONS = (
    Option(
        "Debug Log File",
        "string",
        "",
        "Writes the whole dialogue with time stamps to this file",
        apply=lambda engine, value: engine.set_log(value),
    ),
    Option(
        "Threads",
        "spin",
        1,
        "Number of search threads",
        1,
        256,
        apply=lambda engine, value: engine.set_threads(value),
        is_slow=True,
    ),
    Option(
        "Hash",
        "spin",
        16,
        "Size of the transposition table in MB",
        1,
        1048576,
        apply=lambda engine, value: engine.set_hash(value),
        is_slow=True,
    ),
    Option(
        "Clear Hash",
        "button",
        None,
        "Forgets everything that was learned",
        apply=lambda engine, _: engine.clear(),
        is_slow=True,
    ),
    Option("Ponder", "check", False, "Tells GUIs that Quetzal can think on the opponent's time"),
    Option("MultiPV", "spin", 1, "How many best lines to show", 1, 256),
    Option(
        "Move Overhead",
        "spin",
        10,
        "Milliseconds per move that GUI and network take",
        0,
        5000,
        apply=lambda engine, value: engine.set_overhead(value),
    ),
    Option("OwnBook", "check", False, "Plays the opening from a book, at once; never in analysis"),
    Option(
        "BookFile",
        "string",
        "",
        "A Polyglot book (.bin) to play from; empty: Quetzal's own",
        apply=lambda engine, value: engine.set_book(value),
        is_slow=True,
    ),
    Option("BookVariety", "spin", 50, "0: always the book's best move; 100: by the book's weights", 0, 100),
    Option("BookDepth", "spin", 40, "The last move of a game that may come from the book", 0, 1000),
    Option(
        "EvalFile",
        "string",
        "default.qnn",
        "A network (.qnn), or weights (.json) of the classical evaluation; empty: the classical one",
        apply=lambda engine, value: engine.set_evaluation(value),
        is_slow=True,
    ),
    Option(
        "UCI_Chess960",
        "check",
        False,
        "Castling is written as king takes rook",
        apply=lambda engine, value: engine.set_chess960(value),
    ),
    Option("UCI_ShowWDL", "check", False, "Shows the chances to win, draw and lose with every score"),
    Option("UCI_LimitStrength", "check", False, "Plays weaker, as UCI_Elo says"),
    Option("UCI_Elo", "spin", 1500, "The rating to play at if the strength is limited", 800, 3000),
    Option(
        "Skill Level",
        "spin",
        20,
        "Plays weaker below 20, as UCI_Elo 800 + 110 per level; UCI_LimitStrength wins",
        0,
        20,
    ),
    Option("UCI_AnalyseMode", "check", False, "The GUI analyses: the strength is not limited"),
    Option("UCI_Opponent", "string", "", "Title, rating, kind and name of the opponent; only kept"),
    Option(
        "UCI_EngineAbout",
        "string",
        ABOUT,
        "What Quetzal is; cannot be changed",
        apply=lambda _, text: refuse_other_text(text),
    ),
    Option(
        "SyzygyPath",
        "string",
        "",
        "Directories of endgame tables, separated as in PATH; empty: those of the package",
        apply=lambda engine, value: engine.set_tables(value),
        is_slow=True,
    ),
    Option("SyzygyProbeDepth", "spin", 1, "Plies of search left from which the largest tables are asked", 1, 100),
    Option("SyzygyProbeLimit", "spin", 7, "Most pieces on the board when tables are asked; 0: never", 0, 7),
    Option("Syzygy50MoveRule", "check", True, "Wins that the fifty-move rule spoils count as draws"),
)


TUNING = {"QUETZAL_TUNING": "1"}  # a tuner's environment


def is_tuning():
    return TUNING.items() <= os.environ.items()


def options():
    """The table, and in a tuner's environment the search's own numbers as well."""
    return OPTIONS + (tuning_options() if is_tuning() else ())


def tuning_options():
    from search.parameters import TABLE, set_parameter

    return tuple(
        Option(
            each.name,
            "spin",
            each.default,
            each.meaning,
            each.least,
            each.most,
            apply=lambda _, value, name=each.name: set_parameter(name, value),
        )
        for each in TABLE
    )


def find(options, name):
    """The option that a GUI means, or None: names are written in any case, and without the blanks if it likes."""
    wanted = "".join(name.lower().split())
    return next((option for option in options if option.name.lower().replace(" ", "") == wanted), None)


def table():
    """The lines of the README's table."""
    yield "| option | default | range | meaning |"
    yield "|---|---|---|---|"
    for option in OPTIONS:
        default = "" if option.default in (None, "") else str(option.default)
        reach = {"spin": f"{option.least} to {option.most}", "check": "true, false", "string": "text"}
        if option.kind == "check":
            default = default.lower()
        yield f"| `{option.name}` | {default} | {reach.get(option.kind, option.kind)} | {option.help} |"

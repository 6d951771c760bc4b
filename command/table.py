"""The one table of commands: what may be typed, and which module answers.

A command's module has `add_arguments(parser)` and `run(options)`, which returns the exit status or None for 0. It is
imported only when its command is typed, so that no command pays for the others.
"""

import argparse
import importlib
from typing import NamedTuple

from uci_engine.build import describe


class Command(NamedTuple):
    """One row. A name of two words is an action of the group that the first word names."""

    name: str
    module: str
    help: str


COMMANDS = (
    Command("perft", "perft", "count move sequences, the proof of the move generator"),
    Command("eval", "eval", "show what a position is worth, and why"),
    Command("bench", "bench", "search fixed positions; the node count is the engine's signature"),
    Command("book build", "book_build", "make a book from the games of PGN files"),
    Command("book show", "book_show", "show the moves that a book has for a position"),
    Command("book merge", "book_merge", "make one book of several; also sorts one that is not in order"),
    Command("book verify", "book_verify", "check a book: order, legality, weights; status 1 if it has faults"),
    Command("match", "match", "play two engines against each other: Elo with its error, SPRT"),
    Command(
        "tournament", "tournament", "play several engines: round robin, gauntlet, Swiss, knockout; ratings with errors"
    ),
    Command("selfplay", "selfplay", "play games against itself to learn from"),
    Command("tune", "tune", "fit the classical evaluation's weights to the results of games"),
    Command("data", "data", "count the positions in games that a network could learn from"),
    Command("train", "train", "train a network from games"),
    Command("tables probe", "tables_probe", "who wins, how fast, and what each move does"),
    Command("tables check", "tables_check", "read table files from end to end, and say what is missing"),
    Command("tables generate", "tables_generate", "make table files by retrograde analysis"),
    Command("tables stats", "tables_stats", "solve an ending, count wins, draws and losses, show the longest win"),
    Command("uci-check", "uci_check", "test any UCI engine against the protocol and what GUIs expect of it"),
    Command("go", "dialogue", "search as UCI's go does: go depth 12, go movetime 1000, go perft 5; --fen FEN"),
    Command("d", "dialogue", "show a position; --fen FEN"),
    Command("flip", "dialogue", "show a position with colours changed; --fen FEN"),
    Command("compiler", "dialogue", "version and build, as UCI's compiler command"),
    Command("help", "dialogue", "the commands of the UCI dialogue"),
)

GROUPS = {
    "book": "make, show, merge and check Polyglot opening books",
    "tables": "probe, check and make endgame tables",
}


def module_of(command):
    return importlib.import_module(f"command.{command.module}")


def build_parser(words=None):
    """The parser of the whole command line. With `words`, only the arguments of the command that they name are added."""
    parser = argparse.ArgumentParser(
        prog="quetzal",
        description="Quetzal, a UCI chess engine. Without a command it speaks UCI on stdin and stdout.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=describe())
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    groups = {}
    for command in COMMANDS:
        group, _, action = command.name.partition(" ")
        if action and group not in groups:
            grouped = commands.add_parser(group, help=GROUPS[group])
            groups[group] = grouped.add_subparsers(dest="action", required=True, metavar="ACTION")
        place = groups[group] if action else commands
        added = place.add_parser(action or group, help=command.help)
        if words is None or words[: 1 + bool(action)] == command.name.split():
            module = module_of(command)
            added.description = getattr(module, "DESCRIPTION", None)
            module.add_arguments(added)
            added.set_defaults(run=module.run)
    return parser

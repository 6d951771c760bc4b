"""The one table of commands: what may be typed, and which module answers.

A command's module has `add_arguments(parser)` and `run(options)`, which returns the exit status or None for 0. It is
imported only when its command is typed, so that no command pays for the others. Help, completion and the manual page
come from here.
"""

import argparse
import importlib
import shutil
import textwrap
from typing import NamedTuple

from command.parser import Parser
from uci_engine.build import describe


class Command(NamedTuple):
    """One row. A name of two words is an action of the group that the first word names."""

    name: str
    module: str
    section: str
    help: str
    example: str
    page: str


SECTIONS = ("play", "analyse", "engine against engine", "lookup", "learning", "tests", "this program")

COMMANDS = (
    Command(
        "play",
        "play",
        "play",
        "play and analyse in the browser, or with --terminal here",
        "quetzal play",
        "docs/play.md",
    ),
    Command(
        "go",
        "go",
        "analyse",
        "search a position: go depth 20, go movetime 5000, or any other form of UCI's go",
        "quetzal go movetime 2000 --san --multipv 3",
        "docs/commands.md#go",
    ),
    Command(
        "analyse",
        "analyse",
        "analyse",
        "review the games of PGN files: evaluations, errors with the better line, accuracy of the players",
        "quetzal analyse games.pgn -o reviewed.pgn --html reviewed.html",
        "docs/play.md#the-analyse-command",
    ),
    Command(
        "eval",
        "eval",
        "analyse",
        "show what a position is worth, and why",
        "quetzal eval --fen '8/8/8/4k3/8/4K3/4P3/8 w - - 0 1'",
        "docs/evaluation.md#the-explained-table",
    ),
    Command("d", "d", "analyse", "show a position", "quetzal d --fen FEN", "docs/commands.md#d-and-flip"),
    Command(
        "flip",
        "flip",
        "analyse",
        "show it with colours changed",
        "quetzal flip --fen FEN",
        "docs/commands.md#d-and-flip",
    ),
    Command(
        "match",
        "match",
        "engine against engine",
        "play two engines against each other: Elo with its error, SPRT",
        "quetzal match quetzal stockfish --games 100 --tc 10+0.1",
        "docs/arena.md#games",
    ),
    Command(
        "tournament",
        "tournament",
        "engine against engine",
        "play several engines: round robin, gauntlet, Swiss, knockout; ratings with errors",
        "quetzal tournament --engine quetzal --engine stockfish --engine toga2",
        "docs/arena.md#tournaments",
    ),
    Command(
        "book build",
        "book_build",
        "lookup",
        "make a book from the games of PGN files",
        "quetzal book build games.pgn -o book.bin",
        "docs/books.md#making-books",
    ),
    Command(
        "book show",
        "book_show",
        "lookup",
        "show the moves that a book has for a position",
        "quetzal book show book.bin --depth 4",
        "docs/books.md#making-books",
    ),
    Command(
        "book merge",
        "book_merge",
        "lookup",
        "make one book of several; also sorts one that is not in order",
        "quetzal book merge a.bin b.bin -o both.bin",
        "docs/books.md#making-books",
    ),
    Command(
        "book verify",
        "book_verify",
        "lookup",
        "check a book: order, legality, weights; status 1 if it has faults",
        "quetzal book verify book.bin",
        "docs/books.md#making-books",
    ),
    Command(
        "tables probe",
        "tables_probe",
        "lookup",
        "who wins, how fast, and what each move does",
        "quetzal tables probe --fen '8/8/8/4k3/8/4K3/4P3/8 w - - 0 1'",
        "docs/syzygy.md#on-the-command-line",
    ),
    Command(
        "tables check",
        "tables_check",
        "lookup",
        "read table files from end to end, and say what is missing",
        "quetzal tables check syzygy/",
        "docs/syzygy.md#on-the-command-line",
    ),
    Command(
        "tables generate",
        "tables_generate",
        "lookup",
        "make table files by retrograde analysis",
        "quetzal tables generate KRPvKR -o tables/",
        "docs/tables.md",
    ),
    Command(
        "tables stats",
        "tables_stats",
        "lookup",
        "solve an ending, count wins, draws and losses, show the longest win",
        "quetzal tables stats KBNvK",
        "docs/tables.md",
    ),
    Command(
        "selfplay",
        "selfplay",
        "learning",
        "play games against itself to learn from",
        "quetzal selfplay -o games.qzg --games 10000",
        "docs/training.md",
    ),
    Command(
        "data",
        "data",
        "learning",
        "count the positions in games that a network could learn from",
        "quetzal data games.qzg --plot positions.svg",
        "docs/training.md",
    ),
    Command(
        "train",
        "train",
        "learning",
        "train a network from games",
        "quetzal train games.qzg -o net.qnn --epochs 10",
        "docs/training.md",
    ),
    Command(
        "tune",
        "tune",
        "learning",
        "fit the classical evaluation's weights to the results of games",
        "quetzal tune games.qzg -o weights.json",
        "docs/evaluation.md#the-tuner",
    ),
    Command(
        "bench",
        "bench",
        "tests",
        "search fixed positions; the node count is the engine's signature",
        "quetzal bench --depth 12",
        "docs/commands.md#bench-and-perft",
    ),
    Command(
        "perft",
        "perft",
        "tests",
        "count move sequences, the proof of the move generator",
        "quetzal perft 6 --divide",
        "docs/commands.md#bench-and-perft",
    ),
    Command(
        "suite",
        "suite",
        "tests",
        "let engines solve EPD positions: moves to find or to avoid, mates, points; several engines side by side",
        "quetzal suite wac.epd --movetime 1000 --engine own --engine stockfish",
        "docs/play.md#suites",
    ),
    Command(
        "uci-check",
        "uci_check",
        "tests",
        "test any UCI engine against the protocol and what GUIs expect of it",
        "quetzal uci-check stockfish",
        "docs/arena.md#what-engines-do-wrong",
    ),
    Command(
        "help",
        "help",
        "this program",
        "this overview, or more about one command",
        "quetzal help match",
        "docs/commands.md",
    ),
    Command(
        "compiler",
        "compiler",
        "this program",
        "version and build",
        "quetzal compiler --json",
        "docs/commands.md#compiler",
    ),
    Command(
        "completion",
        "completion",
        "this program",
        "a script that lets a shell complete commands and options",
        "quetzal completion bash > ~/.local/share/bash-completion/completions/quetzal",
        "docs/commands.md#completion-and-manual-page",
    ),
    Command(
        "manual",
        "manual",
        "this program",
        "the manual page, for man",
        "quetzal manual | man -l -",
        "docs/commands.md#completion-and-manual-page",
    ),
)

GROUPS = {
    "book": "make, show, merge and check Polyglot opening books",
    "tables": "probe, check and make endgame tables",
}

DESCRIPTION = "Quetzal, a UCI chess engine."
PLAY = ("quetzal", "without a command: the engine itself, for a chess GUI, or with a prompt for whoever types")


class Overview(Parser):
    """The parser of the whole line, whose help is the table by its sections."""

    def format_help(self):
        return "\n".join(overview()) + "\n"


def overview():
    """The lines of `quetzal --help`, as wide as the terminal."""
    wide = max(len(command.name) for command in COMMANDS) + 2
    columns = min(shutil.get_terminal_size().columns, 120)

    def row(name, text):
        return textwrap.wrap(
            text, max(columns, 60), initial_indent=f"  {name:{wide}}", subsequent_indent=" " * (wide + 2)
        )

    yield "usage: quetzal [-h] [-v] [COMMAND ...]"
    yield ""
    yield DESCRIPTION
    for section in SECTIONS:
        yield ""
        yield section
        if section == "play":
            yield from row(*PLAY)
        for command in COMMANDS:
            if command.section == section:
                yield from row(command.name, command.help)
    yield ""
    yield "options"
    yield from row("-h, --help", "this overview")
    yield from row("-v, --version", "version, commit, compiler, build profile, CPU level")
    yield ""
    yield "'quetzal COMMAND --help' has a command's options, an example, and where it is explained."


def module_of(command):
    return importlib.import_module(f"command.{command.module}")


def build_parser(words=None):
    """The parser of the whole command line. With `words`, only the arguments of the command that they name are added."""
    parser = Overview(prog="quetzal", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", "-V", "--version", action="version", version=describe(), help="version and build")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    groups = {}
    for command in COMMANDS:
        group, _, action = command.name.partition(" ")
        if action and group not in groups:
            grouped = commands.add_parser(group, help=GROUPS[group], description=sentence(GROUPS[group]))
            groups[group] = grouped.add_subparsers(dest="action", required=True, metavar="ACTION")
        place = groups[group] if action else commands
        added = place.add_parser(
            action or group, help=command.help, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if words is None or words[: 1 + bool(action)] == command.name.split():
            module = module_of(command)
            added.is_command = True
            added.description = getattr(module, "DESCRIPTION", sentence(command.help))
            added.epilog = f"example:\n  {command.example}\n\nmore: {command.page}"
            module.add_arguments(added)
            added.set_defaults(run=module.run)
    return parser


def sentence(text):
    return text[0].upper() + text[1:] + "."


def leaves(parser, name=""):
    """The parsers of all commands, with their names."""
    nested = [action for action in parser._actions if action.nargs == "A..."]
    for action in nested:
        for word, inner in action.choices.items():
            yield from leaves(inner, f"{name} {word}".strip())
    if not nested:
        yield name, parser

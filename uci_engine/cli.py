"""The command line: what may be typed, and who answers."""

import argparse
import sys

from arena.commands import add_arena_commands
from training.commands import add_training_commands
from uci_engine.arguments import add_eval_file, positive
from uci_engine.book_arguments import add_book_commands
from uci_engine.build import describe
from uci_engine.tables_arguments import add_table_commands

# UCI commands that are useful from a shell, too.
ONE_SHOT = {
    "go": "search as UCI's go does: go depth 12, go movetime 1000, go perft 5; --fen FEN",
    "d": "show a position; --fen FEN",
    "flip": "show a position with colours changed; --fen FEN",
    "compiler": "version and build, as UCI's compiler command",
    "help": "the commands of the UCI dialogue",
}


def build_parser():
    parser = argparse.ArgumentParser(
        prog="quetzal",
        description="Quetzal, a UCI chess engine. Without a command it speaks UCI on stdin and stdout.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=describe())
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    perft = commands.add_parser("perft", help="count move sequences, the proof of the move generator")
    perft.add_argument("depth", type=int, help="length of the sequences in plies")
    perft.add_argument("--fen", help="the position (default: the start of the game)")
    perft.add_argument("--chess960", action="store_true", help="write castling as king takes rook")
    perft.add_argument("--divide", action="store_true", help="show the count behind every first move")
    perft.add_argument("--threads", type=positive, default=1, metavar="N", help="threads to count with (default: 1)")

    explain = commands.add_parser("eval", help="show what a position is worth, and why")
    explain.add_argument("--fen", help="the position (default: the start of the game)")
    add_eval_file(explain)

    bench = commands.add_parser("bench", help="search fixed positions; the node count is the engine's signature")
    bench.add_argument("--depth", type=positive, metavar="N", help="plies (default: the signature's depth)")
    bench.add_argument("--threads", type=positive, default=1, metavar="N", help="search threads (default: 1)")
    bench.add_argument("--hash", type=positive, default=16, metavar="MB", help="table size (default: 16)")
    add_eval_file(bench)

    add_book_commands(commands)
    add_arena_commands(commands)
    add_training_commands(commands)
    add_table_commands(commands)

    check = commands.add_parser("uci-check", help="test any UCI engine against the protocol and what GUIs expect of it")
    check.add_argument(
        "engine", nargs=argparse.REMAINDER, metavar="ENGINE", help="the engine's command, with arguments"
    )

    for name, meaning in ONE_SHOT.items():
        commands.add_parser(name, help=meaning)
    return parser


def run_one_shot(arguments):
    """A UCI command as a command line, on the start position or on `--fen FEN`."""
    from uci_engine.protocol import answer_once

    words = list(arguments)
    fen = None
    try:
        if "--fen" in words:
            place = words.index("--fen")
            if place + 1 == len(words):
                raise ValueError("--fen wants a FEN")
            fen = words.pop(place + 1)
            words.pop(place)
        return answer_once(" ".join(words), 1, fen)
    except ValueError as error:
        print(f"quetzal {arguments[0]}: {error}", file=sys.stderr)
        return 2


def run(arguments):
    """Parses and carries out one command; returns the exit status."""
    if arguments[0] in ONE_SHOT and "--help" not in arguments and "-h" not in arguments:
        return run_one_shot(arguments)
    options = build_parser().parse_args(arguments)
    try:
        if options.command == "perft":
            from uci_engine.perft import run_perft

            run_perft(options)
        elif options.command == "eval":
            from uci_engine.eval_table import run_eval

            run_eval(options)
        elif options.command == "bench":
            from uci_engine.bench import run_bench

            run_bench(options)
        elif options.command == "uci-check":
            from uci_engine.uci_check import run_check

            return run_check(options)
        else:
            return options.run(options) or 0
    except BrokenPipeError:
        raise  # nobody reads any more: the caller ends quietly
    except (ValueError, OSError) as error:
        print(f"quetzal {options.command}: {reason_of(error)}", file=sys.stderr)
        return 2
    return 0


def reason_of(error):
    """An error in words: Python's own text for a file that cannot be opened begins with a number."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return error

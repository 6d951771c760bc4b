"""The command line: what may be typed, and who answers."""

import argparse
import sys

from training.commands import add_training_commands
from uci_engine.arguments import positive
from uci_engine.build import describe


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

    bench = commands.add_parser("bench", help="search fixed positions; the node count is the engine's signature")
    bench.add_argument("--depth", type=positive, metavar="N", help="plies (default: the signature's depth)")
    bench.add_argument("--threads", type=positive, default=1, metavar="N", help="search threads (default: 1)")
    bench.add_argument("--hash", type=positive, default=16, metavar="MB", help="table size (default: 16)")

    add_training_commands(commands)
    return parser


def run(arguments):
    """Parses and carries out one command; returns the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        if options.command == "perft":
            from uci_engine.perft import run_perft

            run_perft(options)
        elif options.command == "eval":
            from uci_engine.eval_table import run_eval

            run_eval(options)
        elif options.command == "bench":
            from uci_engine.bench import DEFAULT_DEPTH, report

            report(options.depth or DEFAULT_DEPTH, options.threads, options.hash)
        else:
            options.run(options)
    except BrokenPipeError:
        raise  # nobody reads any more: the caller ends quietly
    except (ValueError, OSError) as error:
        print(f"quetzal {options.command}: {error}", file=sys.stderr)
        return 2
    return 0

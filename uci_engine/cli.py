"""The command line: what may be typed, and who answers."""

import argparse
import sys

from uci_engine.build import describe


def positive(text):
    """An argparse type: a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


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

    tune = commands.add_parser("tune", help="fit the classical evaluation's weights to the results of games")
    tune.add_argument("games", nargs="+", help="files of games, as self-play writes them")
    tune.add_argument("--output", required=True, metavar="FILE", help="the weights file to write")
    tune.add_argument("--start", metavar="FILE", help="weights to start from (default: those in use)")
    tune.add_argument("--resume", action="store_true", help="go on after an interruption")
    tune.add_argument("--epochs", type=positive, default=30, metavar="N", help="passes over the data (default: 30)")
    tune.add_argument("--batch", type=positive, default=16384, metavar="N", help="positions per step (default: 16384)")
    tune.add_argument("--rate", type=float, default=1.0, metavar="CP", help="first step in centipawns (default: 1)")
    tune.add_argument(
        "--prior", type=float, default=60.0, metavar="CP", help="how far weights are expected to move (default: 60)"
    )
    tune.add_argument(
        "--held-out", type=int, default=5, metavar="PERCENT", help="share of the games held out (default: 5)"
    )
    tune.add_argument(
        "--score-share", type=float, default=0.0, metavar="X", help="part of the target taken from scores (default: 0)"
    )
    tune.add_argument(
        "--most-score", type=positive, default=1000, metavar="CP", help="leave out larger scores (default: 1000)"
    )
    tune.add_argument("--no-settle", action="store_true", help="take positions as they are, captures pending")
    tune.add_argument("--seed", type=int, default=1, metavar="N", help="of order and held-out games (default: 1)")
    tune.add_argument("--threads", type=positive, default=2, metavar="N", help="(default: 2)")
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
        elif options.command == "tune":
            from training.tuner import run_tune

            run_tune(options)
    except ValueError as error:
        print(f"quetzal {options.command}: {error}", file=sys.stderr)
        return 2
    return 0

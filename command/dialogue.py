"""Commands of the UCI dialogue that are useful from a shell, too: `go`, `d`, `flip`, `compiler`, `help`."""

import sys

from uci_engine.protocol import answer_once


def add_arguments(parser):
    parser.add_argument("words", nargs="*", help="as in the UCI dialogue")
    parser.add_argument("--fen", help="the position (default: the start of the game)")


def run(options):
    """The parser only serves `--help`: the words of the dialogue are not those of a command line."""
    return run_words([options.command, *options.words])


def run_words(words):
    """A UCI command as a command line, on the start position or on `--fen FEN`."""
    name, *rest = words
    fen = None
    try:
        if "--fen" in rest:
            place = rest.index("--fen")
            if place + 1 == len(rest):
                raise ValueError("--fen takes a FEN")
            fen = rest.pop(place + 1)
            rest.pop(place)
        return answer_once(" ".join((name, *rest)), 1, fen)
    except ValueError as error:
        print(f"quetzal {name}: {error}", file=sys.stderr)
        return 2

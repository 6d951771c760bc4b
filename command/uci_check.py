"""`quetzal uci-check ENGINE`."""

import argparse
import os
import shutil
import sys

from arena.client import EngineEndedError
from arena.conformance.check import check


def add_arguments(parser):
    parser.add_argument(
        "engine", nargs=argparse.REMAINDER, metavar="ENGINE", help="the engine's command, with arguments"
    )


def run(options):
    """Exit status 0 when everything passed, 1 when something failed."""
    command = options.engine
    if not command:
        raise ValueError("which engine? Give its command, for instance: quetzal uci-check stockfish")
    program = shutil.which(command[0])
    if program is None:
        raise ValueError(f"there is no program '{command[0]}'")

    def show(line):
        print(line, flush=True)

    try:
        return 1 if check([os.path.abspath(program), *command[1:]], show) else 0
    except (EngineEndedError, TimeoutError) as error:
        print(f"quetzal uci-check: the engine does not speak UCI: {error}", file=sys.stderr)
        return 1

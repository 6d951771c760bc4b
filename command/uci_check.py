"""`quetzal uci-check ENGINE`."""

import argparse
import json
import os
import shutil
import sys

from arena.client import EngineEndedError
from arena.conformance.check import check, count_verdicts, summary_line
from command.arguments import positive
from pool.containment import adopt_descendants


def add_arguments(parser):
    parser.add_argument("--json", action="store_true", help="write all findings as one JSON object instead of lines")
    parser.add_argument(
        "--patience",
        type=positive,
        default=10,
        metavar="SECONDS",
        help="how long an answer may take, for emulated or very busy machines (default: 10)",
    )
    parser.add_argument(
        "engine", nargs=argparse.REMAINDER, metavar="ENGINE", help="the engine's command, with arguments"
    )


def show_line(finding):
    print(finding, flush=True)


def run(options):
    """Exit status 0 when the engine does what it must, 1 when it does not; warnings change nothing."""
    command = options.engine
    if not command:
        raise ValueError("which engine? Give its command, for instance: quetzal uci-check stockfish")
    program = shutil.which(command[0])
    if program is None:
        raise ValueError(f"there is no program '{command[0]}'")
    command = [os.path.abspath(program), *command[1:]]
    adopt_descendants()
    try:
        findings = check(command, (lambda finding: None) if options.json else show_line, patience=options.patience)
    except (EngineEndedError, TimeoutError) as error:
        print(f"quetzal uci-check: the engine does not speak UCI: {error}", file=sys.stderr)
        return 1
    counts = count_verdicts(findings)
    if options.json:
        cases = [finding._asdict() for finding in findings]
        print(json.dumps({"command": command, "counts": counts, "cases": cases}, indent=1))
    else:
        print(summary_line(findings))
    return 1 if counts["FAIL"] else 0

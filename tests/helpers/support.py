"""What several test files need: where the data is, how much of it to use, and how to start the command."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
DATA = TESTS / "data"

# Checked builds are many times slower; they run the same tests on a part of the random work.
SCALE = float(os.environ.get("QUETZAL_TEST_SCALE", "1"))


def scaled(amount):
    return max(1, int(amount * SCALE))


def read_perft(path):
    """The positions of a file of lines `FEN ;D1 n ;D2 n …`, as pairs of FEN and {depth: leaves}."""
    positions = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            fen, *totals = line.split(";")
            pairs = (total.split() for total in totals)
            positions.append((fen.strip(), {int(depth.removeprefix("D")): int(nodes) for depth, nodes in pairs}))
    return positions


def read_epd(name):
    """The positions of a file of lines `POSITION operation operand; …` in tests/data, as pairs of FEN and operations."""
    positions = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        *position, operations = line.split(maxsplit=4)
        pairs = (operation.split(maxsplit=1) for operation in operations.split(";") if operation.strip())
        positions.append((" ".join(position) + " 0 1", dict(pairs)))
    return positions


STANDARD = read_perft(DATA / "perft_standard.epd")
CHESS960 = read_perft(DATA / "perft_chess960.epd")
ALL_FENS = [(fen, False) for fen, _ in STANDARD] + [(fen, True) for fen, _ in CHESS960]


def quetzal(*arguments, stdin="", cwd=None, env=None, timeout=120):
    """Runs the command as a user would. `cwd` should not be the checkout: `-m` would put it on the path first."""
    return subprocess.run(
        [sys.executable, "-m", "uci_engine", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd or TESTS / "data",
        env=env,
        timeout=timeout,
    )

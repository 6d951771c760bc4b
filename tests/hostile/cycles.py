"""Searches that are stopped at every moment of their life, from a seed: each has one legal bestmove, and soon.

python tests/hostile/cycles.py [--seed N] [--seconds S] [--keep DIR] | --replay FILE
"""

import random
import sys
import tempfile
import time

import chess
from dialogue import FENS, Talk
from fuzzing import KEEP, cases, command_line, keep_failure, kept_failure

CYCLES = 500  # to one process
STARTS = ("go infinite", "go", "go ponder wtime 1000 btime 1000", "go movetime 100000", "go wtime 600000 btime 600000")
STARTS += ("go depth 100", "go nodes 100000000", "go mate 50", "go infinite searchmoves {move}")
ENDS = ("stop", "stop", "stop", "stop\nstop", "ponderhit\nstop", "isready\nstop", "stop\nisready")
BETWEEN = (
    "setoption name Threads value 1",
    "setoption name Threads value 2",
    "setoption name Threads value 4",
    "setoption name MultiPV value 3",
    "setoption name MultiPV value 1",
    "setoption name Clear Hash",
    "ucinewgame",
    "setoption name Hash value 2",
)


def make_cycle(rng):
    """Lines before the search, the search, seconds to wait, its end, and the FEN."""
    fen = rng.choice(FENS)
    moves = [move.uci() for move in chess.Board(fen).legal_moves] or ["e2e4"]
    before = [rng.choice(BETWEEN)] if rng.random() < 0.1 else []
    start = rng.choice(STARTS).replace("{move}", rng.choice(moves))
    pause = rng.choice((0, 0, 0, 0.0001, 0.001, 0.003, 0.01))
    return [before, start, pause, rng.choice(ENDS), fen]


def play(talk, cycle):
    before, start, pause, end, fen = cycle
    first = [*before, f"position fen {fen}", start]
    board = chess.Board(fen)
    if pause:
        talk.gui.send(*first)
        time.sleep(pause)
        first = []
    # The counts of `check` are those of all lines since the last burst.
    talk.check([*first, *end.split("\n")], [board], end.count("isready"), 0)


def replay(path):
    """Goes through the kept cycles again; what is still wrong, or None."""
    kept = kept_failure(path)
    with tempfile.TemporaryDirectory(prefix="quetzal-hostile-") as directory:
        talk = Talk(directory)
        try:
            for cycle in kept["cycles"]:
                play(talk, cycle)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            talk.close()
    return None


def run(seed, seconds, keep=KEEP, most=None):
    """Starts and stops searches until the time is over, or so many; counts of cycles and problems."""
    counts = {"cycles": 0, "problems": 0, "slowest in ms": 0}
    talk = None
    played = []
    with tempfile.TemporaryDirectory(prefix="quetzal-hostile-") as directory:
        try:
            for case in cases("cycle", seed, seconds, keep, most):
                if talk is None or len(played) >= CYCLES:
                    if talk is not None:
                        talk.close()
                    talk, played = Talk(directory), []
                played.append(make_cycle(random.Random(case)))
                counts["cycles"] += 1
                began = time.monotonic()
                try:
                    play(talk, played[-1])
                except Exception as error:
                    counts["problems"] += 1
                    keep_failure(keep, f"cycle-{case}", f"{type(error).__name__}: {error}", cycles=played)
                    talk.close()
                    talk = None
                counts["slowest in ms"] = max(counts["slowest in ms"], round(1000 * (time.monotonic() - began)))
        finally:
            if talk is not None:
                talk.close()
    return counts


if __name__ == "__main__":
    sys.exit(command_line(__doc__.splitlines()[0], run, replay))

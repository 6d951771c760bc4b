"""What the tests of the arena share: scripted engines, games in this process, and waiting for processes to end."""

import os
import sys
import time
from pathlib import Path

from support import TESTS, quetzal

from arena.openings import START
from arena.players import Players
from arena.settings import EngineSettings, Rules, as_dict

PATIENCE = 600.0  # seconds that a command may take on a machine where others come first

SCRIPT = str(TESTS / "arena" / "scripted_engine.py")


def scripted(mode, *arguments, control="nodes=10", **more):
    return EngineSettings(mode, [sys.executable, SCRIPT, mode, *map(str, arguments)], control, **more)


def command(mode, *arguments):
    """The same for a command line."""
    return " ".join([sys.executable, SCRIPT, mode, *map(str, arguments)])


def play(first, second, *, games=2, opening=START, on_warning=None, **rules):
    """The records and logs of an encounter, played in this process."""
    players = Players()
    heard = []
    encounter = {
        "number": 0,
        "rules": as_dict(Rules(**{"startup_seconds": 120.0, "ping_seconds": 120.0, **rules})),
        "engines": {0: as_dict(first), 1: as_dict(second)},
        "opening": opening,
        "games": [
            {"game": game, "pair": 0, "round": 1, "players": [0, 1] if game % 2 == 0 else [1, 0]}
            for game in range(games)
        ],
    }
    try:
        players.play(encounter, on_game=lambda record, log: heard.append((record, log)), on_warning=on_warning)
    finally:
        players.close()
    return heard


def run_quetzal(*arguments, **more):
    """The command as a user runs it, with patience."""
    return quetzal(*arguments, timeout=PATIENCE, **more)


def processes(path):
    """The process numbers that scripted engines wrote to a file."""
    return [int(line) for line in path.read_text("ascii").split()] if path.exists() else []


def is_running(pid):
    """A process that nobody has waited for yet has ended all the same."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text("ascii", errors="replace").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def wait_until(condition, seconds=300.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False

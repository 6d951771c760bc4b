"""Is this program Quetzal as it should be? The checks that every build for people has to pass, on every system.

    python scripts/try_program.py dist/quetzal-0.1.0-linux-x86_64/quetzal
    python scripts/try_program.py quetzal          what pip has installed
    python scripts/try_program.py qemu-aarch64 …   with an emulator before it

It visits as many nodes as the signature of the search says, passes `uci-check`, and plays a short match against itself
without a fault. It checks itself: nothing is needed but Python. Takes a minute or two.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from check_signature import QUICK_DEPTH, difference

GAMES = 4
TIME_CONTROL = "1+0.05"


def engine_text(command):
    """How `quetzal match` takes a command: a path as it is, more words as the system's shell would."""
    if len(command) == 1:
        return command[0]
    return subprocess.list2cmdline(command) if sys.platform == "win32" else shlex.join(command)


def nodes(command):
    return difference(command, QUICK_DEPTH)


def conformance(command):
    result = subprocess.run([*command, "uci-check", *command], stdout=subprocess.PIPE, text=True)
    print(result.stdout, end="", flush=True)
    return None if result.returncode == 0 else f"uci-check ended with status {result.returncode}"


def match(command):
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        words = ["match", *[engine_text(command)] * 2, "--games", str(GAMES), "--tc", TIME_CONTROL, "--dir", str(run)]
        result = subprocess.run([*command, *words], stdout=subprocess.PIPE, text=True)
        print(result.stdout, end="", flush=True)
        if result.returncode:
            return f"the match ended with status {result.returncode}"
        results = (run / "games.pgn").read_text(encoding="utf-8").count("[Result ")
    if results != GAMES:
        return f"the match has {results} games instead of {GAMES}"
    return "a game of the match was lost by a fault" if "lost:" in result.stdout else None


CHECKS = {"node counts": nodes, "uci-check": conformance, "match": match}


def main():
    command = sys.argv[1:]
    if not command or command[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if command else 2
    command[0] = shutil.which(command[0]) or str(Path(command[0]).resolve())
    problems = []
    for name, check in CHECKS.items():
        problem = check(command)
        print(f"{name}: {problem or 'passed'}", flush=True)
        problems += [problem] if problem else []
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""Profile-guided optimisation: gcc compiles the core, watches it at work, and compiles it again for what it has seen.

QUETZAL_GUIDED=1 python setup.py build_ext --inplace    (so does `make freeze`)

The compiler then knows which branches are taken and which calls are worth inlining. The nodes stay the same; only their
number per second rises. setup.py calls `watch` before it compiles, which builds a counting core apart from all others.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

COUNTING = "counting"  # QUETZAL_GUIDED of the build inside the build

PLACE = Path("build", "guided")
# Counts are filed under the names of object files, so both builds need the same directory for these.
OBJECTS = PLACE / "objects"
COUNTS = PLACE / "counts"

# Like games: both evaluations searched, hardly any of the rest.
WORK = (
    ("bench", "--depth", "12"),
    ("bench", "--depth", "8", "--eval-file", ""),  # no network: the classical one
    ("perft", "4"),
)


def is_gcc(command):
    """Others have the same idea, but other flags and files."""
    try:
        told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return False
    return "Free Software Foundation" in told


def flags(guided):
    """What gcc is told besides: nothing for a plain build."""
    if guided == COUNTING:
        return [f"-fprofile-generate={COUNTS.resolve()}"]
    # Functions that were never called are compiled as ever and not for size: somebody else may call them all day.
    # And what gcc takes for uninitialised when it inlines by the profile is not.
    if guided:
        quiet = ["-Wno-missing-profile", "-Wno-maybe-uninitialized"]
        return [f"-fprofile-use={COUNTS.resolve()}", "-fprofile-partial-training", *quiet]
    return []


def watch():
    """Builds a core that counts and lets it work. Called in the project's directory; exits where that fails."""
    shutil.rmtree(PLACE, ignore_errors=True)
    library = PLACE / "lib"
    environment = {**os.environ, "QUETZAL_GUIDED": COUNTING}
    build = ["build", "--build-base", str(PLACE), "--build-lib", str(library), "--build-temp", str(OBJECTS)]
    run([sys.executable, "-u", "setup.py", *build, "--parallel", str(os.cpu_count() or 1)], environment)
    for work in WORK:
        run([sys.executable, "-m", "uci_engine", *work], {**os.environ, "PYTHONPATH": str(library.resolve())}, library)


def run(command, environment, directory=None):
    print("Watching the core at work:", *command[1:], flush=True)
    if subprocess.run(command, env=environment, cwd=directory).returncode:
        sys.exit("Without that there is no profile to be guided by.")

"""All fuzzers, one after the other, from a seed and for a given time: prints counts, keeps what finds a problem.

python tests/hostile/run_all.py [--seed N] [--seconds S] [--only NAME ...] [--keep DIR] | --replay FILE
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from fuzzing import KEEP

HERE = Path(__file__).resolve().parent

# What to choose with --only: the program, and how the names of the files begin that it keeps.
FUZZERS = {
    "dialogue": ("dialogue.py", "dialogue-"),
    "cycles": ("cycles.py", "cycle-"),
    "fens": ("fens.py", "fen-"),
    "files": ("files.py", "file-"),
    "engines": ("engine_output.py", "engine-output-"),
    "journal": ("journal.py", "journal-"),
    "http": ("http_requests.py", "http-"),
    "play": ("play_requests.py", "play-"),
}


def fuzzer_of(path):
    """The program that has kept a file."""
    for program, start in FUZZERS.values():
        if Path(path).name.startswith(start):
            return program
    raise SystemExit(f"no fuzzer keeps files named like {path}")


def run_one(name, options, seconds):
    """In a process of its own, which may end as it likes; True if nothing was found."""
    program, start = FUZZERS[name]
    print(f"{name}, seed {options.seed}, {seconds:.0f} s", flush=True)
    command = [sys.executable, str(HERE / program), "--seed", str(options.seed), "--seconds", str(seconds)]
    began = time.monotonic()
    status = subprocess.run([*command, "--keep", options.keep]).returncode
    if status not in (0, 1):
        print(f"the fuzzer ended with {status} after {time.monotonic() - began:.0f} s")
    for path in sorted(Path(options.keep).glob(f"{start}*.json")):
        print(f"again with: python {Path(__file__).name} --replay {path}")
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0, help="for all together (default: 600)")
    parser.add_argument(
        "--only", nargs="+", choices=FUZZERS, default=list(FUZZERS), metavar="NAME", help=", ".join(FUZZERS)
    )
    parser.add_argument("--keep", default=KEEP, metavar="DIR", help=f"for inputs that find a problem (default: {KEEP})")
    parser.add_argument("--replay", metavar="FILE", help="one of them")
    options = parser.parse_args()
    if options.replay is not None:
        return subprocess.run(
            [sys.executable, str(HERE / fuzzer_of(options.replay)), "--replay", options.replay]
        ).returncode
    good = [run_one(name, options, options.seconds / len(options.only)) for name in options.only]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Compares the node counts of `quetzal bench` with the signature of the search, tests/data/signature.json.

    python scripts/check_signature.py                    this checkout to every depth of the file (`make bench`)
    python scripts/check_signature.py --depth 8 PROGRAM  another build of it: installed, frozen, emulated
    python scripts/check_signature.py --write            the new counts, after a change that is meant to alter them

PROGRAM may have arguments of its own, such as an emulator and the program that it runs. Needs nothing but Python.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "tests" / "data" / "signature.json"
QUICK_DEPTH = 8  # under a second: for tests, and for builds that are only meant to be the same engine
SIGNATURE = {int(depth): nodes for depth, nodes in json.loads(FILE.read_text(encoding="utf-8")).items()}


def closing_nodes(output):
    """The total of the bench's last line, `N nodes M nps`."""
    nodes, word, *_ = output.splitlines()[-1].split()
    if word != "nodes":
        raise ValueError(f"no total of nodes: {output.splitlines()[-1]}")
    return int(nodes)


def count(command, depth):
    """The nodes that a program visits in a bench; without a command, this checkout."""
    program, place = (command, None) if command else ([sys.executable, "-m", "uci_engine"], ROOT)
    arguments = ["bench", "--depth", str(depth)]
    return closing_nodes(subprocess.check_output([*program, *arguments], cwd=place, text=True))


def difference(command, depth):
    """What is wrong with a program's count, or None."""
    nodes = count(command, depth)
    if nodes == SIGNATURE[depth]:
        return None
    return f"{' '.join(command) or 'this checkout'} visits {nodes} nodes in bench --depth {depth}; the signature is {SIGNATURE[depth]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, choices=SIGNATURE, help="only this one")
    parser.add_argument("--write", action="store_true", help="replace the counts in the file")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="(default: this checkout)")
    options = parser.parse_args()
    command = options.program
    depths = [options.depth] if options.depth else list(SIGNATURE)
    if options.write:
        counts = SIGNATURE | {depth: count(command, depth) for depth in depths}
        FILE.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
        print(*(f"depth {depth}: {counts[depth]} nodes" for depth in depths), sep="\n")
        return 0
    problems = [problem for depth in depths if (problem := difference(command, depth))]
    if problems:
        print(*problems, sep="\n")
        print("If the change is meant to alter the search, see 'Commits' in CONTRIBUTING.md.")
        return 1
    print(*(f"depth {depth}: {SIGNATURE[depth]} nodes, as it should be" for depth in depths), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

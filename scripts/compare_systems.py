"""The programs for other systems beside Linux', in one run: the same nodes, the time to `uciok`, and the speed.

    python scripts/compare_systems.py                  all that are here: checkout, wine, qemu, node
    python scripts/compare_systems.py windows arm64    only these, beside the checkout

The systems take turns, so that whatever else the machine does slows all of them alike. Speed is that of `bench` per second
of processor time, the start included, as a fraction of the checkout's. `make windows`, `make arm64` and `make wasm` make
the programs; an emulator says nothing about the speed of a machine.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import arm64  # noqa: E402
import wasm  # noqa: E402
import windows  # noqa: E402
from check_signature import QUICK_DEPTH, SIGNATURE, closing_nodes  # noqa: E402

from arena.client import Client  # noqa: E402

PATIENCE = 300.0


class System(NamedTuple):
    engine: list  # None where there is no dialogue
    bench: list
    made: Path  # is there when it was made
    environment: dict = None


def systems(depth):
    linux = [sys.executable, "-m", "uci_engine"]
    words = ["bench", "--depth", str(depth)]
    frozen = windows.PLACE / "dist" / windows.NAME / "quetzal.exe"
    single = windows.PLACE / "dist" / f"{windows.NAME}.exe"
    wine = {program: ["wine", str(program)] for program in (frozen, single)}
    qemu = [str(arm64.RUNNER), str(arm64.PROGRAM)]
    node = ["node", str(wasm.RUNNER), str(wasm.PYODIDE), str(wasm.ARCHIVE), wasm.BENCH.format(depth=depth)]
    environment = windows.wine_environment()
    return {
        "linux": System(linux, [*linux, *words], ROOT / "uci_engine" / "_build.py"),
        "windows": System(wine[frozen], [*wine[frozen], *words], frozen, environment),
        "windows-single": System(wine[single], [*wine[single], *words], single, environment),
        "arm64": System(qemu, [*qemu, *words], arm64.PROGRAM),
        "browser": System(None, node, wasm.ARCHIVE),
    }


def milliseconds_to_uciok(system):
    with Client(system.engine, patience=PATIENCE, env=system.environment, cwd=ROOT) as client:
        client.ask("uci", until="uciok")
        taken = client.moment - client.started
        client.send("quit")
        client.wait()
    return taken * 1000


def bench(system):
    """The nodes, and the seconds of processor time."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}  # wine's programs start with pipes only
    process = subprocess.Popen(system.bench, env=system.environment, cwd=ROOT, **pipes)
    # Not to the end of the pipe: services that wine starts keep it open.
    line = next((line for line in process.stdout if line.endswith(" nps\n")), "")
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdin.close()
    process.stdout.close()
    if process.returncode != 0 or not line:
        sys.exit(f"{system.bench[0]} ended with status {process.returncode}")
    return closing_nodes(line), used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="(default: all that were made)")
    parser.add_argument("--depth", type=int, choices=SIGNATURE, default=QUICK_DEPTH, help="of the bench (default: 8)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of benches and starts (default: 5)")
    options = parser.parse_args()
    known = systems(options.depth)
    unknown = set(options.systems) - set(known)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    wanted = {"linux", *(options.systems or known)}
    chosen = {name: system for name, system in known.items() if name in wanted}
    if not chosen["linux"].made.exists():
        sys.exit("there is nothing to compare with: make build")
    for name in [name for name, system in chosen.items() if not system.made.exists()]:
        print(f"{name} was not made and is left out", file=sys.stderr)
        del chosen[name]
    if shutil.which("wine") and any(name.startswith("windows") for name in chosen):
        windows.prepare_wine()

    starts = {name: [] for name in chosen}
    seconds = {name: [] for name in chosen}
    for _ in range(options.rounds):
        for name, system in chosen.items():
            if system.engine is not None:
                starts[name].append(milliseconds_to_uciok(system))
            nodes, used = bench(system)
            if nodes != SIGNATURE[options.depth]:
                sys.exit(f"{name} visits {nodes} nodes; the signature is {SIGNATURE[options.depth]}")
            seconds[name].append(used)
    print(f"{options.rounds} rounds, load {os.getloadavg()[0]:.0f}, all with {SIGNATURE[options.depth]} nodes")
    print(
        f"| | ms to uciok: fastest | median | bench --depth {options.depth}: CPU s, median | speed, fastest / fastest |"
    )
    print("|---|--:|--:|--:|--:|")
    for name in chosen:
        start = f"{min(starts[name]):.0f} | {statistics.median(starts[name]):.0f}" if starts[name] else "- | -"
        ratio = min(seconds["linux"]) / min(seconds[name])
        print(f"| {name} | {start} | {statistics.median(seconds[name]):.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()

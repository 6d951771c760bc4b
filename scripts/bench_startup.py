"""How long from starting an engine to its `uciok`? The builds take turns, and Debian's Stockfish with them.

python scripts/bench_startup.py                         the frozen builds in dist/, the checkout, Stockfish
python scripts/bench_startup.py --together 16           and how long until so many engines, started at once, are ready
python scripts/bench_startup.py NAME=PROGRAM …          other engines
"""

import argparse
import shutil
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from freeze import directory_name  # noqa: E402

from arena.client import Client  # noqa: E402

PATIENCE = 120.0


def known_engines():
    """Those that are here, as pairs of name and command."""
    suffix = ".exe" if sys.platform == "win32" else ""
    places = {
        "directory": ROOT / "dist" / directory_name() / f"quetzal{suffix}",
        "single file": ROOT / "dist" / f"quetzal{suffix}",
        "checkout": Path(sys.executable).with_name(f"quetzal{suffix}"),
        "stockfish": Path(shutil.which("stockfish") or "/usr/games/stockfish"),
    }
    return {name: [str(path)] for name, path in places.items() if path.exists()}


def milliseconds_to_uciok(command):
    with Client(command, patience=PATIENCE) as client:
        client.ask("uci", until="uciok")
        taken = client.moment - client.started
        client.send("quit")
        client.wait()
    return taken * 1000


def seconds_until_all_are_ready(command, count):
    """All are started before the first is asked."""
    started = time.perf_counter()
    clients = []
    try:
        clients += [Client(command, patience=PATIENCE) for _ in range(count)]
        for client in clients:
            client.send("uci", "isready")
        for client in clients:
            client.until("uciok")
            client.until("readyok")
        return max(client.moment for client in clients) - started
    finally:
        for client in clients:
            client.__exit__()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs="*", metavar="NAME=PROGRAM", help="(default: all that are here)")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="starts of each (default: 15)")
    parser.add_argument("--together", type=int, default=0, metavar="N", help="also start so many of each at once")
    options = parser.parse_args()
    engines = {name: [program] for name, _, program in (each.partition("=") for each in options.engines)}
    engines = engines or known_engines()

    times = {name: [] for name in engines}
    for _ in range(options.rounds):
        for name, command in engines.items():
            times[name].append(milliseconds_to_uciok(command))
    print(f"milliseconds from start to uciok, {options.rounds} starts of each in turn")
    print("| | fastest | median | slowest |")
    print("|---|--:|--:|--:|")
    for name, taken in times.items():
        print(f"| {name} | {min(taken):.0f} | {statistics.median(taken):.0f} | {max(taken):.0f} |")
    if options.together:
        for name, command in engines.items():
            seconds = seconds_until_all_are_ready(command, options.together)
            print(f"{options.together} x {name} started at once: all ready after {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()

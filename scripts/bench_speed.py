"""How fast the search is, beside other engines on the same positions and time, in one run.

    python scripts/bench_speed.py --rounds 3 --movetime 300
    python scripts/bench_speed.py --against build/plain/lib    (this core beside another build of it, and nothing else)

The engines take turns position by position, so that whatever else the machine does slows all of them alike. Three
tables: nodes per second of one thread with the network and with the classical evaluation beside Stockfish and Ethereal (per
second by the clock, and per second of processor time, which a busy machine disturbs less); nodes per second of two
threads beside one; and static evaluations per second. A node is not the same thing in every engine, so the ratio says
how fast the core is, not how good.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from board import Board
from eval import CLASSICAL, DEFAULT, benchmark, load_evaluation
from uci_engine.bench import positions

# At least: nodes per second with the network and without it as a multiple of Stockfish's, with it as a multiple of those
# without, with two threads as a multiple of one; classical evaluations per second.
WANTED = {DEFAULT: 1.5, CLASSICAL: 2.0, "network": 0.75, "threads": 1.8, "evaluations": 3_000_000}
TITLES = {DEFAULT: "network", CLASSICAL: "classical"}


class Engine:
    """A UCI engine in a process of its own, and what it has done so far."""

    def __init__(self, command, threads=1, megabytes=16, evaluation=None, env=None):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        self.process = subprocess.Popen(command, env=env, **pipes)
        self.nodes = 0
        self.seconds = 0.0
        self.processor = 0.0
        self.send("uci")
        self.name = "?"
        for line in self.lines_until("uciok"):
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ").strip()
        self.send(f"setoption name Hash value {megabytes}")
        self.send(f"setoption name Threads value {threads}")
        if evaluation is not None:
            self.send(f"setoption name EvalFile value {evaluation}")
            self.name += f" ({TITLES[evaluation]})"
        self.be_ready()

    def send(self, text):
        self.process.stdin.write(text + "\n")

    def lines_until(self, beginning):
        for line in self.process.stdout:
            yield line
            if line.startswith(beginning):
                return
        sys.exit(f"{self.name} has stopped")

    def be_ready(self):
        self.send("isready")
        for _ in self.lines_until("readyok"):
            pass

    def processor_seconds(self):
        """Used so far by all threads of the process; None where the system does not tell."""
        if os.name != "posix":  # wine shows Linux' own /proc, in which the process has another number
            return None
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def search(self, fen, milliseconds):
        self.send("ucinewgame")
        self.send(f"position fen {fen}")
        self.be_ready()
        nodes = 0
        used = self.processor_seconds()
        started = time.perf_counter()
        self.send(f"go movetime {milliseconds}")
        for line in self.lines_until("bestmove"):
            words = line.split()
            if words[0] == "info" and "nodes" in words:
                nodes = int(words[words.index("nodes") + 1])
        self.seconds += time.perf_counter() - started
        self.nodes += nodes
        if used is not None:
            self.processor += self.processor_seconds() - used

    @property
    def speed(self):
        return self.nodes / self.seconds

    @property
    def processor_speed(self):
        return self.nodes / self.processor if self.processor else self.speed

    def close(self):
        self.send("quit")
        self.process.wait()


def take_turns(engines, fens, rounds, movetime):
    for _ in range(rounds):
        for fen in fens:
            for engine in engines:
                engine.search(fen, movetime)
    for engine in engines:
        engine.close()


def verdict(ratio, wanted):
    return f"{ratio:.2f} (wanted: at least {wanted}, {'reached' if ratio >= wanted else 'NOT reached'})"


def compare_engines(options, fens, own):
    games = "/usr/games/" if os.name == "posix" else ""  # wine shows Linux' programs, but cannot use them
    others = [shutil.which(name) or f"{games}{name}" for name in ("stockfish", "ethereal-chess")]
    present = [path for path in others if Path(path).exists()]
    for path in set(others) - set(present):
        print(f"{path} is not installed and left out", file=sys.stderr)
    ours = {evaluation: Engine(own, evaluation=evaluation) for evaluation in TITLES}
    theirs = [Engine([path]) for path in present]
    engines = [*ours.values(), *theirs]
    take_turns(engines, fens, options.rounds, options.movetime)
    print(f"{'one thread':<34}{'nodes/s':>12}{'nodes/CPU s':>14}")
    for engine in engines:
        print(f"{engine.name:<34}{engine.speed:>12,.0f}{engine.processor_speed:>14,.0f}")
    ratio = ours[DEFAULT].processor_speed / ours[CLASSICAL].processor_speed
    print(f"network / classical, per CPU second: {verdict(ratio, WANTED['network'])}")
    for engine in theirs:
        for evaluation, own_engine in ours.items():
            ratio = own_engine.processor_speed / engine.processor_speed
            text = verdict(ratio, WANTED[evaluation]) if "stockfish" in engine.name.lower() else f"{ratio:.2f}"
            by_clock = own_engine.speed / engine.speed
            print(f"{TITLES[evaluation]} / {engine.name}, per CPU second: {text}; by the clock: {by_clock:.2f}")


def compare_threads(options, fens, own):
    one, two = Engine(own, threads=1), Engine(own, threads=2)
    take_turns([one, two], fens, options.rounds, options.movetime)
    print(f"one thread {one.speed:,.0f} nodes/s, two threads {two.speed:,.0f} nodes/s")
    print(f"two threads / one: {verdict(two.speed / one.speed, WANTED['threads'])}")


def compare_builds(options, fens, own):
    """The same engine from two places: nodes per second of processor time, and the ratio."""
    places = {"this core": Path(__file__).resolve().parent.parent, str(options.against): options.against.resolve()}
    engines = {}
    for name, place in places.items():
        if not (place / "uci_engine" / "_build.py").exists():
            sys.exit(f"{place} has no build of Quetzal")
        engines[name] = Engine(own, env={**os.environ, "PYTHONPATH": str(place), "PYTHONSAFEPATH": "1"})
    take_turns(list(engines.values()), fens, options.rounds, options.movetime)
    for name, engine in engines.items():
        print(f"{name:<34}{engine.speed:>12,.0f} nodes/s{engine.processor_speed:>14,.0f} nodes/CPU s")
    ours, other = engines.values()
    print(f"this core / {options.against}, per CPU second: {ours.processor_speed / other.processor_speed:.3f}")


def evaluate_speed(fens):
    load_evaluation(CLASSICAL)
    speed = max(benchmark([Board(fen) for fen in fens], 20_000) for _ in range(5))
    reached = "reached" if speed >= WANTED["evaluations"] else "NOT reached"
    print(f"{speed:,.0f} classical evaluations per CPU second (wanted: at least {WANTED['evaluations']:,}, {reached})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1, help="passes over the positions (default: 1)")
    parser.add_argument("--movetime", type=int, default=300, help="milliseconds per position (default: 300)")
    parser.add_argument("--against", type=Path, metavar="DIR", help="another build, such as build/debug/lib")
    parser.add_argument("--positions", type=int, metavar="N", help="only the first N bench positions")
    options = parser.parse_args()
    if options.rounds < 1 or options.movetime < 1 or (options.positions is not None and options.positions < 1):
        parser.error("rounds, movetime and positions start at 1")
    fens = positions()[: options.positions]
    own = [sys.executable, "-m", "uci_engine"]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{len(fens)} positions, {options.movetime} ms, {options.rounds} rounds; load before the start: {load:.1f}")
    if options.against is not None:
        compare_builds(options, fens, own)
        return
    compare_engines(options, fens, own)
    compare_threads(options, fens, own)
    evaluate_speed(fens)


if __name__ == "__main__":
    main()

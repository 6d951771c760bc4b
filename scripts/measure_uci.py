"""Measures how quickly a UCI engine's process starts, answers, stops and ends, and what waiting costs.

python scripts/measure_uci.py
python scripts/measure_uci.py --rounds 30 stockfish
"""

import argparse
import re
import statistics
import sys
import time
from pathlib import Path

from arena.client import Client


def start(command):
    with Client(command) as client:
        client.ask("uci", until="uciok")
        return client.moment - client.started


def answer(command):
    with Client(command) as client:
        client.ask("uci", until="uciok")
        client.send("position startpos", "go infinite")
        client.ready()
        time.sleep(0.1)
        sent = time.perf_counter()
        client.ready()
        return client.moment - sent


def stop(command):
    with Client(command) as client:
        client.ask("uci", until="uciok")
        client.ready()
        client.send("position startpos", "go infinite")
        client.ready()
        time.sleep(0.2)
        sent = time.perf_counter()
        client.ask("stop", until="bestmove")
        return client.moment - sent


def end(command, searching, by_quit):
    with Client(command) as client:
        client.ask("uci", until="uciok")
        client.ready()
        if searching:
            client.send("position startpos", "go infinite")
            client.ready()
        sent = time.perf_counter()
        if by_quit:
            client.send("quit")
        else:
            client.close_input()
        client.process.wait(10)
        return time.perf_counter() - sent


def waiting(command):
    """Processor seconds in two seconds: idle, and in an infinite search that has nothing to do."""
    with Client(command) as client:
        client.ask("uci", until="uciok")
        client.ready()
        figures = []
        for go in (None, "go infinite"):
            if go is not None:
                client.send("position fen R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", go)
                client.silent(0.5)
            before = client.processor_seconds()
            time.sleep(2)
            figures.append(client.processor_seconds() - before)
        return figures


def resident(client):
    text = Path(f"/proc/{client.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def memory(command, searches=1000):
    """Megabytes after the start, after a search, and after many more."""
    with Client(command) as client:
        client.ask("uci", until="uciok")
        client.ready()
        figures = [resident(client)]
        client.ask("position startpos", "go depth 8", until="bestmove")
        figures.append(resident(client))
        for number in range(searches):
            client.ask(f"go nodes {200 + number % 7 * 100}", until="bestmove")
        figures.append(resident(client))
        return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", nargs="*", help="an engine's command (default: this Quetzal)")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    command = options.engine or [str(Path(sys.executable).with_name("quetzal"))]
    rows = [
        ("start to uciok", start),
        ("isready to readyok in search", answer),
        ("stop to bestmove", stop),
        ("quit to exit, idle", lambda engine: end(engine, False, True)),
        ("quit to exit, searching", lambda engine: end(engine, True, True)),
        ("end of input to exit, searching", lambda engine: end(engine, True, False)),
    ]
    print(f"{'milliseconds':34} {'fastest':>8} {'median':>8} {'slowest':>8}")
    for name, measure in rows:
        times = sorted(1000 * measure(command) for _ in range(options.rounds))
        print(f"{name:34} {times[0]:8.1f} {statistics.median(times):8.1f} {times[-1]:8.1f}")
    print(
        "processor seconds in 2 s of waiting: idle {:.2f}, infinite search without work {:.2f}".format(
            *waiting(command)
        )
    )
    print(
        "resident MB: {:.1f} after the start, {:.1f} after a search, {:.1f} after 1,000 more".format(*memory(command))
    )


if __name__ == "__main__":
    main()

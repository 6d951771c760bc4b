"""How many workers can one scheduler feed? A simulated cluster on this machine: many tiny workers, tasks that sleep.

    python scripts/simulate_cluster.py
    python scripts/simulate_cluster.py --workers 10 50 200 --seconds 0.1 1 --kilobytes 30
    python scripts/simulate_cluster.py --kinds --workers 50 200

The scheduler has a process of its own, and so have the workers all together: they only sleep, as workers of other machines
do from the scheduler's point of view. The client keeps as many tasks ahead as a pool does. Each cell is the share of
their time in which workers had something to do. The last line is the most tasks per second that went through the
scheduler, and with it the number of workers that tasks of a given length could keep busy.

With --kinds the tasks and results have the sizes that those of Quetzal's long jobs have, and sleep for so short a time that
the scheduler is the limit. That, times the seconds of a real task on one core, is how many workers each job can keep busy.
"""

import argparse
import asyncio
import logging
import multiprocessing
import sys
import time
import warnings
from typing import NamedTuple

AHEAD = 2  # tasks that are given for each worker, as many as hide the way to the scheduler and back


class Kind(NamedTuple):
    """A long job's tasks: bytes there and back as pickled, and seconds on one core as measured (docs/cluster.md)."""

    name: str
    sent: int
    answered: int
    seconds: float


KINDS = (
    Kind("16 games of self-play at 500 nodes a move", 192, 4_330, 0.34),
    Kind("review of a game of 69 plies, 100,000 nodes a position", 803, 6_035, 2.5),
    Kind("a position of a suite, one second", 514, 138, 1.0),
    Kind("a pair of games at 1+0.01", 877, 28_529, 5.3),
    Kind("a pair of games at 10+0.1", 877, 28_529, 53.0),
)
SATURATING = 0.05  # seconds of a task that are too short for any scheduler and so many workers


def task(number, seconds, data, answer):
    time.sleep(seconds)
    return bytes(answer)


def run_scheduler(addresses, stop):
    logging.disable(logging.CRITICAL)

    async def serve():
        from distributed import Scheduler

        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            addresses.put(scheduler.address)
            while not stop.is_set():
                await asyncio.sleep(0.1)

    asyncio.run(serve())


def run_workers(address, count, ready, stop):
    logging.disable(logging.CRITICAL)

    async def serve():
        from distributed import Worker

        workers = [Worker(address, nthreads=1, host="127.0.0.1", dashboard=False, memory_limit=0) for _ in range(count)]
        await asyncio.gather(*workers)
        ready.set()
        while not stop.is_set():
            await asyncio.sleep(0.1)
        await asyncio.gather(*(worker.close() for worker in workers))

    asyncio.run(serve())


def measure(client, workers, seconds, tasks, sent, answered):
    """Share of time that workers were busy, and tasks per second."""
    from distributed import as_completed

    data = bytes(sent)

    def give(number):
        return client.submit(task, number, seconds, data, answered, pure=False, key=f"sleep-{number}-{time.time_ns()}")

    given = min(tasks, AHEAD * workers)
    began = time.perf_counter()
    stream = as_completed([give(number) for number in range(given)], with_results=True, loop=client.loop)
    for _, _ in stream:
        if given < tasks:
            stream.add(give(given))
            given += 1
    elapsed = time.perf_counter() - began
    return tasks * seconds / (workers * elapsed), tasks / elapsed


def simulate(workers, loads, most_seconds):
    """Yields busy share and tasks per second for one size of cluster and each load: seconds, bytes there, bytes back."""
    from distributed import Client

    context = multiprocessing.get_context("spawn")
    addresses, ready, stop = context.Queue(), context.Event(), context.Event()
    scheduler = context.Process(target=run_scheduler, args=(addresses, stop))
    scheduler.start()
    crowd = None
    try:
        address = addresses.get(timeout=60)
        crowd = context.Process(target=run_workers, args=(address, workers, ready, stop))
        crowd.start()
        if not ready.wait(300):
            raise TimeoutError("the workers did not start")
        with Client(address, set_as_default=False) as client:
            measure(client, workers, 0.0, 2 * workers, *loads[0][1:])  # so that everybody knows everybody
            for seconds, sent, answered in loads:
                # No more than a scheduler can do in that time.
                tasks = max(4 * workers, min(int(workers * most_seconds / max(seconds, 0.05)), int(400 * most_seconds)))
                yield measure(client, workers, seconds, tasks, sent, answered)
    finally:
        stop.set()
        for process in filter(None, (crowd, scheduler)):
            process.join(30)
            process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 25, 50, 100, 200], metavar="N")
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.2, 0.5, 1, 2, 5], metavar="S", help="of a task")
    parser.add_argument("--kilobytes", type=int, default=20, metavar="N", help="of a task and of its result")
    parser.add_argument("--most", type=float, default=10, metavar="S", help="for a cell of the table, about")
    parser.add_argument("--kinds", action="store_true", help="the sizes of real tasks, and the workers that each feeds")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.kinds:
        show_kinds(options.workers, options.most)
    else:
        show_lengths(options)


def show_kinds(counts, most_seconds):
    """Each kind's column has the tasks per second for each number of workers; the best decides."""
    loads = [(SATURATING, kind.sent, kind.answered) for kind in KINDS]
    rates = [[rate for _, rate in simulate(workers, loads, most_seconds)] for workers in counts]
    print("| a task | bytes there | bytes back | seconds | tasks/s | workers |")
    print("|---|--:|--:|--:|--:|--:|")
    for kind, found in zip(KINDS, zip(*rates, strict=True), strict=True):
        rate = max(found)
        print(
            f"| {kind.name} | {kind.sent:,} | {kind.answered:,} | {kind.seconds:g} | {rate:,.0f} | {rate * kind.seconds:,.0f} |"
        )


def show_lengths(options):
    """How busy clusters of several sizes are with tasks of several lengths."""
    print(f"| workers | {' | '.join(f'{seconds:g} s' for seconds in options.seconds)} | tasks/s |")
    print("|--:|" + "--:|" * (len(options.seconds) + 1))
    best = 0.0
    for workers in options.workers:
        loads = [(seconds, 1000 * options.kilobytes, 1000 * options.kilobytes) for seconds in options.seconds]
        rows = list(simulate(workers, loads, options.most))
        fastest = max(rate for _, rate in rows)
        best = max(best, fastest)
        cells = " | ".join(f"{100 * share:.0f} %" for share, _ in rows)
        print(f"| {workers} | {cells} | {fastest:,.0f} |", flush=True)
    print(
        f"\nOne scheduler: {best:,.0f} tasks/s of {options.kilobytes} kB; tasks of S seconds keep {best:,.0f} * S workers busy."
    )


if __name__ == "__main__":
    sys.exit(main())

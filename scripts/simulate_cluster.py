"""How many workers can one scheduler feed? A simulated cluster on this machine: many tiny workers, tasks that sleep.

    python scripts/simulate_cluster.py
    python scripts/simulate_cluster.py --workers 10 50 200 --seconds 0.1 1 --kilobytes 30

The scheduler has a process of its own, and so have the workers all together: they only sleep, as workers of other machines
do from the scheduler's point of view. The client keeps as many tasks ahead as a pool does. Each cell is the share of
their time in which workers had something to do. The last line is the most tasks per second that went through the
scheduler, and with it the number of workers that tasks of a given length could keep busy.
"""

import argparse
import asyncio
import logging
import multiprocessing
import sys
import time
import warnings

AHEAD = 2  # tasks that are given for each worker, as many as hide the way to the scheduler and back


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


def measure(client, workers, seconds, tasks, size):
    """Share of time that workers were busy, and tasks per second."""
    from distributed import as_completed

    data = bytes(size)

    def give(number):
        return client.submit(task, number, seconds, data, size, pure=False, key=f"sleep-{number}-{time.time_ns()}")

    given = min(tasks, AHEAD * workers)
    began = time.perf_counter()
    stream = as_completed([give(number) for number in range(given)], with_results=True, loop=client.loop)
    for _, _ in stream:
        if given < tasks:
            stream.add(give(given))
            given += 1
    elapsed = time.perf_counter() - began
    return tasks * seconds / (workers * elapsed), tasks / elapsed


def simulate(workers, lengths, size, most_seconds):
    """Yields length, busy share and tasks per second for one size of cluster."""
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
            measure(client, workers, 0.0, 2 * workers, size)  # so that everybody knows everybody
            for seconds in lengths:
                tasks = max(4 * workers, int(workers * most_seconds / max(seconds, 0.05)))
                yield seconds, *measure(client, workers, seconds, tasks, size)
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
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    print(f"| workers | {' | '.join(f'{seconds:g} s' for seconds in options.seconds)} | tasks/s |")
    print("|--:|" + "--:|" * (len(options.seconds) + 1))
    best = 0.0
    for workers in options.workers:
        rows = list(simulate(workers, options.seconds, 1000 * options.kilobytes, options.most))
        fastest = max(rate for _, _, rate in rows)
        best = max(best, fastest)
        cells = " | ".join(f"{100 * share:.0f} %" for _, share, _ in rows)
        print(f"| {workers} | {cells} | {fastest:,.0f} |", flush=True)
    print(
        f"\nOne scheduler: {best:,.0f} tasks/s of {options.kilobytes} kB; tasks of S seconds keep {best:,.0f} * S workers busy."
    )


if __name__ == "__main__":
    sys.exit(main())

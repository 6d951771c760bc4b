"""Lets engines solve suites, several positions at once, and hands the answers out in the order of the suite."""

import threading
from concurrent.futures import ThreadPoolExecutor, wait

from play.searching import POLL_SECONDS, Cancelled


class Solving:
    """One engine at all problems. `make` makes an engine; each thread gets its own."""

    def __init__(self, make, concurrency):
        self.make = make
        self.concurrency = concurrency
        self.local = threading.local()
        self.engines = []
        self.cancel = threading.Event()

    def solve(self, problem):
        if self.cancel.is_set():
            return None
        if not hasattr(self.local, "engine"):
            self.local.engine = self.make()
            self.engines.append(self.local.engine)
        try:
            return self.local.engine.solve(problem, self.cancel.is_set)
        except Cancelled:
            return None

    def attempts(self, problems, is_stopped=lambda: False):
        """Yields pairs of problem and attempt, until `is_stopped()`."""
        pool = ThreadPoolExecutor(self.concurrency)
        futures = [pool.submit(self.solve, problem) for problem in problems]
        try:
            for problem, future in zip(problems, futures, strict=True):
                while not wait((future,), POLL_SECONDS).done:
                    if is_stopped():
                        return
                attempt = future.result()
                if attempt is not None:
                    yield problem, attempt
        finally:
            self.cancel.set()
            if not all(future.done() for future in futures):
                for engine in list(self.engines):
                    engine.give_up()
            pool.shutdown(cancel_futures=True)
            for engine in self.engines:
                engine.close()

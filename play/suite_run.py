"""Lets an engine solve suites, several positions at once, and hands the answers out in the order of the suite."""

import contextlib

from arena.conduct import TIMES
from play.suite import Attempt
from pool.cluster import ClusterPool
from pool.local import LocalPool
from pool.tasks import Ordered


class Solving:
    """One engine at all problems: `work` is one of play/suite_engines.py. On a cluster its workers are those that solve."""

    def __init__(self, work, concurrency, *, cluster=None, on_warning=None):
        self.name = work.name
        self.on_warning = on_warning
        if cluster is None:
            self.pool = LocalPool(work, concurrency)
        else:
            self.pool = ClusterPool(cluster, work)
            self.pool.check()

    def attempts(self, problems, is_stopped=lambda: False):
        """Yields pairs of problem and attempt, until `is_stopped()`.

        An engine that stalls at two positions is out, as in a match. The others count as failed without being asked.
        """
        ordered = Ordered(self.pool, problems, on_warning=self.on_warning)
        left = iter(problems)
        stalls = 0
        with contextlib.closing(ordered.results(is_stopped)) as results:
            for attempt in results:
                yield next(left), attempt
                stalls += attempt.kind == "stall"
                if stalls == TIMES:
                    break
            else:
                return
        left = list(left)
        if left and self.on_warning is not None:
            self.on_warning(f"{self.name} is out: it stalled at {TIMES} positions ({attempt.failure})")
        for problem in left:
            if is_stopped():
                return
            yield problem, Attempt(None, failure="not asked, the engine is out", kind="out")

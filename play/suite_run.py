"""Lets an engine solve suites, several positions at once, and hands the answers out in the order of the suite."""

from pool.cluster import ClusterPool
from pool.local import LocalPool
from pool.tasks import Ordered


class Solving:
    """One engine at all problems: `work` is one of play/suite_engines.py. On a cluster its workers are those that solve."""

    def __init__(self, work, concurrency, *, cluster=None, on_warning=None):
        self.on_warning = on_warning
        if cluster is None:
            self.pool = LocalPool(work, concurrency)
        else:
            self.pool = ClusterPool(cluster, work)
            self.pool.check()

    def attempts(self, problems, is_stopped=lambda: False):
        """Yields pairs of problem and attempt, until `is_stopped()`."""
        ordered = Ordered(self.pool, problems, on_warning=self.on_warning)
        # Not strict: whoever stops has more problems than attempts.
        for attempt, problem in zip(ordered.results(is_stopped), problems, strict=False):
            yield problem, attempt

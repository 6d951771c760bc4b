"""Self-play on many threads or many machines: games are handed out in the order of their numbers, whoever plays them."""

from eval import CLASSICAL, DEFAULT, EMBEDDED, load_evaluation
from pool.cluster import ClusterPool
from pool.local import LocalPool
from pool.tasks import Cancelled, Doer, Ordered, Work
from search import Searcher
from training.selfplay import GiveUp, play_game

HASH_MEGABYTES = 1  # enough for a game of short searches, and small enough for the processor's cache
NODES_AT_ONCE = 8000  # per move, in the games of one task together: so a message counts little beside its work


class SelfPlay(Work):
    """A task is a range of games by their numbers; its result has them in their order (training.selfplay.Played)."""

    def __init__(self, settings, evaluation=DEFAULT):
        self.settings = settings
        self.evaluation = evaluation

    def files(self):
        return () if self.evaluation in (CLASSICAL, EMBEDDED) else (self.evaluation,)

    def open(self, place):
        if place.is_remote:  # here it is loaded, and it belongs to the whole process
            load_evaluation(place.files.get(self.evaluation, self.evaluation))
        return SelfPlayer(self.settings)

    def label(self, task):
        return f"game {task.start + 1}"


class SelfPlayer(Doer):
    def __init__(self, settings):
        self.settings = settings
        self.searcher = Searcher(megabytes=HASH_MEGABYTES)
        self.flag = GiveUp()

    def do(self, task, say):
        played = []
        for number in task:
            played.append(play_game(self.searcher, self.settings, number, self.flag))
            if played[-1] is None:
                raise Cancelled
        return played

    def give_up(self):
        self.flag.set()

    def close(self):
        self.searcher.close()


class Generator:
    """Plays games number `first`, first + 1, … on several threads, or on a cluster, and hands them out in that order."""

    def __init__(self, settings, first, threads, *, cluster=None, evaluation=DEFAULT, on_warning=None):
        self.first = first
        self.on_warning = on_warning
        work = SelfPlay(settings, evaluation)
        if cluster is None:
            self.pool = LocalPool(work, threads)
            self.at_once = 1
        else:
            self.pool = ClusterPool(cluster, work)
            self.pool.check()
            self.at_once = max(1, NODES_AT_ONCE // settings.soft_nodes)

    def games(self, count, is_ending=lambda: False):
        """Yields `count` games; from `is_ending()` on, no more are begun, and those that are being played come yet.

        When the caller stops early, games are not begun, and those being played are given up.
        """
        last = self.first + count
        tasks = (range(number, min(number + self.at_once, last)) for number in range(self.first, last, self.at_once))
        ordered = Ordered(self.pool, tasks, on_warning=self.on_warning)
        for played in ordered.results(is_ending=is_ending):
            yield from played

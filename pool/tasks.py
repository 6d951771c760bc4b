"""What all pools have in common.

A kind of work is a `Work`. Each of a pool's slots opens a `Doer` of it and keeps it from task to task. The user of a pool
gives tasks while there is room, or while it likes, and asks for events until the results are there:

    ticket = pool.give(task)
    event = pool.event(0.5)        # None, or Event("result", ticket, result)

A task that is lost with its worker is given again, and its result counts once. `Ordered` hands results out in the order of
the tasks, for work in which the order matters.
"""

import collections
import contextlib
import itertools
import queue
from typing import NamedTuple

POLL_SECONDS = 0.1  # between two looks whether the results are still wanted
MOST_TRIES = 3
_END = object()


class PoolError(RuntimeError):
    """The work cannot be done, through no fault of the task."""


class Lost(Exception):  # noqa: N818 - nothing is wrong with the task
    """A worker ended before its task did."""


class Cancelled(Exception):  # noqa: N818 - nothing is wrong
    """The result is not wanted any more."""


class Unfit(Exception):  # noqa: N818 - another worker may be fit
    """This worker cannot do the work: something is missing here."""

    def __init__(self, reason, worker=None):
        super().__init__(reason, worker)  # as pickle wants to make it again
        self.reason = reason
        self.worker = worker

    def __str__(self):
        return self.reason if self.worker is None else f"{self.worker}: {self.reason}"


class Event(NamedTuple):
    """Something that happened to the task with this ticket.

    | kind | value |
    |---|---|
    | part | what the doer said while it worked |
    | result | what it returned; the task is finished |
    | warning | a text for the user; the ticket may be None |
    """

    kind: str
    ticket: int | None
    value: object


class Place(NamedTuple):
    """Where a doer is opened: its number on this machine, or None on a cluster; and where the work's files lie there.

    `sharing` is how many doers of a cluster have to share the machine, this worker's among them: the first workers of a
    machine count without the later ones, so that as many as possible may stay where there is not enough for all.
    """

    slot: int | None
    files: dict
    sharing: int = 1

    @property
    def is_remote(self):
        return self.slot is None


class Doer:
    """Does one task after the other. It is opened and closed by whoever works with it."""

    def do(self, task, say):
        """The result of a task. `say` takes parts of it. Raises Cancelled after `give_up`, and Unfit where it cannot work."""
        raise NotImplementedError

    def give_up(self):
        """From another thread: what is being done shall end within a moment. Nothing is done afterwards."""

    def close(self):
        """Frees what it holds."""


class Work:
    """A kind of work. It is sent to workers, so its attributes are plain values."""

    in_process = False  # on this machine each doer has a process of its own, too

    def open(self, place):
        """A Doer. Raises Unfit if something is missing there."""
        raise NotImplementedError

    def files(self):
        """Paths of files that go with the work to other machines; there, `place.files` says what they are called."""
        return ()

    def folders(self):
        """Files that go to other machines in directories: lists of paths by what the work calls the directories.

        There, `place.files` says which directory has the same files.
        """
        return {}

    def check(self, place):
        """Sentences that say why the work would fail there. Asked once for each worker, before the first task."""
        return []

    def label(self, task):
        """What to call a task in a message."""
        return "a task"

    def note(self, task, part):
        """A part of a task is finished: takes it out of the task, if it need not be done again."""

    def is_finished(self, task):
        """Is nothing left to do, according to the parts?"""
        return False


class Pool:
    """Work to hand out, results to collect, lost work done again."""

    def __init__(self, work):
        self.work = work
        self.inbox = queue.SimpleQueue()
        self.waiting = collections.deque()  # events that are known already
        self.tasks = {}  # by ticket
        self.tries = collections.Counter()
        self.tickets = itertools.count()

    # What the two forms differ in

    def slots(self):
        """How many tasks can be done at once, now."""
        raise NotImplementedError

    def begin(self, ticket, task):
        """Lets somebody do a task; the inbox hears of it."""
        raise NotImplementedError

    def withdraw(self):
        """Takes back tasks that nobody has begun, where that can be known; their tickets, the last ones given."""
        return []

    def close(self):
        """Gives up what is being done, within a second."""
        raise NotImplementedError

    # What they share

    @property
    def busy(self):
        return len(self.tasks) + len(self.waiting)

    def has_room(self):
        return len(self.tasks) < self.slots()

    def give(self, task):
        ticket = next(self.tickets)
        self.tasks[ticket] = task
        self.begin(ticket, task)
        return ticket

    def event(self, timeout):
        """The next thing that happened, or None. Raises what a task raised, and PoolError if no worker can do it."""
        if self.waiting:
            return self.waiting.popleft()
        try:
            event = self.inbox.get(timeout=timeout)
        except queue.Empty:
            return None
        return self.hear(event)

    def hear(self, event):
        """An event of a form of pool becomes one for the user, or None: of what is finished, nothing counts any more."""
        if event.ticket not in self.tasks:
            return None
        task = self.tasks[event.ticket]
        if event.kind == "part":
            self.work.note(task, event.value)
        elif event.kind == "result":
            self.finish(event.ticket)
        elif event.kind == "lost":
            return self.again(event.ticket, event.value)
        elif event.kind == "failed":
            raise event.value
        return event

    def finish(self, ticket):
        del self.tasks[ticket]
        self.tries.pop(ticket, None)

    def again(self, ticket, reason):
        """A task whose worker was lost is given again, unless that happens to it every time."""
        task = self.tasks[ticket]
        if self.work.is_finished(task):
            self.finish(ticket)
            return Event("result", ticket, None)
        self.tries[ticket] += 1
        if self.tries[ticket] >= MOST_TRIES:
            raise PoolError(f"{self.work.label(task)} ended {self.tries[ticket]} workers: {reason}")
        self.begin(ticket, task)
        return Event("warning", ticket, f"{reason}; {self.work.label(task)} is begun again")

    def take_back(self):
        """Forgets tasks that nobody has begun; returns their tickets."""
        tickets = self.withdraw()
        for ticket in tickets:
            self.finish(ticket)
        return tickets


class Ordered:
    """The results of many tasks in their order. A few tasks ahead keep all slots busy, and the memory bounded."""

    def __init__(self, pool, tasks, *, ahead=4, on_part=None, on_warning=None):
        self.pool = pool
        self.tasks = iter(tasks)
        self.ahead = ahead
        self.on_part = on_part
        self.on_warning = on_warning
        self.pending = collections.deque()  # tickets in the order of the tasks
        self.finished = {}
        self.is_ending = False

    def begin_no_more(self):
        """Lets `results` end with what is being done now."""
        if self.is_ending:
            return
        self.is_ending = True
        self.tasks = iter(())
        dropped = set(self.pool.take_back())
        self.pending = collections.deque(ticket for ticket in self.pending if ticket not in dropped)

    def fill(self):
        while len(self.pending) < self.ahead * self.pool.slots():
            task = next(self.tasks, _END)
            if task is _END:
                return
            self.pending.append(self.pool.give(task))

    def results(self, is_stopped=lambda: False, is_ending=lambda: False):
        """Yields them until `is_stopped()`; from `is_ending()` on, nothing more is begun. Both are asked again and again.

        The pool is closed at the end, and what is not done by then is given up.
        """
        with contextlib.closing(self.pool):
            while not is_stopped():
                if is_ending():
                    self.begin_no_more()
                self.fill()
                if not self.pending:
                    return
                if self.pending[0] in self.finished:
                    yield self.finished.pop(self.pending.popleft())
                    continue
                self.hear(self.pool.event(POLL_SECONDS))

    def hear(self, event):
        if event is None:
            return
        if event.kind == "result":
            self.finished[event.ticket] = event.value
        elif event.kind == "part" and self.on_part is not None:
            self.on_part(event.value)
        elif event.kind == "warning" and self.on_warning is not None:
            self.on_warning(event.value)


def as_finished(pool, tasks, is_stopped=lambda: False, on_warning=None):
    """Yields pairs of task and result as they come, until `is_stopped()`. The pool is closed at the end."""
    tasks = iter(tasks)
    given = {}
    with contextlib.closing(pool):
        while not is_stopped():
            while pool.has_room() and (task := next(tasks, _END)) is not _END:
                given[pool.give(task)] = task
            if not given:
                return
            event = pool.event(POLL_SECONDS)
            if event is None:
                continue
            if event.kind == "result":
                yield given.pop(event.ticket), event.value
            elif event.kind == "warning" and on_warning is not None:
                on_warning(event.value)

"""What runs on a Dask worker for a ClusterPool: tasks, and what the worker keeps between them.

The doers have processes of their own, so a network that one run has loaded is not seen by another one, and what ends a
process does not end the worker.
"""

import collections
import contextlib
import re
import threading
from typing import NamedTuple

from pool.folders import find_folder, store_piece
from pool.processes import ProcessDoer
from pool.tasks import Cancelled, Place, Unfit
from pool.uploads import UploadError, store_file

_IDLE_SECONDS = 15.0


class _Here:
    """What a Dask worker keeps between tasks: idle doers by run, and whether it is fit for a run."""

    def __init__(self):
        self.lock = threading.Lock()
        self.checking = threading.Lock()
        self.idle = collections.defaultdict(list)
        self.busy = collections.defaultdict(set)
        self.ended = set()
        self.found = {}  # by run: what the check found

    def borrow(self, run, work, place):
        with self.lock:
            if run in self.ended:
                raise Cancelled
            if self.idle[run]:
                doer = self.idle[run].pop()
                self.busy[run].add(doer)
                return doer
        doer = ProcessDoer(work, place)
        with self.lock:
            self.busy[run].add(doer)
            if run in self.ended:  # meanwhile
                doer.give_up()
        return doer

    def give_back(self, run, doer, *, healthy):
        with self.lock:
            self.busy[run].discard(doer)
            keep = healthy and run not in self.ended
            if keep:
                self.idle[run].append(doer)
        if not keep:
            doer.close()
            return
        # A client that is gone for ever must not leave processes behind.
        timer = threading.Timer(_IDLE_SECONDS, self.close_idle, (run, doer))
        timer.daemon = True
        timer.start()

    def close_idle(self, run, doer):
        with self.lock:
            if doer not in self.idle[run]:
                return
            self.idle[run].remove(doer)
        doer.close()

    def end(self, run):
        """Called by the worker's own loop, which must not wait for processes to end."""
        with self.lock:
            self.ended.add(run)
            idle, self.idle[run] = self.idle[run], []
            busy = list(self.busy[run])
            self.found.pop(run, None)
        for doer in (*idle, *busy):
            doer.give_up()
        threading.Thread(target=lambda: [doer.close() for doer in idle], daemon=True).start()

    @contextlib.contextmanager
    def doer(self, run, work, place):
        """One for a single task, kept for the next one if nothing happened to it."""
        found = self.borrow(run, work, place)
        healthy = False
        try:
            yield found
            healthy = True
        finally:
            self.give_back(run, found, healthy=healthy)

    def examine(self, run, work, identity, place):
        """Once for each run: what `identity` says here, and the problems of the work."""
        with self.checking:
            if run not in self.found:
                with self.doer(run, work, place) as doer:
                    self.found[run] = doer.check(identity)
            return self.found[run]


_HERE = _Here()


def keep(data):
    """A task whose result is its argument: the cluster keeps a copy and can make it again."""
    return data


def own_address():
    from distributed import get_worker

    return get_worker().address


def own_threads():
    from distributed import get_worker

    return get_worker().state.nthreads


class Luggage(NamedTuple):
    """What goes with the tasks of a run: `names` has pairs of digest and name by the path at home."""

    names: dict
    folders: list  # of pool.folders.Folder


def place_here(luggage, contents, sharing):
    """Stores the files that came with a task, and finds the folders of others. Absent if these have to be sent."""
    try:
        names = luggage.names
        files = {path: store_file(data, *names[path]) for path, data in zip(names, contents, strict=True)}
        folders = {folder.name: find_folder(folder, own_address()) for folder in luggage.folders}
    except (OSError, UploadError) as error:
        raise Unfit(f"its files cannot be stored: {error}", own_address()) from None
    return Place(None, {**files, **folders}, sharing)


def receive(run, data, entry, offset):
    """A task: keeps a piece of a file that this worker lacks."""
    try:
        # Workers of one machine share its directory, and get their pieces at the same time.
        store_piece(f"{run}-{re.sub(r'[^0-9A-Za-z]+', '-', own_address())}", data, entry, offset)
    except (OSError, UploadError) as error:
        raise Unfit(f"its files cannot be stored: {error}", own_address()) from None


def examine(run, work, identity, sharing, luggage, *contents):
    """A task: this worker's identity, and why the work would fail here."""
    try:
        return _HERE.examine(run, work, identity, place_here(luggage, contents, sharing))
    except Unfit as unfit:
        raise Unfit(unfit.reason, own_address()) from None


def perform(run, work, task, identity, expected, luggage, *contents):
    """A task of the run: the parts that its doer said, and its result."""
    place = place_here(luggage, contents, own_threads())  # of the others, only the client knows
    said = []
    try:
        found, problems = _HERE.examine(run, work, identity, place)  # one that joined later has not been asked yet
        reason = difference(found, expected) or "; ".join(problems)
        if reason:
            raise Unfit(reason)
        with _HERE.doer(run, work, place) as doer:
            return said, doer.do(task, said.append)
    except Unfit as unfit:
        raise Unfit(unfit.reason, own_address()) from None


def difference(found, expected):
    """In what a worker differs from the client, in words; empty if in nothing."""
    return "; ".join(
        f"its {name} is {found.get(name)}, here it is {value}"
        for name, value in expected.items()
        if found.get(name) != value
    )


def end_run(run):
    _HERE.end(run)

"""The workers of a Dask cluster: the same games, spread over other machines.

A task is one encounter, so that the two games of a pair are played on the same machine. On the cluster's worker the games are
played by the same worker process as at home (arena/worker.py). Results come back when the encounter is over, so an
encounter on a machine that is lost is played again as a whole, and every game counts once.

A Dask cluster runs whatever its clients send: it trusts its network. See docs/arena.md for TLS.
"""

import collections
import contextlib
import copy
import hashlib
import logging
import os
import queue
import shutil
import threading
import uuid
import warnings
from pathlib import Path

from arena.calibration import measure_speed
from arena.errors import InputError
from arena.pool import PoolError, WorkerProcess
from arena.preflight import problems_of
from arena.settings import engine_from, rules_from
from arena.uploads import UploadError, store_engine
from uci_engine import __version__

_IDLE_SECONDS = 15.0
_MOST_TRIES = 3
_CONNECT_SECONDS = 10

# On the cluster's workers


class _Here:
    """What a Dask worker keeps between tasks: idle worker processes by run, and its own speed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.idle = collections.defaultdict(list)
        self.busy = collections.defaultdict(set)
        self.ended = set()
        self.speed = None

    def borrow(self, run):
        with self.lock:
            if run in self.ended:
                raise RuntimeError("the run is over")
            process = self.idle[run].pop() if self.idle[run] else WorkerProcess(queue.SimpleQueue(), 0)
            self.busy[run].add(process)
            return process

    def give_back(self, run, process, *, healthy):
        with self.lock:
            self.busy[run].discard(process)
            keep = healthy and run not in self.ended
            if keep:
                self.idle[run].append(process)
        if not keep:
            process.close()
            process.finish()
            return
        # A client that is gone for ever must not leave engines behind.
        timer = threading.Timer(_IDLE_SECONDS, self.close_idle, (run, process))
        timer.daemon = True
        timer.start()

    def close_idle(self, run, process):
        with self.lock:
            if process not in self.idle[run]:
                return
            self.idle[run].remove(process)
        process.close()
        process.finish()

    def end(self, run):
        with self.lock:
            self.ended.add(run)
            idle, self.idle[run] = self.idle[run], []
            busy = list(self.busy[run])
        for process in (*idle, *busy):
            process.close()
        for process in idle:
            process.finish()

    def own_speed(self):
        with self.lock:
            if self.speed is None:
                self.speed = measure_speed()
            return self.speed


_HERE = _Here()


def keep(data):
    """A task whose result is its argument: the cluster keeps a copy and can make it again."""
    return data


def place_engines(engines, names, uploads):
    """Makes the commands of engines by number those of this machine. `names` are {engine: [place, digest, file]}."""
    for index, engine in engines.items():
        if index in names:
            place, digest, name = names[index]
            engine["command"] = [store_engine(uploads[place], digest, name), *engine["command"][1:]]
        elif shutil.which(engine["command"][0]) is None:
            raise FileNotFoundError(f"there is no {engine['command'][0]} on this worker")


def engine_problems(engines, rules, names, *uploads):
    """A task: why engines cannot play here, a list of sentences."""
    engines = dict(enumerate(copy.deepcopy(engines)))
    place_engines(engines, names, uploads)
    return problems_of([engine_from(values) for values in engines.values()], rules_from(rules))


def play_encounter(encounter, run, reference, names, *uploads):
    """One task: [[record, log], …] and warnings. `uploads` are the programs of the engines in `names`."""
    encounter = copy.deepcopy(encounter)  # a worker in the client's own process would share it
    place_engines(encounter["engines"], names, uploads)
    tables = encounter["rules"]["syzygy"]
    if tables is not None and not all(os.path.isdir(part) for part in tables.split(os.pathsep)):
        raise FileNotFoundError(f"there are no tables in {tables} on this worker")
    scale = reference / _HERE.own_speed()
    process = _HERE.borrow(run)
    healthy = False
    records, said = [], []
    try:
        process.give({"encounter": encounter, "cores": None, "live": False, "scale": scale})
        while True:
            _, message = process.inbox.get()
            if message["kind"] == "engines":
                process.engines = message["pids"]
            elif message["kind"] == "game":
                records.append([{**message["record"], "scale": round(scale, 3)}, message["log"]])
            elif message["kind"] in ("warning", "error"):
                said.append(message["text"])
            elif message["kind"] == "done":
                healthy = True
                return records, said
            elif message["kind"] == "end":
                raise RuntimeError("the worker process ended: " + " ".join(said))
    finally:
        _HERE.give_back(run, process, healthy=healthy)


def version():
    """What a client wants to know before it sends games."""
    return __version__


def end_run(run):
    _HERE.end(run)


# At home


class ClusterPool:
    """The same face as LocalPool. Connects at once, so that a cluster that is not there is noticed before a run begins."""

    def __init__(self, address):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import distributed
        except ImportError:
            raise InputError("--cluster needs Dask: pip install 'quetzal-chess[cluster]'") from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.run = uuid.uuid4().hex
        self.inbox = queue.SimpleQueue()
        self.waiting = collections.deque()  # events of encounters that came back whole
        self.tasks = {}
        self.tries = collections.Counter()
        encrypted = distributed.Security().get_connection_args("client").get("ssl_context") is not None
        if address.startswith("tls://") and not encrypted:
            raise InputError(f"{address} wants certificates, and Dask knows none; see docs/arena.md")
        try:
            self.client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"there is no cluster at {address}: {error}") from None
        try:
            self.check_workers(address)
        except BaseException:
            self.client.close()
            raise

    def check_engines(self, description, *, upload):
        """Sends the engines if they are to be sent, and has each started once; InputError if one cannot play."""
        self.upload(description["engines"] if upload else [])
        key = f"quetzal-check-{self.run}"
        future = self.client.submit(
            engine_problems,
            description["engines"],
            description["rules"],
            self.names,
            *self.uploads,
            key=key,
            pure=False,
        )
        try:
            problems = future.result()
        except Exception as error:
            raise InputError(str(error)) from None
        if problems:
            raise InputError("; ".join(problems))

    def check_workers(self, address):
        try:
            workers = self.client.run(version)
        except Exception as error:
            raise InputError(
                f"the workers of {address} cannot play: is quetzal-chess installed there? {error}"
            ) from None
        if not workers:
            raise InputError(f"the cluster at {address} has no workers")
        for worker, installed in workers.items():
            if installed != __version__:
                raise InputError(f"{worker} has Quetzal {installed}, this is {__version__}")

    def upload(self, engines):
        """Sends each program once. Only the file itself goes: it must run on its own."""
        self.names, self.uploads = {}, []
        digests = {}
        for index, engine in enumerate(engines):
            path = Path(engine["command"][0])
            data = path.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if digest not in digests:
                digests[digest] = len(self.uploads)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # it is as large as it is
                    self.uploads.append(self.client.submit(keep, data, key=f"quetzal-engine-{digest}"))
            self.names[index] = [digests[digest], digest, path.name]

    @property
    def busy(self):
        return len(self.tasks) + len(self.waiting)

    def slots(self):
        """One encounter for each thread of a worker; workers may come and go."""
        return max(1, sum(self.client.nthreads().values()))

    def has_room(self):
        return len(self.tasks) < self.slots()

    def give(self, encounter):
        names = {index: self.names[index] for index in encounter["engines"] if index in self.names}
        self.tries[encounter["number"]] += 1
        key = f"quetzal-{self.run}-{encounter['number']}-{self.tries[encounter['number']]}"
        future = self.client.submit(
            play_encounter, encounter, self.run, self.reference, names, *self.uploads, key=key, pure=False
        )
        self.tasks[future.key] = (future, encounter)
        future.add_done_callback(self.inbox.put)

    def event(self, timeout):
        if self.waiting:
            return self.waiting.popleft()
        try:
            future = self.inbox.get(timeout=timeout)
        except queue.Empty:
            return None
        if future.key not in self.tasks:
            return None
        _, encounter = self.tasks.pop(future.key)
        if future.status != "finished":
            return self.again(future, encounter)
        records, said = future.result()
        self.waiting.extend({"kind": "warning", "text": text} for text in said)
        self.waiting.extend({"kind": "game", "record": record, "log": log} for record, log in records)
        return self.waiting.popleft() if self.waiting else None

    def again(self, future, encounter):
        """Games of machines that were lost are played again; a mistake that repeats itself ends the run."""
        reason = "the scheduler forgot it"
        if future.status == "error":
            reason = str(future.exception())
            if isinstance(future.exception(), (FileNotFoundError, ImportError, UploadError)):
                raise PoolError(reason)
        if self.tries[encounter["number"]] >= _MOST_TRIES:
            raise PoolError(f"game {encounter['games'][0]['game'] + 1} could not be played: {reason}")
        self.give(encounter)
        return {"kind": "warning", "text": f"game {encounter['games'][0]['game'] + 1} is played again: {reason}"}

    def close(self):
        """Ends running games, too: a task that is only cancelled would play on."""
        with contextlib.suppress(Exception):
            self.client.cancel([future for future, _ in self.tasks.values()], force=True)
            self.client.run(end_run, self.run)
        self.client.close()

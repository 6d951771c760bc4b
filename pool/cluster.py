"""The pool of a Dask cluster: the same work, spread over other machines.

Results come back whole, so a task on a machine that is lost is done again as a whole, and every result counts once. What
the work needs goes to each worker once, by its content. Dask itself moves tasks from busy workers to idle ones.

A Dask cluster runs whatever its clients send: it trusts its network. See docs/cluster.md.
"""

import asyncio
import collections
import contextlib
import functools
import hashlib
import logging
import os
import re
import threading
import time
import uuid
import warnings
from typing import NamedTuple

from pool.folders import PIECE, Absent, measured
from pool.processes import ProcessDoer
from pool.remote import Luggage, difference, end_run, examine, keep, perform, receive
from pool.tasks import MOST_TRIES, Cancelled, Event, Lost, Place, Pool, PoolError, Unfit, Work

_CONNECT_SECONDS = 10
_KNOWN_SECONDS = 0.5
_LEAVE_SECONDS = 5.0
_ADDRESS = re.compile(r"((tcp|tls)://)?([^\s/:@\[\]]+|\[[0-9A-Fa-f:.]+(%\w+)?\]):(?P<port>[0-9]{1,5})")  # [IPv6]
MOST_SENT = 2 << 30  # bytes of folders that are sent to a worker, unless another bound is asked for
LOST_AGAIN = "what was sent to it is gone"


class ClusterError(ValueError):
    """There is no such cluster, or none of its workers is fit."""


class Certificates(NamedTuple):
    """Files for TLS: the authority that both sides believe, our certificate and its key. None: as Dask is configured."""

    authority: str | None = None
    certificate: str | None = None
    key: str | None = None


def check_address(address):
    """ClusterError unless Dask can try it: with another one its client waits half a minute and leaves a traceback."""
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 1 << 16:
        raise ClusterError(f"{address!r} is no address of a cluster, such as tcp://HOST:8786 or tls://HOST:8786")


def security_of(distributed, address, certificates):
    """Dask's object for a connection. ClusterError if an address asks for certificates and there are none."""
    missing = [name for name, path in certificates._asdict().items() if path is None]
    if len(missing) < len(certificates):
        if missing:
            raise ClusterError(f"TLS needs three files, and the {missing[0]} is missing")
        if not address.startswith("tls://"):
            raise ClusterError(f"certificates are for tls:// addresses, not for {address}")
        for path in certificates:
            if not os.path.isfile(path):
                raise ClusterError(f"{path}: there is no such file")
        security = distributed.Security(
            tls_ca_file=certificates.authority,
            tls_client_cert=certificates.certificate,
            tls_client_key=certificates.key,
            require_encryption=True,
        )
    else:
        security = distributed.Security()
    try:
        context = security.get_connection_args("client").get("ssl_context")
    except OSError as error:  # ssl.SSLError is one
        raise ClusterError(f"the certificates cannot be used: {error}") from None
    if address.startswith("tls://") and context is None:
        raise ClusterError(f"{address} needs certificates: --tls-ca, --tls-cert and --tls-key")
    return security


class Nothing(Work):
    """No work: only the process is wanted."""


class Cluster:
    """A connection. Connects at once, so that a cluster that is not there is noticed before a run begins.

    `identity` is a function of a module: what it returns on a worker must be what it returns here. `say` takes lines of
    text while nothing else can be done but wait. `most_sent` bounds the folders that are sent, in bytes.
    """

    def __init__(self, address, identity, certificates=None, say=lambda text: None, most_sent=MOST_SENT):
        check_address(address)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import distributed
        except ImportError:
            raise ClusterError("--cluster needs Dask: pip install 'quetzal-chess[cluster]'") from None
        # What is lost and done again is said by the pool; tornado is who runs Dask's connections.
        for name in ("distributed", "distributed.client", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        security = security_of(distributed, address, certificates or Certificates())
        self.address = address
        self.identity = identity
        self.say = say
        self.most_sent = most_sent
        try:
            self.client = distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False, security=security)
        except (OSError, ValueError, TypeError) as error:
            raise ClusterError(f"there is no cluster at {address}: {reason_of(error)}") from None

    @functools.cached_property
    def expected(self):
        """What the workers have to say: what this machine says in a new process, where no run has loaded anything."""
        doer = ProcessDoer(Nothing(), Place(0, {}))
        try:
            found, _ = doer.check(self.identity)
        finally:
            doer.close()
        return found

    def close(self):
        with contextlib.suppress(Exception):
            self.client.close(_CONNECT_SECONDS)


def in_words(size):
    """Bytes as people count them."""
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size / 1024:.3g} kB"


def reason_of(error):
    """Why a connection failed; the reason behind a time-out says more than that it took long."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


def shares(threads):
    """Place.sharing of each worker. `threads` has theirs by address; those of a machine differ only in the port."""
    totals, found = collections.Counter(), {}
    for worker in sorted(threads):
        host = worker.rpartition(":")[0]
        totals[host] += threads[worker]
        found[worker] = totals[host]
    return found


class ClusterPool(Pool):
    """Does tasks on the workers of a cluster, one for each of their threads. `check` them before the first task."""

    def __init__(self, cluster, work):
        super().__init__(work)
        self.cluster = cluster
        self.client = cluster.client
        self.run = uuid.uuid4().hex
        self.futures = {}  # by ticket
        self.allowed = {}  # by ticket: the only workers that may do it
        self.unfit = {}  # worker: why
        self.attempts = 0
        self.lost_since = None  # the scheduler
        self.known, self.known_until = {}, 0.0  # workers
        self.is_alone = False  # without workers, and that was said
        self.equipping = set()  # workers to which folders are being sent
        self.equipped = collections.Counter()  # how often that was begun, by worker
        self.parked = set()  # tickets that wait for them, or for any worker at all
        self.luggage, self.contents = self.upload()
        self.is_closed = False

    def upload(self):
        """Sends each file once to the cluster, which hands it on to the workers that need it; folders only when they do."""
        self.folders, total, is_sent = measured(self.work.folders(), self.cluster.most_sent)
        if not is_sent:
            self.cluster.say(
                f"{', '.join(folder.name for folder in self.folders)}: {in_words(total)} are more than the "
                f"{in_words(self.cluster.most_sent)} that are sent; workers need the same files under the same name"
            )
        names, contents = {}, []
        for path in self.work.files():
            with open(path, "rb") as file:
                data = file.read()
            digest = hashlib.sha256(data).hexdigest()
            names[path] = [digest, os.path.basename(path)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it is as large as it is
                contents.append(self.client.submit(keep, data, key=f"quetzal-file-{digest}"))
        luggage = Luggage(names, self.folders)
        # The names of a thousand files would be a burden for each task; so they are a file, too.
        return self.client.submit(keep, luggage, key=f"quetzal-{self.run}-luggage"), contents

    # Who may work

    def check(self):
        """Asks every worker who it is and whether it can do the work. ClusterError if none can.

        The others are warned of with their names, and get no tasks.
        """
        try:
            self.examine_all()
        except BaseException:
            self.close()
            raise

    def examine_all(self):
        workers = list(self.client.nthreads())
        if not workers:
            raise ClusterError(f"the cluster at {self.cluster.address} has no workers")
        absent = {}
        for worker, future in self.examinations(workers).items():
            try:
                self.judge(worker, future)
            except Absent as error:
                absent[worker] = error.keys
        if absent:
            self.equip(absent)
            equipped = [worker for worker in absent if worker not in self.unfit]
            for worker, future in self.examinations(equipped).items():
                try:
                    self.judge(worker, future)
                except Absent:
                    self.exclude(worker, LOST_AGAIN)
        if len(self.unfit) == len(workers):
            worker, reason = next(iter(self.unfit.items()))
            raise ClusterError(f"no worker of {self.cluster.address} can do this: {reason} ({worker})")

    def examinations(self, workers):
        """A future for each worker."""
        sharing = shares(self.client.nthreads())
        return {
            worker: self.client.submit(
                examine,
                self.run,
                self.work,
                self.cluster.identity,
                sharing.get(worker, 1),
                self.luggage,
                *self.contents,
                key=f"quetzal-{self.run}-check-{uuid.uuid4().hex}",
                workers=[worker],
                pure=False,
            )
            for worker in workers
        }

    def judge(self, worker, future):
        """Excludes a worker that is not fit. Absent if it lacks something that can be sent."""
        try:
            found, problems = self.answer(worker, future)
            reason = difference(found, self.cluster.expected) or "; ".join(problems)
        except Unfit as unfit:
            reason = unfit.reason
        if reason:
            self.exclude(worker, reason)

    def answer(self, worker, future):
        """What a worker's task returns; Unfit if it fails. One that is busy with something else is waited for."""
        is_said = False
        while True:
            try:
                return future.result(timeout=_CONNECT_SECONDS)
            except (Unfit, Absent):
                raise
            except TimeoutError:
                if worker not in self.client.nthreads():
                    raise Unfit("it is gone") from None
                if not is_said:
                    self.cluster.say(f"waiting for {worker}, which is busy or does not answer")
                    is_said = True
            except ImportError as error:
                raise Unfit(f"is quetzal-chess installed there? {error}") from None
            except (Exception, asyncio.CancelledError) as error:
                raise Unfit(f"{type(error).__name__}: {error}") from None

    # Folders

    def equip(self, absent):
        """Sends files to the workers that lack them (their keys by worker); excludes workers that cannot keep them.

        A piece at a time: one of the workers gets it from here, the others from each other.
        """
        entries = {entry.key: entry for folder in self.folders for entry in folder.entries}
        wanted = [entry for key, entry in entries.items() if any(key in keys for keys in absent.values())]
        size = in_words(sum(entry.size for entry in wanted))
        who = next(iter(absent)) if len(absent) == 1 else f"{len(absent)} workers"
        self.cluster.say(f"sending {len(wanted)} {'file' if len(wanted) == 1 else 'files'}, {size}, to {who}")
        for entry in wanted:
            with open(entry.path, "rb") as file:
                for offset in range(0, max(1, entry.size), PIECE):
                    workers = [
                        worker for worker, keys in absent.items() if entry.key in keys and worker not in self.unfit
                    ]
                    if self.is_closed:
                        return
                    if workers:
                        file.seek(offset)
                        self.send(file.read(PIECE), entry, offset, workers)

    def send(self, data, entry, offset, workers):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is as large as it is
            piece = self.client.submit(keep, data, key=f"quetzal-{self.run}-piece-{uuid.uuid4().hex}")
        futures = {
            worker: self.client.submit(
                receive, self.run, piece, entry, offset, workers=[worker], pure=False, priority=1
            )
            for worker in workers
        }
        for worker, future in futures.items():
            try:
                self.answer(worker, future)
            except Unfit as unfit:
                self.exclude(worker, unfit.reason)

    def equip_later(self, error):
        """A worker that joined later gets its files while the others go on; `hear` is told when it has them."""
        if error.worker in self.equipping:
            return
        if self.equipped[error.worker] >= MOST_TRIES:
            self.exclude(error.worker, LOST_AGAIN)
            return
        self.equipped[error.worker] += 1
        self.equipping.add(error.worker)

        def equip():
            reason = ""
            try:
                self.equip({error.worker: error.keys})
            except Exception as failure:
                reason = f"{type(failure).__name__}: {failure}"
            self.inbox.put(Event("equipped", None, (error.worker, reason)))

        threading.Thread(target=equip, daemon=True).start()

    def hear_equipped(self, worker, reason):
        self.equipping.discard(worker)
        if reason:
            self.exclude(worker, reason)
        self.unpark()

    def unpark(self):
        for ticket in sorted(self.parked):
            self.begin(ticket, self.tasks[ticket])

    def exclude(self, worker, reason):
        if worker not in self.unfit:
            self.unfit[worker] = reason
            self.waiting.append(Event("warning", None, f"{worker} gets no work: {reason}"))

    def fit_workers(self):
        """Their threads by address; asked of the scheduler twice a second."""
        if self.client.status == "running" and time.monotonic() >= self.known_until:
            with contextlib.suppress(OSError):  # the scheduler is gone, which watch_scheduler notices
                self.known = self.client.nthreads()
                self.known_until = time.monotonic() + _KNOWN_SECONDS
        return {
            worker: count
            for worker, count in self.known.items()
            if worker not in self.unfit and worker not in self.equipping
        }

    # Work

    def slots(self):
        """Workers may come and go."""
        return max(1, sum(self.fit_workers().values()))

    def begin(self, ticket, task):
        self.watch_scheduler()
        self.allowed.pop(ticket, None)
        self.parked.discard(ticket)
        if self.unfit or self.equipping:
            allowed = list(self.fit_workers())
            if not allowed and (self.equipping or not self.unfit.keys() & self.known.keys()):
                self.parked.add(ticket)
                return
            if not allowed:
                raise PoolError("; ".join(f"{worker}: {reason}" for worker, reason in self.unfit.items()))
            self.allowed[ticket] = allowed
        self.attempts += 1
        future = self.client.submit(
            perform,
            self.run,
            self.work,
            task,
            self.cluster.identity,
            self.cluster.expected,
            self.luggage,
            *self.contents,
            key=f"quetzal-{self.run}-{ticket}-{self.attempts}",
            workers=self.allowed.get(ticket),
            priority=-ticket,  # the oldest first
            pure=False,
        )
        self.futures[ticket] = future
        future.add_done_callback(lambda done: self.inbox.put(Event("future", ticket, done)))

    def withdraw(self):
        """Those at the end that no worker has: what was begun before them leaves no gap."""
        given = set()
        with contextlib.suppress(OSError):
            given = {key for keys in self.client.processing().values() for key in keys}
        tickets = []
        for ticket in sorted({*self.futures, *self.parked}, reverse=True):
            future = self.futures.get(ticket)
            if ticket not in self.parked and (future.done() or future.key in given):
                break
            tickets.append(ticket)
        self.client.cancel([self.futures[ticket] for ticket in tickets if ticket in self.futures])
        return tickets

    def event(self, timeout):
        found = super().event(timeout)
        if found is None:
            self.watch_scheduler()
            self.watch_workers()
            self.rescue()
        return found

    def watch_workers(self):
        """Says it once when nobody is left who could work: tasks wait for whoever comes."""
        if self.fit_workers() or self.equipping:
            self.is_alone = False
        elif self.tasks and not self.is_alone:
            self.is_alone = True
            text = f"no worker of {self.cluster.address} is left that can do this; waiting for one"
            self.waiting.append(Event("warning", None, text))

    def rescue(self):
        """Tasks whose workers are all gone would wait for ever: others may do them. So may those that wait."""
        present = self.fit_workers()
        if present:
            self.unpark()
        for ticket in [ticket for ticket, workers in self.allowed.items() if not any(map(present.get, workers))]:
            if present and ticket in self.tasks:
                self.client.cancel([self.futures[ticket]])
                self.begin(ticket, self.tasks[ticket])

    def finish(self, ticket):
        super().finish(ticket)
        self.futures.pop(ticket, None)
        self.allowed.pop(ticket, None)
        self.parked.discard(ticket)

    def watch_scheduler(self):
        if self.client.status == "running":
            self.lost_since = None
            return
        self.lost_since = self.lost_since or time.monotonic()
        if self.client.status == "closed" or time.monotonic() - self.lost_since > _CONNECT_SECONDS:
            raise PoolError(f"the scheduler at {self.cluster.address} is gone; what is finished is kept")

    def hear(self, event):
        if event.kind == "equipped":
            return self.hear_equipped(*event.value)
        if event.kind != "future":
            return super().hear(event)
        ticket, future = event.ticket, event.value
        if self.futures.get(ticket) is not future:
            return None  # another attempt counts
        if future.status != "finished":
            return self.hear_trouble(ticket, future)
        try:
            said, result = future.result()
        except (Exception, asyncio.CancelledError):  # it was lost between the message and the data
            return self.hear_lost(ticket, "a result was lost")
        self.waiting.extend(Event("part", ticket, part) for part in said)
        self.waiting.append(super().hear(Event("result", ticket, result)))
        return self.waiting.popleft()

    def hear_trouble(self, ticket, future):
        if future.status != "error":
            self.watch_scheduler()
            return self.hear_lost(ticket, "the scheduler forgot it")
        error = future.exception()
        if isinstance(error, Unfit):
            self.exclude(error.worker, error.reason)
            self.begin(ticket, self.tasks[ticket])
            return None
        if isinstance(error, Absent):
            self.equip_later(error)
            self.begin(ticket, self.tasks[ticket])
            return None
        if isinstance(error, Lost | Cancelled) or type(error).__name__ == "KilledWorker":
            return super().hear(Event("lost", ticket, str(error) or "a worker died"))
        if isinstance(error, ImportError):
            return super().hear(Event("lost", ticket, f"is quetzal-chess installed on all workers? {error}"))
        return super().hear(Event("failed", ticket, error))

    def hear_lost(self, ticket, reason):
        """Without a scheduler all is forgotten and nothing begun again yet: `watch_scheduler` says it if it stays so."""
        event = super().hear(Event("lost", ticket, reason))
        is_misleading = event is not None and event.kind == "warning" and self.client.status != "running"
        return None if is_misleading else event

    def close(self):
        """Ends running tasks, too: one that is only cancelled would go on."""
        if self.is_closed:
            return
        self.is_closed = True
        futures, self.futures = list(self.futures.values()), {}
        if self.client.status == "running":
            # A worker that has stalled does not answer, and must not keep us.
            ending = threading.Thread(target=self.end_tasks, args=(futures,), daemon=True)
            ending.start()
            ending.join(_LEAVE_SECONDS)
        self.luggage, self.contents = None, []

    def end_tasks(self, futures):
        with contextlib.suppress(Exception):
            self.client.cancel(futures, force=True)
            self.client.run(end_run, self.run, on_error="ignore")

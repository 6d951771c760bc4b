"""The pool of a Dask cluster: the same work, spread over other machines.

Results come back whole, so a task on a machine that is lost is done again as a whole, and every result counts once. What
the work needs goes to each worker once, by its content. Dask itself moves tasks from busy workers to idle ones.

A Dask cluster runs whatever its clients send: it trusts its network. See docs/cluster.md.
"""

import asyncio
import contextlib
import functools
import hashlib
import logging
import os
import threading
import time
import uuid
import warnings
from typing import NamedTuple

from pool.processes import ProcessDoer
from pool.remote import difference, end_run, examine, keep, perform
from pool.tasks import Cancelled, Event, Lost, Place, Pool, PoolError, Unfit, Work

_CONNECT_SECONDS = 10
_KNOWN_SECONDS = 0.5
_LEAVE_SECONDS = 5.0


class ClusterError(ValueError):
    """There is no such cluster, or none of its workers is fit."""


class Certificates(NamedTuple):
    """Files for TLS: the authority that both sides believe, our certificate and its key. None: as Dask is configured."""

    authority: str | None = None
    certificate: str | None = None
    key: str | None = None


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
    text while nothing else can be done but wait.
    """

    def __init__(self, address, identity, certificates=None, say=lambda text: None):
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


def reason_of(error):
    """Why a connection failed; the reason behind a time-out says more than that it took long."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


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
        self.names, self.contents = self.upload()
        self.is_closed = False

    def upload(self):
        """Sends each file once to the cluster, which hands it on to the workers that need it."""
        names, contents = {}, []
        for path in self.work.files():
            with open(path, "rb") as file:
                data = file.read()
            digest = hashlib.sha256(data).hexdigest()
            names[path] = [digest, os.path.basename(path)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it is as large as it is
                contents.append(self.client.submit(keep, data, key=f"quetzal-file-{digest}"))
        return names, contents

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
        futures = {
            worker: self.client.submit(
                examine,
                self.run,
                self.work,
                self.cluster.identity,
                self.names,
                *self.contents,
                key=f"quetzal-{self.run}-check-{number}",
                workers=[worker],
                pure=False,
            )
            for number, worker in enumerate(workers)
        }
        for worker, future in futures.items():
            reason = self.reason_against(worker, future)
            if reason:
                self.exclude(worker, reason)
        if len(self.unfit) == len(workers):
            worker, reason = next(iter(self.unfit.items()))
            raise ClusterError(f"no worker of {self.cluster.address} can do this: {reason} ({worker})")

    def reason_against(self, worker, future):
        """Why a worker is not fit, or an empty text. One that is busy with something else is waited for."""
        is_said = False
        while True:
            try:
                found, problems = future.result(timeout=_CONNECT_SECONDS)
            except Unfit as unfit:
                return unfit.reason
            except TimeoutError:
                if worker not in self.client.nthreads():
                    return "it is gone"
                if not is_said:
                    self.cluster.say(f"waiting for {worker}, which is busy or does not answer")
                    is_said = True
            except ImportError as error:
                return f"is quetzal-chess installed there? {error}"
            except (Exception, asyncio.CancelledError) as error:
                return f"{type(error).__name__}: {error}"
            else:
                return difference(found, self.cluster.expected) or "; ".join(problems)

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
        return {worker: count for worker, count in self.known.items() if worker not in self.unfit}

    # Work

    def slots(self):
        """Workers may come and go."""
        return max(1, sum(self.fit_workers().values()))

    def begin(self, ticket, task):
        self.watch_scheduler()
        self.allowed.pop(ticket, None)
        if self.unfit:
            self.allowed[ticket] = list(self.fit_workers())
            if not self.allowed[ticket]:
                raise PoolError("; ".join(f"{worker}: {reason}" for worker, reason in self.unfit.items()))
        self.attempts += 1
        future = self.client.submit(
            perform,
            self.run,
            self.work,
            task,
            self.cluster.identity,
            self.cluster.expected,
            self.names,
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
        for ticket in sorted(self.futures, reverse=True):
            future = self.futures[ticket]
            if future.done() or future.key in given:
                break
            tickets.append(ticket)
        self.client.cancel([self.futures[ticket] for ticket in tickets])
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
        if self.fit_workers():
            self.is_alone = False
        elif self.tasks and not self.is_alone:
            self.is_alone = True
            text = f"no worker of {self.cluster.address} is left that can do this; waiting for one"
            self.waiting.append(Event("warning", None, text))

    def rescue(self):
        """Tasks whose workers are all gone would wait for ever: others may do them."""
        present = self.fit_workers()
        for ticket in [ticket for ticket, workers in self.allowed.items() if not any(map(present.get, workers))]:
            if present and ticket in self.tasks:
                self.client.cancel([self.futures[ticket]])
                self.begin(ticket, self.tasks[ticket])

    def finish(self, ticket):
        super().finish(ticket)
        self.futures.pop(ticket, None)
        self.allowed.pop(ticket, None)

    def watch_scheduler(self):
        if self.client.status == "running":
            self.lost_since = None
            return
        self.lost_since = self.lost_since or time.monotonic()
        if self.client.status == "closed" or time.monotonic() - self.lost_since > _CONNECT_SECONDS:
            raise PoolError(f"the scheduler at {self.cluster.address} is gone; what is finished is kept")

    def hear(self, event):
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
            return super().hear(Event("lost", ticket, "a result was lost"))
        self.waiting.extend(Event("part", ticket, part) for part in said)
        self.waiting.append(super().hear(Event("result", ticket, result)))
        return self.waiting.popleft()

    def hear_trouble(self, ticket, future):
        if future.status != "error":
            self.watch_scheduler()
            return super().hear(Event("lost", ticket, "the scheduler forgot it"))
        error = future.exception()
        if isinstance(error, Unfit):
            self.exclude(error.worker, error.reason)
            self.begin(ticket, self.tasks[ticket])
            return None
        if isinstance(error, Lost | Cancelled) or type(error).__name__ == "KilledWorker":
            return super().hear(Event("lost", ticket, str(error) or "a worker died"))
        if isinstance(error, ImportError):
            return super().hear(Event("lost", ticket, f"is quetzal-chess installed on all workers? {error}"))
        return super().hear(Event("failed", ticket, error))

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
        self.contents = []

    def end_tasks(self, futures):
        with contextlib.suppress(Exception):
            self.client.cancel(futures, force=True)
            self.client.run(end_run, self.run, on_error="ignore")

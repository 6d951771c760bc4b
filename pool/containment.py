"""Engine processes that end with the run, whatever happens to it, and with them everything that they have started.

An engine leads a session of its own, and its group is ended with it. What it starts may leave that session. On Linux the
worker is therefore the reaper of all its descendants: a process whose parent has ended becomes the worker's child instead
of disappearing from sight, and a mark in its environment tells whose it was. On Windows the worker is a job and so is
every engine: the system ends all that is in a job with the job. Other systems have the session only.
"""

import contextlib
import ctypes
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

MARK = "QUETZAL_ENGINE"  # the variable that tells which engine a process belongs to
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_MOST_PROCESSES = 10_000  # ended at one time; whoever starts more has won
_REAPING_SECONDS = 0.5


class _Own:
    """What this process is responsible for."""

    def __init__(self):
        self.adopts = False
        self.job = None  # on Windows; closed by the system when this process ends
        self.jobs = {}  # on Windows: process number to the job of an engine
        self.marks = {}  # children that are meant to be there: process number to mark
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()


_OWN = _Own()


def adopt_descendants():
    """From now on no descendant of this process escapes it.

    For a program to say of itself, never for a function of a library: children of other kinds would be ended as orphans.
    """
    if _LIBC is not None:
        _OWN.adopts = _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    elif os.name == "nt" and _OWN.job is None:
        from pool.windows_jobs import Job

        with contextlib.suppress(OSError):  # in a job already, on a system that does not nest them
            _OWN.job = Job()
            _OWN.job.add_this_process()


def _die_with_parent():
    """Runs in the new process before the engine. SIGKILL comes when the thread that started the engine ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, *, immediate=True, **popen):
    """A process that leads a session of its own, with pipes to its input and from its output.

    An engine ends with us on Linux, by the kernel's hand. Elsewhere it sees the end of its input, and the worker's watch
    on its own input (see child.py) ends it in all cases but the violent death of the worker itself. A worker is not to
    end immediately: it has engines to end.
    """
    mark = None
    if os.name == "nt":
        from pool.windows_jobs import CREATE_SUSPENDED

        # Suspended until it is in its job: what it starts before would not belong to it.
        popen["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW | CREATE_SUSPENDED
    else:
        popen["start_new_session"] = True
    if immediate and _LIBC is not None:
        popen["preexec_fn"] = _die_with_parent
        mark = f"{os.getpid()}.{next(_OWN.numbers)}"
        popen["env"] = {**popen.get("env", os.environ), MARK: mark}
    with _OWN.lock:  # a child that is not in the list yet must not be taken for an orphan
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **popen)
        _OWN.marks[process.pid] = mark
    if os.name == "nt":
        _put_into_job(process)
    return process


def _put_into_job(process):
    from pool.windows_jobs import Job, resume

    with contextlib.suppress(OSError):  # without a job it is ended alone
        job = Job()
        job.add(process._handle)
        _OWN.jobs[process.pid] = job
    resume(process._handle)


def forget_child(process):
    """It has ended."""
    with _OWN.lock:
        _OWN.marks.pop(process.pid, None)


def end_process(process):
    """Ends a child and everything that it has started, as far as that still exists."""
    if process.returncode is None and _LIBC is not None:
        _end_trees([process.pid])
    end_group(process.pid)
    forget_child(process)
    end_orphans()


def end_group(leader):
    """Ends a process and its group; on Windows everything that it has started."""
    if os.name == "nt":
        job = _OWN.jobs.pop(leader, None)
        if job is not None:
            job.end()
        else:
            with contextlib.suppress(OSError):
                os.kill(leader, signal.SIGTERM)  # which ends it at once there
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)


def end_orphans():
    """Ends processes that lost their parent and fell to us, but for those of engines that still play."""
    if not _OWN.adopts:
        return
    deadline = time.monotonic() + _REAPING_SECONDS
    while True:
        with _OWN.lock:
            alive = {mark for mark in _OWN.marks.values() if mark is not None}
            found = [pid for pid in _children(os.getpid()) if pid not in _OWN.marks and _mark_of(pid) not in alive]
        _end_trees(found)
        for pid in found:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not found or time.monotonic() > deadline:
            return
        time.sleep(0.001)


def end_descendants():
    """Ends everything below this process, at once; for a worker that is about to end itself."""
    if _OWN.adopts:
        _end_trees(_children(os.getpid()))


def _end_trees(roots):
    """Ends processes with all their descendants. They are stopped first: who is stopped starts no others meanwhile."""
    stopped = []
    known = set(roots)
    waiting = list(roots)
    while waiting and len(stopped) < _MOST_PROCESSES:
        for pid in waiting:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGSTOP)
        stopped += waiting
        # Again all of them: one may have started another before it was stopped.
        waiting = [child for pid in stopped for child in _children(pid) if child not in known]
        known.update(waiting)
    for pid in stopped + waiting:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _children(pid):
    """The children of a process. Linux tells those of each thread; a kernel built without that has to be searched."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found = []
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{task}"):
                return _children_by_search(pid)
        except OSError:
            continue
    return found


def _children_by_search(parent):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == parent:
                    found.append(int(name))
    return found


def _mark_of(pid):
    """Which engine a process belongs to, by its environment, or None."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return None
    start = MARK.encode() + b"="
    return next((each[len(start) :].decode("ascii", "replace") for each in variables if each.startswith(start)), None)

"""Engine processes that end with the run, whatever happens to it, and with them everything that they have started.

An engine leads a session of its own, and its group is ended with it. What it starts may leave that session. On Linux the
worker is therefore the reaper of all its descendants: a process whose parent has ended becomes the worker's child instead
of disappearing from sight, and a mark in its environment tells whose it was. On Windows the worker is a job, and the
system ends what is in a job when the job is closed. Other systems have the session only.
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
        self.marks = {}  # children that are meant to be there: process number to mark
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()


_OWN = _Own()


def adopt_descendants():
    """From now on no descendant of this process escapes it. Not for processes that have children of other kinds."""
    if _LIBC is not None:
        _OWN.adopts = _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    elif os.name == "nt" and _OWN.job is None:
        _OWN.job = _closed_job()


def _die_with_parent():
    """Runs in the new process before the engine. SIGKILL comes when the thread that started the engine ends."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def start(command, *, immediate=True, **popen):
    """A process that leads a session of its own, with pipes to its input and from its output.

    An engine ends with us on Linux, by the kernel's hand. Elsewhere it sees the end of its input, and the worker's watch
    on its own input (see worker.py) ends it in all cases but the violent death of the worker itself. A worker is not to
    end immediately: it has engines to end.
    """
    mark = None
    if os.name == "nt":
        popen["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    else:
        popen["start_new_session"] = True
    if immediate and _LIBC is not None:
        popen["preexec_fn"] = _die_with_parent
        mark = f"{os.getpid()}.{next(_OWN.numbers)}"
        popen["env"] = {**os.environ, MARK: mark}
    with _OWN.lock:  # a child that is not in the list yet must not be taken for an orphan
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **popen)
        _OWN.marks[process.pid] = mark
    return process


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
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True, check=False)
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


# Windows


def _closed_job():
    """A job with this process in it, whose processes end with the last handle to it, which is ours. None if refused."""
    from ctypes import wintypes

    class BasicLimits(ctypes.Structure):
        _fields_ = (
            ("process_time", ctypes.c_int64),
            ("job_time", ctypes.c_int64),
            ("flags", wintypes.DWORD),
            ("least_memory", ctypes.c_size_t),
            ("most_memory", ctypes.c_size_t),
            ("processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority", wintypes.DWORD),
            ("scheduling", wintypes.DWORD),
        )

    class Limits(ctypes.Structure):
        _fields_ = (
            ("basic", BasicLimits),
            ("counters", ctypes.c_uint64 * 6),
            ("memory", ctypes.c_size_t * 4),
        )

    kill_on_close, extended_limits = 0x2000, 9
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.CreateJobObjectW.restype = wintypes.HANDLE
    kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
    kernel.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD)
    kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    job = kernel.CreateJobObjectW(None, None)
    limits = Limits()
    limits.basic.flags = kill_on_close
    if (
        not job
        or not kernel.SetInformationJobObject(job, extended_limits, ctypes.byref(limits), ctypes.sizeof(limits))
        or not kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess())
    ):
        return None
    return job

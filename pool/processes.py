"""A doer in a process of its own, for work whose clocks or global state must not meet those of others.

The process (pool/child.py) ends with its input, so nothing survives a run that was killed.
"""

import contextlib
import pickle
import struct
import subprocess
import sys
import threading
from typing import NamedTuple

from pool.containment import end_group, end_orphans, end_process, forget_child, start
from pool.tasks import Cancelled, Doer, Lost

_FAREWELL_SECONDS = 5.0
_HEAD = struct.Struct("<Q")

# The process finds its modules where this one found them.
_START = "import sys; sys.path[:] = sys.argv[1:]; from pool.child import main; main()"


class Children(NamedTuple):
    """A part that a doer says for its process: these lead groups that have to be ended if it cannot do so itself."""

    pids: list


def packed(message):
    data = pickle.dumps(message)
    return _HEAD.pack(len(data)) + data


def read_message(stream):
    """The next message of a stream, or None at its end."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    size = _HEAD.unpack(head)[0]
    data = stream.read(size)
    return pickle.loads(data) if len(data) == size else None


def child_command():
    if getattr(sys, "frozen", False):
        return [sys.executable, "match", "--worker"]
    return [sys.executable, "-c", _START, *sys.path]


class ProcessDoer(Doer):
    """Has the tasks of one kind of work done by a child process."""

    def __init__(self, work, place):
        self.children = []
        self.is_given_up = False
        self.lock = threading.Lock()
        self.process = start(child_command(), immediate=False)
        try:
            self.ask("open", (work, place), None)
        except BaseException:
            self.close()
            raise

    def do(self, task, say):
        return self.ask("do", task, say)

    def check(self, identity):
        """What the work's check finds in that process, and what `identity` returns there."""
        return self.ask("check", identity, None)

    def ask(self, request, value, say):
        with contextlib.suppress(OSError, ValueError):  # a process that has ended says so through its output
            self.process.stdin.write(packed((request, value)))
            self.process.stdin.flush()
        while (message := read_message(self.process.stdout)) is not None:
            kind, value = message
            if kind == "done":
                return value
            if kind == "failed":
                raise value
            if isinstance(value, Children):
                self.children = value.pids
            elif say is not None:
                say(value)
        if self.is_given_up:
            raise Cancelled
        raise Lost("a worker died")

    def give_up(self):
        """The end of its input makes it end what it has started, and leave."""
        self.is_given_up = True
        with self.lock, contextlib.suppress(OSError):
            self.process.stdin.close()

    def close(self):
        self.give_up()
        try:
            self.process.wait(_FAREWELL_SECONDS)
        except subprocess.TimeoutExpired:
            end_process(self.process)
            self.process.wait()
        forget_child(self.process)
        if self.process.returncode != 0:
            for pid in self.children:
                end_group(pid)
        end_orphans()
        self.process.stdout.close()

"""Kinds of work for the tests of pools. Workers of a cluster import this module, too."""

import hashlib
import os
import signal
import threading
from pathlib import Path

from pool.tasks import Cancelled, Doer, Unfit, Work


class Squares(Work):
    """Squares numbers. `trouble` says what happens to the task 7."""

    def __init__(self, trouble=None, *, folder=None, file=None, shelf=(), in_process=False, most=99):
        self.trouble = trouble
        self.folder = folder
        self.file = file
        self.shelf = list(shelf)  # paths of the files of a directory that goes along
        self.in_process = in_process
        self.most = most  # doers of a machine

    def files(self):
        return () if self.file is None else (self.file,)

    def folders(self):
        return {os.path.dirname(self.shelf[0]): self.shelf} if self.shelf else {}

    def open(self, place):
        return Squarer(self, place)

    def check(self, place):
        if place.sharing > self.most:
            return [f"{place.sharing} are too many"]
        return ["it lacks what it needs"] if "POOL_TEST_LACKS" in os.environ else []

    def label(self, task):
        return f"number {task}"

    def note(self, task, part):
        assert part == f"about {task}"


class Squarer(Doer):
    def __init__(self, work, place):
        self.work = work
        self.place = place
        self.stop = threading.Event()
        self.is_open = True

    def do(self, task, say):
        assert self.is_open
        if self.work.file is not None:
            assert Path(self.place.files[self.work.file]).read_bytes() == b"known"
        for path in self.work.shelf:
            place = self.place.files[os.path.dirname(path)]
            found = Path(place, os.path.basename(path)).read_bytes()
            assert hashlib.sha256(found).hexdigest() in os.path.basename(path)
            assert len(os.listdir(place)) == len(self.work.shelf)
        say(f"about {task}")
        if self.work.folder is not None:  # who did what, and how often
            with open(os.path.join(self.work.folder, f"{task}"), "ab") as file:
                file.write(f"{os.getpid()} ".encode())
        if task == 7 and self.work.trouble is not None:
            self.make_trouble()
        if self.work.trouble == "slow":
            self.stop.wait(0.05)
        if self.stop.is_set():
            raise Cancelled
        return task * task

    def make_trouble(self):
        if self.work.trouble == "raises":
            raise KeyError("seven")
        if self.work.trouble == "unsendable":
            raise Unsendable(lambda: 7)
        if self.work.trouble == "unfit":
            raise Unfit("seven is too much here")
        if self.work.trouble == "waits":
            self.stop.wait(600)
        if self.work.trouble == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.work.trouble == "dies once":
            with open(os.path.join(self.work.folder, "7"), "rb") as file:
                if len(file.read().split()) == 1:
                    os.kill(os.getpid(), signal.SIGKILL)

    def give_up(self):
        self.stop.set()

    def close(self):
        self.is_open = False


class Unsendable(Exception):  # noqa: N818 - it is what it says
    """An exception that pickle cannot copy."""


def identity():
    """Of a worker in the tests: alike, unless its environment says otherwise."""
    return {"commit": os.environ.get("POOL_TEST_COMMIT", "abc")}


def times_done(folder, task):
    path = os.path.join(folder, f"{task}")
    return len(Path(path).read_bytes().split()) if os.path.exists(path) else 0

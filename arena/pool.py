"""The workers of this machine: as many processes as games may run at once, each on processors of its own."""

import contextlib
import json
import queue
import subprocess
import sys
import threading

from arena.containment import end_group, end_orphans, end_process, forget_child, start

_MOST_TRIES = 3
_FAREWELL_SECONDS = 5.0

# The worker finds its modules where this process found them.
_START = "import sys; sys.path[:] = sys.argv[1:]; from arena.worker import main; main()"


class PoolError(RuntimeError):
    """Games cannot be played, through no fault of the engines."""


def worker_command():
    if getattr(sys, "frozen", False):
        return [sys.executable, "match", "--worker"]
    return [sys.executable, "-c", _START, *sys.path]


class WorkerProcess:
    """A worker and the thread that listens to it."""

    def __init__(self, inbox, slot):
        self.slot = slot
        self.task = None
        self.engines = []
        self.process = start(worker_command(), immediate=False)
        self.inbox = inbox
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                self.inbox.put((self, json.loads(line)))
        self.inbox.put((self, {"kind": "end"}))

    def give(self, task):
        self.task = task
        data = json.dumps(task, separators=(",", ":")).encode() + b"\n"
        with contextlib.suppress(OSError):  # a worker that has died says so through its output
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def close(self):
        """The end of its input makes it end its engines and leave."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def finish(self):
        try:
            self.process.wait(_FAREWELL_SECONDS)
        except subprocess.TimeoutExpired:
            end_process(self.process)
            self.process.wait()
        self.end_engines()
        self.reader.join(_FAREWELL_SECONDS)
        self.process.stdout.close()

    def end_engines(self):
        """Those of a worker that could not do it itself, with all that they started."""
        forget_child(self.process)
        if self.process.returncode != 0:
            for pid in self.engines:
                end_group(pid)
        end_orphans()


class LocalPool:
    """Plays encounters on this machine. `give` one while there is `room`, then ask for `event`s."""

    def __init__(self, slots, *, cores=None, live=False, scale=1.0):
        self.slots = slots
        self.cores = cores
        self.live = live
        self.scale = scale
        self.inbox = queue.SimpleQueue()
        self.workers = {}
        self.tries = {}

    @property
    def busy(self):
        return sum(worker.task is not None for worker in self.workers.values())

    def has_room(self):
        return self.busy < self.slots

    def give(self, encounter):
        for slot in range(self.slots):
            worker = self.workers.get(slot)
            if worker is None or worker.task is None:
                break
        if worker is None:
            worker = self.workers[slot] = WorkerProcess(self.inbox, slot)
        cores = self.cores[slot] if self.cores is not None else None
        worker.give({"encounter": encounter, "cores": cores, "live": self.live, "scale": self.scale})

    def event(self, timeout):
        """The next thing that happened, or None. Games of a worker that died are played again by another one."""
        try:
            worker, message = self.inbox.get(timeout=timeout)
        except queue.Empty:
            return None
        kind = message["kind"]
        if kind == "engines":
            worker.engines = message["pids"]
            return None
        if kind == "game":
            games = worker.task["encounter"]["games"]
            worker.task["encounter"]["games"] = [each for each in games if each["game"] != message["record"]["game"]]
        elif kind == "done":
            worker.task = None
        elif kind == "end":
            return self.replace(worker)
        message["slot"] = worker.slot
        return message

    def replace(self, worker):
        worker.process.wait()
        worker.end_engines()
        if self.workers.get(worker.slot) is worker:
            del self.workers[worker.slot]
        if worker.task is None or not worker.task["encounter"]["games"]:
            return {"kind": "done", "encounter": worker.task["encounter"]["number"]} if worker.task else None
        encounter = worker.task["encounter"]
        tries = self.tries[encounter["number"]] = self.tries.get(encounter["number"], 0) + 1
        if tries >= _MOST_TRIES:
            raise PoolError(f"game {encounter['games'][0]['game'] + 1} ended {tries} workers; see the messages above")
        self.give(encounter)
        return {"kind": "warning", "text": f"a worker died; game {encounter['games'][0]['game'] + 1} is played again"}

    def close(self):
        for worker in self.workers.values():
            worker.close()
        for worker in self.workers.values():
            worker.finish()
        self.workers.clear()

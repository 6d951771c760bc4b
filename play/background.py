"""Work that takes longer than a page should wait: each kind in a thread of its own, the newest of a kind only."""

import threading


class Cancelled(Exception):  # noqa: N818 - nothing is wrong
    """The work is not wanted any more."""


class Task:
    """One piece of work: how far it is, what it found, or why it found nothing."""

    def __init__(self, number):
        self.number = number
        self.done, self.total = 0, 0
        self.is_running = True
        self.problem = None
        self.result = None
        self._cancelled = threading.Event()

    def cancel(self):
        self._cancelled.set()

    def cancelled(self):
        return self._cancelled.is_set()

    def progress(self, done, total):
        if self.cancelled():
            raise Cancelled
        self.done, self.total = done, total

    def state(self):
        return {
            "number": self.number,
            "done": self.done,
            "total": self.total,
            "running": self.is_running,
            "problem": self.problem,
        }


class Background:
    """Starts tasks by kind; a new one cancels the old one. `changed` is called when a task has news."""

    def __init__(self, changed):
        self._changed = changed
        self._lock = threading.Lock()
        self._tasks = {}
        self._threads = []
        self._count = 0

    def start(self, kind, work):
        """Runs `work(task)` in a thread; what it returns becomes the task's result. Returns the task's number."""
        with self._lock:
            self._cancel(kind)
            self._count += 1
            task = self._tasks[kind] = Task(self._count)
            thread = threading.Thread(target=self._run, args=(task, work), name=kind, daemon=True)
            self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        self._changed()
        thread.start()
        return task.number

    def _run(self, task, work):
        report = task.progress

        def progress(done, total):
            report(done, total)
            self._changed()

        task.progress = progress
        try:
            task.result = work(task)
        except Cancelled:
            pass
        except (ValueError, OSError, MemoryError) as error:
            task.problem = str(error) or type(error).__name__
        finally:
            task.is_running = False
            self._changed()

    def _cancel(self, kind):
        if kind in self._tasks:
            self._tasks[kind].cancel()

    def cancel(self, kind):
        with self._lock:
            self._cancel(kind)

    def task(self, kind):
        """The newest of this kind, or None."""
        return self._tasks.get(kind)

    def state(self):
        return {kind: task.state() for kind, task in list(self._tasks.items())}

    def close(self):
        with self._lock:
            for kind in self._tasks:
                self._cancel(kind)
            threads = list(self._threads)
        for thread in threads:
            thread.join()

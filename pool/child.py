"""A process that does tasks for a pool, one after the other.

It reads requests and writes what happens as pickles with their length before them. The end of its input is the end of the
run: it gives up what it does and leaves at once, so nothing survives a run that was killed.
"""

import os
import pickle
import queue
import sys
import threading
import traceback

from pool.containment import adopt_descendants
from pool.processes import packed, read_message
from pool.tasks import Unfit


class Child:
    def __init__(self, source, sink):
        self.source = source
        self.sink = sink
        self.lock = threading.Lock()
        self.requests = queue.SimpleQueue()
        self.work = self.place = self.doer = None

    def write(self, kind, value):
        data = packed((kind, value))
        with self.lock:
            while data:
                data = data[os.write(self.sink, data) :]

    def say(self, part):
        self.write("part", part)

    def listen(self):
        """In a thread of its own, so that the end is noticed in the middle of a task."""
        while (request := read_message(self.source)) is not None:
            self.requests.put(request)
        if self.doer is not None:
            self.doer.give_up()
        os._exit(0)

    def answer(self, request, value):
        if request == "open":
            self.work, self.place = value
            return None
        if request == "check":
            return value(), self.work.check(self.place)
        if self.doer is None:
            self.doer = self.work.open(self.place)
        return self.doer.do(value, self.say)

    def run(self):
        threading.Thread(target=self.listen, daemon=True).start()
        while True:
            try:
                self.write("done", self.answer(*self.requests.get()))
            except BaseException as error:
                self.write("failed", sendable(error))


def sendable(error):
    """The exception itself where it can be sent, or its text. What nobody foresaw is worth its traceback."""
    if not isinstance(error, Unfit):
        traceback.print_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def main():
    # What a library prints must not get between the messages.
    sink = os.dup(1)
    os.dup2(2, 1)
    adopt_descendants()
    Child(sys.stdin.buffer, sink).run()


if __name__ == "__main__":
    main()

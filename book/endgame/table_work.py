"""Endings as work for a pool: a task is one ending, its result the contents of its two files.

A worker solves the smaller endings that it needs itself, and remembers them for its next tasks as long as memory allows.
So endings need not wait for each other, at the price of solving some of them more than once.
"""

import threading

from book.endgame.generator import Generator
from pool.tasks import Cancelled, Doer, Work


class TableWork(Work):
    """`names` are all endings that will be asked for; `memory` is in bytes, for each worker."""

    def __init__(self, names, memory):
        self.names = names
        self.memory = memory

    def open(self, place):
        return TableMaker(self)

    def label(self, task):
        return task


class TableMaker(Doer):
    def __init__(self, work):
        self.work = work
        self.cancel = threading.Event()
        self.generator = Generator(None, 1, work.memory, self.report)

    def report(self, name, share):
        """Several times a second: a chance to stop."""
        if self.cancel.is_set():
            raise Cancelled

    def do(self, task, say):
        return self.generator.tables(task, self.work.names)

    def give_up(self):
        self.cancel.set()

    def close(self):
        self.generator.close()

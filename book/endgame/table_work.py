"""Endings as work for a pool: a task is one ending, its result the contents of its two files.

A worker solves the smaller endings that it needs itself, and remembers them for its next tasks as long as memory allows.
So endings need not wait for each other, at the price of solving some of them more than once.
"""

import threading

from board.memory import available_megabytes
from book.endgame.generator import MEGABYTE, Generator, memory_needed
from pool.tasks import Cancelled, Doer, Unfit, Work


class TableWork(Work):
    """`names` are all endings that will be asked for; `memory` is in bytes, for each worker."""

    def __init__(self, names, memory):
        self.names = names
        self.memory = memory

    def open(self, place):
        return TableMaker(self)

    def check(self, place):
        """Every task of the machine may be at its largest ending at the same time."""
        needed = place.sharing * (max(memory_needed(name, 1) for name in self.names) // MEGABYTE + 1)
        available = available_megabytes()
        if available is None or needed <= available:
            return []
        tasks = f" for {place.sharing} tasks at once" if place.sharing > 1 else ""
        return [f"{needed} MB of memory are needed{tasks}, the system has {available} MB left"]

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
        try:
            return self.generator.tables(task, self.work.names)
        except MemoryError as error:
            raise Unfit(f"{task}: {error or 'not enough memory'}") from None

    def give_up(self):
        self.cancel.set()

    def close(self):
        self.generator.close()

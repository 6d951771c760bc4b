"""The pool of this machine: a thread for each slot, with a doer in this process or in a process of its own."""

import collections
import contextlib
import threading

from pool.processes import ProcessDoer
from pool.tasks import Cancelled, Event, Lost, Place, Pool

_FAREWELL_SECONDS = 30.0  # for threads that were told to end; they need a moment


class Slot(threading.Thread):
    """Does tasks of a pool with a doer of its own, until the pool is closed."""

    def __init__(self, pool, number):
        super().__init__(name=f"pool-{number}", daemon=True)
        self.pool = pool
        self.number = number
        self.doer = None
        self.is_busy = False

    def run(self):
        try:
            while (given := self.pool.next_task(self)) is not None:
                self.do(*given)
                self.is_busy = False
        finally:
            self.drop()

    def do(self, ticket, task):
        say = self.pool.inbox.put
        try:
            if self.doer is None:
                self.open()
            result = self.doer.do(task, lambda part: say(Event("part", ticket, part)))
        except Cancelled:
            return
        except Lost as loss:
            self.drop()
            say(Event("lost", ticket, str(loss)))
        except BaseException as error:
            self.drop()
            say(Event("failed", ticket, error))
        else:
            say(Event("result", ticket, result))

    def open(self):
        files = {path: path for path in self.pool.work.files()}
        place = Place(self.number, files)
        self.doer = ProcessDoer(self.pool.work, place) if self.pool.work.in_process else self.pool.work.open(place)
        if self.pool.is_closed:  # meanwhile: nobody has told this one
            self.doer.give_up()

    def drop(self):
        doer, self.doer = self.doer, None
        if doer is not None:
            doer.close()


class LocalPool(Pool):
    """Does tasks on this machine, in the order in which they are given."""

    def __init__(self, work, slots):
        super().__init__(work)
        self.most = slots
        self.threads = []
        self.queue = collections.deque()
        self.idle = 0
        self.is_closed = False
        self.changed = threading.Condition()

    def slots(self):
        return self.most

    def begin(self, ticket, task):
        with self.changed:
            self.queue.append((ticket, task))
            if len(self.queue) > self.idle and len(self.threads) < self.most:
                self.threads.append(Slot(self, len(self.threads)))
                self.threads[-1].start()
            self.changed.notify()

    def next_task(self, slot):
        """For a slot: waits for a task; None when the pool is closed."""
        with self.changed:
            self.idle += 1
            while not self.queue and not self.is_closed:
                self.changed.wait()
            self.idle -= 1
            if self.is_closed:
                return None
            slot.is_busy = True
            return self.queue.popleft()

    def withdraw(self):
        with self.changed:
            tickets = [ticket for ticket, _ in self.queue]
            self.queue.clear()
        return tickets

    def close(self):
        with self.changed:
            self.is_closed = True
            self.queue.clear()
            self.changed.notify_all()
        for slot in self.threads:
            doer = slot.doer
            if slot.is_busy and doer is not None:
                with contextlib.suppress(Exception):
                    doer.give_up()
        for slot in self.threads:
            slot.join(_FAREWELL_SECONDS)

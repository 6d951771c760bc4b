"""A progress line: how far, how fast, how long still."""

import sys
import time

from arena.display import bar
from arena.duration import duration


class Progress:
    """Redraws one line on a terminal a few times a second; on anything else it stays silent until `finish`.

    `total` is None where nobody knows it. `advance` is called between two units of work, so an `interrupt` is heard there.
    """

    WIDTH = 24

    def __init__(self, label, unit, total=None, stream=None, interrupt=None):
        self.label, self.unit, self.total = label, unit, total
        self.interrupt = interrupt
        self.stream = sys.stderr if stream is None else stream
        self.done = 0
        self.skipped = 0  # done before this run, which says nothing about its speed
        self.started = time.monotonic()
        self._drawn = 0.0

    def resume_at(self, done):
        self.done = self.skipped = done

    def advance(self, amount, note=""):
        self.done += amount
        now = time.monotonic()
        if self.stream.isatty() and now - self._drawn >= 0.2:
            self._drawn = now
            self.stream.write("\r" + self.line(note).ljust(79)[:79])
            self.stream.flush()
        if self.interrupt is not None:
            self.interrupt.check()

    def rate(self):
        """Units per second of this run."""
        return (self.done - self.skipped) / max(time.monotonic() - self.started, 1e-9)

    def left(self):
        """The time that the rest will take, as text."""
        return duration((self.total - self.done) / max(self.rate(), 1e-9))

    def line(self, note=""):
        rate = self.rate()
        parts = [self.label]
        if self.total:
            parts.append(bar(self.done, self.total, self.WIDTH))
        else:
            parts.append(f"{self.done} {self.unit}")
        parts.append(f"{rate:,.0f} {self.unit}/s")
        if self.total and rate > 0 and self.done < self.total:
            parts.append(f"{self.left()} left")
        return " ".join([*parts, note]).rstrip()

    def clear(self):
        """Takes the line away."""
        if self.stream.isatty():
            self.stream.write("\r" + " " * 79 + "\r")
            self.stream.flush()

    def finish(self, message):
        """Replaces the line by what is worth keeping."""
        self.clear()
        self.stream.write(message + "\n")
        self.stream.flush()

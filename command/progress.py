"""How far, how fast, how long still: a bar on a terminal, a line now and then anywhere else."""

import os
import sys
import time
import weakref

from arena.duration import duration

DRAW_SECONDS = 0.1
PATIENCE = 0.5  # work that is done sooner needs no bar
PLAIN_SECONDS = 15.0  # between two lines where nothing can be redrawn

_shown = weakref.WeakSet()


def clear_all():
    """Takes away whatever is still drawn: a command that fails or is interrupted leaves a clean line and a cursor."""
    for progress in list(_shown):
        progress.clear()


class Progress:
    """Draws itself in the last line of a terminal; nothing of it is left when the work is done.

    `total` is None where nobody knows it. `advance` is called between two units of work, so an `interrupt` is heard there.
    A command that writes a line for every unit needs no others (`is_plain`) where nothing can be drawn. Units that people
    count by the minute are shown so at any rate (`by_minute`).
    """

    def __init__(self, label, unit, total=None, stream=None, interrupt=None, is_plain=True, by_minute=False):
        self.label, self.unit, self.total = label, unit, total
        self.is_plain = is_plain
        self.by_minute = by_minute
        self.interrupt = interrupt
        self.stream = sys.stderr if stream is None else stream
        self.done = 0
        self.skipped = 0  # done before this run, which says nothing about its speed
        self.started = self._drawn = time.monotonic()
        self._bar = None
        # Some editors' terminals cannot move a cursor.
        self.is_drawn = self.stream.isatty() and os.environ.get("TERM") != "dumb"

    def resume_at(self, done):
        self.done = self.skipped = done

    def advance(self, amount, note=""):
        self.done += amount
        now = time.monotonic()
        if self.is_drawn:
            wait = DRAW_SECONDS if self._bar is not None else PATIENCE
            if now - self._drawn >= wait or self.done == self.total:
                self._drawn = now
                self._draw(note)
        elif self.is_plain and now - self._drawn >= PLAIN_SECONDS:
            self._drawn = now
            self.stream.write(self.line(note) + "\n")
            self.stream.flush()
        if self.interrupt is not None:
            self.interrupt.check()

    def rate(self):
        """Units per second of this run."""
        return (self.done - self.skipped) / max(time.monotonic() - self.started, 1e-9)

    def left(self):
        """The time that the rest will take, as text."""
        return duration((self.total - self.done) / max(self.rate(), 1e-9))

    def speed(self):
        """The rate as text; what takes longer than a second apiece is counted by the minute."""
        rate = self.rate()
        is_quick = rate >= 1 and not self.by_minute
        return f"{rate:,.0f} {self.unit}/s" if is_quick else f"{60 * rate:,.1f} {self.unit}/min"

    def remaining(self):
        """The time that is left as text, where that can be known."""
        is_known = self.total and self.done > self.skipped and self.done < self.total
        return f"{self.left()} left" if is_known else ""

    def line(self, note=""):
        """All of it as plain text."""
        count = f"{100 * self.done // self.total} %" if self.total else f"{self.done:,} {self.unit}"
        return " ".join(filter(None, (self.label, count + ",", self.speed(), self.remaining(), note))).rstrip()

    def _draw(self, note):
        if self._bar is None:
            self._bar = Bar(self)
            _shown.add(self)
        self._bar.update(note)

    def clear(self):
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
            self._drawn = time.monotonic() - PATIENCE  # it was worth drawing, so it comes back at once
            _shown.discard(self)

    def say(self, message, stream=None):
        """A line that stays, above the bar."""
        self.clear()
        print(message, file=stream or sys.stdout, flush=True)

    def finish(self, message):
        """Replaces the bar by what is worth keeping."""
        self.say(message, self.stream)


class Bar:
    """The bar of one Progress, drawn by rich, which is loaded only now."""

    def __init__(self, progress):
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self.progress = progress
        console = Console(file=progress.stream)
        console.width -= len("^C")  # which the terminal writes behind it; in a new line it would stay
        known = (BarColumn(None), TaskProgressColumn()) if progress.total else (SpinnerColumn(),)
        columns = (
            TextColumn("{task.fields[title]}", markup=False),
            *known,
            TextColumn("{task.fields[figures]}", markup=False),
        )
        self.display = RichProgress(
            *columns,
            console=console,
            auto_refresh=False,
            transient=True,
            expand=bool(progress.total),
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self.task = self.display.add_task("", title="", figures="")
        self.is_started = False

    def update(self, note):
        progress = self.progress
        count = "" if progress.total else f"{progress.done:,} {progress.unit}"
        figures = ", ".join(filter(None, (count, progress.speed(), progress.remaining(), note)))
        self.display.update(
            self.task, completed=progress.done, total=progress.total, title=progress.label, figures=figures
        )
        if self.is_started:
            self.display.refresh()
        else:
            self.is_started = True
            self.display.start()

    def close(self):
        self.display.stop()

"""The two ends of the pipe: bytes into lines, lines into bytes, each in a thread of its own.

Both work on file descriptors. Python's buffered streams hold a lock while they wait, and a process that ends meanwhile
would stumble over it.
"""

import collections
import itertools
import os
import re
import select
import threading
import time

MOST_BYTES = 1 << 24  # of a line without an end; what is longer is no command
MOST_WAITING = 2000  # lines for a GUI that does not read; beyond that old `info` lines give way
PATIENCE = 0.1  # seconds that a closing writer grants to a GUI that does not read

_LINE_END = re.compile(rb"[\r\n]")


def read_lines(source, deliver, on_long=lambda size: None):
    """Calls `deliver` with every line of a descriptor, whether it ends with LF, CR or both, until the input ends.

    A line of more than MOST_BYTES is refused as a whole: `on_long` is called with its size instead.
    """
    pieces = []
    size = 0
    while True:
        try:
            data = os.read(source, 65536)
        except BlockingIOError:
            select.select([source], [], [])
            continue
        except OSError:
            data = b""
        first, *others = _LINE_END.split(data)
        size += len(first)
        if size <= MOST_BYTES:
            pieces.append(first)
        else:
            pieces = []
        if others or not data:
            if size > MOST_BYTES:
                on_long(size)
            for line in (b"".join(pieces), *others[:-1]):
                if line.strip():
                    deliver(line.decode("utf-8", "surrogateescape"))
            pieces = others[-1:]
            size = sum(map(len, pieces))
        if not data:
            return


class Writer:
    """Takes finished lines and writes them whole; whoever calls never waits for a GUI that does not read."""

    def __init__(self, sink, on_broken=lambda: None):
        self.sink = sink
        self.on_broken = on_broken
        self.is_broken = False
        self.log = None
        self.lines = collections.deque()
        self.is_writing = False
        self.is_closing = False
        self.change = threading.Condition()
        self.thread = threading.Thread(target=self.run, name="writer", daemon=True)
        self.thread.start()

    def __call__(self, line):
        log = self.log
        if log is not None:
            log("<", line)
        with self.change:
            self.lines.append(line)
            if len(self.lines) > MOST_WAITING:
                self.make_room()
            self.change.notify_all()

    def make_room(self):
        """Forgets the older half of the waiting `info` lines, but never the one that a `bestmove` follows."""
        lines = list(self.lines)
        half = len(lines) // 2
        kept = [
            line
            for line, after in itertools.pairwise(lines[: half + 1])
            if not line.startswith("info ") or after.startswith("bestmove")
        ]
        self.lines = collections.deque(kept + lines[half:])

    def run(self):
        while True:
            with self.change:
                self.is_writing = False
                self.change.notify_all()
                while not self.lines and not self.is_closing:
                    self.change.wait()
                if not self.lines:
                    return
                line = self.lines.popleft()
                self.is_writing = True
            try:
                self.write((line + "\n").encode("utf-8", "surrogateescape"))
            except OSError:
                with self.change:
                    self.is_broken = True
                    self.lines.clear()
                    self.is_writing = False
                    self.change.notify_all()
                self.on_broken()
                return

    def write(self, data):
        while data:
            try:
                data = data[os.write(self.sink, data) :]
            except BlockingIOError:
                select.select([], [self.sink], [])

    def is_stuck(self):
        """Is the pipe full, so that waiting is up to the GUI?"""
        try:
            return not select.select([], [self.sink], [], 0)[1]
        except (OSError, ValueError):
            return True  # no such question on this system; then patience decides alone

    def close(self):
        """Writes what is left, unless nobody reads it."""
        stuck_since = None
        with self.change:
            self.is_closing = True
            self.change.notify_all()
            left = len(self.lines)
            while (self.lines or self.is_writing) and not self.is_broken:
                self.change.wait(0.02)
                now = time.monotonic()
                # A line that has gone shows that somebody reads, also where the system cannot be asked.
                if len(self.lines) < left or not self.is_stuck():
                    left, stuck_since = len(self.lines), None
                elif stuck_since is None:
                    stuck_since = now
                elif now - stuck_since > PATIENCE:
                    return


class DialogueLog:
    """The whole dialogue with time stamps, in a file that is complete after every line."""

    def __init__(self, path):
        from board.files import open_regular  # not before `uciok`

        self.file = open(  # noqa: SIM115 - closed by close()
            path, "a", encoding="utf-8", errors="surrogateescape", buffering=1, opener=open_regular
        )
        self.lock = threading.Lock()

    def __call__(self, direction, line):
        moment = time.time()
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
        with self.lock:
            try:
                self.file.write(f"{stamp}.{int(moment % 1 * 1000):03} {direction} {line}\n")
            except (OSError, ValueError):
                return  # a full disk must not end the game

    def close(self):
        with self.lock:
            self.file.close()

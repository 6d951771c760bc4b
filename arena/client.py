"""The one client for UCI engines, over raw pipes: it starts an engine, sends lines, and waits with a time limit."""

import contextlib
import math
import os
import queue
import select
import subprocess
import threading
import time

from pool.containment import end_process, start

LONGEST_LINE = 1 << 16  # bytes of a line that are kept; the longest principal variations have 2,000
_LINE_COST = 100  # bytes that even an empty line takes


class EngineEndedError(Exception):
    """The engine's process closed its output."""


def whole_line(pieces, end):
    """A line as text. One that is too long ends with the word that it was cut."""
    line = b"".join((*pieces, end)) if pieces else end
    if len(line) > LONGEST_LINE:
        return line[:LONGEST_LINE].decode("utf-8", "surrogateescape") + f" [cut after {LONGEST_LINE} bytes]"
    return line.decode("utf-8", "surrogateescape")


def is_writable(handle, seconds):
    """Waits until a pipe has room."""
    poll = select.poll()
    poll.register(handle, select.POLLOUT)
    return bool(poll.poll(max(0.0, 1000 * seconds)))


class Client:
    """One engine process. Every line that was looked at is kept in `lines`, raw, and complete up to LONGEST_LINE."""

    ignores_case = False  # does BestMove answer for bestmove?

    def __init__(self, command, *, patience=10.0, most_bytes=math.inf, **popen):
        """`patience` are seconds for an answer; an engine that writes more than `most_bytes` in all is ended."""
        self.patience = patience
        self.most_bytes = most_bytes
        self.lines = []
        self.started = time.perf_counter()
        self.process = self.spawn(command, **popen)
        if os.name != "nt":
            # An engine that does not read must not keep us waiting for ever (see send_bytes).
            os.set_blocking(self.process.stdin.fileno(), False)
        self.inbox = queue.SimpleQueue()
        self.received = 0
        self.may_read = threading.Event()
        self.may_read.set()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def spawn(self, command, **popen):
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **{"stderr": subprocess.DEVNULL, **popen},
        )

    def read(self):
        """Raw bytes rather than a buffered stream, so that a client that pauses really leaves the pipe full.

        Of a line that is too long the beginning is delivered at once, and the rest is thrown away as it comes: it must
        neither fill the memory nor be taken for lines of its own.
        """
        pieces = []  # of a line that has not ended yet
        size = 0
        is_cut = False
        while True:
            self.may_read.wait()
            data = os.read(self.process.stdout.fileno(), 65536)
            moment = time.perf_counter()
            *lines, rest = data.split(b"\n")
            for line in lines:
                if not is_cut:
                    self.deliver(whole_line(pieces, line), moment)
                pieces, size, is_cut = [], 0, False
            if rest and not is_cut:
                pieces.append(rest)
                size += len(rest)
            if pieces and (not data or size > LONGEST_LINE):
                self.deliver(whole_line(pieces, b""), moment)
                pieces, size, is_cut = [], 0, True
            if not data:
                self.deliver(None, moment)
                return

    def deliver(self, line, moment):
        """Called by the reading thread with every line, and with None at the end of the output."""
        if line is not None:
            self.received += len(line) + _LINE_COST
            if self.received > self.most_bytes:
                self.process.kill()
                return
        self.inbox.put((line, moment))

    def send(self, *lines):
        self.send_bytes("".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))

    def send_bytes(self, data):
        """Writes everything at once. TimeoutError when the engine does not read and the pipe stays full."""
        deadline = None
        try:
            handle = self.process.stdin.fileno()
            while data:
                try:
                    data = data[os.write(handle, data) :]
                except BlockingIOError:
                    deadline = deadline or time.perf_counter() + self.patience
                    if not is_writable(handle, deadline - time.perf_counter()):
                        raise TimeoutError(f"does not read its input for {self.patience:g} s") from None
        except TimeoutError:
            raise
        except (OSError, ValueError):  # ValueError: the pipe was closed
            raise EngineEndedError("the engine ended, or does not read any more") from None

    def close_input(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def next_line(self, timeout=None):
        """The next line, or None at the end of the output; TimeoutError when neither comes."""
        seconds = self.patience if timeout is None else timeout
        try:
            line, self.moment = self.inbox.get(timeout=max(0.0, seconds))
        except queue.Empty:
            raise TimeoutError(f"no answer in {seconds:g} s") from None
        if line is None:
            self.inbox.put((None, self.moment))  # whoever asks again gets the same answer
        else:
            self.lines.append(line)
        return line

    def until(self, start, timeout=None):
        """All lines up to the first that begins with the words `start`."""
        deadline = time.perf_counter() + (self.patience if timeout is None else timeout)
        seen = []
        while True:
            try:
                line = self.next_line(deadline - time.perf_counter())
            except TimeoutError:
                raise TimeoutError(f"no '{start}' within {deadline - self.started:.1f} s of the start") from None
            if line is None:
                if self.received > self.most_bytes:
                    raise EngineEndedError(f"the engine was ended after {self.most_bytes} bytes of output")
                raise EngineEndedError(f"the engine ended instead of answering '{start}'")
            seen.append(line)
            if self.begins(line, start):
                return seen

    def begins(self, line, start):
        """Does a line begin with the words `start`?"""
        words = start.split()
        first = line.split(maxsplit=len(words))[: len(words)]
        return first == words or (self.ignores_case and [word.lower() for word in first] == words)

    def ask(self, *lines, until, timeout=None):
        self.send(*lines)
        return self.until(until, timeout)

    def ready(self, timeout=None):
        """Everything sent so far has been read; the lines up to `readyok`."""
        return self.ask("isready", until="readyok", timeout=timeout)

    def silent(self, seconds, start=""):
        """No line that begins with `start` for so long? Other lines may come."""
        deadline = time.perf_counter() + seconds
        while True:
            try:
                line = self.next_line(deadline - time.perf_counter())
            except TimeoutError:
                return True
            if line is None:
                raise EngineEndedError("the engine ended")
            if line.startswith(start):
                return False

    def wait(self, timeout=None):
        """Waits for the process to end; returns its status and what was left of its output."""
        self.process.wait(self.patience if timeout is None else timeout)
        rest = []
        while (line := self.next_line(self.patience)) is not None:
            rest.append(line)
        return self.process.returncode, rest

    def processor_seconds(self):
        """Processor time that the engine has used so far, or None where the system does not tell."""
        try:
            with open(f"/proc/{self.process.pid}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, AttributeError, IndexError):
            return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.may_read.set()
        if self.process.poll() is None:
            end_process(self.process)
        self.process.wait()
        self.reader.join(self.patience)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class ContainedClient(Client):
    """A process of somebody else's engine: what it has started ends with it, also if it has quit by itself.

    Descendants that leave its session are found by a program that has called `adopt_descendants`.
    """

    def spawn(self, command, **popen):
        return start(command, **{"stderr": subprocess.DEVNULL, **popen})

    def __exit__(self, *_):
        end_process(self.process)
        super().__exit__()

"""The one client for UCI engines, over raw pipes: it starts an engine, sends lines, and waits with a time limit."""

import contextlib
import os
import queue
import subprocess
import threading
import time

LONGEST_LINE = 1 << 20  # bytes without a newline that are kept together


class EngineEndedError(Exception):
    """The engine's process closed its output."""


class Client:
    """One engine process. Every line that was looked at is kept in `lines`, raw and complete."""

    ignores_case = False  # does BestMove answer for bestmove?

    def __init__(self, command, *, patience=10.0, **popen):
        self.patience = patience
        self.lines = []
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **{"stderr": subprocess.DEVNULL, **popen},
        )
        self.inbox = queue.SimpleQueue()
        self.may_read = threading.Event()
        self.may_read.set()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        """Raw bytes rather than a buffered stream, so that a client that pauses really leaves the pipe full."""
        pieces = []  # of a line that has not ended yet
        size = 0
        while True:
            self.may_read.wait()
            data = os.read(self.process.stdout.fileno(), 65536)
            moment = time.perf_counter()
            *lines, rest = data.split(b"\n")
            for line in lines:
                self.deliver(b"".join((*pieces, line)).decode("utf-8", "surrogateescape"), moment)
                pieces, size = [], 0
            if rest:
                pieces.append(rest)
                size += len(rest)
            if pieces and (not data or size > LONGEST_LINE):
                self.deliver(b"".join(pieces).decode("utf-8", "surrogateescape"), moment)
                pieces, size = [], 0
            if not data:
                self.deliver(None, moment)
                return

    def deliver(self, line, moment):
        """Called by the reading thread with every line, and with None at the end of the output."""
        self.inbox.put((line, moment))

    def send(self, *lines):
        self.send_bytes("".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))

    def send_bytes(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except OSError:
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
            self.process.kill()
        self.process.wait()
        self.reader.join(self.patience)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

"""A GUI for tests: starts the engine's process, sends lines, waits for answers with a time limit."""

import contextlib
import queue
import subprocess
import sys
import threading
import time

from support import DATA

# Long enough for a machine that does ten other things; nothing waits so long when all is well.
PATIENCE = 60


class Gui:
    """One engine process and its pipes. Every line that comes out is kept in `lines` with the moment it came."""

    def __init__(self, *arguments, command=None, env=None, stderr=subprocess.PIPE):
        self.process = subprocess.Popen(
            command or [sys.executable, "-m", "uci_engine", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=DATA,
            env=env,
        )
        self.lines = []
        self.moments = []
        self.inbox = queue.SimpleQueue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.inbox.put((line.decode("utf-8", "surrogateescape").removesuffix("\n"), time.perf_counter()))
        self.inbox.put((None, time.perf_counter()))

    def send(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))
        self.process.stdin.flush()

    def next_line(self, timeout=PATIENCE):
        """The next line, or None at the end of the output; TimeoutError when neither comes."""
        try:
            line, moment = self.inbox.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"no answer in {timeout} s after {self.lines[-5:]}") from None
        if line is not None:
            self.lines.append(line)
            self.moments.append(moment)
        return line

    def until(self, start, timeout=PATIENCE):
        """All lines up to the first that begins with `start`."""
        seen = []
        while True:
            line = self.next_line(timeout)
            if line is None:
                raise EOFError(f"the engine ended before '{start}', after {seen[-5:]}")
            seen.append(line)
            if line.startswith(start):
                return seen

    def ask(self, *lines, until):
        self.send(*lines)
        return self.until(until)

    def ready(self):
        """Everything sent so far has been read."""
        return self.ask("isready", until="readyok")

    def is_silent(self, seconds):
        """Does nothing come for so long?"""
        try:
            return self.next_line(seconds) is None
        except TimeoutError:
            return True

    def close(self, timeout=PATIENCE):
        """Sends quit if the engine is still there; returns what is left of the output."""
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.send("quit")
        return self.wait(timeout)

    def wait(self, timeout=PATIENCE):
        self.process.wait(timeout)
        rest = []
        while (line := self.next_line(timeout)) is not None:
            rest.append(line)
        return rest

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

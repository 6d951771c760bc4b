"""A program on a pseudo-terminal, as a person at a shell has it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from support import DATA

PATIENCE = 60.0

# Sequences that move the cursor, erase or colour; and the title of a window.
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[=>()][A-Z0-9]?")


def plain(text):
    """What is left of a terminal's output without its escape sequences."""
    return _ESCAPES.sub("", text).replace("\r\n", "\n")


COLUMNS = 100


def screen(output, columns=COLUMNS):
    """The lines that a person sees in the end: text is wrapped, overwritten and erased as a terminal does it."""
    lines, row, column = [""], 0, 0
    for sequence, count, kind, text in re.findall(r"(\x1b\[\??([0-9;]*)([A-Za-z]))|([^\x1b])", output):
        if text == "\r":
            column = 0
        elif text == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif text:
            if column == columns:
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + 1 :]
            column += 1
        elif kind == "A":
            row = max(0, row - int(count or 1))
        elif kind == "K":
            lines[row] = {"": lines[row][:column], "2": ""}[count]
        elif kind == "J":
            lines[row:] = [lines[row][:column]]
        elif kind not in "mhl":
            raise ValueError(f"no idea what {sequence!r} does")
    return [line.rstrip() for line in lines]


class Terminal:
    """Starts a command with a terminal on stdin, stdout and stderr; any of them can be something else instead."""

    def __init__(self, *command, cwd=DATA, columns=COLUMNS, rows=40, env=None, **streams):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        environment |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | (env or {})
        self.output = ""
        self.process = subprocess.Popen(
            command,
            **{"stdin": theirs, "stdout": theirs, "stderr": theirs, **streams},
            cwd=cwd,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def send(self, text):
        os.write(self.ours, text.encode())

    def read(self, seconds):
        """Takes what comes within that time; False when nothing did, or when the other side has closed."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.ours, 65536)
        except OSError:  # how Linux tells the end
            data = b""
        self.output += data.decode("utf-8", "replace")
        return bool(data)

    def until(self, text, patience=PATIENCE):
        """Waits for a text, escape sequences aside, and returns all output so far; forgets it for the next call."""
        deadline = time.monotonic() + patience
        while text not in plain(self.output):
            if not self.read(max(0.0, deadline - time.monotonic())):
                raise AssertionError(f"no '{text}' in {self.output!r}")
        output, self.output = self.output, ""
        return output

    def wait(self, patience=PATIENCE):
        """Reads to the end: exit status and output."""
        deadline = time.monotonic() + patience
        while self.read(max(0.0, deadline - time.monotonic())):
            pass
        return self.process.wait(max(1.0, deadline - time.monotonic())), self.output

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        os.close(self.ours)


def quetzal_terminal(*arguments, **options):
    return Terminal(sys.executable, "-m", "uci_engine", *arguments, **options)

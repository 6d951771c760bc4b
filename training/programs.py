"""Commands of Quetzal as steps of a longer piece of work, which can be interrupted between and inside them."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys

from arena.interrupts import INTERRUPTED

_POLL_SECONDS, _PATIENCE_SECONDS = 0.5, 60


class CommandError(RuntimeError):
    """A command failed. It has said why itself."""


class InterruptedStepError(RuntimeError):
    """A command was interrupted, or this process between two of them; what is finished is kept."""


def own_quetzal():
    return [sys.executable, "-m", "uci_engine"]


def as_engine(words):
    """The words of a command as one argument, as `quetzal match` takes its engines."""
    return shlex.join(words) if os.name != "nt" else subprocess.list2cmdline(words)


def option(flag, value):
    """A flag with its value, or nothing where there is no value."""
    return [] if value is None else [flag, str(value)]


def run_command(command, interrupt):
    """Runs a command to its end and returns its status. When we are interrupted it gets time to keep its work."""
    process = subprocess.Popen(command)
    try:
        while not interrupt.is_requested:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_POLL_SECONDS)
        # Ctrl-C reaches everything in the terminal. Other signals came to this process alone, and are handed on.
        if interrupt.signal == signal.SIGINT:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_PATIENCE_SECONDS)
        process.terminate()
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise


def run_step(step, command, interrupt):
    """Runs a command that has to succeed."""
    status = run_command(command, interrupt)
    if status in (INTERRUPTED, -signal.SIGINT, -signal.SIGTERM):
        raise InterruptedStepError(f"{step} was interrupted")
    if status != 0:
        raise CommandError(f"{step}: '{shlex.join(command)}' ended with status {status}")

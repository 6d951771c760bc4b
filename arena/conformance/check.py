"""Does an engine do what the protocol says and what GUIs expect?

Each case starts the engine afresh, talks to it as a GUI would, and gives a reason when it fails. The cases are things
that have broken real engines in real GUIs.
"""

import time

from arena.client import Client, EngineEndedError
from arena.text import visible

_MOST_BYTES = 1 << 28  # of an engine's output in one case, all of which is kept
_LONGEST_REASON = 1000  # characters


class CaseError(Exception):
    """The engine did something wrong; the text says what."""


class NotApplicableError(Exception):
    """The case needs something that this engine or system does not have; the text says what."""


def expect(condition, reason):
    if not condition:
        raise CaseError(reason)


class Table:
    """What a case works with: how to start the engine, and what it announced."""

    def __init__(self, command, patience=10.0):
        self.command = command
        self.patience = patience
        self.soon = patience / 10  # seconds that count as at once
        self._options = None

    def start(self, *, greet=True, **popen):
        """An engine, past its `uciok` if wanted."""
        client = Client(self.command, patience=self.patience, most_bytes=_MOST_BYTES, **popen)
        if greet:
            try:
                client.ask("uci", until="uciok")
                client.ready()
            except BaseException:
                client.__exit__()
                raise
        return client

    @property
    def options(self):
        """The announced options: names in lower case to (type, line)."""
        if self._options is None:
            with self.start(greet=False) as client:
                lines = client.ask("uci", until="uciok")
            self._options = {}
            for line in lines:
                if line.startswith("option name ") and " type " in line:
                    name, _, rest = line.removeprefix("option name ").partition(" type ")
                    self._options[name.lower()] = (rest.split()[0], line)
        return self._options

    def need_option(self, name):
        if name.lower() not in self.options:
            raise NotApplicableError(f"no option {name}")


def run_case(case, table):
    """The verdict ('ok', 'FAIL' or 'skip') and the reason."""
    try:
        case(table)
    except NotApplicableError as reason:
        return "skip", str(reason)
    except (CaseError, EngineEndedError, TimeoutError) as reason:
        return "FAIL", str(reason)
    except (ValueError, OSError, LookupError) as error:
        return "FAIL", f"{type(error).__name__}: {error}"
    return "ok", ""


def check(command, show=print, cases=None, patience=10.0):
    """Runs the cases on an engine and returns the names of those that failed."""
    if cases is None:
        from arena.conformance.cases import CASES

        cases = CASES
    table = Table(command, patience)
    failed = []
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    started = time.perf_counter()
    for case in cases:
        verdict, reason = run_case(case, table)
        reason = visible(reason)[:_LONGEST_REASON]
        counts[verdict] += 1
        if verdict == "FAIL":
            failed.append(case.__name__)
        title = " ".join(case.__doc__.split())
        show(f"{verdict:4}  {title}" + (f"\n      {reason}" if reason else ""))
    seconds = time.perf_counter() - started
    show(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} not applicable, {seconds:.0f} s")
    return failed

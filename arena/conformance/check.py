"""Does an engine do what the protocol says and what GUIs expect?

Each case starts the engine afresh, talks to it as a GUI would, and gives a reason when it fails. The cases are things
that have broken real engines in real GUIs. What the protocol demands is a *must*; what only makes life with GUIs easier is
a *should*, and its absence a warning.
"""

import time
from typing import NamedTuple

from arena.client import ContainedClient, EngineEndedError
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
        client = ContainedClient(self.command, patience=self.patience, most_bytes=_MOST_BYTES, **popen)
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


def must(source):
    """Marks a case as something that the protocol demands; `source` is the part of it."""
    return _mark("must", source)


def should(source):
    """Marks a case as something that GUIs and users like; `source` names those who do, or the document that says so."""
    return _mark("should", source)


def _mark(level, source):
    def mark(case):
        case.level = level
        case.source = source
        return case

    return mark


class Finding(NamedTuple):
    """What came out of one case: 'ok', 'FAIL' for a must, 'warn' for a should, or 'skip', with the reason."""

    name: str
    level: str
    source: str
    title: str
    verdict: str
    reason: str
    seconds: float

    def __str__(self):
        first = f"{self.verdict:4}  {self.level:6}  {self.title} [{self.source}]"
        return f"{first}\n{'':14}{self.reason}" if self.reason else first


def run_case(case, table):
    """Tries one case and says what came out of it."""
    verdict, reason = "ok", ""
    started = time.perf_counter()
    try:
        case(table)
    except NotApplicableError as error:
        verdict, reason = "skip", str(error)
    except (CaseError, EngineEndedError, TimeoutError) as error:
        verdict, reason = "FAIL" if case.level == "must" else "warn", str(error)
    except (ValueError, OSError, LookupError) as error:
        verdict, reason = "FAIL" if case.level == "must" else "warn", f"{type(error).__name__}: {error}"
    return Finding(
        case.__name__,
        case.level,
        case.source,
        " ".join(case.__doc__.split()),
        verdict,
        visible(reason)[:_LONGEST_REASON],
        round(time.perf_counter() - started, 2),
    )


def check(command, show=print, cases=None, patience=10.0):
    """Runs the cases on an engine, shows each finding, and returns them all."""
    if cases is None:
        from arena.conformance.cases import CASES

        cases = CASES
    table = Table(command, patience)
    findings = []
    for case in cases:
        findings.append(run_case(case, table))
        show(findings[-1])
    return findings


def count_verdicts(findings):
    verdicts = [finding.verdict for finding in findings]
    return {verdict: verdicts.count(verdict) for verdict in ("ok", "FAIL", "warn", "skip")}


def summary_line(findings):
    counts = count_verdicts(findings)
    return (
        f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['warn']} warnings, {counts['skip']} not applicable, "
        f"{sum(finding.seconds for finding in findings):.0f} s"
    )

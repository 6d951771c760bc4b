"""`quetzal uci-check`: Quetzal passes every case, and a bad engine fails those that it should."""

import json
import sys
from pathlib import Path

import pytest
from support import ROOT, quetzal

from arena.conformance.cases import CASES
from arena.conformance.check import Table, check, count_verdicts, must, run_case, should, summary_line
from command.__main__ import main

QUETZAL = [sys.executable, "-m", "uci_engine"]
BAD = [sys.executable, str(Path(__file__).with_name("bad_engine.py"))]
# It does everything that a test of the command asks of an engine, but only what it must.
PLAIN = [sys.executable, str(Path(__file__).with_name("plain_engine.py"))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_quetzal_passes(case):
    """Patience is longer than a GUI's: the machine may be busy, and slowness is not what is tested here."""
    finding = run_case(case, Table(QUETZAL, patience=60))
    assert finding.verdict == "ok", finding.reason


BAD_CASES = [
    "boots_silently",
    "greets",
    "greets_soon",
    "declares_options",
    "declares_options_for_guis",
    "writes_clean_lines",
    "ignores_idle_stop",
    "has_no_stale_stop",
    "keeps_the_order",
    "quits_idle",
    "quits_without_complaint",
    "keeps_a_signal_away",
    "finds_moves",
    "shows_what_it_plays",
    "searches_tiny_limits",
    "searches_one_ply",
    "waits_in_infinite",
    "recovers_from_bad_positions",
    "knows_the_end",
    "counts_mates",
    "limits_its_strength",
]


@pytest.mark.parametrize("name", BAD_CASES)
def test_a_bad_engine_fails(name):
    (case,) = [case for case in CASES if case.__name__ == name]
    finding = run_case(case, Table(BAD, patience=2))
    assert finding.verdict == {"must": "FAIL", "should": "warn"}[case.level]
    assert finding.reason


def test_every_case_says_who_asks_for_it():
    assert len({case.__name__ for case in CASES}) == len(CASES)
    for case in CASES:
        assert case.level in ("must", "should")
        assert case.source
        assert case.__doc__
        # Nobody fails because of a GUI's taste: what must be, the protocol says.
        assert case.level == "should" or case.source.startswith("UCI: ")
    assert f"tries {len(CASES)} dialogues" in (ROOT / "docs" / "gui.md").read_text(encoding="utf-8")


def test_scores_that_nobody_searched():
    """The two cases about the first search fail for an engine that moves first and invents the score."""
    for name in ("searches_one_ply", "invents_no_scores"):
        (case,) = [case for case in CASES if case.__name__ == name]
        finding = run_case(case, Table(PLAIN, patience=20))
        assert finding.verdict == "warn"
        assert "nodes 0" in finding.reason or "without a line of at least depth 1" in finding.reason


def test_reasons_name_the_mistake():
    """Not only that something is wrong, but what, and who asked for it."""
    said = []
    cases = [case for case in CASES if case.__name__ in ("boots_silently", "declares_options", "ignores_idle_stop")]
    findings = check(BAD, said.append, cases, patience=2)
    assert said == findings
    assert [finding.verdict for finding in findings] == ["warn", "FAIL", "FAIL"]
    text = "\n".join(map(str, said))
    assert "warn  should  Says nothing before it is asked. [UCI: the engine boots and waits for input]" in text
    assert "'BadEngine 1.0, welcome!' came before 'uci'" in text
    assert "no default, min and max in 'option name Hash type spin default 16'" in text
    assert "'bestmove h1h1' without a go" in text
    assert summary_line(findings).startswith("0 passed, 2 failed, 1 warnings, 0 not applicable")
    assert count_verdicts(findings) == {"ok": 0, "FAIL": 2, "warn": 1, "skip": 0}


def test_levels():
    @must("UCI: this")
    def hard(table):
        """Must be."""
        raise TimeoutError("late")

    @should("somebody")
    def soft(table):
        """Should be."""
        raise ValueError("odd")

    assert run_case(hard, None)[:6] == ("hard", "must", "UCI: this", "Must be.", "FAIL", "late")
    assert run_case(soft, None)[:6] == ("soft", "should", "somebody", "Should be.", "warn", "ValueError: odd")


@pytest.fixture
def other_children(monkeypatch):
    """The command says that its process is the reaper of all that it starts; this process has other tests' children, too."""
    monkeypatch.setattr("command.uci_check.adopt_descendants", lambda: None)


@pytest.fixture
def few_cases(monkeypatch, other_children):
    """All of them take minutes; what is tested here is what the command makes of them."""
    names = ("greets", "greets_soon", "quits_idle", "shows_chances")
    monkeypatch.setattr("arena.conformance.cases.CASES", [case for case in CASES if case.__name__ in names])


def run_command(capsys, *arguments):
    status = main(["uci-check", *arguments])
    return status, capsys.readouterr().out


def test_warnings_do_not_change_the_status(few_cases, capsys):
    status, output = run_command(capsys, *PLAIN)
    assert status == 0
    assert "warn  should  Sends uciok within 4 seconds" in output
    assert "'PlainEngine 1.0' is not UCI" in output
    assert output.splitlines()[-1].startswith("2 passed, 0 failed, 1 warnings, 1 not applicable")


def test_failures_change_the_status(few_cases, capsys):
    status, output = run_command(capsys, *BAD)
    assert status == 1
    assert "FAIL  must    Answers 'uci' with id name, id author and uciok." in output


def test_json(few_cases, capsys):
    status, output = run_command(capsys, "--json", *PLAIN)
    assert status == 0
    found = json.loads(output)
    assert found["command"][1:] == PLAIN[1:]
    assert found["counts"] == {"ok": 2, "FAIL": 0, "warn": 1, "skip": 1}
    verdicts = {case["name"]: (case["level"], case["verdict"]) for case in found["cases"]}
    assert verdicts == {
        "greets": ("must", "ok"),
        "greets_soon": ("should", "warn"),
        "quits_idle": ("must", "ok"),
        "shows_chances": ("should", "skip"),
    }
    assert all(case["source"] and case["title"] for case in found["cases"])


def test_a_program_that_speaks_no_uci():
    result = quetzal("uci-check", sys.executable, "-c", "pass")
    assert result.returncode == 1
    assert "FAIL" in result.stdout
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"), [((), "which engine?"), (("no-such-engine",), "no program 'no-such-engine'")]
)
def test_without_an_engine(arguments, message):
    result = quetzal("uci-check", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_the_patience_of_the_command(monkeypatch, other_children):
    """A second by default for what has to come at once, a tenth of the patience."""
    seen = []
    monkeypatch.setattr("command.uci_check.check", lambda command, show, patience: seen.append(patience) or [])
    assert main(["uci-check", "--patience", "90", *PLAIN]) == main(["uci-check", *PLAIN]) == 0
    assert seen == [90, 10]
    assert Table(PLAIN, patience=90).soon == 9

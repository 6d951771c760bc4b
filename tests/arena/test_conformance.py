"""`quetzal uci-check`: Quetzal passes every case, and a bad engine fails those that it should."""

import sys
from pathlib import Path

import pytest
from support import quetzal

from arena.conformance.cases import CASES
from arena.conformance.check import Table, check, run_case

QUETZAL = [sys.executable, "-m", "uci_engine"]
BAD = [sys.executable, str(Path(__file__).with_name("bad_engine.py"))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_quetzal_passes(case):
    """Patience is longer than a GUI's: the machine may be busy, and slowness is not what is tested here."""
    verdict, reason = run_case(case, Table(QUETZAL, patience=60))
    assert verdict == "ok", reason


BAD_CASES = [
    "boots_silently",
    "greets",
    "declares_options",
    "writes_clean_lines",
    "ignores_idle_stop",
    "has_no_stale_stop",
    "keeps_the_order",
    "quits_idle",
    "keeps_a_signal_away",
    "finds_moves",
    "searches_tiny_limits",
    "waits_in_infinite",
    "recovers_from_bad_positions",
    "knows_the_end",
    "counts_mates",
    "limits_its_strength",
]


@pytest.mark.parametrize("name", BAD_CASES)
def test_a_bad_engine_fails(name):
    (case,) = [case for case in CASES if case.__name__ == name]
    verdict, reason = run_case(case, Table(BAD, patience=2))
    assert verdict == "FAIL"
    assert reason


def test_reasons_name_the_mistake():
    """Not only that something is wrong, but what."""
    said = []
    cases = [case for case in CASES if case.__name__ in ("boots_silently", "declares_options", "ignores_idle_stop")]
    assert check(BAD, said.append, cases, patience=2) == [case.__name__ for case in cases]
    text = "\n".join(said)
    assert "'BadEngine 1.0, welcome!' came before 'uci'" in text
    assert "no default, min and max in 'option name Hash type spin default 16'" in text
    assert "'bestmove h1h1' without a go" in text
    assert said[-1].startswith("0 passed, 3 failed, 0 not applicable")


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

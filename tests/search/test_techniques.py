"""The table of techniques: every setting switches something off, and every technique has its step."""

import re

import pytest
from searching import EVERYTHING, switched_off, think
from support import ROOT

from search.parameters import TABLE, values
from search.techniques import BY_NAME, TECHNIQUES, switch_off
from uci_engine.bench import positions

NODE = (ROOT / "search" / "tree.py").read_text(encoding="utf-8")
DOCUMENT = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
LOG = (ROOT / "docs" / "strength-log.md").read_text(encoding="utf-8")
# A mate in five, with quicker mates to be passed over on the way.
MATE = "4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 0 1"


def nodes(depth):
    fens = [*positions()[:6], MATE]
    return [think(fen, depth=depth).info.nodes for fen in fens]


def test_every_technique_can_be_switched_off():
    """Each changes the tree of some position; all of them are back afterwards."""
    depth = 9
    whole = nodes(depth)
    idle = []
    for name in EVERYTHING:
        with switched_off(name):
            if nodes(depth) == whole:
                idle.append(name)
    assert idle == []
    assert nodes(depth) == whole


def test_switching_off_starts_from_the_defaults():
    before = values()
    with switched_off("razoring", "null_move"):
        switch_off("probcut")
        assert values() == {**before, **BY_NAME["probcut"].off}
    assert values() == before


def test_settings_are_not_the_defaults():
    defaults = {each.name: each.default for each in TABLE}
    for technique in TECHNIQUES:
        assert technique.off, technique.name
        assert all(defaults[name] != value for name, value in technique.off.items()), technique.name


def test_unknown_technique():
    with pytest.raises(KeyError, match="magic"):
        switch_off("magic")
    assert values() == {each.name: each.default for each in TABLE}


def test_the_node_holds_no_switches():
    assert "use_" not in NODE


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda each: each.name)
def test_every_technique_has_its_step(technique):
    if technique.step:
        assert re.search(rf"^ *# Step {technique.step}\. ", NODE, re.MULTILINE)
        assert re.search(rf"^### Steps? (\d+ and )?{technique.step}( and \d+)?\. ", DOCUMENT, re.MULTILINE)


def test_every_step_says_what_it_gained():
    """In Elo, with a figure that stands in the log, or that nobody has measured it."""
    steps = dict(re.findall(r"# Step (\d+)\. (.*?)(?=# Step \d+\. |\Z)", NODE, re.DOTALL))
    measured = set(re.findall(r"\| .(\d+ ± \d+) \|", LOG))
    for number in {each.step for each in TECHNIQUES if each.step}:
        assert "unmeasured" in steps[str(number)] or "±" in steps[str(number)], number
    figures = re.findall(r"\d+ ± \d+", NODE)
    assert len(figures) >= 3
    assert set(figures) <= measured

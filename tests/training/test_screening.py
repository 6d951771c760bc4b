"""Screening: the design is balanced, known worths come out again, and the matches are those of the design."""

import itertools
import random
import subprocess
import sys

import pytest
from matches import QuetzalMatch
from support import ROOT

from arena.errors import InputError
from arena.interrupts import Interrupt
from training import programs
from training.screening import Screening, Settings, design, effects, read_changes, table_lines

CHANGES = {
    "checks": {"check_extension_depth": "0"},
    "time": {"time_share": "400", "time_hard": "900"},
    "killers": {"killer_depth": "255"},
}


def settings(**other):
    usual = {"quetzal": programs.own_quetzal(), "control": "1+0.01", "games": 20, "concurrency": 2}
    return Settings(**{**usual, "openings": None, "megabytes": 16, "more": [], **other})


@pytest.mark.parametrize(
    ("changes", "matches"), [(1, 4), (2, 4), (3, 4), (4, 8), (7, 8), (11, 12), (12, 20), (21, 24), (31, 32)]
)
def test_any_two_changes_are_together_in_half_of_the_matches(changes, matches):
    signs = design(changes)
    assert len(signs) == matches
    assert all(len(row) == changes and set(row) <= {-1, 1} for row in signs)
    for one, other in itertools.combinations(zip(*signs, strict=True), 2):
        assert sum(a == b for a, b in zip(one, other, strict=True)) == matches / 2
    for column in zip(*signs, strict=True):
        assert sum(column) == 0  # the first engine, which has no advantage, has each in half of them


def pairs_of(elo, count, dice):
    """So many pairs of games, each with one of five results, by an engine that is better by so much."""
    score = 1 / (1 + 10 ** (-elo / 400))
    counts = [0] * 5
    for _ in range(count):
        counts[sum(dice.random() < score for _ in range(4))] += 1
    return counts


def test_known_worths_are_found_again():
    """Two changes are worth something, one costs something, two work only together; the rest does nothing."""
    names = [f"change {number}" for number in range(11)]
    worth = dict(zip(names, (15, 0, -10, 0, 5, 0, 0, 0, 0, 0, 0), strict=True))
    signs = design(len(names))
    dice = random.Random(4)
    matches = []
    for row in signs:
        elo = sum(sign * worth[name] for sign, name in zip(row, names, strict=True))
        first, second = (20 if row[1] == row[3] == side else 0 for side in (1, -1))
        matches.append(pairs_of(elo + first - second, 8000, dice))
    found = {effect.name: effect for effect in effects(names, signs, matches)}
    # What two are worth only together counts half for each.
    expected = {**worth, "change 1": 10, "change 3": 10}
    for name, effect in found.items():
        assert abs(effect.elo - expected[name]) < 3.3 * effect.deviation
        assert effect.deviation == pytest.approx(695 * 0.25 / (12 * 8000) ** 0.5, rel=0.05)
    assert max(found.values(), key=lambda effect: effect.elo).name == "change 0"
    assert found["change 0"].superiority > 0.999 > 0.001 > found["change 2"].superiority


def test_nothing_is_said_before_the_last_match():
    signs = design(3)
    assert effects(["a", "b", "c"], signs, [[1, 2, 3, 2, 1]] * 3 + [None]) is None
    assert len(effects(["a", "b", "c"], signs, [[1, 2, 3, 2, 1]] * 4)) == 3


def test_every_match_is_between_one_half_and_the_other(tmp_path, monkeypatch):
    quetzal = QuetzalMatch((0, 1, 2, 1, 0))
    monkeypatch.setattr(programs, "run_command", quetzal)
    monkeypatch.setenv("QUETZAL_TUNING", "0")  # so that it is restored
    screening = Screening(tmp_path, CHANGES, settings(games=16, openings="some.epd"))
    screening.play(Interrupt())
    assert len(quetzal.calls) == 4
    everything = sorted(f"{name}={value}" for options in CHANGES.values() for name, value in options.items())
    for call, row in zip(quetzal.calls, screening.signs, strict=True):
        assert sorted([*call.option_a, *call.option_b]) == everything
        assert ("time_share=400" in call.option_a) == ("time_hard=900" in call.option_a) == (row[1] > 0)
    assert [call.first_opening for call in quetzal.calls] == [1, 9, 17, 25]  # no opening is used twice
    screening.play(Interrupt())
    assert len(quetzal.calls) == 4  # nothing was left to do
    Screening(tmp_path, CHANGES, settings(games=32)).play(Interrupt())
    assert [call.resume for call in quetzal.calls[4:]] == [str(tmp_path / f"match-0{number}") for number in range(1, 5)]
    assert {effect.elo for effect in screening.effects()} == {0.0}
    assert len(list(table_lines(screening.effects()))) == 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has no changes"),
        ("a = 1", "a: a change is a table of options"),
        ("[a]", "a: a change is a table of options"),
        ("[a]\nb = [1]", "a: b is no number and no text"),
        ("[a", "changes.toml:1: Expected"),
        ("a = " + "[" * 20000, "changes.toml:1: brackets within brackets"),
        ("[a]\nb = " + "9" * 5000, "changes.toml:2: a whole number has at most 64 bits"),
    ],
)
def test_what_is_no_list_of_changes_is_refused(tmp_path, text, reason):
    path = tmp_path / "changes.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        read_changes(path)


def test_changes_are_read(tmp_path):
    path = tmp_path / "changes.toml"
    path.write_text('[a]\nfutility_depth = 5\n[b]\nEvalFile = "x.qnn"\nHash = 2\n', encoding="utf-8")
    assert read_changes(path) == {"a": {"futility_depth": "5"}, "b": {"EvalFile": "x.qnn", "Hash": "2"}}


def test_games_come_in_pairs(tmp_path):
    with pytest.raises(InputError, match="even number"):
        Screening(tmp_path, CHANGES, settings(games=11))


def test_the_script_plays_and_prints_a_table(tmp_path):
    """Real games: three changes, four matches of two games at a handful of nodes."""
    changes = tmp_path / "changes.toml"
    changes.write_text("[a]\nfutility_depth = 5\n[b]\nrazoring_depth = 0\n[c]\nsee_depth = 5\n", encoding="utf-8")
    command = [sys.executable, str(ROOT / "scripts" / "screen.py"), str(tmp_path / "run"), str(changes)]
    done = subprocess.run(
        [*command, "--games", "2", "--tc", "nodes=50"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("±") >= 3
    refused = subprocess.run([*command, "--games", "3"], capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2
    assert "even number" in refused.stderr

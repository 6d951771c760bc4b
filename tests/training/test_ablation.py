"""Ablation in games: which matches are played and how long, what the engine is without, the table and the plot."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from clusters import NEEDS_DASK, local_cluster
from matches import QuetzalMatch
from support import DATA, ROOT

from arena.errors import InputError
from arena.interrupts import Interrupt
from board import Board
from eval import explain
from eval.weights_file import GROUPS
from search.techniques import TECHNIQUES
from training import programs
from training.ablation import Ablation, Settings, bars, table_lines, write_weights
from training.plots import interval_chart

LEVEL, CLEARLY_BETTER = (5, 10, 20, 10, 5), (0, 0, 0, 1, 49)  # pairs with 0 to 2 points


def settings(**other):
    usual = {"quetzal": programs.own_quetzal(), "control": "1+0.01", "games": 400, "concurrency": 2}
    return Settings(**{**usual, "openings": None, "megabytes": 16, "more": [], **other})


@pytest.mark.parametrize(("pairs", "games"), [(LEVEL, [100, 400]), (CLEARLY_BETTER, [100])])
def test_a_clear_match_is_not_prolonged(tmp_path, monkeypatch, pairs, games):
    quetzal = QuetzalMatch(pairs)
    monkeypatch.setattr(programs, "run_command", quetzal)
    monkeypatch.setenv("QUETZAL_TUNING", "0")  # so that it is restored
    ablation = Ablation(tmp_path, settings())
    part = ablation.parts["null_move"]
    ablation.play(part, Interrupt())
    assert [call.games for call in quetzal.calls] == games
    assert quetzal.calls[0].option_b == ["null_move_depth=255"]
    assert quetzal.calls[0].option_a == []
    assert all(call.resume == str(tmp_path / "null_move") for call in quetzal.calls[1:])
    ablation.play(part, Interrupt())
    assert len(quetzal.calls) == len(games)  # nothing was left to do


def test_another_time_control_needs_another_directory(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "run_command", QuetzalMatch(LEVEL))
    monkeypatch.setenv("QUETZAL_TUNING", "0")
    for control in ("1+0.01", "4+0.04"):
        ablation = Ablation(tmp_path, settings(games=100 if control[0] == "1" else 200, control=control))
        if control == "4+0.04":
            with pytest.raises(InputError, match=r"begun with 1\+0\.01, not 4\+0\.04"):
                ablation.play(ablation.parts["razoring"], Interrupt())
        else:
            ablation.play(ablation.parts["razoring"], Interrupt())


def test_games_come_in_pairs(tmp_path):
    with pytest.raises(InputError, match="even number"):
        Ablation(tmp_path, settings(games=401))


def test_every_technique_and_every_group_of_terms_is_a_part(tmp_path):
    names = set(Ablation(tmp_path, settings()).parts)
    assert {each.name for each in TECHNIQUES} | {f"eval_{group}" for group in GROUPS} < names
    assert {"book", "tables", "network", "time_rivals", "hash_move", "exchange_order"} < names


@pytest.mark.parametrize("group", GROUPS)
def test_weights_without_a_group(tmp_path, group):
    """The engine explains an evaluation group by group: this one counts for nothing, the others as they did."""
    path = tmp_path / f"without-{group}.json"
    write_weights(path)
    fen = "r1bqk2r/ppp2ppp/2np1n2/2b1p3/2B1P3/2PP1N2/PP3PPP/RNBQ1RK1 w kq - 0 7"
    from networks import evaluating_with

    def terms():
        return {row.group: tuple(row)[1:5] for row in explain(Board(fen)).rows if row.group in GROUPS}

    with evaluating_with(""):
        whole = terms()
    with evaluating_with(str(path)):
        without = terms()
    assert not any(without[group])
    assert {each: row for each, row in without.items() if each != group} == {
        each: row for each, row in whole.items() if each != group
    }


def rows(tmp_path):
    ablation = Ablation(tmp_path, settings())
    level = {"games": 100, "pentanomial": list(LEVEL)}
    clear = {"games": 100, "pentanomial": [0, 0, 0, 0, 50]}
    better = {"games": 400, "pentanomial": [10, 30, 80, 50, 30]}
    return [
        (ablation.parts["razoring"], level, {"nodes": 1.02, "branching": 2.205, "depth": 19.5}),
        (ablation.parts["quiescence"], clear, {}),
        (ablation.parts["null_move"], better, {}),
        (ablation.parts["book"], None, {}),
    ]


def test_table(tmp_path):
    header, rule, *lines = table_lines(rows(tmp_path))
    assert len({line.count("|") for line in (header, rule, *lines)}) == 1
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert re.fullmatch(r"0 ± \d+", cells[0][4]) and cells[0][5:] == ["1.02", "2.205", "19.5"]
    assert re.fullmatch(r"above \+\d+", cells[1][4])
    # (10·0 + 30·½ + 80·1 + 50·1½ + 30·2) / 400 = 57.5 %, and 400 · log10(57.5 / 42.5) = 52.5
    assert cells[2][2:4] == ["400", "57.5 %"] and cells[2][4].startswith("+53 ± ")
    assert cells[3][4] == "not played"


def test_plot(tmp_path):
    found = bars(rows(tmp_path))
    assert [label for label, *_ in found] == ["null-move pruning", "razoring"]
    text = interval_chart("Worth", found)
    root = ElementTree.fromstring(text)
    names = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "null-move pruning" in names and "Worth" in names
    ElementTree.fromstring(interval_chart("nothing yet", []))


def ablate(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "ablate.py", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=DATA,
    )


QUICK = ("--tc", "nodes=50", "--games", 2, "--no-tree", "--only", "razoring", "eval_king")


def test_as_it_is_typed(tmp_path):
    result = ablate("--elo", tmp_path / "run", "--plot", tmp_path / "elo.svg", *QUICK)
    assert result.returncode == 0, result.stderr
    assert [line.split("|")[2].strip() for line in result.stdout.splitlines() if "| razoring |" in line] == ["razoring"]
    run = json.loads((tmp_path / "run" / "razoring" / "run.json").read_text(encoding="utf-8"))
    assert run["engines"][1]["options"]["razoring_depth"] == "0"
    ElementTree.parse(tmp_path / "elo.svg")
    assert ablate("--cluster", "tcp://127.0.0.1:1").returncode == 2


@pytest.mark.parametrize("text", ["{}", "[" * 100_000, '{"engines": []}', "7"])
def test_a_damaged_match_is_said(tmp_path, text):
    (tmp_path / "run" / "razoring").mkdir(parents=True)
    (tmp_path / "run" / "razoring" / "run.json").write_text(text, encoding="ascii")
    result = ablate("--elo", tmp_path / "run", *QUICK)
    assert result.returncode == 2
    assert "run.json: damaged: " in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("_", [pytest.param(None, marks=NEEDS_DASK)])
def test_on_a_cluster(tmp_path, _):
    with local_cluster() as workers:
        result = ablate("--elo", tmp_path / "run", "--cluster", workers.address, *QUICK)
    assert result.returncode == 0, result.stderr
    for name in ("razoring", "eval_king"):
        results = json.loads((tmp_path / "run" / name / "results.json").read_text(encoding="utf-8"))
        assert results["summary"]["games"] == 2

"""The stations of docs/history.md: the settings are those of the document and of search/techniques.py, each station has
all that the one before has; table and plot say what a tournament's files say."""

import itertools
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import plot_history
import pytest
from networks import evaluating_with
from support import ROOT

from arena.draft import Draft, describe_tournament
from board import Board
from eval import CLASSICAL
from search import Limits, Searcher
from search.parameters import TABLE, reset, set_parameter
from search.techniques import BY_NAME, TECHNIQUES
from training.documents import END, with_section
from uci_engine.bench import positions
from uci_engine.options import options

DOCS = ROOT / "docs"
DOCUMENT = (DOCS / "history.md").read_text(encoding="utf-8")
EVALUATIONS = ["textbook.json"] * 6 + [CLASSICAL, None]
COMMON = {"Hash": "16", "SyzygyProbeLimit": "0"}


@pytest.fixture(scope="module")
def tournament():
    return describe_tournament(Draft(DOCS / "history.toml"))


def new_techniques():
    """Of each station, by the section that explains it."""
    sections = re.split(r"^### \d+\. ", DOCUMENT.partition("\n## What is the same")[0], flags=re.MULTILINE)[1:]
    lines = [re.search(r"^New: (.*?)\.$", section, re.MULTILINE | re.DOTALL)[1] for section in sections]
    return [[name for name in re.findall(r"`([^`]+)`", line) if "/" not in name] for line in lines]


def parameters(engine):
    return {name: value for name, value in engine["options"].items() if name not in (*COMMON, "EvalFile")}


def test_the_settings_switch_off_what_the_document_says(tournament):
    new = new_techniques()
    assert len(new) == len(tournament["engines"]) == 8
    known = set()
    for names, engine in zip(new, tournament["engines"], strict=True):
        known |= set(names)
        expected = {}
        for technique in TECHNIQUES:
            if technique.name not in known:
                expected |= {name: str(value) for name, value in technique.off.items()}
        assert parameters(engine) == expected, engine["name"]


def test_every_technique_is_new_once():
    assert sorted(name for names in new_techniques() for name in names) == sorted(each.name for each in TECHNIQUES)
    assert set(BY_NAME) > {each.name for each in TECHNIQUES}  # those of the clock are the same for all


def test_later_stations_have_less_switched_off(tournament):
    settings = [parameters(engine).items() for engine in tournament["engines"]]
    assert all(later <= earlier for earlier, later in itertools.pairwise(settings))
    assert not settings[5] and settings[4]


def test_the_rest_of_the_settings(tournament):
    engines = tournament["engines"]
    assert (tournament["format"], tournament["rules"]["resign_both"]) == ("round-robin", True)
    assert [engine["options"].get("EvalFile") for engine in engines] == EVALUATIONS
    assert all(COMMON.items() <= engine["options"].items() for engine in engines)
    assert [engine["control"] for engine in engines] == ["depth=3", "depth=5"] + ["1+0.01"] * 6
    assert [engine["rating"] for engine in engines] == [0] + [None] * 7
    games = tournament["rounds"] * tournament["games"] * 8 * 7 // 2
    assert f"{tournament['rounds']} rounds, {games:,} games" in DOCUMENT


def test_every_option_exists_and_takes_its_value(tournament, monkeypatch):
    monkeypatch.setenv("QUETZAL_TUNING", "1")
    known = {option.name: option for option in options()}
    for engine in tournament["engines"]:
        for name, text in engine["options"].items():
            known[name].parse(text)


def test_the_textbook_weights_are_those_of_the_script(tmp_path):
    path = tmp_path / "textbook.json"
    subprocess.run([sys.executable, ROOT / "scripts" / "textbook_weights.py", path], check=True)
    assert path.read_bytes() == (DOCS / "textbook.json").read_bytes()


def test_alpha_beta_is_given_what_the_document_says(tournament):
    """Figures of the first two sections: leaves of minimax, nodes of alpha-beta."""
    boards = [Board(fen) for fen in positions()[:24]]
    leaves = sum(board.perft(3) for board in boards) / len(boards)
    searcher = Searcher(megabytes=1)
    try:
        for name, value in parameters(tournament["engines"][1]).items():
            set_parameter(name, int(value))
        nodes = 0
        with evaluating_with(str(DOCS / "textbook.json")):
            for board in boards:
                searcher.clear()
                nodes += searcher.think(board, Limits(depth=5)).info.nodes
    finally:
        reset()
        searcher.close()
    assert f"{leaves:,.0f} leaves of three\nplies" in DOCUMENT
    said = int(re.search(r"positions that takes ([\d,]+) nodes", DOCUMENT)[1].replace(",", ""))
    assert nodes / len(boards) == pytest.approx(said, rel=0.1)  # a change of the search may move it a little


# The script


def engine(name):
    return {
        "name": name,
        "command": ["x"],
        "control": "depth=1",
        "options": {},
        "ponder": False,
        "restart": False,
        "directory": None,
        "rating": None,
    }


DESCRIPTION = {
    "version": 1,
    "kind": "tournament",
    "name": "cup",
    "engines": [engine("1 old"), engine("2 new")],
    "rules": {},
    "openings": {"path": None, "sha256": None, "plies": None, "shuffle": False, "seed": 1, "first": 0},
    "concurrency": 1,
    "pin": False,
    "format": "round-robin",
    "rounds": 2,
    "games": 2,
    "challengers": 1,
    "extra_pairs": 0,
}


def game(number, points, thoughts, turn="w"):
    """Colours change from game to game; the opening has one ply."""
    players = [number % 2, 1 - number % 2]
    names = ["1 old", "2 new"]
    return {
        "game": number,
        "pair": number // 2,
        "round": 1,
        "players": players,
        "white": names[players[0]],
        "black": names[players[1]],
        "result": {1: "1-0", 0: "0-1", 0.5: "1/2-1/2"}[points],
        "points": points,
        "reason": "",
        "termination": "",
        "failed": None,
        "failure": None,
        "fen": f"8/8/8/8/8/8/8/8 {turn} - - 0 1",
        "opening": "",
        "book_plies": 1,
        "moves": ["a1a2"] * (1 + len(thoughts)),
        "thoughts": [
            {"time": time, "depth": depth, "nodes": nodes} if depth else {"time": time}
            for time, depth, nodes in thoughts
        ],
        "began": "",
        "seconds": 1.0,
        "overhead": [0, 0, 0],
        "controls": ["", ""],
    }


# After one ply of the opening, with White to begin before it, Black thinks first: that is "2 new" in the first game.
RECORDS = [
    game(0, 0.5, [(10.0, 7, 700), (1.0, 3, 30), (30.0, 9, 900)]),
    game(1, 1, [(3.0, 5, 50), (20.0, 8, 800)]),
    game(2, 0, [(2.0, 3, 40)], turn="b"),
    game(3, 0.5, [(4.0, 0, 0)]),
]
SUMMARY = {
    "games": 4,
    "notes": [],
    "standings": [
        {"engine": "2 new", "rating": 95.4, "rating_error": 40.0, "rating_text": "95 ± 40", "failures": 0,
         "against": {"1 old": [0.5, 1, 1, 0.5]}},
        {"engine": "1 old", "rating": 0.0, "rating_error": 0.0, "rating_text": "0 anchor", "failures": 1,
         "against": {"2 new": [0.5, 0, 0, 0.5]}},
    ],
}  # fmt: skip


@pytest.fixture
def run(tmp_path):
    from arena.settings import Rules, as_dict

    description = {**DESCRIPTION, "rules": as_dict(Rules())}
    (tmp_path / "run.json").write_text(json.dumps(description), encoding="utf-8")
    (tmp_path / "results.json").write_text(json.dumps({"summary": SUMMARY}), encoding="utf-8")
    (tmp_path / "games.jsonl").write_text("".join(json.dumps(each) + "\n" for each in RECORDS), encoding="utf-8")
    return tmp_path


def test_table_and_plot(run, capsys):
    document, plot = run / "doc" / "history.md", run / "pictures" / "history.svg"
    for path in (document, plot):
        path.parent.mkdir()
    document.write_text(f"before\n{plot_history.BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    assert plot_history.main([str(run), "-o", str(plot), "--document", str(document)]) == 0
    # Old thinks 1, 3, 2, 4 ms at depths 3, 5, 3 and 30, 50, 40 nodes; new 10, 30, 20 ms at 7, 9, 8 and 700, 900, 800.
    # Pairs of 1½ and 1½ points: 75 % of 2 pairs, which is 400 · log10(3) = 190.8 Elo with no spread seen.
    header, _, old, new = capsys.readouterr().out.splitlines()
    assert header == "| station | control | rating | against the one before | plies | nodes | ms |"
    assert old == "| 1 old | depth=1 | 0 anchor |  | 3 | 40 | 2.5 |"
    cells = [cell.strip() for cell in new.split("|")[1:-1]]
    assert cells[:3] == ["2 new", "depth=1", "95 ± 40"] and cells[4:] == ["8", "800", "20.0"]
    assert cells[3].startswith("+190.8")
    text = document.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "\nold\n" not in text
    assert "4 games, of which 1 was lost by a failure or on time." in text
    assert "(../pictures/history.svg)" in text and old in text and new in text
    words = [element.text for element in ElementTree.parse(plot).iter() if element.tag.endswith("text")]
    assert {"1 old", "2 new"} <= set(words)
    # A second time nothing changes.
    assert plot_history.main([str(run), "-o", str(plot), "--document", str(document)]) == 0
    assert document.read_text(encoding="utf-8") == text


def test_pairs_are_counted_by_their_points():
    assert plot_history.pentanomial([0, 0, 0.5, 0, 1, 0, 0.5, 0.5, 1, 0.5, 1, 1]) == [1, 1, 2, 1, 1]


def test_an_unfinished_tournament_is_refused(run, capsys):
    (run / "run.json").write_text(
        (run / "run.json").read_text(encoding="utf-8").replace('"rounds": 2', '"rounds": 3'), encoding="utf-8"
    )
    assert plot_history.main([str(run)]) == 2
    assert "is not finished" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["{}", "[]", '{"summary": {"standings": [7]}}', "[" * 100_000])
def test_damaged_results_are_said(run, capsys, text):
    (run / "results.json").write_text(text, encoding="utf-8")
    assert plot_history.main([str(run)]) == 2
    assert "results.json: damaged: " in capsys.readouterr().err


def test_a_document_without_a_place_changes_nothing(run, capsys):
    document, plot = run / "doc.md", run / "plot.svg"
    document.write_text("no place here\n", encoding="utf-8")
    assert plot_history.main([str(run), "-o", str(plot), "--document", str(document)]) == 2
    assert "doc.md: has no place for the table" in capsys.readouterr().err
    assert document.read_text(encoding="utf-8") == "no place here\n" and not plot.exists()


def test_the_document_has_a_place():
    assert "\nhere\n" in with_section(DOCUMENT, plot_history.BEGIN, "here", "history.md")


def test_every_parameter_that_is_set_is_in_the_table(tournament):
    assert set(parameters(tournament["engines"][0])) <= {each.name for each in TABLE}

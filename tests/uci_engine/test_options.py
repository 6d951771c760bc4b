"""The table of options: announced, parsed, refused, and printed in the README as it is."""

import json
import re

import chess
import pytest
from gui import Gui
from networks import random_network, write_network
from support import ROOT

import eval as evaluation
from uci_engine.options import OPTIONS, find, table

NAMES = [option.name for option in OPTIONS]


@pytest.fixture(scope="module")
def gui():
    with Gui() as gui:
        gui.ready()
        yield gui
        gui.quit()


def answers(gui, *lines):
    """What the engine says to lines that are answered at once."""
    gui.send(*lines)
    return gui.ready()[:-1]


def test_everything_that_gui_authors_look_for_is_there():
    assert {
        "Hash",
        "Threads",
        "Clear Hash",
        "Ponder",
        "MultiPV",
        "Move Overhead",
        "UCI_Chess960",
        "UCI_ShowWDL",
        "UCI_LimitStrength",
        "UCI_Elo",
        "UCI_AnalyseMode",
        "UCI_Opponent",
        "UCI_EngineAbout",
        "Debug Log File",
        "EvalFile",
        "OwnBook",
        "BookFile",
        "BookVariety",
        "SyzygyPath",
        "SyzygyProbeDepth",
        "SyzygyProbeLimit",
        "Syzygy50MoveRule",
    } <= set(NAMES)


def test_the_uci_answer_comes_from_the_table(gui):
    lines = gui.ask("uci", until="uciok")
    assert [line for line in lines if line.startswith("option ")] == [option.declaration() for option in OPTIONS]
    assert "option name Hash type spin default 16 min 1 max 1048576" in lines
    assert "option name UCI_Elo type spin default 1500 min 800 max 3000" in lines
    assert "option name Debug Log File type string default <empty>" in lines
    assert f"option name EvalFile type string default {evaluation.DEFAULT}" in lines


def test_the_readme_shows_the_table():
    assert "\n".join(table()) in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_accepted_in_any_spelling(gui, name):
    option = find(OPTIONS, name)
    value = str(option.default).upper() if option.kind == "check" else str(option.default) or "<empty>"
    if option.kind == "button":
        assert answers(gui, f"setoption name {name.upper()}") == []
        return
    for written in (name, name.lower(), name.upper(), name.replace(" ", "")):
        assert answers(gui, f"setoption name {written} value {value}") == []


def test_an_empty_value_has_many_forms(gui):
    lines = [
        f"setoption name UCI_Opponent{end}" for end in (" value GM 2800 human A B", " value", " value <empty>", "")
    ]
    assert answers(gui, *lines) == []


@pytest.mark.parametrize("name", ["Ponder", "Hash", "Threads", "EvalFile", "BookFile", "Debug Log File"])
def test_a_long_value_is_not_repeated(gui, name):
    """A line may have 16 MB; the complaint about it shows the beginning."""
    said = answers(gui, f"setoption name {name} value {'x' * 1_000_000}")
    assert said
    assert max(map(len, said)) < 6000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("setoption name Hash value 0", "Hash lies between 1 and 1048576, 0 does not"),
        ("setoption name Hash value much", "Hash takes a whole number, not 'much'"),
        ("setoption name Hash value", "Hash takes a whole number, not ''"),
        ("setoption name Hash", "Hash takes a whole number, not ''"),
        ("setoption name UCI_Elo value 100", "UCI_Elo lies between 800 and 3000, 100 does not"),
        ("setoption name Ponder value maybe", "Ponder is true or false, not 'maybe'"),
        ("setoption name No Such Thing value 1", "there is no option 'No Such Thing'"),
        ("setoption name", "usage: setoption name NAME"),
        ("setoption Hash 3", "usage: setoption name NAME"),
        ("setoption name Hash value 1048576", "no memory for a table of 1048576 MB, it keeps 16 MB"),
        ("setoption name Debug Log File value no/such/folder/log.txt", "No such file or directory"),
    ],
)
def test_a_bad_value_is_said_and_the_old_one_stays(gui, line, message):
    said = answers(gui, line)
    assert len(said) == 1
    assert said[0].startswith("info string ")
    assert message in said[0]
    assert gui.ask("position startpos", "go depth 2", until="bestmove")[-1].startswith("bestmove ")


def test_move_overhead_is_kept_from_the_clock(gui):
    """With an overhead of nearly the whole clock the move comes at once."""
    gui.send("setoption name MoveOverhead value 5000", "position startpos", "go wtime 5010 btime 5010")
    lines = gui.until("bestmove")
    assert int(re.search(r" time (\d+)", lines[-2])[1]) < 500
    gui.send("setoption name Move Overhead value 10")


def test_chess960_changes_how_castling_is_written(gui):
    fen = "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    for value, written in (("true", "e1h1"), ("false", "e1g1")):
        gui.send(f"setoption name UCI_Chess960 value {value}", fen)
        assert gui.ask(f"go depth 1 searchmoves {written}", until="bestmove")[-1].split()[1] == written


def test_multipv_is_clamped_and_in_order(gui):
    gui.send("setoption name MultiPV value 256", "position startpos")
    lines = [line for line in gui.ask("go depth 3", until="bestmove") if " depth 3 " in line]
    assert [int(re.search(r"multipv (\d+)", line)[1]) for line in lines] == list(range(1, 21))
    assert {line.split(" pv ")[1].split()[0] for line in lines} == {move.uci() for move in chess.Board().legal_moves}
    gui.send("setoption name MultiPV value 1")


def test_the_log_holds_the_dialogue(tmp_path):
    path = tmp_path / "a log with  blanks.txt"
    with Gui() as gui:
        gui.send(f"setoption name Debug Log File value {path}")
        gui.ready()
        gui.ask("position startpos", "go depth 3", until="bestmove")
        gui.send("setoption name Debug Log File value <empty>")
        gui.ready()
        gui.ask("go depth 1", until="bestmove")
        gui.quit()
    log = path.read_text(encoding="utf-8").splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [<>] \S", line) for line in log)
    said = [line[24:] for line in log]
    assert said[:4] == ["> isready", "< readyok", "> position startpos", "> go depth 3"]
    assert said[-2].startswith("< bestmove ")
    assert said[-1] == "> setoption name Debug Log File value <empty>"


def score_of_a_queen_up(gui):
    """In centipawns, by one ply of search."""
    gui.send("ucinewgame", "position fen rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    lines = gui.ask("go depth 1", until="bestmove")
    return int(re.findall(r" score cp (-?\d+)", " ".join(lines))[-1])


def test_eval_file(gui, tmp_path):
    """Weights under which a queen is worth two pawns less show in the score; files that are none change nothing."""
    assert answers(gui, "setoption name EvalFile value <empty>") == []
    normal = score_of_a_queen_up(gui)
    weights = json.loads((ROOT / "eval" / "weights.json").read_text(encoding="utf-8"))
    material = next(each for each in weights["features"] if each["name"] == "material")
    for phase in ("mg", "eg"):
        material[phase][4] -= 200
    other = tmp_path / "other weights.json"
    other.write_text(json.dumps(weights), encoding="utf-8")
    assert answers(gui, f"setoption name EvalFile value {other}") == []
    changed = score_of_a_queen_up(gui)
    assert normal - 230 < changed < normal - 170

    (tmp_path / "broken.json").write_text(other.read_text(encoding="utf-8")[:1000], encoding="utf-8")
    (tmp_path / "foreign.json").write_text('{"format": "something else"}', encoding="utf-8")
    (tmp_path / "network.bin").write_bytes(bytes(range(256)))
    for name, reason in (
        ("broken.json", "no weights file"),
        ("foreign.json", "format"),
        ("network.bin", "neither a network nor"),
        ("missing.json", "No such file"),
        ("", "directory"),
    ):
        (said,) = answers(gui, f"setoption name EvalFile value {tmp_path / name}")
        assert said.startswith("info string ") and reason in said
    assert score_of_a_queen_up(gui) == changed
    assert answers(gui, "setoption name EvalFile value <empty>") == []
    assert score_of_a_queen_up(gui) == normal


def test_eval_file_goes_back_to_the_default(gui):
    """By its name, from any folder; the classical evaluation judges otherwise."""
    assert answers(gui, f"setoption name EvalFile value {evaluation.DEFAULT}") == []
    normal = score_of_a_queen_up(gui)
    assert answers(gui, "setoption name EvalFile value <empty>") == []
    assert score_of_a_queen_up(gui) != normal
    assert answers(gui, f"setoption name EvalFile value {evaluation.DEFAULT}") == []
    assert score_of_a_queen_up(gui) == normal


def test_eval_file_takes_a_network(gui, tmp_path):
    """Two made-up networks judge differently; a damaged one is refused, and the one before stays."""
    paths = [write_network(tmp_path / f"{seed}.qnn", random_network(64, seed)) for seed in (1, 2)]
    scores = []
    for path in paths:
        assert answers(gui, f"setoption name EvalFile value {path}") == []
        scores.append(score_of_a_queen_up(gui))
    assert scores[0] != scores[1]
    (tmp_path / "damaged.qnn").write_bytes(paths[0].read_bytes()[:-1000])
    (said,) = answers(gui, f"setoption name EvalFile value {tmp_path / 'damaged.qnn'}")
    assert said.startswith("info string ") and "cut off or damaged" in said
    assert score_of_a_queen_up(gui) == scores[1]
    assert answers(gui, "setoption name EvalFile value <empty>") == []

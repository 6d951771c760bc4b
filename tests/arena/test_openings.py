"""The default openings: what is in the file, how it was made, and how a match uses it."""

import json
import os
import re
import sys
import time

import chess
import make_openings
import pytest
from arena_playing import command, run_quetzal
from support import ROOT

from arena.errors import InputError
from arena.openings import DEFAULT, START, Opening, Supply, chosen_openings, fingerprint, own_openings, read_openings
from arena.run import openings_description, supply_from
from board.fen import STARTING_FEN

OWN = own_openings()
IS_LONG = os.environ.get("QUETZAL_LONG", "0") != "0"
QUICK = ("--no-pin", "--tc", "nodes=10", "--max-moves", "12", "--move-timeout", "120", "--startup-timeout", "120")


def board_after(moves):
    """By python-chess, which knows nothing of ours."""
    board = chess.Board()
    for text in moves:
        move = chess.Move.from_uci(text)
        assert move in board.legal_moves
        board.push(move)
    return board


def test_the_file():
    assert len(OWN) >= 2000
    assert make_openings.FILE.stat().st_size <= 200_000
    positions = set()
    for opening in OWN:
        assert opening.fen == STARTING_FEN
        assert len(opening.moves) == make_openings.PLIES
        assert opening.name.isprintable()
        board = board_after(opening.moves)
        assert board.outcome(claim_draw=True) is None
        positions.add(board.epd())
    assert len(positions) == len(OWN)
    assert f"the {len(OWN):,} that come with Quetzal" in (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    assert f"{len(OWN):,} of our own" in " ".join(run_quetzal("match", "--help").stdout.split())


def test_many_openings_are_there():
    """No first move has most of the lines, and the usual families are there under their names."""
    firsts = [opening.moves[0] for opening in OWN]
    assert len(set(firsts)) >= 8
    assert max(firsts.count(first) for first in set(firsts)) <= 0.6 * len(OWN)
    names = {opening.name for opening in OWN}
    assert {"Sicilian", "French", "Caro-Kann", "Ruy Lopez", "Nimzo-Indian", "English"} <= names
    for opening in OWN:
        if opening.name == "Sicilian":
            assert {"e2e4", "c7c5"} <= set(opening.moves)
        if opening.name == "French":
            assert {"e2e4", "e7e6"} <= set(opening.moves)


def test_they_are_balanced():
    """Every fiftieth again, and with some room: another network judges a little differently."""
    judge = make_openings.Judge()
    scores = [judge.score(make_openings.board_of(opening.moves)) for opening in OWN[::50]]
    assert max(map(abs, scores)) <= make_openings.BALANCED + 60
    assert sum(abs(score) <= make_openings.BALANCED for score in scores) >= 0.9 * len(scores)


def test_they_can_be_made_again():
    """The same seed gives the same lines, another one others; all are new, balanced and eight plies long."""
    lines = make_openings.make(6, 7)
    assert lines == make_openings.make(6, 7)
    assert lines != make_openings.make(6, 8)
    for line in lines:
        assert re.fullmatch(r"[^:]*: ([a-h][1-8][a-h][1-8] ?){8}", line)
        assert not board_after(line.split(": ")[1].split()).is_game_over()


def test_what_is_chosen(tmp_path):
    assert chosen_openings(None, False) == DEFAULT
    assert chosen_openings("default", False) == DEFAULT
    assert chosen_openings("none", False) is None
    assert chosen_openings(None, True) is None
    assert chosen_openings("x.epd", False, tmp_path.joinpath) == tmp_path / "x.epd"
    with pytest.raises(InputError, match="Chess960"):
        chosen_openings("default", True)


def test_they_come_in_a_random_but_seeded_order():
    def drawn(seed):
        description = {"openings": openings_description(DEFAULT, seed=seed), "rules": {"chess960": False}}
        supply = supply_from(description)
        return [supply[number] for number in range(len(OWN))]

    assert drawn(1) == drawn(1) != drawn(2)
    assert drawn(1) != OWN
    assert sorted(drawn(1)) == sorted(OWN)


def test_lines_that_are_cut_stay_different():
    cut = read_openings(DEFAULT, plies=2)
    assert all(len(opening.moves) == 2 for opening in cut)
    assert len({opening.moves for opening in cut}) == len(cut) < len(OWN)


def test_a_file_of_another_version_is_refused():
    """A run that goes on with other openings would not be the same run."""
    how = {**openings_description(DEFAULT), "sha256": "0" * 64}
    with pytest.raises(InputError, match="has changed since the run began"):
        supply_from({"openings": how, "rules": {"chess960": False}})
    assert len(fingerprint(DEFAULT)) == 64


def test_openings_that_run_out_are_said():
    supply = Supply([START, Opening(STARTING_FEN, ("e2e4",)), Opening(STARTING_FEN, ("d2d4",))])
    for number in range(3):
        supply[number]
    assert supply.shortage() is None
    assert supply[3] == START
    assert supply.shortage() == "the 3 openings have run out and are played for the 2nd time"
    supply[12]
    assert supply.shortage().endswith("for the 5th time")
    supply[62]
    assert supply.shortage().endswith("for the 21st time")
    alone = Supply([START])
    assert alone[0] == START
    assert alone.shortage() is None
    assert alone[1] == START
    assert alone.shortage() == "all games begin from the same position"


def results_of(run):
    return json.loads((run / "results.json").read_text(encoding="utf-8"))


def test_a_match_takes_them_by_default(tmp_path):
    run = tmp_path / "run"
    result = run_quetzal("match", command("good"), command("fine"), "--games", "12", "--dir", str(run), *QUICK)
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in (run / "games.jsonl").read_text(encoding="utf-8").splitlines()]
    known = {opening.moves for opening in OWN}
    begun = [tuple(game["moves"][: game["book_plies"]]) for game in lines]
    assert set(begun) <= known
    assert len(set(begun)) == 6
    assert results_of(run)["summary"]["repeated_games"] == 0
    assert "default openings" in (run / "report.html").read_text(encoding="utf-8")


def test_equal_engines_play_different_games(tmp_path):
    """Quetzal against itself with fixed nodes, where chance has no part: 1,000 games if asked, and each is another one."""
    run = tmp_path / "run"
    count = 1000 if IS_LONG else 40
    engine = f"{sys.executable} -m uci_engine"
    limits = ("--tc-a", "nodes=500", "--tc-b", "nodes=600") if IS_LONG else ("--tc", "nodes=40", "--max-moves", "20")
    arguments = ("--games", str(count), *limits, "--no-pin", "--startup-timeout", "120", "--dir", str(run))
    result = run_quetzal("match", engine, engine, *arguments)
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in (run / "games.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len({(game["white"], *game["moves"]) for game in lines}) == len(lines) == count
    summary = results_of(run)["summary"]
    assert summary["repeated_games"] == 0
    assert sum(summary["pentanomial"]) == count // 2


def test_repeated_games_do_not_count(tmp_path):
    """From one position engines that always play alike play two games, however many are asked for."""
    run = tmp_path / "run"
    arguments = ("--openings", "none", "--restart", "--games", "10", "--dir", str(run), *QUICK)
    result = run_quetzal("match", command("good"), command("good"), *arguments)
    assert result.returncode == 0, result.stderr
    assert "warning: all games begin from the same position" in result.stderr
    assert "note   8 games with the moves of an earlier one, not in the statistics" in result.stdout
    summary = results_of(run)["summary"]
    assert summary["games"] == 10
    assert summary["repeated_games"] == 8
    assert summary["mirrored_pairs"] == 1
    assert sum(summary["pentanomial"]) == 1
    assert summary["notes"][-1] == "all games begin from the same position"
    # What was counted once is counted in the same way when the run goes on.
    again = run_quetzal("match", "--resume", str(run), "--games", "12")
    assert again.returncode == 0, again.stderr
    assert results_of(run)["summary"]["repeated_games"] == 10
    assert sum(results_of(run)["summary"]["pentanomial"]) == 1


def test_a_test_without_new_games_ends(tmp_path):
    """A sequential test between engines that repeat themselves would never decide."""
    run = tmp_path / "run"
    arguments = ("--openings", "none", "--restart", "--sprt", "0,5", "--dir", str(run), *QUICK)
    result = run_quetzal("match", command("good"), command("good"), *arguments)
    assert result.returncode == 0, result.stderr
    summary = results_of(run)["summary"]
    assert summary["verdict"] is None
    assert summary["games"] < 10
    assert "stopped: no opening brings new games" in result.stdout


@pytest.mark.parametrize("name", ["x.pgn", "x.epd"])
def test_blank_lines_cost_neither_time_nor_memory(tmp_path, name):
    """Kept as a list they would take 400 MB, and line by line ten seconds."""
    resource = pytest.importorskip("resource")
    path = tmp_path / name
    good = b"e4 e5 *\n" if name == "x.pgn" else b"8/8/8/8/8/7R/8/K1k5 w - -\n"
    bad = b"e4 e4 *\n" if name == "x.pgn" else b"nonsense\n"
    path.write_bytes(b"\n" * (40 << 20) + good + b"\r\n" * 1000 + bad)
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError) as refused:
        read_openings(path)
    assert f"{name}:{(40 << 20) + 1002}: " in str(refused.value)
    assert time.process_time() - began < 4
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB

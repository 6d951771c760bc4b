"""Self-play: games are legal, reproducible, independent of threads, and resumable."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import chess
import pytest
from arena_playing import wait_until

import eval as evaluation
from board import Board
from search import Searcher
from training.files import GameReader
from training.records import decode_game
from training.selfplay import GiveUp, Settings, play_game
from training.selfplay_run import Generator

QUICK = Settings(seed=3, soft_nodes=60, hard_nodes=400)


def games_of(path):
    with GameReader(path) as reader:
        payloads = list(reader)
        assert reader.damage is None
    return payloads


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "uci_engine", "selfplay", *map(str, arguments)], capture_output=True, text=True
    )


def test_games_are_legal_and_their_results_true():
    searcher = Searcher(megabytes=1)
    ends = set()
    for number in range(12):
        played = play_game(searcher, QUICK, number)
        game = decode_game(played.payload)
        assert played.plies == len(game.moves) > game.opening >= QUICK.random_plies
        assert len(game.scores) == len(game.moves) - game.opening
        board = Board(game.fen, chess960=game.chess960)
        oracle = chess.Board(game.fen, chess960=game.chess960)
        for move in game.moves:
            # Castling is written king-takes-rook in Chess960 and by king steps otherwise, as python-chess does too.
            oracle.push(oracle.parse_uci(board.uci(move)))
            board.push(move)
        if oracle.is_checkmate():
            assert game.result == (-1 if oracle.turn == chess.WHITE else 1)
        elif oracle.is_stalemate() or oracle.is_insufficient_material() or oracle.is_repetition(3):
            assert game.result == 0
        elif game.result:
            # Adjudicated: the last scores, seen by both sides, agree with the result.
            assert all(score * game.result >= QUICK.win_score for score in game.scores[1 - QUICK.win_plies :])
        ends.add(game.result)
    assert len(ends) > 1


def test_a_game_depends_only_on_seed_and_number():
    one = [game.payload for game in Generator(QUICK, 0, 1).games(6)]
    two = [game.payload for game in Generator(QUICK, 0, 2).games(6)]
    assert one == two
    assert one[3:] == [game.payload for game in Generator(QUICK, 3, 1).games(3)]
    other = QUICK._replace(seed=4)
    assert one != [game.payload for game in Generator(other, 0, 1).games(6)]


def test_a_run_may_end_with_the_games_that_are_being_played():
    whole = [game.payload for game in Generator(QUICK, 0, 2).games(9)]
    played = []
    for game in Generator(QUICK, 0, 2).games(1000, lambda: bool(played)):
        played.append(game.payload)
    # Two threads are at most two games further, or have just finished them.
    assert 1 <= len(played) <= 9
    assert played == whole[: len(played)]


def test_a_game_may_be_given_up():
    """Between two moves, from another thread: the whole game would take minutes."""
    long = Settings(seed=3, soft_nodes=200_000, hard_nodes=400_000)
    results, give_up = [], GiveUp()
    thread = threading.Thread(
        target=lambda: results.append(play_game(Searcher(megabytes=1), long, 1, give_up)), daemon=True
    )
    thread.start()
    give_up.set()
    thread.join(60)
    assert results == [None]


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_ctrl_c_keeps_the_games(tmp_path):
    path, whole = tmp_path / "games.qzg", tmp_path / "whole.qzg"
    quick = ("--nodes", 60, "--seed", 5, "--threads", 2)
    command = [sys.executable, "-m", "uci_engine", "selfplay", "-o", path, "--games", 100_000, *quick]
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
    assert wait_until(lambda: path.exists() and path.stat().st_size > 5000)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the same command goes on" in told
    kept = games_of(path)
    assert kept
    assert run("-o", path, "--games", len(kept) + 2, *quick).returncode == 0
    assert run("-o", whole, "--games", len(kept) + 2, *quick).returncode == 0
    assert games_of(path) == games_of(whole)


def test_chess960_share():
    only = QUICK._replace(chess960_percent=100)
    none = QUICK._replace(chess960_percent=0)
    assert all(decode_game(game.payload).chess960 for game in Generator(only, 0, 2).games(4))
    assert not any(decode_game(game.payload).chess960 for game in Generator(none, 0, 2).games(4))


def test_the_command_resumes_and_repairs(tmp_path):
    whole, cut = tmp_path / "whole.qzg", tmp_path / "cut.qzg"
    quick = ("--nodes", 60, "--seed", 5, "--threads", 2)
    assert run("-o", whole, "--games", 6, *quick).returncode == 0
    assert run("-o", cut, "--games", 3, *quick).returncode == 0
    # As if killed in the middle of writing the third game.
    cut.write_bytes(cut.read_bytes()[:-7])
    again = run("-o", cut, "--games", 6, *quick)
    assert again.returncode == 0
    assert "not used" in again.stderr
    assert games_of(cut) == games_of(whole)
    assert cut.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("change", "message"), [(("--seed", 6), "other settings: seed"), (("--nodes", 70), "other settings: soft_nodes")]
)
def test_a_file_is_not_continued_with_other_settings(tmp_path, change, message):
    path = tmp_path / "games.qzg"
    assert run("-o", path, "--games", 1, "--nodes", 60, "--seed", 5).returncode == 0
    before = path.read_bytes()
    refused = run("-o", path, "--games", 2, "--nodes", 60, "--seed", 5, *change)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    refused = run("-o", tmp_path / "nowhere" / "games.qzg", "--games", 1)
    assert refused.returncode == 2
    assert "nowhere" in refused.stderr
    assert "Traceback" not in refused.stderr


def other_weights(path, feature):
    """The shipped weights with one feature worth nothing."""
    document = json.loads((Path(evaluation.__file__).parent / "weights.json").read_text(encoding="utf-8"))
    (entry,) = [entry for entry in document["features"] if entry["name"] == feature]
    entry["mg"] = entry["eg"] = [0] * len(entry["mg"])
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_another_evaluation_plays_and_is_remembered(tmp_path):
    own, other, cut = tmp_path / "own.qzg", tmp_path / "other.qzg", tmp_path / "cut.qzg"
    weights = other_weights(tmp_path / "mobile.json", "material")
    quick = ("--nodes", 60, "--seed", 5, "--threads", 2)
    assert run("-o", own, "--games", 3, *quick).returncode == 0
    assert run("-o", other, "--games", 3, *quick, "--eval-file", weights).returncode == 0
    assert games_of(own) != games_of(other)
    with GameReader(own) as reader:
        shipped = hashlib.sha256(evaluation.read_evaluation(evaluation.DEFAULT)).hexdigest()
        assert reader.metadata["eval_sha256"] == shipped
    with GameReader(other) as reader:
        assert reader.metadata["eval_file"] == "mobile.json"
        assert reader.metadata["eval_sha256"] == hashlib.sha256(weights.read_bytes()).hexdigest()
    # The same evaluation goes on under any name, another one or none does not.
    assert run("-o", cut, "--games", 1, *quick, "--eval-file", weights).returncode == 0
    for wrong in ((), ("--eval-file", other_weights(tmp_path / "else.json", "tempo"))):
        refused = run("-o", cut, "--games", 3, *quick, *wrong)
        assert refused.returncode == 2
        assert "was begun with other settings: eval_sha256" in refused.stderr
    renamed = weights.rename(tmp_path / "renamed.json")
    assert run("-o", cut, "--games", 3, *quick, "--eval-file", renamed).returncode == 0
    assert games_of(cut) == games_of(other)


@pytest.mark.parametrize("content", [None, b"{}", b"\xff\xfe no text"])
def test_an_evaluation_that_cannot_be_read_is_said_before_anything_is_written(tmp_path, content):
    bad = tmp_path / "bad.json"
    if content is not None:
        bad.write_bytes(content)
    refused = run("-o", tmp_path / "games.qzg", "--games", 1, "--eval-file", bad)
    assert refused.returncode == 2
    assert "bad.json" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "games.qzg").exists()

"""A game against a person: clocks, ends, take-backs, and what is stored of it."""

import io
import json
import os
import re
import stat

import chess
import chess.pgn
import pytest

from play import storage
from play.clock import Clock
from play.game import Game
from play.storage import Store, new_name

FOOLS_MATE = ["f2f3", "e7e5", "g2g4", "d8h4"]
KNIGHTS = ["g1f3", "g8f6", "f3g1", "f6g8"]


class Time:
    """A clock's idea of time, in seconds, that stands still."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def play(game, moves):
    for move in moves:
        game.push(game.parse(move))


def test_a_clock_counts_one_side_at_a_time():
    time = Time()
    clock = Clock(10_000, 2_000, now=time)
    assert clock.both() == [10_000, 10_000]
    time.now += 5  # nobody's time runs yet
    clock.start(0)
    time.now += 3
    assert clock.both() == [7_000, 10_000]
    clock.press(0)
    assert clock.both() == [9_000, 10_000]
    time.now += 10.5
    assert clock.both() == [9_000, 0]
    assert clock.has_fallen
    clock.stop()
    time.now += 1
    assert clock.both() == [9_000, 0]
    assert not clock.has_fallen


def test_a_mate_ends_the_game():
    game = Game({})
    play(game, FOOLS_MATE)
    assert (game.points, game.reason) == (0.0, "Black mates")
    with pytest.raises(ValueError, match="over"):
        game.push(chess.Move.from_uci("a2a3"))


@pytest.mark.parametrize(
    ("fen", "move", "reason"),
    [
        ("7k/5Q2/8/6K1/8/8/8/8 w - - 0 1", "g5g6", "draw by stalemate"),
        ("8/8/8/4k3/8/8/4p3/4K3 w - - 0 1", "e1e2", "draw by insufficient material"),
        (
            "8/8/8/4k3/8/8/4P3/R3K3 w - - 149 100",
            "a1a2",
            "draw by seventy-five moves without a capture or a pawn move",
        ),
    ],
)
def test_draws_that_nobody_has_to_claim(fen, move, reason):
    game = Game({"fen": fen})
    play(game, [move])
    assert (game.points, game.reason) == (0.5, reason)


def test_draws_that_are_claimed():
    game = Game({})
    play(game, KNIGHTS)
    assert game.claim is None
    with pytest.raises(ValueError, match="no draw"):
        game.claim_draw()
    play(game, KNIGHTS)
    assert game.claim == "threefold repetition"
    game.claim_draw()
    assert (game.points, game.reason) == (0.5, "draw by threefold repetition")
    fifty = Game({"fen": "8/8/8/4k3/8/8/4P3/R3K3 w - - 99 80"})
    assert fifty.claim is None
    play(fifty, ["a1a2"])
    assert fifty.claim.startswith("fifty moves")


def test_fivefold_repetition_ends_the_game():
    game = Game({})
    for _ in range(4):
        play(game, KNIGHTS)
    assert (game.points, game.reason) == (0.5, "draw by fivefold repetition")


@pytest.mark.parametrize(
    ("fen", "points", "reason"),
    [
        (chess.STARTING_FEN, 0.0, "White's time is up"),
        ("4k3/8/8/8/8/8/8/QQQQK3 w - - 0 1", 0.5, "White's time is up, but Black cannot mate"),
        ("4k3/8/8/8/8/8/8/QQQQK3 b - - 0 1", 1.0, "Black's time is up"),
    ],
)
def test_a_flag_falls(fen, points, reason):
    time = Time()
    game = Game({"fen": fen, "control": [5_000, 0]}, now=time)
    game.clock.start(game.turn)
    game.flag()
    assert not game.is_over
    time.now += 5
    game.flag()
    assert (game.points, game.reason) == (points, reason)


def test_a_move_after_the_flag_has_fallen_comes_too_late():
    time = Time()
    game = Game({"control": [5_000, 0]}, now=time)
    game.clock.start(0)
    time.now += 6
    game.push(chess.Move.from_uci("e2e4"))
    assert game.moves == []
    assert game.reason == "White's time is up"


@pytest.mark.parametrize(("person", "left"), [(0, ["f2f3", "e7e5"]), (1, ["f2f3", "e7e5", "g2g4"])])
def test_taking_back_leads_to_the_last_own_decision(person, left):
    game = Game({"person": person})
    play(game, FOOLS_MATE)
    game.take_back()
    assert game.moves == left
    assert not game.is_over
    assert game.is_persons_turn
    while game.moves and (person == 0 or len(game.moves) > 1):
        game.take_back()
    with pytest.raises(ValueError, match="no move"):
        game.take_back()


def test_resigning_and_agreeing():
    for person, points in ((0, 0.0), (1, 1.0)):
        game = Game({"person": person})
        game.resign()
        assert game.points == points
        with pytest.raises(ValueError, match="over"):
            game.agree()
    game = Game({})
    game.agree()
    assert (game.points, game.reason) == (0.5, "draw by agreement")


@pytest.mark.parametrize(
    ("text", "move"),
    [("e4", "e2e4"), (" Nf3 ", "g1f3"), ("nf3", "g1f3"), ("g1f3", "g1f3"), ("e2e4", "e2e4")],
)
def test_moves_as_people_type_them(text, move):
    assert Game({}).parse(text).uci() == move


@pytest.mark.parametrize("text", ["", "e5", "Ke2", "0000", "--", "e2e5", "x" * 13, None, 7, "Z0"])
def test_what_is_no_move(text):
    with pytest.raises(ValueError, match="no "):
        Game({}).parse(text)


def test_pieces_win_over_pawns_in_lower_case():
    """bc3 is a pawn's capture where there is one; otherwise it may be meant as a bishop's move."""
    board = "4k3/8/8/8/8/2p5/1P1B4/4K3 w - - 0 1"
    assert Game({"fen": board}).parse("bxc3").uci() == "b2c3"
    assert Game({"fen": board}).parse("Bxc3").uci() == "d2c3"
    assert Game({"fen": board}).parse("be3").uci() == "d2e3"


@pytest.mark.parametrize(
    "settings",
    [
        {"fen": "nonsense"},
        {"fen": "8/8/8/8/8/8/8/8 w - - 0 1"},
        {"fen": 5},
        {"person": 2},
        {"person": True},
        {"level": 799},
        {"level": "strong"},
        {"control": [0, 0]},
        {"control": [60_000]},
        {"control": [60_000, -1]},
        {"control": "5+3"},
        {"moves": ["e2e5"]},
        {"moves": ["0000"]},
        {"moves": "e2e4"},
        {"moves": [3]},
    ],
)
def test_settings_that_are_wrong(settings):
    with pytest.raises(ValueError, match=r"[a-z]{3}"):
        Game(settings)


def test_a_game_is_the_same_when_it_was_stored(tmp_path):
    store = Store(tmp_path)
    game = Game({"person": 1, "level": 1200, "control": [60_000, 1_000], "book": False}, now=Time())
    game.push(chess.Move.from_uci("e2e4"), {"cp": 35})
    store.save(game.record())
    again = Game(store.load(game.id))
    assert again.record() == game.record()
    assert again.scores == [{"cp": 35}]


def test_chess960_is_kept_with_its_castling(tmp_path):
    fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"  # a position of the perft suites
    store = Store(tmp_path)
    game = Game({"fen": fen, "chess960": True})
    store.save(game.record())
    again = Game(store.load(game.id))
    assert again.board.castling_rights == game.board.castling_rights != 0
    assert again.chess960


def test_the_pgn_is_read_by_python_chess():
    game = Game({"level": 1500, "control": [300_000, 2_000]})
    game.push(chess.Move.from_uci("f2f3"))
    game.push(chess.Move.from_uci("e7e5"), {"cp": -50})
    game.push(chess.Move.from_uci("g2g4"))
    game.push(chess.Move.from_uci("d8h4"), {"mate": -1})
    read = chess.pgn.read_game(io.StringIO(game.pgn()))
    assert not read.errors
    assert [move.uci() for move in read.mainline_moves()] == FOOLS_MATE
    assert read.headers["Result"] == "0-1"
    assert read.headers["Black"] == "Quetzal (level 1500)"
    assert read.headers["TimeControl"] == "300+2"
    evals = [node.eval() for node in read.mainline()]
    assert evals[1].white().score() == -50
    assert evals[3].white().mate() == -1


def test_names_of_games_are_nothing_else(tmp_path):
    store = Store(tmp_path)
    for name in ("../x", "x", None, 5, "", "20260101-000000-abcdef\n", "20260101-000000-abcdeg", "a/b"):
        with pytest.raises(ValueError, match="no such game"):
            store.load(name)
        with pytest.raises(ValueError, match="no such game"):
            store.delete(name)
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{6}", new_name())


def test_damaged_files_are_told_and_stay(tmp_path):
    store = Store(tmp_path)
    name = new_name()
    path = tmp_path / "games" / f"{name}.json"
    for text in ("", "{", "[]", "7", "[" * 100_000, json.dumps({"id": "other"})):
        path.write_text(text)
        with pytest.raises(ValueError, match="damaged"):
            store.load(name)
    assert store.names() == [name]
    assert path.exists()


def test_games_of_one_second_are_in_their_order(monkeypatch):
    names = []
    for moment in (1_700_000_000_000, 1_700_000_000_009, 1_700_000_000_010, 1_700_000_000_999, 1_700_000_001_000):
        monkeypatch.setattr(storage.time, "time_ns", lambda: moment * 1_000_000)  # noqa: B023 - called at once
        names.append(new_name())
    assert names == sorted(names)
    assert len({name[:15] for name in names}) == 2


def test_games_are_listed_newest_first_and_deleted(tmp_path):
    store = Store(tmp_path)
    names = ["20250101-120000-aaaaaa", "20260101-120000-bbbbbb"]
    for name in names:
        store.save({"id": name})
    (tmp_path / "games" / "notes.txt").write_text("mine")
    assert store.names() == names[::-1]
    store.delete(names[0])
    assert store.names() == names[1:]
    with pytest.raises(ValueError, match="no such game"):
        store.delete(names[0])


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_the_secret_is_for_this_user_alone_and_stays(tmp_path):
    store = Store(tmp_path)
    secret = store.secret()
    assert re.fullmatch(r"[0-9a-f]{32}", secret)
    path = tmp_path / "page-secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Store(tmp_path).secret() == secret
    path.chmod(0o644)  # others may have read it
    assert store.secret() != secret
    path.write_text("short")
    assert re.fullmatch(r"[0-9a-f]{32}", store.secret())

"""A session with the real engine: its moves, hints, answers to offers, analysis, and games that go on."""

import json
import time

import chess
import pytest
from support import quetzal

from play.game import Game
from play.session import Session, is_no_better, score_of
from play.storage import Store

PATIENCE = 60.0


@pytest.fixture
def session(tmp_path):
    opened = Session(Store(tmp_path))
    yield opened
    opened.close()


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "nothing has happened"
        time.sleep(0.01)


def persons_turn(session):
    wait_for(lambda: session.game.is_over or session.game.is_persons_turn)


def test_the_engine_answers_and_the_game_is_kept(session):
    session.new_game({"level": 1500, "book": False})
    session.move("e4")
    persons_turn(session)
    state = session.state()["game"]
    assert len(state["moves"]) == 2
    assert state["scores"][0] is None
    assert "cp" in state["scores"][1]
    json.dumps(session.state())
    assert session.store.load(state["id"])["moves"] == state["moves"]


def test_the_engine_begins_where_it_has_white(session):
    session.new_game({"person": 1, "level": 800})
    persons_turn(session)
    assert len(session.game.moves) == 1


def test_a_game_goes_on_after_a_restart(tmp_path):
    first = Session(Store(tmp_path))
    first.new_game({"level": 1500, "control": [60_000, 0]})
    first.move("d4")
    persons_turn(first)
    before = first.game.record()
    first.close()
    second = Session(Store(tmp_path))
    try:
        after = second.game.record()
        assert after | {"left": None} == before | {"left": None}
        assert second.game.clock.running == 0
        # Time without the program is nobody's.
        assert after["left"][0] > before["left"][0] - 5_000
    finally:
        second.close()


def test_a_move_that_was_due_is_made_after_a_restart(tmp_path):
    first = Session(Store(tmp_path))
    first.new_game({"control": [600_000, 0]})
    first.move("d4")
    first.close()
    second = Session(Store(tmp_path))
    try:
        persons_turn(second)
        assert len(second.game.moves) == 2
    finally:
        second.close()


def test_only_the_person_moves_and_only_once(session):
    session.new_game({"control": [600_000, 0], "book": False})
    session.move("e4", ply=0)
    with pytest.raises(ValueError, match="not your turn"):
        session.move("d4")
    persons_turn(session)
    with pytest.raises(ValueError, match="gone on"):
        session.move("d4", ply=0)
    with pytest.raises(ValueError, match="no legal move"):
        session.move("Qh8")


def test_nothing_without_a_game(session):
    for action in (session.take_back, session.resign, session.offer_draw, session.claim_draw, session.ask_hint):
        with pytest.raises(ValueError, match="no game"):
            action()
    with pytest.raises(ValueError, match="no game"):
        session.move("e4")


def test_a_search_that_begins_again_knows_the_clock(session, monkeypatch):
    asked = []
    session.new_game({"control": [600_000, 0], "book": False})
    monkeypatch.setattr(session.thinker, "ask", lambda kind, wish: asked.append((kind, wish.parameters.btime)))
    session.move("e4")
    time.sleep(0.3)
    session.set_engine({"threads": 1, "hash": 8})
    (first, before), (second, after) = asked
    assert (first, second) == ("move", "move")
    assert after <= before - 300


def test_a_mistake_at_the_end_of_a_search_is_told(session):
    """What comes behind it must not wait for ever."""
    session.new_game({"level": 800, "book": False})
    push = session.game.push

    def refuse_engines(move, score=None):
        if not session.game.is_persons_turn:
            raise RuntimeError("not this one")
        push(move, score)

    session.game.push = refuse_engines
    session.move("e4")
    wait_for(lambda: session.messages)
    assert session.messages[-1] == "RuntimeError: not this one"
    session.game.push = push
    session.take_back()
    session.move("d4")
    persons_turn(session)
    assert len(session.game.moves) == 2


def test_the_longest_game_is_a_draw(session, monkeypatch):
    """The engine's move to a longer one would be refused, and it would seem to think for ever."""
    monkeypatch.setattr("play.game.MOST_PLIES", 3)
    session.new_game({"moves": ["e2e4", "e7e5"]})
    session.move("Nf3")
    assert (session.game.points, session.game.reason[:18]) == (0.5, "draw by its length")
    assert Game(session.game.record()).is_over
    session.take_back()
    assert not session.game.is_over


def test_taking_back_while_the_engine_thinks(session):
    session.new_game({"control": [600_000, 0], "book": False})
    session.move("e4")
    session.take_back()
    assert session.game.moves == []
    time.sleep(0.3)  # an answer to the move that is not there any more would come now
    assert session.game.moves == []
    session.move("d4")
    persons_turn(session)
    assert session.game.moves[0] == "d2d4"
    assert len(session.game.moves) == 2


def test_a_flag_falls_by_itself(session):
    session.new_game({"control": [1_000, 0], "book": False})
    wait_for(lambda: session.game.is_over)
    assert session.game.reason == "White's time is up"
    with pytest.raises(ValueError, match="over"):
        session.move("e4")


def test_a_hint_is_a_legal_move(session):
    session.new_game({"fen": "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "book": False})
    session.ask_hint()
    wait_for(lambda: session.hint is not None)
    assert session.hint == "a1a8"  # mate
    session.move("Ra8")
    assert session.game.reason == "White mates"


def test_offers_are_answered_by_the_score(session, monkeypatch):
    session.new_game({"level": 1500})
    session.offer_draw()
    assert session.answer == "Quetzal declines the draw"
    assert not session.game.is_over
    # Whoever is lost agrees, but not in the opening.
    session.new_game({"fen": "4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1", "book": False})
    session.move("Qa7")
    persons_turn(session)
    session.offer_draw()
    assert not session.game.is_over
    monkeypatch.setattr("play.session.DRAW_FROM", 2)
    session.offer_draw()
    assert session.game.reason == "draw by agreement"


def test_scores_and_sides():
    assert score_of({"score": {"cp": 30}}, 0) == {"cp": 30}
    assert score_of({"score": {"mate": -2}}, 1) == {"mate": 2}
    assert is_no_better({"cp": 0}, 0)
    assert is_no_better({"cp": 10}, 1)
    assert not is_no_better({"cp": -10}, 1)
    assert not is_no_better({"mate": 3}, 0)
    assert is_no_better({"mate": 3}, 1)
    assert not is_no_better(None, 0)


def test_a_draw_by_repetition_against_the_engine(session):
    """It moves its king to and fro, having nothing else, and claims the draw or leaves that to the person.

    The locked pawns keep its king on the last rank, so with White's on two squares there are eight positions: whatever
    a level of 800 chooses, one of them is there for the third time after 17 moves. With a rank to wander over it once
    found fifty moves first.
    """
    session.new_game({"fen": "7k/p1p1p1p1/P1P1P1P1/8/8/8/8/7K w - - 0 1", "book": False, "level": 800})
    for _ in range(60):
        if session.game.is_over:
            break
        if session.game.claim:
            session.claim_draw()
            break
        session.move("Kg1" if session.game.board.king(chess.WHITE) == chess.H1 else "Kh1")
        persons_turn(session)
    assert session.game.points == 0.5
    assert "repetition" in session.game.reason


def test_analysis_has_the_lines_of_uci_at_the_same_nodes(session):
    fen, moves = chess.STARTING_FEN, ["e2e4", "c7c5"]
    session.analyse({"fen": fen, "moves": moves, "lines": 3, "nodes": 30_000})
    wait_for(lambda: not session.state()["analysis"]["running"])
    lines = session.state()["analysis"]["lines"]
    board = chess.Board(fen)
    for move in moves:
        board.push_uci(move)
    limits = ("go", "nodes", "30000", "--multipv", "3", "--hash", "16", "--threads", "1", "--json")
    said = json.loads(quetzal(*limits, "--fen", board.fen(en_passant="fen")).stdout)["lines"]
    assert len(lines) == len(said) == 3
    for line, other in zip(lines, said, strict=True):
        for name in ("pv", "score", "depth", "nodes"):
            assert line[name] == other[name], name
        assert sum(line["wdl"]) == 1000
        after = board.copy()
        for move in line["pv"]:
            after.push(after.parse_uci(move))


class ScriptedThinker:
    """Keeps the wish, whose callbacks a test then calls as it likes."""

    def __init__(self, settings, say):
        self.wish = None

    def ask(self, kind, wish):
        self.wish = wish

    def close(self):
        pass


def test_lines_of_one_depth_are_shown_together(tmp_path):
    """Beside an older line the first one of a new depth could be the same move once more."""
    session = Session(Store(tmp_path), thinker=ScriptedThinker)
    session.analyse({"lines": 3})

    def report(depth, number, move):
        session.thinker.wish.on_info({"depth": depth, "multipv": number, "score": {"cp": 0}, "pv": [move]})
        return [(line["depth"], line["pv"][0]) for line in session.state()["analysis"]["lines"]]

    assert report(1, 1, "e2e4") == report(1, 2, "d2d4") == []
    first = report(1, 3, "c2c4")
    assert first == [(1, "e2e4"), (1, "d2d4"), (1, "c2c4")]
    version = session.version
    assert report(2, 1, "d2d4") == report(2, 2, "c2c4") == first
    assert report(1, 1, "a2a3") == first  # begun again, after a move of the game
    assert report(1, 2, "h2h3") == first
    assert session.version == version
    assert report(1, 3, "b2b3") == [(1, "a2a3"), (1, "h2h3"), (1, "b2b3")]
    # With two legal moves there are no three lines.
    session.analyse({"fen": "k7/8/8/8/8/8/8/KR6 b - - 0 1", "lines": 3})
    assert report(1, 1, "a8a7") == [(1, "a8a7")]


def test_analysis_of_black_is_from_whites_side(session):
    session.analyse({"fen": "4k3/8/8/8/8/8/8/QQ2K3 b - - 0 1", "nodes": 5_000})
    wait_for(lambda: not session.state()["analysis"]["running"])
    line = session.state()["analysis"]["lines"][0]
    assert line["score"].get("cp", 1000 * line["score"].get("mate", 0)) > 500
    assert line["wdl"][0] > 900


def test_analysis_waits_for_the_game_and_goes_on(session):
    session.analyse({"lines": 1})
    wait_for(lambda: session.analysis["lines"])
    session.new_game({"person": 1, "level": 1500, "book": False})
    persons_turn(session)
    assert len(session.game.moves) == 1
    depth = session.analysis["lines"][0]["depth"]
    wait_for(lambda: session.analysis["lines"][0]["depth"] > depth or session.analysis["lines"][0]["depth"] >= 12)
    assert session.analysis["running"]
    session.set_engine({"threads": 2, "hash": 8})
    session.stop_analysis()
    assert not session.analysis["running"]


def test_a_position_without_moves_is_analysed_without_lines(session):
    session.analyse({"fen": chess.STARTING_FEN, "moves": ["f2f3", "e7e5", "g2g4", "d8h4"], "nodes": 100})
    wait_for(lambda: not session.analysis["running"])
    assert all("pv" not in line for line in session.analysis["lines"])


@pytest.mark.parametrize(
    "wanted",
    [{"lines": 0}, {"lines": 6}, {"lines": "3"}, {"fen": "x"}, {"moves": ["e2e5"]}, {"nodes": 0}, {"nodes": 1.5}],
)
def test_what_cannot_be_analysed(session, wanted):
    with pytest.raises(ValueError, match=r"[a-z]{3}"):
        session.analyse(wanted)


def test_games_are_listed_with_the_damaged_ones(session, tmp_path):
    session.new_game({"level": 900})
    session.resign()
    (tmp_path / "games" / "20200101-000000-aaaaaa.json").write_text("{")
    games = session.games()
    assert games[0]["reason"] == "White resigns"
    assert games[-1] == {"id": "20200101-000000-aaaaaa", "damaged": True}
    with pytest.raises(ValueError, match="damaged"):
        session.open_game("20200101-000000-aaaaaa")
    session.delete_game(games[0]["id"])
    assert session.game is None
    assert [game["id"] for game in session.games()] == ["20200101-000000-aaaaaa"]


def test_a_disk_that_refuses_is_told(session, monkeypatch):
    def refuse(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session.store, "save", refuse)
    session.new_game({"level": 900})
    assert session.game is not None
    assert session.messages[-1] == "the game cannot be kept: No space left on device"

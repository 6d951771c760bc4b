"""The program that runs inside a browser, here on this system: it starts no thread, and nothing that a page sends breaks it."""

import json
import threading

import chess
import pytest

from play.browser import Program
from play.browser_page import page_text, worker_text
from search import Searcher
from uci_engine.bench import lines

FOOLS_MATE = ["f2f3", "e7e5", "g2g4"]


class Page:
    """What the worker does for the page: requests in, messages out, and the work between them."""

    def __init__(self):
        self.messages = []
        self.program = Program(lambda text: self.messages.append(json.loads(text)))

    def send(self, text):
        """The answer to a text, whatever it is."""
        before = len(self.messages)
        self.program.ask(text)
        (answer,) = [each for each in self.messages[before:] if each["kind"] == "answer"]
        return answer

    def ask(self, path, **body):
        answer = self.send(json.dumps({"id": len(self.messages), "path": path, "body": body}))
        while self.program.work():
            pass
        return answer

    @property
    def game(self):
        """The game as the page knows it."""
        states = [each["state"] for each in self.messages if each["kind"] == "state"]
        return states[-1]["game"] if states else None


@pytest.fixture
def page(monkeypatch):
    """In a browser no thread can be started."""

    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    opened = Page()
    yield opened
    opened.program.session.close()


def board_of(game):
    board = chess.Board(game["fen"])
    for move in game["moves"]:
        board.push(board.parse_uci(move))
    return board


@pytest.mark.parametrize("level", [800, 2000, None])
def test_it_answers_every_move(page, level):
    page.ask("game/new", level=level, movetime=100, book=False)
    for move in ("e4", "d4", None):
        if move is None:  # the answer to d4 may be a check
            move = next(iter(board_of(page.game).legal_moves)).uci()
        plies = len(page.game["moves"])
        assert "problem" not in page.ask("game/move", move=move, ply=plies)
        assert len(page.game["moves"]) == plies + 2
    assert page.game["thinking"] is False
    board_of(page.game)


def test_it_begins_with_white_and_from_the_book(page):
    page.ask("game/new", person=1, book=True, movetime=50)
    assert len(page.game["moves"]) == 1
    assert page.game["scores"][0] is not None


def test_the_end_has_its_reason(page):
    page.ask("game/new", person=0, book=False, movetime=200, moves=["f2f3", "e7e5"])
    page.ask("game/move", move="g4")
    assert page.game["moves"] == [*FOOLS_MATE, "d8h4"]
    assert (page.game["points"], page.game["reason"]) == (0, "Black mates")
    assert "over" in page.ask("game/move", move="a3")["problem"]


def test_stalemate_and_bare_kings(page):
    page.ask("game/new", fen="7k/8/5KQ1/8/8/8/8/8 w - - 0 1", movetime=50)
    page.ask("game/move", move="Kf7")
    assert (page.game["points"], page.game["reason"]) == (0.5, "draw by stalemate")
    page.ask("game/new", fen="7k/8/8/8/8/8/6q1/6K1 w - - 0 1", movetime=50)
    page.ask("game/move", move="Kxg2")
    assert (page.game["points"], page.game["reason"]) == (0.5, "draw by insufficient material")


def test_promotion_take_back_hint_and_pgn(page):
    page.ask("game/new", fen="8/P6k/8/8/8/8/7p/K7 w - - 0 1", movetime=50)
    page.ask("game/move", move="a7a8n")
    assert page.game["moves"][0] == "a7a8n"
    page.ask("game/take-back")
    assert page.game["moves"] == []
    page.ask("game/hint")
    assert board_of(page.game).is_legal(chess.Move.from_uci(page.game["hint"]))
    page.ask("game/resign")
    assert page.game["reason"] == "White resigns"
    assert '[Result "0-1"]' in page.ask("game/pgn")["answer"]["pgn"]


def test_the_endgame_tables_are_asked(page):
    """A king and a rook mate from anywhere within sixteen moves, whatever the time, if every move is the tables'."""
    page.ask("game/new", fen="8/8/8/3k4/8/8/8/K6R b - - 0 1", person=1, movetime=50)
    for _ in range(16):
        board = board_of(page.game)
        if page.game["points"] is not None:
            break
        page.ask("game/move", move=next(iter(board.legal_moves)).uci())
    assert page.game["reason"] == "White mates"


def test_thinking_takes_no_longer_than_it_may(page):
    page.ask("game/new", book=False, movetime=300)
    page.send(json.dumps({"id": 1, "path": "game/move", "body": {"move": "e4"}}))
    assert page.game["thinking"] is True
    page.program.session.thinker.work()
    assert page.program.session.game.is_persons_turn


NONSENSE = [
    "",
    "{",
    "null",
    "7",
    '"text"',
    "[]",
    "{}",
    '{"id": 1, "path": "game/new"}',
    '{"id": 1, "path": "game/new", "body": []}',
    '{"id": {}, "path": ["x"], "body": {}}',
    '{"id": 1, "path": "__init__", "body": {}}',
    '{"id": 1, "path": "game/move", "body": {"move": {"x": 1}}}',
    '{"id": 1, "path": "game/move", "body": {"move": "e2e4", "ply": "x"}}',
    '{"id": 1, "path": "game/move", "body": {"move": "' + "e" * 100_000 + '"}}',
    '{"id": 1, "path": "game/new", "body": {"fen": "</script>"}}',
    '{"id": 1, "path": "game/new", "body": {"fen": "9/8/8/8/8/8/8/8 w - - 0 1"}}',
    '{"id": 1, "path": "game/new", "body": {"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}}',
    '{"id": 1, "path": "game/new", "body": {"level": 1e999}}',
    '{"id": 1, "path": "game/new", "body": {"level": -5}}',
    '{"id": 1, "path": "game/new", "body": {"movetime": 1e12}}',
    '{"id": 1, "path": "game/new", "body": {"movetime": "1000"}}',
    '{"id": 1, "path": "game/new", "body": {"person": 2}}',
    '{"id": 1, "path": "game/new", "body": {"moves": ["e2e4", "e2e4"]}}',
    '{"id": 1, "path": "game/new", "body": {"moves": {"a": 1}}}',
    '{"id": 1, "path": "game/new", "body": ' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "}",
]


@pytest.mark.parametrize("text", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_is_refused_in_words(page, text):
    page.ask("game/new", book=False, movetime=50)
    page.ask("game/move", move="e4")
    before = page.game
    problem = page.send(text)["problem"]
    assert problem
    assert len(problem) < 300
    assert page.game == before
    page.ask("game/move", move="Nf3")
    assert len(page.game["moves"]) == 4


def test_a_clock_is_not_begun(page):
    page.ask("game/new", control=[60_000, 0])
    assert page.game["control"] is None


def test_the_bench_needs_no_thread(page):
    """The same nodes as with one, to the same depth."""
    *_, closing = lines(depth=4, think=Searcher.think)
    assert closing.split()[1] == "nodes"


def test_the_bench_is_the_same_with_a_thread():
    *_, beside = lines(depth=4)
    *_, within = lines(depth=4, think=Searcher.think)
    assert beside.split()[0] == within.split()[0]


def test_the_page_needs_nothing_from_elsewhere():
    text = page_text(13)
    assert "default-src 'none'" in text
    assert "worker-src 'self'" in text
    assert text.count("http://") + text.count("https://") == text.count("http://www.w3.org")
    assert "://" not in worker_text()

"""The server behind the page: what it serves, to whom, and what it refuses."""

import contextlib
import http.client
import json
import socket
import time

import chess
import pytest

from play.pages import BODY_BYTES, PlayServer
from play.pgn_tree import game_of
from play.review import Reviewer
from play.session import Session
from play.storage import Store
from play.tree import CancelledError
from search import Limits, Searcher
from uci_engine.endgame import Endgame
from web.server import TOKEN_HEADER

PATIENCE = 60.0


@pytest.fixture
def page(tmp_path):
    server = PlayServer(Session(Store(tmp_path)), 0)
    server.start()
    yield server
    server.close()


class Reply:
    def __init__(self, status, body, headers):
        self.status, self.body, self.headers = status, body, headers

    @property
    def data(self):
        return json.loads(self.body)


def ask(page, method, path, body=None, headers=None, prefix=None):
    connection = http.client.HTTPConnection("127.0.0.1", page.server.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        start = page.address.split("/", 3)[3] if prefix is None else prefix
        connection.request(method, f"/{start}{path}", body, headers or {})
        reply = connection.getresponse()
        return Reply(reply.status, reply.read(), reply.headers)


def get(page, path="", **more):
    return ask(page, "GET", path, **more)


def post(page, path, data=None, **changed):
    headers = {"Content-Type": "application/json", TOKEN_HEADER: page.server.token}
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    body = data if isinstance(data, (bytes, str)) else json.dumps(data or {})
    return ask(page, "POST", path, body, {name: value for name, value in headers.items() if value is not None})


def test_the_page_is_under_a_secret_path(page):
    assert b"<title>Quetzal</title>" in get(page).body
    for prefix in ("", "x/", page.session.store.secret()[:-1] + "/", page.session.store.secret().upper() + "x/"):
        assert get(page, prefix=prefix).status == 404
        assert get(page, "state.json", prefix=prefix).status == 404
    assert ask(page, "POST", "game/new", "{}", {TOKEN_HEADER: page.server.token}, prefix="").status == 404


def test_nothing_else_is_served(page):
    for path in (
        "page.css",
        "../",
        "..%2f",
        "game.pgn?id=../../page-secret",
        "game.pgn",
        "page/body.html",
        "tree.json",
    ):
        assert get(page, path).status == 404, path


def test_the_page_needs_nothing_from_elsewhere(page):
    text = get(page).body.decode()
    assert "src=" not in text.split("<script>")[0]
    assert "default-src 'none'" in text
    assert "http://www.w3.org" in text
    assert text.count("http://") + text.count("https://") == text.count("http://www.w3.org")


def test_changes_want_the_token_of_the_page(page):
    assert post(page, "game/new").status == 200
    for wrong in (
        {TOKEN_HEADER: None},
        {TOKEN_HEADER: ""},
        {TOKEN_HEADER: "x"},
        {TOKEN_HEADER: page.server.token[:-1]},
    ):
        assert post(page, "game/resign", **wrong).status == 403
    assert post(page, "game/resign", Origin="http://evil.example").status == 403
    assert post(page, "game/resign", Origin="null").status == 403
    assert post(page, "game/resign", Host="evil.example").status == 403
    assert post(page, "game/resign", Content_Type="text/plain").status == 415
    assert ask(page, "OPTIONS", "game/resign").status == 405
    assert ask(page, "PUT", "game/resign", "{}").status == 405
    assert not page.session.game.is_over
    assert post(page, "game/resign", Origin=f"http://127.0.0.1:{page.server.port}").status == 200
    assert page.session.game.is_over


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"\xff\xfe", b"[" * 50_000, b'{"a":' + b"9" * 5000 + b"}"])
def test_what_is_no_json_object(page, body):
    assert post(page, "game/new", body).status == 400
    assert get(page).status == 200


def test_what_is_too_large_is_not_read(page):
    with contextlib.suppress(OSError):
        assert post(page, "pgn/list", b'{"pgn":"' + b" " * (BODY_BYTES + 10_000) + b'"}').status == 413
    assert get(page).status == 200


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("game/new", {"fen": "x"}),
        ("game/new", {"person": [1]}),
        ("game/open", {}),
        ("game/open", {"id": "../../etc/passwd"}),
        ("game/delete", {"id": 5}),
        ("game/move", {"move": "e4"}),
        ("analysis/start", {"lines": 99}),
        ("analysis/start", {"moves": [["e2e4"]]}),
        ("engine", {"threads": 100_000}),
        ("engine", {"hash": -1}),
        ("engine", {"tables": "/dev/zero"}),
        ("position", {"fen": "8/8/8/8/8/8/8/8 w - - 0 1"}),
        ("pgn/list", {"pgn": ""}),
        ("pgn/list", {}),
        ("pgn/read", {"pgn": 5}),
        ("pgn/write", {"nodes": [[9, "e2e4", "", []]]}),
        ("review/start", {"nodes": []}),
        ("review/start", {"nodes": [[-1, "e2e4", "", []]], "nodes_per_move": 1}),
        ("inside/tree", {"technique": "guessing"}),
        ("inside/tree", {"depth": 99}),
        ("inside/tree", {"fen": "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"}),
        ("inside/children", {"number": 1}),
        ("inside/iterations", {"depth": 0}),
    ],
)
def test_refusals_say_why(page, path, data):
    reply = post(page, path, data)
    assert reply.status == 422
    assert len(reply.data["problem"]) > 5
    assert "Traceback" not in reply.data["problem"]


def test_unknown_actions(page):
    assert post(page, "game/win").status == 404
    assert post(page, "").status == 404


def test_a_game_over_http(page):
    state = get(page, "state.json").data
    assert state["game"] is None
    assert get(page, f"state.json?since={state['version']}").data == {}
    assert post(page, "game/new", {"level": 1000, "book": False}).status == 200
    assert post(page, "game/move", {"move": "e4", "ply": 0}).status == 200
    deadline = time.monotonic() + PATIENCE
    while len((game := get(page, "state.json").data["game"])["moves"]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert post(page, "game/resign").status == 200
    (listed,) = get(page, "games.json").data
    assert (listed["id"], listed["points"]) == (game["id"], 0.0)
    pgn = get(page, f"game.pgn?id={game['id']}")
    assert pgn.body.decode().rstrip().endswith("0-1")
    assert pgn.headers["Content-Type"].startswith("application/x-chess-pgn")
    assert post(page, "game/delete", {"id": game["id"]}).status == 200
    assert get(page, "games.json").data == []


def test_facts_about_positions(page):
    facts = post(page, "position", {"moves": ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]}).data
    assert facts["opening"] == "Ruy Lopez"
    assert facts["tables"] is None
    assert len(facts["why"]["values"]) == 30
    assert sum(row["sum"] for row in facts["why"]["rows"]) == facts["why"]["classical"]
    # King and queen against king: every move is in the tables that come with the program.
    facts = post(page, "position", {"fen": "7k/8/5K2/8/8/8/8/Q7 w - - 0 1"}).data
    assert facts["verdict"] == "win"
    moves = {row["move"]: row["words"] for row in facts["tables"]}
    board = chess.Board("7k/8/5K2/8/8/8/8/Q7 w - - 0 1")
    assert set(moves) == {move.uci() for move in board.legal_moves}
    for move in board.legal_moves:
        board.push(move)
        expected = "checkmate" if board.is_checkmate() else "stalemate" if board.is_stalemate() else "win"
        board.pop()
        assert moves[move.uci()] == expected


def finished(page, kind, number):
    deadline = time.monotonic() + PATIENCE
    while (task := get(page, "state.json").data["tasks"][kind])["running"]:
        assert task["number"] == number
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return task


def test_a_review_over_http(page):
    scholars = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"]
    nodes = [[index - 1, move, "kept" if index == 1 else "", []] for index, move in enumerate(scholars)]
    number = post(page, "review/start", {"nodes": nodes, "nodes_per_move": 5_000}).data["number"]
    task = finished(page, "review", number)
    assert task["done"] == task["total"] > 0
    found = get(page, "review.json").data["result"]
    assert found["review"]["moves"][5]["grade"] == "blunder"  # 3...Nf6 overlooks the mate
    tree = found["tree"]["nodes"]
    line, parent = [], -1
    while (place := next((index for index, node in enumerate(tree) if node[0] == parent), None)) is not None:
        line.append(tree[place])
        parent = place
    assert [node[1] for node in line] == scholars
    assert "kept" in line[1][2]
    assert 4 in line[5][3]


def test_reviews_know_the_endgame_tables(page):
    """As the command does: a rook against a bishop looks won to a short search, and is a draw."""
    tree = {"fen": "8/8/8/3k4/3b4/8/8/R3K3 w - - 0 1", "nodes": [[-1, "e1e2", "", []], [0, "d4e5", "", []]]}
    finished(page, "review", post(page, "review/start", {**tree, "nodes_per_move": 5_000}).data["number"])
    searcher = Searcher(megabytes=16)
    reviewer = Reviewer(searcher, Limits(nodes=5_000), Endgame("", pytest.fail))
    expected = reviewer.review(game_of(tree)).as_json()
    searcher.close()
    assert get(page, "review.json").data["result"]["review"] == json.loads(json.dumps(expected))
    assert expected["start"]["cp"] == 0


def test_a_review_is_stopped(page):
    nodes = [[index - 1, move, "", []] for index, move in enumerate(["g1f3", "g8f6", "f3g1", "f6g8"] * 30)]
    number = post(page, "review/start", {"nodes": nodes, "nodes_per_move": 10_000_000}).data["number"]
    assert post(page, "review/stop").status == 200
    finished(page, "review", number)
    assert get(page, "review.json").data["result"] is None


def test_iterations_are_stopped_between_two_depths(page, monkeypatch):
    """The last depths take longer than anybody wants to wait."""

    def long_depth(searcher, board, limits, cancelled):
        yield {"depth": 1}
        while not cancelled():
            time.sleep(0.01)
        raise CancelledError

    monkeypatch.setattr("play.study.iterations", long_depth)
    number = post(page, "inside/iterations", {"depth": 40}).data["number"]
    assert post(page, "inside/stop").status == 200
    assert finished(page, "iterations", number)["problem"] is None


def test_inside_the_search_over_http(page):
    values = {}
    for technique in ("minimax", "alphabeta-bad", "alphabeta-good"):
        number = post(page, "inside/tree", {"technique": technique, "depth": 3}).data["number"]
        assert finished(page, "tree", number)["problem"] is None
        top = post(page, "inside/children", {"number": number}).data
        values[technique] = top["summary"]["value"]
        assert top["summary"]["minimax_leaves"] == 8_902  # perft of the start position
        below = post(page, "inside/children", {"number": number, "node": top["children"][0]["id"]}).data["children"]
        assert {child["uci"] for child in below} <= {move.uci() for move in chess.Board().legal_moves}
    assert len(set(values.values())) == 1
    assert post(page, "inside/children", {"number": number, "node": 10**9}).status == 422
    number = post(page, "inside/iterations", {"depth": 5}).data["number"]
    finished(page, "iterations", number)
    rows = get(page, "iterations.json").data["result"]
    assert [row["depth"] for row in rows] == [1, 2, 3, 4, 5]


def test_slow_clients_do_not_stop_the_game(page):
    post(page, "game/new", {"level": 1000, "book": False})
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            connection = stack.enter_context(socket.socket())
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                connection.connect(("127.0.0.1", page.server.port))
            with contextlib.suppress(OSError):
                connection.send(b"POST /x HTTP/1.1\r\nHost: loc")
        page.session.move("e4")
        deadline = time.monotonic() + PATIENCE
        while len(page.session.game.moves) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert post(page, "game/resign").status == 200
    assert page.session.game.is_over

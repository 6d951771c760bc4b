"""The report page of real games, in a browser where there is one, and the server that shows it while games run."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.parse import urlsplit

import axe
import chess
import pytest
from arena_playing import PATIENCE, command, run_quetzal
from support import DATA

from arena.live import Snapshot
from arena.report import GAMES_WITH_MOVES

MINUS = "\N{MINUS SIGN}"
NASTY = "/*SCRIPT*/</script><!--<b>&\"' one"


@pytest.fixture(scope="module")
def match(tmp_path_factory):
    """A finished match whose first engine has a name that would break a careless page."""
    run = tmp_path_factory.mktemp("report") / "run"
    result = run_quetzal(
        "match", command("good"), command("resigns"), "--names", f"{NASTY},two", "--games", "6", "--resign", "800,12",
        "--tc", "20+1", "--max-moves", "30", "--startup-timeout", "60", "--sprt", "0,50", "-c", "2", "--no-pin", "--dir", str(run),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return run


def games_of(run):
    return {game["game"]: game for game in map(json.loads, (run / "games.jsonl").read_bytes().splitlines())}


def shown_position(window, selector="#board"):
    """The placement on a board of the page, read from where its pieces stand."""
    pieces = window.run(
        "return [...document.querySelectorAll(arguments[0] + ' [data-piece]')]"
        ".map((piece) => [piece.dataset.piece, piece.getAttribute('transform')])",
        selector,
    )
    board = chess.Board(None)
    for letter, place in pieces:
        x, y = map(int, re.fullmatch(r"translate\((\d+) (\d+)\)", place).groups())
        board.set_piece_at(chess.square(x // 45, 7 - y // 45), chess.Piece.from_symbol(letter))
    return board.board_fen()


def test_the_page_needs_nothing_else(match):
    text = (match / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href)\s*=", text)
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "@import" not in text
    assert NASTY not in text
    assert str(match) not in text


def test_the_figures(match, chromium):
    chromium.open(f"file://{match / 'report.html'}")
    summary = json.loads((match / "results.json").read_text(encoding="utf-8"))["summary"]
    figures = chromium.text("#figures")
    assert f"+{summary['wins']} {MINUS}{summary['losses']} ={summary['draws']}" in figures
    assert " · ".join(map(str, summary["pentanomial"])) in figures
    assert f"{summary['llr']:.2f}".replace("-", MINUS) in figures
    rows = chromium.run(
        "return [...document.querySelectorAll('#standings-table tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.innerText))"
    )
    points = {row[1]: row[2] for row in rows}
    expected = summary["wins"] + summary["draws"] / 2
    assert points[NASTY] == (f"{int(expected)}½" if expected % 1 else str(int(expected)))
    rows = "return [...document.querySelectorAll('#games tbody tr')].map((row) => row.dataset.game)"
    assert chromium.run(rows) == ["6", "5", "4", "3", "2", "1"]
    for plot in ("#rating-plot", "#score-plot", "#llr-plot", "#length-plot"):
        assert chromium.run("return document.querySelector(arguments[0] + ' svg').children.length", plot) > 3
    assert chromium.complaints() == []


def test_clicking_through_a_game(match, chromium):
    chromium.open(f"file://{match / 'report.html'}")
    number, game = max(games_of(match).items(), key=lambda item: len(item[1]["moves"]))
    chromium.click(f"#games tr[data-game='{number + 1}']")
    assert f"game {number + 1}" in chromium.text("#game-note")
    board = chess.Board(game["fen"])
    assert shown_position(chromium) == board.board_fen()
    for move in game["moves"][:12]:
        chromium.click("#next")
        board.push_uci(move)
        assert shown_position(chromium) == board.board_fen()
    # Black's move: "good" sees +0.37 for itself, "resigns" sees itself nine pawns behind, all shown from White's side.
    assert chromium.text("#thought").startswith(f"{MINUS}0.37" if game["black"] == NASTY else "+9.00")
    chromium.click("#back")
    board.pop()
    assert shown_position(chromium) == board.board_fen()
    chromium.click("#last")
    for move in game["moves"][11:]:
        board.push_uci(move)
    assert shown_position(chromium) == board.board_fen()
    san = chess.Board(game["fen"]).variation_san([chess.Move.from_uci(move) for move in game["moves"]])
    assert re.sub(r"\d+\.+", "", chromium.text("#moves")).split() == re.sub(r"\d+\.+", "", san).split()
    chromium.click("#moves button[data-ply='3']")
    assert shown_position(chromium) != board.board_fen()
    assert chromium.run("return document.querySelectorAll('#eval-plot path').length") >= 2
    assert chromium.run("return document.querySelectorAll('#clock-plot path').length") >= 2
    # A link leads to the same place.
    chromium.open(f"file://{match / 'report.html'}#game={number + 1}&ply=3")
    assert chromium.run("return document.querySelector('#moves .now').dataset.ply") == "3"
    assert chromium.complaints() == []


def test_filters(match, chromium):
    chromium.open(f"file://{match / 'report.html'}")
    count = "return document.querySelectorAll('#games tbody tr').length"
    games = games_of(match).values()
    chromium.run(
        "const s = document.getElementById('filter-result'); s.value = '1-0'; s.dispatchEvent(new Event('input'))"
    )
    assert chromium.run(count) == sum(game["points"] == 1 for game in games)


class LiveMatch:
    """A match that is slow enough to be watched, and the address of its page."""

    def __init__(self, directory, *flags):
        arguments = ["--names", "one,two", "--tc", "60+1", "--max-moves", "20", "--startup-timeout", "60"]
        arguments += ["--games", "200", "--dir", str(directory), "--live", "0", "--no-pin", *flags]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", "match", command("calm"), command("calm"), *arguments],
            cwd=DATA,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        self.address = re.search(r"http://\S+", line)[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=PATIENCE)


def ask(address, path="/", method="GET", host=None):
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.request(method, path, headers={} if host is None else {"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_server_shows_its_run_and_nothing_else(tmp_path):
    with LiveMatch(tmp_path / "run") as live:
        assert live.address.startswith("http://127.0.0.1:")
        status, data = ask(live.address)
        assert status == 200
        assert b"one - two" in data
        status, data = ask(live.address, "/state.json?games=0")
        assert status == 200
        assert json.loads(data)["over"] is False
        for path in ("/run.json", "/games.pgn", "/../run.json", "/%2e%2e/run.json", "//etc/passwd", "/state.json/x"):
            assert ask(live.address, path)[0] == 404
        for method in ("POST", "PUT", "DELETE"):
            assert ask(live.address, "/", method)[0] == 405
        assert ask(live.address, "/", host="evil.example:80")[0] == 403
        for known in ("x", "-1", "%C2%B2", "1e3", "9" * 5000, "", "1%0A"):
            assert ask(live.address, f"/state.json?games={known}")[0] == 400, known
        assert json.loads(ask(live.address, "/state.json?games=999999999&other=1")[1])["games"] == []
    with pytest.raises(OSError):
        urllib.request.urlopen(live.address, timeout=10)


def test_half_sent_requests_do_not_stop_the_games(tmp_path):
    def finished():
        return len(json.loads(ask(live.address, "/state.json")[1])["games"])

    with LiveMatch(tmp_path / "run", "-c", "2") as live, contextlib.ExitStack() as stack:
        parts = urlsplit(live.address)
        before = finished()
        for _ in range(300):
            connection = stack.enter_context(socket.socket())
            connection.setblocking(False)
            with contextlib.suppress(OSError):
                connection.connect((parts.hostname, parts.port))
            with contextlib.suppress(OSError):
                connection.send(b"GET / HTTP/1.1\r\nHost: 127.")
        threads = f"/proc/{live.process.pid}/task"
        if os.path.isdir(threads):
            assert len(os.listdir(threads)) < 30
        deadline = time.monotonic() + PATIENCE
        while finished() < before + 4:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        live.process.send_signal(signal.SIGINT)
        live.process.wait(timeout=PATIENCE)


def snapshot_of(games, size):
    snapshot = Snapshot()
    snapshot.publish([{"g": number, "m": "x" * size} for number in range(games)], {"total": games})
    return snapshot


def test_who_is_far_behind_gets_games_in_parts():
    snapshot = snapshot_of(50, 100_000)
    known, sizes = [], []
    while True:
        text = snapshot.news(len(known))
        news = json.loads(text)
        sizes.append(len(text))
        known += [game["g"] for game in news["games"]]
        if news["complete"]:
            break
    assert known == list(range(50))
    assert max(sizes) < 1_100_000
    assert json.loads(snapshot.news(50))["games"] == []


def test_only_the_newest_games_keep_their_moves():
    snapshot = snapshot_of(GAMES_WITH_MOVES + 3, 1)
    games = json.loads(snapshot.news(0))["games"]
    assert [game["g"] for game in games if "m" not in game] == [0, 1, 2]
    assert len(games) == GAMES_WITH_MOVES + 3


def test_watching_games(tmp_path, chromium):
    """The boards move, finished games appear, without touching the page."""
    with LiveMatch(tmp_path / "run", "-c", "2") as live:
        chromium.open(live.address)
        chromium.wait_for("return document.querySelectorAll('#boards figure').length == 2")
        before = shown_position(chromium, "#boards figure")
        chromium.wait_for(
            "window.first = window.first || document.querySelector('#boards figure').innerHTML;"
            "return document.querySelector('#boards figure').innerHTML !== window.first"
        )
        chromium.wait_for("return document.querySelectorAll('#games tbody tr').length >= 1")
        assert before.count("/") == 7
        assert re.match(r"\d+ of 200 games", chromium.text("#state"))
        done = chromium.run("return [data.games.length, data.summary.games]")
        assert done[0] == done[1] >= 1
        # Scores and clocks say what they are, and the boards take the width that there is.
        captions = chromium.run("return [...document.querySelectorAll('#boards .facts')].map((node) => node.innerText)")
        assert any(re.fullmatch(rf"score [+{MINUS}]0\.37 ?clock \d:\d\d", text) for text in captions), captions
        for width, columns in ((1400, 2), (390, 1)):
            chromium.emulate(width, 900)
            chromium.wait_for(
                "const panel = document.querySelector('#boards'), boards = [...panel.querySelectorAll('svg')];"
                "return boards.length && boards.every((board) =>"
                f" board.getBoundingClientRect().width > 0.9 * panel.clientWidth / {columns} - 20)",
                60,
            )
        chromium.emulate(1400, 900)
        if axe.source()[1] is None:
            assert axe.problems(chromium) == []
        assert chromium.complaints() == []


def test_bad_addresses(tmp_path):
    for flags, message in (
        (("--live", "99999"), "cannot be served"),
        (("--live", "0", "--host", "192.0.2.1"), "cannot be served on 192.0.2.1"),
        (("--host", "127.0.0.1"), "--host needs --live"),
    ):
        result = run_quetzal("match", command("good"), command("good"), "--dir", str(tmp_path / "run"), *flags)
        assert result.returncode == 2
        assert message in result.stderr
        assert not (tmp_path / "run").exists()

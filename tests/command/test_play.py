"""`quetzal play` as people start it: a page that is served, and a game on the terminal."""

import json
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from support import DATA, quetzal

from play.session import Session
from play.storage import Store

PATIENCE = 60.0


@pytest.fixture
def served(tmp_path):
    """The program with a page, and its address."""
    command = [sys.executable, "-m", "uci_engine", "play", "--no-browser", "--port", "0", "--data", str(tmp_path)]
    process = subprocess.Popen(command, cwd=DATA, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert "Ctrl-C" in process.stdout.readline()
    yield process, re.search(r"http://\S+", line)[0]
    process.kill()
    process.communicate()


def fetch(address, data=None, token=None):
    headers = {"Content-Type": "application/json", "X-Quetzal-Token": token or ""}
    body = None if data is None else json.dumps(data).encode()
    with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=PATIENCE) as reply:
        return reply.read().decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_served_until_it_is_told_to_end(served, tmp_path, number):
    process, address = served
    token = re.search(r'"token":"([0-9a-f]+)"', fetch(address))[1]
    fetch(f"{address}game/new", {"person": 0, "level": 1200}, token)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    # The game is there for the next time.
    session = Session(Store(tmp_path))
    try:
        assert session.game is not None
        assert session.game.level == 1200
    finally:
        session.close()


@pytest.mark.parametrize("form", ["--no-browser", "--terminal"])
def test_one_program_for_one_directory(served, tmp_path, form):
    """Two would continue the same game and overwrite each other's file."""
    result = quetzal("play", form, "--port", "0", "--data", str(tmp_path))
    assert result.returncode == 2
    assert f"with the games in {tmp_path}" in result.stderr
    assert "Traceback" not in result.stderr
    process, _ = served
    process.kill()  # which leaves no lock behind
    process.wait()
    assert quetzal("play", "--terminal", "--data", str(tmp_path), stdin="quit\n").returncode == 0


def test_a_port_that_is_taken(served, tmp_path):
    _, address = served
    port = re.search(r":(\d+)/", address)[1]
    result = quetzal("play", "--no-browser", "--port", port, "--data", str(tmp_path / "other"))
    assert result.returncode == 2
    assert f"127.0.0.1:{port}" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_ports_that_are_none(tmp_path, port):
    result = quetzal("play", "--no-browser", "--port", port, "--data", str(tmp_path))
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_a_whole_game_on_the_terminal(tmp_path):
    """Moves are typed as people write them; what is wrong is said, and the game goes on."""
    lines = [
        "e4",
        "Qh8",
        "hint",
        "moves",
        "back",
        "d4",
        "flip",
        "draw",
        "resign",
        "pgn",
        "level 900",
        "new black",
        "quit",
    ]
    result = quetzal(
        "play", "--terminal", "--level", "1000", "--data", str(tmp_path), "--hash", "1", stdin="\n".join(lines) + "\n"
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "Quetzal (level 1000) plays" in result.stdout
    assert "Qh8 is no legal move here" in result.stdout
    assert "Quetzal would play" in result.stdout
    assert re.search(r"1\. e4 \S+", result.stdout)
    assert "h g f e d c b a" in result.stdout  # the board from Black's side
    assert "Quetzal declines the draw" in result.stdout
    assert "White resigns" in result.stdout
    assert '[White "Person"]' in result.stdout
    assert "Quetzal (level 900) plays" in result.stdout
    store = Store(tmp_path)
    first, second = (store.load(name) for name in reversed(store.names()))
    assert (first["points"], first["moves"][0]) == (0.0, "d2d4")
    assert (second["points"], second["person"], len(second["moves"])) == (None, 1, 1)


def test_a_game_on_the_terminal_goes_on(tmp_path):
    quetzal("play", "--terminal", "--level", "1000", "--data", str(tmp_path), "--hash", "1", stdin="e4\nquit\n")
    again = quetzal("play", "--terminal", "--data", str(tmp_path), "--hash", "1", stdin="moves\n")
    assert "not finished" in again.stdout
    assert re.search(r"1\. e4 \S+", again.stdout)
    assert again.returncode == 0


@pytest.mark.parametrize("line", ["level", "level 100", "level x", "castle", "e9", "claim", "\u265e"])
def test_words_that_mean_nothing_are_answered(tmp_path, line):
    result = quetzal("play", "--terminal", "--data", str(tmp_path), "--hash", "1", stdin=f"{line}\nnew\nquit\n")
    assert "Traceback" not in result.stderr
    assert result.returncode == 0

"""Quetzal in a browser: what `make wasm` has made is the same engine under node, and its page is played on in Chromium.
`make test-wasm` runs these.

Not tested, for want of them: other browsers than Chromium, and phones that are not emulated.
"""

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import axe
import chess
import pytest

if os.environ.get("QUETZAL_WASM", "0") == "0":
    pytest.skip("needs what `make wasm` makes: `make test-wasm` runs these", allow_module_level=True)
if shutil.which("node") is None:
    pytest.skip("node is not installed (Debian: nodejs)", allow_module_level=True)

import wasm
from check_signature import QUICK_DEPTH, SIGNATURE, closing_nodes
from desk import Hands
from positions import random_walk
from support import ROOT

from board import Board
from eval import evaluate
from search import Limits, Searcher

WEB = ROOT / "dist" / "web"
if not (WEB / "index.html").exists():
    pytest.skip("dist/web is missing: `make wasm` makes it", allow_module_level=True)

SCREENS = [(1400, 900), (390, 844)]
PERFT_5 = 4_865_609


# Under node


def test_the_moves_of_the_game():
    assert wasm.python("from board import Board; print(Board().perft(5))").split() == [str(PERFT_5)]


def test_the_same_nodes():
    assert closing_nodes(wasm.python(wasm.BENCH.format(depth=QUICK_DEPTH))) == SIGNATURE[QUICK_DEPTH]


def test_it_is_another_machine_without_threads():
    code = """
import sys, threading
from uci_engine import _build
print(sys.platform, _build.CPU_LEVEL)
try:
    threading.Thread(target=print).start()
except RuntimeError as error:
    print(error)
"""
    assert wasm.python(code).splitlines() == ["emscripten wasm32 default", "can't start new thread"]


def test_the_vector_loops_give_the_same_numbers():
    """Games move by move, against the loops of this machine."""
    fens = [board.fen() for seed in range(5) for board in random_walk(seed)]
    code = f"from board import Board\nfrom eval import evaluate\nprint(*(evaluate(Board(fen)) for fen in {fens!r}))"
    found = [int(word) for word in wasm.python(code).split()]
    assert found == [evaluate(Board(fen)) for fen in fens]
    assert len(found) > 300


def test_the_loops_are_vectors():
    """The network's module has instructions of the 128-bit kind; they begin with the byte 0xfd."""
    (module,) = (wasm.PROGRAM / "eval").glob("network.*.so")
    assert module.read_bytes().count(b"\xfd") > 500


def test_deep_lines_have_room_on_the_stack():
    """Lines may grow to 240 plies, in a browser on a stack of about a megabyte. Here 40 have to do with 150 kB of it."""
    code = """
from board import Board
from search import Limits, Searcher
found = Searcher().think(Board("7k/8/8/8/8/p1p1p1p1/P1P1P1P1/7K w - - 0 1"), Limits(nodes=300_000))
print(found.info.depth, found.info.seldepth)
"""
    depth, seldepth = map(int, wasm.python(code, options=("--stack-size=150",)).split())
    assert depth >= 60
    assert seldepth >= 40


def test_the_archive_is_small_and_complete():
    names = {path.relative_to(wasm.PROGRAM).as_posix() for path in wasm.PROGRAM.rglob("*") if path.is_file()}
    assert {"eval/default.qnn", "book/opening/default.bin", "play/browser.pyc", "chess/__init__.pyc"} <= names
    assert not [name for name in names if name.endswith((".py", ".pxd", ".h"))]
    assert not [name for name in names if name.startswith(("arena/", "training/", "web/", "command/"))]
    sizes = {path.relative_to(WEB).as_posix(): path.stat().st_size for path in WEB.rglob("*") if path.is_file()}
    print(sizes)
    assert set(sizes) >= {"index.html", "worker.js", "quetzal.zip", "LICENSE", "README.txt", "pyodide/pyodide.js"}
    assert sum(sizes.values()) < 25_000_000


# In a browser


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        self.server.paths.append(self.path)


@pytest.fixture(scope="module")
def address():
    """A web server that knows nothing but the folder, as anybody has one."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=WEB))
    server.paths = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


class Desk(Hands):
    """The page in a browser."""

    def __init__(self, window, address):
        super().__init__(window)
        self.address = address

    def show(self, screen=SCREENS[0], scheme="light", *, forget=True):
        self.window.emulate(*screen, scheme)
        if forget:
            self.window.open(f"{self.address}README.txt")
            self.window.run("localStorage.clear()")
        self.window.open(self.address)
        self.wait("program.isReady")

    def stay(self):
        """Goes on with the page of the last test if it runs: loading it takes the most time of all."""
        self.window.emulate(*SCREENS[0])
        if not self.window.run(
            "return typeof program !== 'undefined' && program.isReady && location.protocol === 'http:'"
        ):
            self.show()

    def wait(self, condition, seconds=300.0):
        return super().wait(condition, seconds)

    def new_game(self, **settings):
        self.window.run(
            "window.done = false; send('game/new', arguments[0]).then(() => { window.done = true; })",
            {"level": 800, "book": False, "movetime": 100, **settings},
        )
        self.wait("window.done")
        self.answered(0)

    def status(self):
        return self.window.text("#game-status")


@pytest.fixture
def desk(chromium, address):
    opened = Desk(chromium, address)
    opened.stay()
    yield opened
    assert chromium.complaints() == []


def best_move(searcher, moves):
    board = Board()
    for move in moves:
        board.push_uci(move)
    return board.uci(searcher.think(board, Limits(nodes=20_000)).best)


@pytest.mark.parametrize("screen", SCREENS)
def test_a_whole_game_to_mate(desk, screen):
    """From the form to the end, by clicks on the board, against the weakest level: the moves are those of a search."""
    desk.show(screen)
    desk.window.run("byId('level').value = 800; byId('movetime').value = '500'; byId('book').checked = false")
    desk.window.click("#new-form button[type=submit]")
    desk.answered(0)
    searcher = Searcher(megabytes=16)
    for _ in range(100):
        moves = desk.moves()
        if desk.window.run("return play.game.points !== null"):
            break
        move = best_move(searcher, moves)
        desk.window.run("byId('board').scrollIntoView({ block: 'nearest' })")
        desk.click(move[:2], move[2:4])
        if len(move) > 4:
            desk.window.click(f".promotion button:nth-child({'qrbn'.index(move[4]) + 1})")
        desk.wait(f"play.moves.length > {len(moves)}")
        desk.answered(len(moves) + 2)
    searcher.close()
    assert desk.status() == "You win: White mates"
    board = chess.Board()
    for move in desk.moves():
        board.push(board.parse_uci(move))
    assert board.is_checkmate()
    assert desk.window.run("return fenOf(desk.board.shown.position).split(' ')[0]") == board.board_fen()


def test_only_its_own_files_are_loaded(desk, address):
    """The page's list has no other address; and neither its script nor the worker's names one."""
    names = desk.window.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in names if not name.startswith(address)] == []
    for path in (WEB / "index.html", WEB / "worker.js"):
        hosts = set(re.findall(r"https?://([\w.-]+)", path.read_text(encoding="utf-8")))
        assert hosts <= {"www.w3.org"}


def test_legal_targets_and_dragging(desk):
    desk.new_game()
    desk.click("g1")
    assert desk.window.run("return document.querySelectorAll('.target').length") == 2
    desk.click("g1")
    desk.drag("g1", "f3")
    desk.answered(2)
    assert desk.moves()[0] == "g1f3"
    desk.drag("f3", "f6")  # not a legal move
    time.sleep(0.3)
    assert len(desk.moves()) == 2


def test_black_is_seen_from_his_side(desk):
    desk.window.run("byId('new-game').open = true")
    desk.window.click("#new-form input[value='1']")
    desk.window.click("#new-form button[type=submit]")
    desk.wait("play.game && play.game.person === 1 && play.moves.length === 1")
    assert desk.window.run("return desk.board.shown.flipped") is True
    assert desk.window.text("#player-bottom") == "You"


def test_promotion_asks_for_the_piece(desk):
    desk.new_game(fen="8/P6k/8/8/8/8/7p/K7 w - - 0 1")
    desk.click("a7", "a8")
    desk.wait("!document.querySelector('.promotion').hidden")
    desk.window.click(".promotion button:nth-child(4)")
    desk.answered(2)
    assert desk.moves()[0] == "a7a8n"


@pytest.mark.parametrize(
    ("fen", "move", "status"),
    [
        ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "Kf7", "Draw: draw by stalemate"),
        ("7k/8/8/8/8/8/6q1/6K1 w - - 0 1", "Kxg2", "Draw: draw by insufficient material"),
        ("7k/R7/8/8/8/8/8/KR6 w - - 0 1", "Rb8", "You win: White mates"),
        ("k7/p1p5/1pP5/8/8/8/6r1/K7 w - - 149 90", "Kb1", "Draw: draw by seventy-five moves without a capture or a pawn move"),
    ],
)  # fmt: skip
def test_the_end_is_told_with_its_reason(desk, fen, move, status):
    desk.new_game(fen=fen)
    desk.type(move)
    desk.wait("play.game.points !== null")
    assert desk.status() == status


def test_the_page_goes_on_while_quetzal_thinks(desk):
    """The search takes five seconds in which the page draws, and answers at once."""
    desk.new_game(level=None, movetime=5_000)
    desk.window.run(
        "window.frames_drawn = 0; const count = () => { window.frames_drawn += 1; requestAnimationFrame(count); }; count()"
    )
    desk.type("e4")
    desk.wait("play.moves.length === 1")
    began, answers = time.monotonic(), []
    while desk.window.run("return play.game.thinking"):
        asked = time.monotonic()
        desk.window.click("#flip")
        answers.append(time.monotonic() - asked)
    assert time.monotonic() - began > 2
    assert desk.status() == "Your move"
    assert max(answers) < 2
    assert desk.window.run("return window.frames_drawn") > 30


def test_a_request_during_a_search_waits(desk):
    desk.new_game(level=None, movetime=2_000)
    desk.type("e4")
    desk.wait("play.moves.length === 1")
    desk.window.run("send('game/take-back')")
    assert "finishes its move first" in desk.window.text("#message")
    desk.wait("play.moves.length === 0")
    desk.wait("byId('message').hidden")


def test_take_back_hint_resign_and_steps(desk):
    desk.new_game()
    desk.type("e4")
    desk.answered(2)
    desk.window.click("#take-back")
    desk.wait("play.moves.length === 0")
    desk.window.click("#hint")
    desk.wait("document.querySelectorAll('.arrow.hint').length === 1")
    desk.type("d4")
    desk.answered(2)
    desk.window.click("#first")
    assert desk.window.run("return play.ply") == 0
    desk.window.click("#last")
    desk.window.run("window.confirm = () => true")
    desk.window.click("#resign")
    desk.wait("play.game.points !== null")
    assert desk.status() == "Quetzal wins: White resigns"


def test_a_reload_goes_on_with_the_game(desk):
    desk.new_game(level=1500)
    desk.type("e4")
    desk.answered(2)
    before = desk.moves()
    desk.show(forget=False)
    desk.wait("play.moves.length >= 2")
    assert desk.moves() == before
    desk.type("Nf3")
    desk.answered(4)
    assert desk.moves()[:2] == before


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"moves": [1]}', '{"fen": "x"}', '{"moves": ["e2e5"], "level": 1}'])
def test_a_damaged_memory_is_forgotten(desk, text):
    desk.window.run("localStorage.setItem('quetzal-game', arguments[0])", text)
    desk.show(forget=False)
    desk.new_game()
    desk.type("e4")
    desk.answered(2)
    assert len(desk.moves()) == 2


def test_bad_input_is_answered_in_words(desk):
    desk.show()
    desk.type("e4")
    assert "no game" in desk.window.text("#message")
    desk.window.run("byId('new-game').open = true; byId('start').value = '<img src=x onerror=alert(1)>'")
    desk.window.click("#new-form button[type=submit]")
    desk.wait("!byId('message').hidden && byId('message').classList.contains('problem')")
    desk.window.run("byId('start').value = ''")
    desk.new_game()
    for text in ("Ke2", "0000", "e2e5", "<b>", "e" * 12):
        desk.type(text)
        desk.wait("byId('message').textContent.includes('no legal move')")
    for text in ("", "{", "null", '{"id": 1, "path": "x", "body": {}}', '{"id": [], "path": "game/new", "body": 7}'):
        desk.window.run("program.worker.postMessage(arguments[0])", text)
    desk.window.run("program.worker.postMessage({ not: 'a text' })")
    desk.type("e4")
    desk.answered(2)
    assert len(desk.moves()) == 2


def test_the_board_is_played_with_the_keyboard(desk):
    desk.new_game()
    desk.window.run("desk.board.area.focus()")
    for key in ("ArrowUp", "Enter", "ArrowUp", "ArrowUp", "Enter"):
        desk.window.press(key)
    desk.answered(2)
    assert desk.moves()[0] == "e2e4"


def test_opened_as_a_file_it_says_what_is_missing(chromium):
    chromium.open(f"file://{WEB / 'index.html'}")
    chromium.wait_for("return !byId('message').hidden")
    assert "web server" in chromium.text("#message")
    assert chromium.text("#state") == "not running"
    assert chromium.complaints() == []


@pytest.mark.parametrize("missing", ["quetzal.zip", "pyodide/python_stdlib.zip", "worker.js"])
def test_a_folder_that_is_not_complete(chromium, missing, tmp_path):
    shutil.copytree(WEB, tmp_path / "web")
    (tmp_path / "web" / missing).unlink()
    command = [
        sys.executable,
        "-u",
        "-m",
        "http.server",
        "--bind",
        "127.0.0.1",
        "--directory",
        str(tmp_path / "web"),
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            port = re.search(r"port (\d+)", server.stdout.readline())[1]
            chromium.open(f"http://127.0.0.1:{port}/")
            chromium.wait_for("return !byId('message').hidden")
            assert "could not be loaded" in chromium.text("#message")
            assert chromium.text("#state") == "not running"
            chromium.open("about:blank")
        finally:
            server.terminate()
    chromium.complaints()  # browsers write every missing file to the console


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_is_too_wide_and_a_checker_of_accessibility_finds_nothing(desk, screen, scheme):
    desk.show(screen, scheme)
    desk.new_game()
    desk.type("e4")
    desk.answered(2)
    desk.window.run("byId('new-game').open = true")
    assert desk.window.run("return document.documentElement.scrollWidth <= innerWidth")
    _, missing = axe.source()
    if missing:
        pytest.skip(missing)
    time.sleep(0.3)
    assert axe.problems(desk.window) == []

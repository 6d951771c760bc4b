"""Progress: a bar with rate and time left on a terminal, plain lines elsewhere, and no trace of it afterwards."""

import io
import os
import random
import re
import sys
import time

import chess
import pytest
import rich.progress  # noqa: F401 - loading it takes time that the tests would measure
from support import quetzal, scaled

import command.progress
from command.progress import Progress, clear_all

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX matter")
if os.name == "posix":
    from terminal import Terminal, plain, quetzal_terminal, screen

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


class FakeTerminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def xterm(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.usefixtures("xterm")
def test_it_says_rate_and_time_left():
    terminal = FakeTerminal()
    progress = Progress("tuning", "positions", 1000, terminal)
    progress.started -= 10
    progress._drawn -= 10
    progress.advance(250, "epoch 1")
    shown = plain(terminal.getvalue())
    assert re.search(r"tuning ━+.* 25% 25 positions/s, 0:30 left, epoch 1", shown)
    progress.finish("done")
    assert plain(terminal.getvalue()).endswith("done\n")
    assert terminal.getvalue().count(HIDE) == terminal.getvalue().count(SHOW) == 1


@pytest.mark.usefixtures("xterm")
def test_without_a_total_it_counts():
    terminal = FakeTerminal()
    progress = Progress("reading", "games", stream=terminal)
    progress.started -= 100
    progress._drawn -= 10
    progress.advance(5000)
    assert "5,000 games, 50 games/s" in plain(terminal.getvalue())
    clear_all()
    assert terminal.getvalue().rindex(SHOW) > terminal.getvalue().rindex("games/s")


@pytest.mark.usefixtures("xterm")
def test_what_was_done_before_says_nothing_about_the_speed():
    terminal = FakeTerminal()
    progress = Progress("self-play", "games", 100, terminal)
    progress.resume_at(90)
    progress.started -= 60
    progress._drawn -= 10
    progress.advance(2)
    assert "2.0 games/min, 4:00 left" in plain(terminal.getvalue())
    progress.clear()


@pytest.mark.usefixtures("xterm")
def test_quick_work_needs_no_bar():
    terminal = FakeTerminal()
    progress = Progress("reading", "games", 10, terminal)
    for _ in range(9):
        progress.advance(1)
    progress.finish("9 games")
    assert terminal.getvalue() == "9 games\n"


@pytest.mark.parametrize("stream", [io.StringIO(), FakeTerminal()])
def test_where_nothing_can_be_redrawn_there_are_lines(stream, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    progress = Progress("training", "positions", 1000, stream)
    progress.advance(100)
    assert stream.getvalue() == ""
    progress.started -= 100
    progress._drawn -= command.progress.PLAIN_SECONDS
    progress.advance(100, "epoch 2")
    progress.advance(100)
    assert stream.getvalue() == "training 20 %, 2 positions/s 6:40 left epoch 2\n"


def test_bench_on_a_terminal():
    """The bar stands below the lines, which are those of a pipe, and is gone at the end."""
    with quetzal_terminal("bench", "--depth", "13", columns=160) as terminal:
        status, output = terminal.wait()
    assert status == 0
    assert re.search(r"bench ━.*\d+% .*positions/\w+, \d+:\d\d left", plain(output))
    piped = quetzal("bench", "--depth", "13")
    assert piped.stderr == ""
    assert "\x1b" not in piped.stdout
    seen, written = (
        [re.sub(r" \d+ nps", "", line) for line in lines] for lines in (screen(output, 160), piped.stdout.splitlines())
    )
    assert seen == [*(line.rstrip() for line in written), ""]
    assert output.rindex(SHOW) > output.rindex(HIDE)


def test_no_color_is_respected():
    colour = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|38|9[0-7])[;m]")
    for environment, wanted in (({}, True), ({"NO_COLOR": "1"}, False)):
        with quetzal_terminal("bench", "--depth", "11", env=environment) as terminal:
            output = terminal.wait()[1]
        assert (colour.search(output) is not None) == wanted


def test_ctrl_c_gives_the_cursor_back():
    with quetzal_terminal("bench", "--depth", "25") as terminal:
        begun = terminal.until("positions/")
        time.sleep(0.5)  # nobody is so quick that the bar is still being written
        terminal.send("\x03")
        status, output = terminal.wait()
    assert status == 130
    assert output.rindex(SHOW) > output.rfind(HIDE)
    seen = screen(begun + output)
    assert "^C" in output  # written by the terminal, behind the bar
    assert not any("positions/" in line for line in seen)
    assert seen[-1] == ""
    assert "Traceback" not in output


def test_an_error_gives_the_line_back():
    """A command that fails in the middle of its work."""
    program = (
        "import sys, types, command.line as line, command.progress as p\n"
        "def run(options):\n"
        "    bar = p.Progress('working', 'units', 9); bar._drawn -= 9; bar.advance(1)\n"
        "    raise ValueError('it broke')\n"
        "options = types.SimpleNamespace(run=run, command='bench')\n"
        "line.build_parser = lambda words: types.SimpleNamespace(parse_args=lambda words: options)\n"
        "sys.exit(line.run(['bench']))\n"
    )
    with Terminal(sys.executable, "-c", program) as terminal:
        status, output = terminal.wait()
    assert status == 2
    assert output.rindex(SHOW) > output.rindex(HIDE)
    assert screen(output) == ["quetzal bench: it broke", ""]


def test_making_a_book_shows_both_parts(tmp_path):
    """Reading with the bytes as total, then writing."""
    rng = random.Random(1)
    games = []
    for _ in range(scaled(600)):
        board = chess.Board()
        while board.ply() < 24 and not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
        games.append(f'[Result "1-0"]\n\n{chess.Board().variation_san(board.move_stack)} 1-0\n\n')
    (tmp_path / "games.pgn").write_text("".join(games) * 100, encoding="utf-8")
    book = tmp_path / "book.bin"
    command = ("book", "build", str(tmp_path / "games.pgn"), "-o", str(book), "--min-games", "1")
    with quetzal_terminal(*command, columns=300) as terminal:
        status, output = terminal.wait()
    assert status == 0, output
    assert re.search(r"reading ━.* \d+% [\d,]+ kB/s, .*games", plain(output))
    assert screen(output, 300)[-2].startswith(f"{book}: ")

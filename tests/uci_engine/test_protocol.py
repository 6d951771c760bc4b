"""UCI through a pipe, as a GUI speaks it."""

import os
import subprocess
import sys

import pytest
from gui import Gui
from support import DATA, quetzal

from board import STARTING_FEN


def dialogue(*lines):
    """The answers of the process to these lines."""
    result = quetzal(stdin="".join(line + "\n" for line in (*lines, "quit")))
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def fen_after(*lines):
    (line,) = [line for line in dialogue(*lines, "d") if line.startswith("Fen: ")]
    return line.removeprefix("Fen: ")


def test_greeting():
    result = quetzal(stdin="uci\nisready\nquit\n")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("id name Quetzal ")
    assert lines[1].startswith("id author ")
    assert lines[-2:] == ["uciok", "readyok"]
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("text", ["", "uci", "isready\n"])
def test_the_end_of_input_ends_the_engine(text):
    result = quetzal(stdin=text)
    assert (result.returncode, result.stderr) == (0, "")


def test_answers_come_at_once():
    """Nothing waits in a buffer while the pipe stays open."""
    with subprocess.Popen(
        [sys.executable, "-m", "uci_engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=DATA
    ) as process:
        process.stdin.write("isready\n")
        process.stdin.flush()
        assert process.stdout.readline() == "readyok\n"
        process.stdin.write("quit\n")
        process.stdin.flush()
        assert process.wait(30) == 0


def test_a_long_game_in_one_line():
    moves = " ".join(("g1f3", "g8f6", "f3g1", "f6g8") * 325)
    result = quetzal(stdin=f"position startpos moves {moves}\nd\nquit\n")
    assert "Fen: rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 1300 651" in result.stdout.splitlines()
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict"])
def test_bytes_that_are_no_text(encoding):
    result = subprocess.run(
        [sys.executable, "-m", "uci_engine"],
        input=b"position startpos moves \xff\xfe\nposition fen \xc3\xa9\nisready\n",
        capture_output=True,
        cwd=DATA,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.splitlines()[-1] == b"readyok"
    assert "info string '\ufffd\ufffd' is no move" in result.stdout.decode("utf-8")


def test_unknown_words_are_passed_over():
    assert dialogue("", "joho", "joho isready", "   ") == ["readyok"]


@pytest.mark.parametrize(
    ("line", "fen"),
    [
        ("position startpos", STARTING_FEN),
        ("position startpos moves", STARTING_FEN),
        ("position startpos moves e2e4", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
        ("position fen 4k3/8/8/8/8/8/8/4K2R w K - 3 9", "4k3/8/8/8/8/8/8/4K2R w K - 3 9"),
        ("position fen 4k3/8/8/8/8/8/8/4K2R w K - moves e1g1", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
        ("position fen 4k3/8/8/8/8/8/8/4K2R w K - moves e1h1", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
    ],
)
def test_positions(line, fen):
    assert fen_after(line) == fen


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("position", "usage: position"),
        ("position elsewhere", "usage: position"),
        ("position fen", "the FEN is empty"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "White has 0 kings"),
        ("position startpos moves e2e4 e2e4", "'e2e4' is not a legal move here"),
        ("position startpos moves e2e4 xyz", "'xyz' is no move"),
    ],
)
def test_a_bad_position_is_said_and_changes_nothing(line, message):
    written = dialogue("position startpos moves d2d4", line)
    assert len(written) == 1
    assert written[0].startswith("info string ")
    assert message in written[0]
    assert fen_after("position startpos moves d2d4", line).startswith("rnbqkbnr/pppppppp/8/8/3P4")


def test_go_perft():
    """The published parts of perft 3: 600 leaves behind 1. e4, 29 of them behind 1. e4 e5."""
    with Gui() as gui:
        written = gui.ask("position startpos moves e2e4", "go perft 2", until="Nodes searched: 600")
        assert "e7e5: 29" in written
        gui.quit()


@pytest.mark.parametrize("count", ["go perft 12", "bench 60"])
def test_counts_can_be_stopped(count):
    """They may take hours, and stop, isready and quit work all the same. They give no bestmove."""
    with Gui() as gui:
        gui.send("position startpos", count)
        gui.ready()
        gui.send("stop")
        if count != "bench 60":  # a position of the bench is searched to its end
            gui.until("info string the count was stopped")
            play = gui.ask("go depth 2", until="bestmove")
            assert sum(line.startswith("bestmove") for line in play) == 1
            gui.send(count)
        gui.ready()
        assert not any(line.startswith("bestmove") for line in gui.quit())


def test_quit_ends_the_dialogue():
    assert dialogue("isready", "quit", "isready") == ["readyok"]

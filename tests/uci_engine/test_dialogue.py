"""What happens when: commands during a search, odd endings, signals, a GUI that does not read."""

import os
import re
import signal
import subprocess
import sys
import time

import chess
import pytest
from gui import PATIENCE, Gui
from support import DATA

MATE_IN_ONE = "position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


@pytest.fixture
def gui():
    with Gui() as gui:
        yield gui
        gui.quit()


def moves(lines):
    return [line.split()[1] for line in lines if line.startswith("bestmove")]


def is_legal(move, fen=chess.STARTING_FEN):
    return chess.Move.from_uci(move) in chess.Board(fen).legal_moves


def test_commands_wait_for_the_bestmove(gui):
    """position, setoption and go during a search are applied after it, in their order."""
    gui.send("position startpos", "go infinite")
    gui.ready()
    gui.send("position startpos moves e2e4", "setoption name MultiPV value 2", "go depth 3", "d", "stop")
    (first,) = moves(gui.until("bestmove"))
    lines = gui.until("bestmove")
    assert is_legal(first)
    assert is_legal(moves(lines)[0], AFTER_E4)
    assert any(" multipv 2 " in line for line in lines)
    assert gui.until("Fen:")[-1] == f"Fen: {AFTER_E4}"


def test_a_stop_belongs_to_the_last_go_before_it(gui):
    """Sent at once: the second stop is for the second search, which would never end without it."""
    gui.send("position startpos", "go infinite", "stop", "position startpos moves e2e4", "go infinite", "stop")
    gui.send("position startpos", "go infinite", "stop", "isready")
    found = []
    while len(found) < 3:
        found += moves(gui.until("bestmove"))
    assert is_legal(found[0])
    assert is_legal(found[1], AFTER_E4)
    assert is_legal(found[2])


def test_a_ponderhit_belongs_to_the_last_go_before_it(gui):
    gui.send("position startpos", "go infinite", "stop")
    gui.send("position startpos moves e2e4", "go ponder wtime 200 btime 200", "ponderhit")
    gui.until("bestmove")
    assert is_legal(moves(gui.until("bestmove"))[0], AFTER_E4)


def test_a_late_stop_does_not_end_the_next_search(gui):
    gui.ask("position startpos", "go depth 2", until="bestmove")
    gui.send("stop", "go infinite")
    assert gui.silent(0.5, "bestmove")
    gui.ask("stop", until="bestmove")


@pytest.mark.parametrize(
    "go", ["go infinite", "go ponder wtime 100 btime 100", "go", "go ponder", "go infinite depth 1"]
)
def test_no_bestmove_before_its_time(gui, go):
    gui.ask(MATE_IN_ONE, go, until="info depth 1")
    assert gui.silent(0.4, "bestmove")
    lines = gui.ask("stop", until="bestmove")
    assert moves(lines) == ["a1a8"]


def test_the_last_line_is_shown_while_an_endless_search_waits(gui):
    """A mate is searched to the last depth in no time; what was held back must not wait for the stop."""
    gui.send(MATE_IN_ONE, "go infinite")
    gui.until("info depth 239")
    assert gui.silent(0.3)
    gui.ask("stop", until="bestmove")


def test_ponderhit_starts_the_clock(gui):
    gui.ready()
    gui.send("position startpos moves e2e4", "go ponder wtime 600 btime 600")
    gui.ready()
    assert gui.silent(0.8, "bestmove")
    sent = time.perf_counter()
    lines = gui.ask("ponderhit", until="bestmove")
    assert gui.moment - sent < 0.6 + PATIENCE / 20
    times = [int(re.search(r" time (\d+)", line)[1]) for line in lines if " time " in line]
    assert all(each >= 700 for each in times), "the search did not begin with the ponderhit"


def test_a_ponder_move_whenever_there_is_one(gui):
    assert re.fullmatch(
        r"bestmove \S{4} ponder \S{4}", gui.ask("position startpos", "go depth 6", until="bestmove")[-1]
    )
    assert gui.ask(MATE_IN_ONE, "go depth 6", until="bestmove")[-1] == "bestmove a1a8"


@pytest.mark.parametrize(
    "position", ["position fen 8/8/8/8/8/8/8/8 w - - 0 1", "position startpos moves e2e5", "position"]
)
def test_an_invalid_position_has_no_move(gui, position):
    gui.send(position)
    assert any(line.startswith("info string ") for line in gui.ready())
    assert gui.ask("go depth 5", until="bestmove")[-1] == "bestmove (none)"
    gui.send("go infinite")
    assert gui.silent(0.2, "bestmove")
    assert gui.ask("stop", until="bestmove")[-1] == "bestmove (none)"
    assert is_legal(moves(gui.ask("position startpos", "go depth 2", until="bestmove"))[0])


@pytest.mark.parametrize(
    ("fen", "score"), [("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", "mate 0"), ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0")]
)
def test_no_legal_moves(gui, fen, score):
    assert gui.ask(f"position fen {fen}", "go depth 5", until="bestmove") == [
        f"info depth 0 score {score}",
        "bestmove (none)",
    ]


def test_an_illegal_list_of_moves(gui):
    """Illegal moves are passed over; a list without any legal move is no list."""
    fen = "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1"
    lines = gui.ask(f"position fen {fen}", "go depth 5 searchmoves 0000 e1e8", until="bestmove")
    assert moves(lines) == ["e1e2"]
    assert any("all moves are searched" in line for line in lines)
    assert moves(gui.ask("go depth 5 searchmoves", until="bestmove")) == ["e1e2"]


def test_lines_end_where_the_game_ends(gui):
    """Perpetual check: the engine has to repeat, and no line goes on behind the third time."""
    fen = "6k1/5ppp/8/8/8/8/q4PPP/3Q2K1 b - - 0 1"
    history = "a2a1 d1a1 g8f8 a1a8 f8e7 a8a7 e7e8 a7a8 e8e7 a8a7 e7e8"
    gui.send(f"position fen {fen} moves {history}", "go depth 10")
    board = chess.Board(fen)
    for move in history.split():
        board.push_uci(move)
    for line in gui.until("bestmove"):
        if " pv " in line:
            after = board.copy()
            pv = line.split(" pv ")[1].split()
            for index, move in enumerate(pv):
                after.push_uci(move)
                assert index == len(pv) - 1 or not (after.is_repetition(3) or after.is_game_over())


def test_bounds_only_in_long_searches(gui):
    lines = gui.ask("position startpos moves e2e4 e7e5", "go movetime 700", until="bestmove")
    assert not any("bound" in line for line in lines)


def test_current_moves_only_after_three_seconds(gui):
    gui.send("position startpos", "go infinite")
    started = time.perf_counter()
    gui.until("info currmove")
    assert gui.moment - started > 2.9
    gui.ask("stop", until="bestmove")


def test_debug_says_more(gui):
    gui.send("debug on", "nonsense")
    assert "info string unknown word 'nonsense'" in gui.ready()
    gui.send("debug off", "nonsense")
    assert gui.ready() == ["readyok"]


@pytest.mark.parametrize(
    ("go", "said"),
    [
        ("go depht 5", "'depht' is not understood; did you mean 'depth'?"),
        ("go depth abc", "depth takes a whole number, not 'abc'"),
        ("go movetime", "movetime takes a whole number"),
        ("go searchmoves e2e4 deep 5", "'deep' is not understood"),
    ],
)
def test_a_misspelt_only_limit_is_said(gui, go, said):
    lines = gui.ask("position startpos", go, until="info depth 3")
    assert f"info string no limit was understood, so only 'stop' ends this search: {said}" in lines[0]
    assert gui.silent(0.2, "bestmove")
    gui.ask("stop", until="bestmove")


@pytest.mark.parametrize("go", ["go depth 3 foo", "go foo bar depth 3", "go movetime x depth 3", "go nodes 100 1 2"])
def test_other_unknown_words_are_passed_over(gui, go):
    lines = gui.ask("position startpos", go, until="bestmove")
    assert not any(line.startswith("info string") for line in lines)


@pytest.mark.parametrize("go", ["go", "go infinite", "go searchmoves e2e4", "go infinite foo"])
def test_an_endless_search_that_is_meant_is_not_commented(gui, go):
    lines = gui.ask("position startpos", go, until="info depth 3")
    assert not any(line.startswith("info string") for line in lines)
    gui.ask("stop", until="bestmove")


def test_flip(gui):
    gui.send("position fen 4k3/8/8/3pP3/8/8/8/4K2R w K d6 0 1", "flip", "d")
    assert gui.until("Fen:")[-1] == "Fen: 4k2r/8/8/8/3Pp3/8/8/4K3 b k d3 0 1"


def test_extensions_answer(gui):
    gui.send("help", "compiler", "d", "eval")
    lines = gui.ready()
    assert any(line.startswith("Quetzal is a UCI chess engine") for line in lines)
    assert any(line.startswith("compiler  ") for line in lines)
    assert any(line.startswith("Key: ") for line in lines)
    assert any(line.startswith("Middlegame weight") for line in lines)


@pytest.mark.parametrize("searching", [False, True])
def test_the_end_of_the_input_is_quit(searching):
    with Gui() as gui:
        if searching:
            gui.send("position startpos", "go infinite")
        gui.ready()
        gui.close_input()
        status, rest = gui.wait()
        assert status == 0
        assert len(moves(rest)) == searching


@pytest.mark.skipif(os.name != "posix", reason="signals are a POSIX matter")
class TestSignals:
    @pytest.mark.parametrize("searching", [False, True])
    def test_termination(self, searching):
        with Gui() as gui:
            if searching:
                gui.send("go infinite")
            gui.ready()
            os.kill(gui.process.pid, signal.SIGTERM)
            assert gui.wait()[0] == 0

    def test_an_interrupt_is_the_guis_business(self):
        with Gui() as gui:
            gui.ready()
            os.kill(gui.process.pid, signal.SIGINT)
            assert gui.silent(0.2)
            gui.ready()
            gui.quit()

    def test_an_interrupt_at_a_terminal_ends_quietly(self):
        import pty

        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "uci_engine"]
        with subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=DATA
        ) as process:
            os.write(ours, b"isready\n")
            assert process.stdout.readline() == b"readyok\n"
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(PATIENCE) == 0
            assert process.stderr.read() == b""
        os.close(ours)
        os.close(theirs)

    def test_an_interrupt_ends_a_search_on_the_command_line(self):
        with Gui("go", "infinite") as gui:
            gui.until("info depth 5")
            os.kill(gui.process.pid, signal.SIGINT)
            status, rest = gui.wait()
            assert status == 0
            assert len(moves(rest)) == 1


def test_a_gui_that_does_not_read():
    """The pipe is full: the search ends all the same, later everything arrives, and nobody waits at the exit."""
    with Gui() as gui:
        gui.ready()
        gui.may_read.clear()
        # What one read had already begun to wait for still arrives.
        gui.send(*["uci"] * 100, "position startpos", "go depth 6", "position startpos moves e2e4", "go depth 6")
        time.sleep(1)
        gui.may_read.set()
        for _ in range(100):
            gui.until("uciok")
        first = gui.until("bestmove")
        second = gui.until("bestmove")
        assert is_legal(moves(first)[0])
        assert is_legal(moves(second)[0], AFTER_E4)
        gui.may_read.clear()
        gui.send(*["uci"] * 200, "quit")
        assert gui.process.wait(PATIENCE) == 0

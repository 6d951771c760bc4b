"""What a person at a terminal meets: greeting, prompt, history, the board, misspellings; and a pipe nothing of it."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from gui import Gui
from support import DATA

import command.terminal as terminal_module

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX matter")
if os.name == "posix":
    from terminal import PATIENCE, Terminal, plain, quetzal_terminal

PROMPT = "quetzal> "
FOOLS_MATE = "position startpos moves f2f3 e7e5 g2g4 d8h4"


@pytest.fixture
def dialogue(tmp_path):
    with quetzal_terminal(env={"XDG_STATE_HOME": str(tmp_path), "COLORTERM": "truecolor"}) as terminal:
        yield terminal


def ask(terminal, line):
    """What stands between a typed line and the next prompt."""
    terminal.send(line + "\r")
    return plain(terminal.until(PROMPT)).replace(line, "", 1).replace(PROMPT, "")


def leave(terminal):
    terminal.send("quit\r")
    assert terminal.wait()[0] == 0


def test_it_greets_and_prompts(dialogue):
    greeting = plain(dialogue.until(PROMPT))
    assert re.match(r"\s*Quetzal \d+\.\d+\.\d+, a UCI chess engine", greeting)
    assert "Type help" in greeting
    assert "GUI" in greeting
    leave(dialogue)


def test_uci_is_spoken_as_ever(dialogue):
    dialogue.until(PROMPT)
    assert "uciok" in ask(dialogue, "uci")
    assert ask(dialogue, "isready").split() == ["readyok"]
    assert "and beyond UCI there are" in ask(dialogue, "help")
    dialogue.send("go depth 4\r")
    assert "info depth 4 " in plain(dialogue.until("bestmove "))
    leave(dialogue)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hlep", "'hlep' is not understood; did you mean 'help'?"),
        ("positon startpos", "did you mean 'position'?"),
        ("exit", "'exit' is called 'quit' here"),
        ("match quetzal stockfish", "in a shell: quetzal match --help"),
        ("xyzzy", "'help' lists the commands"),
        ("setoption name Hahs value 1", "there is no option 'Hahs'"),
        ("position fen 8/8 w", "8/8"),
        ("go depht 5", "'depth'?"),
    ],
)
def test_what_is_not_understood_is_said(dialogue, line, said):
    dialogue.until(PROMPT)
    dialogue.send(line + "\r")
    assert said in plain(dialogue.until(said))
    dialogue.send("stop\r")
    leave(dialogue)


def test_a_comment_and_an_empty_line_say_nothing(dialogue):
    dialogue.until(PROMPT)
    assert ask(dialogue, "").strip() == ""
    assert ask(dialogue, "# a comment").strip() == ""
    leave(dialogue)


def test_the_board_is_drawn(dialogue):
    dialogue.until(PROMPT)
    dialogue.send(FOOLS_MATE + "\r")
    dialogue.until(PROMPT)
    dialogue.send("d\r")
    output = dialogue.until("Key: ")
    shown = plain(output)
    assert shown.count("♟") == 16
    assert shown.count("♚") == 2
    assert "checkmate: 0-1" in shown
    assert "Fen: rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3" in shown
    assert len(set(re.findall(r"48;2;\d+;\d+;\d+", output))) == 3  # light, dark, and the king in check
    assert "\x1b[1;38;2;255;255;255" in output  # white pieces
    leave(dialogue)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}])
def test_a_terminal_without_colours_or_unicode(environment):
    environment = {"PYTHONCOERCECLOCALE": "0", **environment} if "LC_ALL" in environment else environment
    with quetzal_terminal("d", env=environment) as terminal:
        status, output = terminal.wait()
    assert status == 0
    assert "r n b q k b n r" in plain(output)
    assert "♟" not in output
    assert not re.search(r"\x1b\[[0-9;]*(3|4)8;", output)


def test_lines_are_kept_and_can_be_edited(tmp_path):
    for known in (False, True):
        with quetzal_terminal(env={"XDG_STATE_HOME": str(tmp_path)}) as terminal:
            terminal.until(PROMPT)
            if known:
                terminal.send("\x1b[A\x1b[A")  # up, past quit
                assert "isready" in plain(terminal.until("isready"))
                terminal.send("\r")
                terminal.until("readyok")
            else:
                terminal.send("issready\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x7f\r")  # left, and one s too many removed
                terminal.until("readyok")
            leave(terminal)
    assert (tmp_path / "quetzal" / "history").read_text(encoding="utf-8").splitlines()[:2] == ["isready", "quit"]


def test_commands_are_completed(dialogue):
    dialogue.until(PROMPT)
    dialogue.send("isr\t\r")
    dialogue.until("readyok")
    leave(dialogue)


def test_what_is_typed_during_a_search_stays(dialogue):
    dialogue.until(PROMPT)
    dialogue.send("go infinite\r")
    dialogue.until("info depth 8 ")
    dialogue.send("sto")
    dialogue.until(f"{PROMPT}sto")  # written again below the next line of the search
    dialogue.send("p\r")
    dialogue.until("bestmove ")
    leave(dialogue)


def test_ctrl_c_stops_a_search_and_then_leaves(dialogue):
    dialogue.until(PROMPT)
    dialogue.send("go infinite\r")
    dialogue.until("info depth 5 ")
    dialogue.send("\x03")
    dialogue.until("bestmove ")
    dialogue.send("isready\r")
    dialogue.until("readyok")
    dialogue.send("\x03")
    status, output = dialogue.wait()
    assert status == 130
    assert plain(output).endswith("\n")
    assert "Traceback" not in output


class EndedReading:
    """A screen of Windows: Ctrl-C ends the reading of keys by an error, and its handler may be called meanwhile."""

    def __init__(self, *ends):
        self.ends = list(ends)
        self.interrupted = threading.Event()
        self.calls = 0
        self.is_over = False

    def ask(self):
        error, is_handled = self.ends.pop(0)
        if is_handled:
            self.interrupt()
        raise error

    def interrupt(self):
        self.interrupted.set()
        self.calls += 1

    def end_line(self):
        self.is_over = True


@pytest.mark.parametrize(
    "first", [(EOFError, True), (KeyboardInterrupt, True), (KeyboardInterrupt, False), (OSError, False)]
)
def test_ctrl_c_on_windows_is_not_the_end_of_the_input(monkeypatch, first):
    monkeypatch.setattr(terminal_module, "CTRL_C_ENDS_READING", True)
    screen = EndedReading(first, first, (EOFError, False))
    terminal_module.converse(screen, screen, screen.interrupt, screen.interrupted)
    assert screen.is_over
    assert screen.ends == []
    assert screen.calls == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_terminal_is_left_as_it_was(tmp_path, number):
    """readline reads single keys without an echo; what comes next at this terminal wants lines, and the history its own."""
    import termios

    with quetzal_terminal(env={"XDG_STATE_HOME": str(tmp_path)}) as terminal:
        before = termios.tcgetattr(terminal.ours)
        terminal.until(PROMPT)
        terminal.send("isready\r")
        terminal.until("readyok")
        os.kill(terminal.process.pid, number)
        status, output = terminal.wait()
        assert status == 128 + number
        assert plain(output).endswith("\n")
        assert termios.tcgetattr(terminal.ours) == before
    assert (tmp_path / "quetzal" / "history").read_text(encoding="utf-8") == "isready\n"


def test_ctrl_d_leaves(dialogue):
    dialogue.until(PROMPT)
    dialogue.send("\x04")
    status, output = dialogue.wait()
    assert status == 0
    assert plain(output).endswith("\n")


@pytest.mark.parametrize(
    ("arguments", "begun"),
    [
        (("perft", "9"), "parts/"),
        (("bench", "--depth", "24"), " 1/52"),
        (("go", "infinite", "--json"), "searching until Ctrl-C"),
        (("go", "infinite"), "info depth 5"),
    ],
)
def test_ctrl_c_leaves_a_clean_line(arguments, begun):
    with quetzal_terminal(*arguments) as terminal:
        terminal.until(begun)
        time.sleep(0.5)
        terminal.send("\x03")
        status, output = terminal.wait()
    assert status == (0 if arguments[0] == "go" else 130)  # a search answers with the best move so far
    assert "Traceback" not in output
    assert plain(output).endswith("\n")


@pytest.mark.parametrize("piped", ["stdin", "stdout"])
def test_half_a_terminal_is_none(piped):
    """Nothing but the protocol goes into a pipe, and nobody is prompted who cannot type."""
    with quetzal_terminal(**{piped: subprocess.PIPE}) as terminal:
        if piped == "stdin":
            terminal.process.stdin.write(b"hlep\nisready\n")
            terminal.process.stdin.flush()
            output = terminal.until("readyok")
            terminal.process.stdin.close()
        else:
            terminal.send("hlep\nisready\n")
            output = terminal.process.stdout.readline().decode()
            terminal.send("quit\n")
        assert terminal.process.wait(PATIENCE) == 0
    assert output.strip() == "readyok"


# What a GUI waits for


LISTING = """
import sys
from command.__main__ import main
import os
before = os._exit
def listing(status):
    os.write(2, "\\n".join(sorted(sys.modules)).encode())
    before(status)
os._exit = listing
main([])
listing(0)
"""
OURS = {
    "command",
    "command.__main__",
    "uci_engine",
    "uci_engine._build",
    "uci_engine.build",
    "uci_engine.options",
    "uci_engine.protocol",
    "uci_engine.streams",
    "uci_engine.text",
}
NOT_YET = {"rich", "shtab", "pygments", "readline", "argparse", "difflib", "textwrap", "json", "pathlib", "chess"}


def test_nothing_else_is_imported_before_uciok():
    result = subprocess.run(
        [sys.executable, "-c", LISTING], input="uci\nquit\n", capture_output=True, text=True, cwd=DATA, timeout=PATIENCE
    )
    assert result.stdout.splitlines()[-1] == "uciok"
    loaded = set(result.stderr.split())
    rooms = {"arena", "board", "book", "command", "eval", "play", "search", "training", "uci_engine", "web"}
    assert {name for name in loaded if name.split(".")[0] in rooms} == OURS
    bare = subprocess.run([sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True)
    assert not {name.split(".")[0] for name in loaded - set(bare.stdout.split())} & NOT_YET


def test_a_gui_is_not_greeted():
    with Gui() as gui:
        assert gui.silent(0.5)
        gui.send("hlep", "isready")
        assert gui.until("readyok") == ["readyok"]
        gui.quit()


def test_a_terminal_that_goes_away(dialogue):
    """The window is closed: SIGHUP ends the process, and no search goes on alone."""
    dialogue.until(PROMPT)
    dialogue.send("go infinite\r")
    dialogue.until("info depth 5 ")
    os.kill(dialogue.process.pid, signal.SIGHUP)
    assert dialogue.process.wait(PATIENCE) == -signal.SIGHUP


def test_other_programs_on_a_terminal_are_left_alone():
    """The helper itself: what it starts has a terminal of its own."""
    with Terminal(sys.executable, "-c", "import os; print(os.get_terminal_size().columns)", columns=77) as terminal:
        assert terminal.wait()[1].strip() == "77"

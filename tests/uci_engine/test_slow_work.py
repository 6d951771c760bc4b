"""Nothing that a GUI can ask blocks the dialogue: slow work is done beside it, and every line is read in linear time."""

import os
import sys
import threading
import time

import chess
import pytest
from gui import Gui
from support import quetzal

from board import Board
from search import Searcher
from uci_engine import streams
from uci_engine.engine import Engine
from uci_engine.go import GoParameters, known_moves, parse_go
from uci_engine.protocol import END, QUIT_SECONDS, Session, parse_option
from uci_engine.streams import MOST_BYTES


class SlowEngine:
    """An engine whose options take as long as the test wants."""

    is_ready = True

    def __init__(self):
        self.may_end = threading.Event()
        self.is_closed = False

    def set_option(self, _name, _value):
        self.may_end.wait(60)

    def close(self):
        self.is_closed = True


@pytest.fixture
def slow():
    """A session in a thread of its own with a slow engine, and what it has written."""
    lines = []
    session = Session(lines.append)
    session.engine_or_none = SlowEngine()
    thread = threading.Thread(target=session.run, daemon=True)
    thread.start()
    yield session, session.engine_or_none, lines, thread
    session.engine_or_none.may_end.set()
    session.quit()
    thread.join(10)


def wait_for(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_isready_waits_for_slow_work_and_uci_does_not(slow):
    session, engine, lines, _ = slow
    for line in ("setoption name Hash value 1", "isready", "uci"):
        session.deliver(line)
    wait_for(lambda: "uciok" in lines)
    assert "readyok" not in lines
    engine.may_end.set()
    wait_for(lambda: "readyok" in lines)


def test_quit_does_not_wait_for_slow_work(slow):
    session, engine, lines, thread = slow
    session.deliver("setoption name Hash value 1")
    session.deliver("isready")
    session.deliver("quit")
    thread.join(QUIT_SECONDS + 10)
    assert not thread.is_alive()
    assert "readyok" not in lines
    assert not engine.is_closed  # it is at work, and what it works on must not be taken away


def test_the_end_of_a_script_waits_for_its_answers(slow):
    session, engine, lines, thread = slow
    for line in ("setoption name Hash value 1", "isready", "quit"):
        session.deliver(line)
    session.events.put(END)
    thread.join(2 * QUIT_SECONDS)
    assert thread.is_alive()
    engine.may_end.set()
    thread.join(10)
    assert not thread.is_alive()
    assert lines == ["readyok"]


def test_a_signal_ends_the_session_in_the_middle_of_slow_work(slow):
    session, _, _, thread = slow
    session.deliver("setoption name Hash value 1")
    wait_for(lambda: session.is_working)
    started = time.monotonic()
    session.quit()
    thread.join(10)
    assert not thread.is_alive()
    assert time.monotonic() - started < 5


def test_readyok_means_that_everything_is_loaded():
    lines = []
    session = Session(lines.append)
    session.receive("setoption name OwnBook value true")
    session.receive("isready")
    while "readyok" not in lines:
        session.step()
    engine = session.engine_or_none
    assert engine.endgame is not None
    assert engine.opening.book is not None
    session.close()


def test_a_count_before_everything_is_loaded(slow, monkeypatch):
    """Getting ready beside a count once ended it for the dispatcher, and the next search was taken for finished."""
    session, engine, lines, _ = slow
    engine.is_ready, positions = False, []
    engine.get_ready = lambda: setattr(engine, "is_ready", True)
    engine.set_position = lambda fen, moves: positions.append(fen)

    def count(depth, is_cancelled):
        engine.may_end.wait(60)
        yield "counted"

    monkeypatch.setattr("uci_engine.bench.lines", count)
    for line in ("bench 1", "isready", "position startpos", "isready"):
        session.deliver(line)
    wait_for(lambda: lines.count("readyok") == 2)
    time.sleep(0.1)
    assert positions == []  # a count is running
    engine.may_end.set()
    wait_for(lambda: positions == [None])
    assert "counted" in lines


def test_what_cannot_be_loaded_is_said_and_asked_for_once(monkeypatch):
    lines = []
    session = Session(lines.append)

    def fail(*_):
        raise OSError("no more files")

    monkeypatch.setattr("uci_engine.engine.Engine.set_tables", fail)
    session.receive("isready")
    while "readyok" not in lines:
        session.step()
    assert [line for line in lines if "no more files" in line] == [lines[0]]
    session.receive("go depth 1")
    while session.is_busy:
        session.step()
    assert lines[-1].startswith("bestmove ")
    session.close()


@pytest.mark.parametrize(
    "line",
    [
        "setoption name a" + " " * 200_000 + "b",
        "setoption name " + "a " * 100_000 + "value " + "b " * 100_000,
        "word " * 800_000,
        "go " + "depth x " * 200_000,
        "go searchmoves " + "e2e5 " * 200_000,
        "position startpos moves " + "e2e5 " * 200_000,
        "go depth " + "9" * 200_000,
        "go " + "searchmoves e2e4 " * 100_000 + "depth 1",
    ],
    ids=["blanks", "name and value", "unknown words", "go", "searchmoves", "moves", "digits", "many searchmoves"],
)
def test_every_line_is_read_in_linear_time(line):
    with Gui() as gui:
        gui.ready()
        before = gui.processor_seconds()
        gui.send(line, "stop")
        gui.ready()
        if before is not None:
            assert gui.processor_seconds() - before < 6  # quadratic reading took 17 s and more
        gui.quit()


class HeldEngine:
    """Its searches end when they are told to."""

    is_ready = True

    def __init__(self):
        self.finished = None
        self.seen = []

    def go(self, parameters, finished, _arrived):
        self.finished = finished
        self.seen.append("go")

    def stop(self):
        self.seen.append("stop")
        self.finished()

    def ponderhit(self):
        self.seen.append("ponderhit")

    def set_position(self, fen, moves):
        self.seen.append("position")

    def set_option(self, name, text):
        self.seen.append(name)

    def close(self):
        pass


def held_session():
    session = Session(lambda line: session.engine.seen.append(line))
    session.engine_or_none = HeldEngine()
    return session, session.engine.seen


def pump(session):
    """Answers the events that are there."""
    while not session.events.empty():
        session.step()


def test_commands_in_line_keep_their_order():
    session, seen = held_session()
    session.receive("go infinite")
    session.receive("stop")
    # Its end is not heard of yet: this is for what is in line.
    for line in ("position startpos", "go ponder", "ponderhit", "position startpos", "go infinite", "isready", "stop"):
        session.receive(line)
    assert seen == ["go", "stop", "readyok"]
    pump(session)
    assert seen[3:] == ["position", "go", "ponderhit", "stop", "position", "go", "stop"]
    assert not session.is_busy
    assert not +session.in_line


def test_questions_in_line_behind_slow_work_overtake_the_search():
    session, seen = held_session()
    session.is_busy = session.is_working = True
    for line in ("go infinite", "setoption name Contempt", "go infinite", "isready"):
        session.receive(line)
    assert seen == []
    session.go_on()
    assert seen == ["go", "readyok"]
    for _ in range(2):
        session.receive("stop")
        pump(session)
    assert seen[2:] == ["stop", "Contempt", "go", "stop"]


@pytest.mark.parametrize(
    "lines",
    [
        ["go depth 1"] * 10_000,
        ["go infinite", *["position startpos"] * 50_000, *["ponderhit"] * 50_000, "stop"],
        ["go infinite", "stop", *["go infinite", "stop"] * 10_000],
    ],
    ids=["searches", "positions", "stops"],
)
def test_every_line_in_line_is_looked_at_a_few_times(lines):
    """Whole lines were looked through after each search, and by each `stop` and `ponderhit`."""
    session, seen = held_session()
    before = time.process_time()
    for line in lines:
        session.receive(line)
    for _ in lines:
        if not session.is_busy:
            break
        session.receive("stop")
        pump(session)
    assert not session.is_busy
    assert seen.count("go") == sum(line.startswith("go") for line in lines)
    assert seen.count("position") == lines.count("position startpos")
    assert time.process_time() - before < 5  # looking through took minutes


def test_who_closes_the_input_behind_a_late_quit_is_no_script():
    """A GUI that is closed while a large table is filled, say. Behind its `quit` it closes the pipe, too."""
    session, _ = held_session()
    session.is_busy = session.is_working = True
    session.work_began = time.monotonic() - 3
    session.receive("quit")
    session.events.put(END)
    session.step()
    assert session.deadline - time.monotonic() < 1


def test_a_line_that_is_too_long_is_refused_as_a_whole():
    result = quetzal(stdin="isready " + "x" * MOST_BYTES + "\nuci\nquit\n")
    assert "readyok" not in result.stdout
    assert f"info string a line of {MOST_BYTES + 8:,} bytes was refused" in result.stdout.splitlines()
    assert "uciok" in result.stdout


def test_the_shell_does_not_count_loading_as_thinking():
    result = quetzal("go", "movetime", "100")
    *infos, last = result.stdout.splitlines()
    assert last.startswith("bestmove ")
    assert infos
    assert not any(" nodes 0 " in line for line in infos)


def test_options_of_go():
    assert parse_go(["depth", "5", "wtime", "1000", "movetime", "x", "infinite", "joho"]) == GoParameters(
        depth=5, wtime=1000, infinite=True
    )
    words = ["searchmoves", "e2e4", "d2d4", "depth", "3", "searchmoves", "a2a3"]
    assert parse_go(words).searchmoves == ("e2e4", "d2d4", "a2a3")
    assert parse_go(["nodes", "9" * 5000]).nodes == 10**15
    assert parse_go(["wtime", "-5"]).wtime == -5
    assert parse_go(["depth", "1e9"]).depth is None


def test_illegal_moves_are_ignored():
    from board import Board

    said = []
    board = Board()
    assert known_moves(board, ("e2e5", "e2e4"), said.append) == (board.parse_uci("e2e4"),)
    assert said == ["not legal here and ignored: e2e5"]
    assert known_moves(board, ("e2e5",), said.append) is None
    assert "all moves are searched" in said[-1]
    assert known_moves(board, None, said.append) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (" name Hash value 32", ("Hash", "32")),
        (" name Clear Hash", ("Clear Hash", "")),
        (" NAME EvalFile VALUE /a  b/value x.qnn ", ("EvalFile", "/a  b/value x.qnn")),
        (" name BookFile value", ("BookFile", "")),
        (" name  Debug  Log File value a value b", ("Debug Log File", "a value b")),
    ],
)
def test_names_and_values(text, wanted):
    assert parse_option(text) == wanted


@pytest.mark.parametrize("text", ["", " Hash value 3", " name", " name value 3"])
def test_an_option_without_a_name(text):
    with pytest.raises(ValueError, match="usage: setoption"):
        parse_option(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("option", ["EvalFile", "BookFile", "Debug Log File"])
def test_a_pipe_is_no_file(tmp_path, option):
    """Opening a FIFO waits for its other end, for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with Gui() as gui:
        gui.send(f"setoption name {option} value {path}")
        lines = gui.ready(timeout=20)
        assert any("not a regular file" in line for line in lines)
        assert gui.ask("go depth 1", until="bestmove")
        gui.quit()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_pipe_named_like_a_table(tmp_path):
    for suffix in ("rtbw", "rtbz"):
        os.mkfifo(tmp_path / f"KQvK.{suffix}")
    with Gui() as gui:
        gui.send(f"setoption name SyzygyPath value {tmp_path}")
        gui.ready(timeout=20)
        lines = gui.ask("position fen 8/8/8/4k3/8/8/4K3/4Q3 w - - 0 1", "go depth 2", until="bestmove", timeout=20)
        assert any("not a regular file" in line for line in lines)
        gui.quit()
    result = quetzal("tables", "check", str(tmp_path))
    assert result.returncode == 1
    assert "KQvK.rtbw: not a regular file" in result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
@pytest.mark.parametrize(("megabytes", "threads"), [(200, 1), (250, 8), (350, 8), (400, 8), (400, 64), (600, 64)])
def test_little_memory(megabytes, threads):
    """Whatever there is no room for, every `go` is answered, and `quit` ends the process well.

    With a legal move, unless there is not even room for the rules.
    """
    import resource

    limit = megabytes << 20
    with Gui(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) as gui:
        gui.send(f"setoption name Threads value {threads}")
        gui.ready(timeout=30)
        for moves in ("e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3"):
            board = chess.Board()
            for move in moves.split():
                board.push_uci(move)
            *lines, answer = gui.ask(f"position startpos moves {moves}", "go depth 4", until="bestmove", timeout=30)
            if answer == "bestmove (none)":
                assert any("no memory for 'go'" in line or "internal error at 'go'" in line for line in lines)
                assert megabytes < 300
            else:
                assert chess.Move.from_uci(answer.split()[1]) in board.legal_moves
        gui.send("go infinite searchmoves a7a6")
        early = gui.ready(timeout=30)
        if "bestmove (none)" not in early:  # there are the rules
            assert not any(line.startswith("bestmove") for line in early)
            *_, answer = gui.ask("stop", until="bestmove", timeout=30)
            assert answer.split()[1] == "a7a6"
        gui.quit()


def test_slow_work_without_a_thread_is_done_by_the_dispatcher(monkeypatch):
    lines = []
    session = Session(lines.append)

    def fail(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    for line in ("setoption name Hash value 2", "isready", "go perft 2", "ucinewgame", "isready"):
        session.receive(line)
        while session.is_busy:
            session.step()
    assert lines.count("readyok") == 2
    assert any(line.endswith("400") for line in lines)
    session.close()


def test_a_table_that_there_is_no_room_for_gets_smaller(monkeypatch):
    lines = []

    def small(megabytes, threads):
        if megabytes > 4:
            raise MemoryError
        return Searcher(megabytes=megabytes, threads=threads)

    monkeypatch.setattr("uci_engine.engine.Searcher", small)
    engine = Engine(lines.append)
    engine.get_ready()
    assert engine.searcher.megabytes == 4
    assert lines == ["info string no memory for a table of 16 MB, it gets 4 MB"]
    engine.close()


def test_a_search_without_any_thread_says_so_and_the_next_one_works(monkeypatch):
    lines = []
    session = Session(lines.append)
    session.receive("isready")
    while session.is_busy:
        session.step()

    def fail(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        session.receive("go depth 3")
        while session.is_busy:
            session.step()
    assert any("no memory for a search thread" in line for line in lines)
    assert lines[-1].startswith("bestmove ")
    assert lines[-1] != f"bestmove {Board().uci(Board().legal_moves()[0])}"  # it has looked at the position
    session.receive("go depth 3")
    while session.is_busy:
        session.step()
    assert any(line.startswith("info depth 3 ") for line in lines)
    session.close()


def test_a_slow_reader_gets_everything_where_a_pipe_cannot_be_asked(monkeypatch):
    """Windows does not tell whether a pipe is full. Patience is for a GUI that does not read, not for one that is slow."""
    monkeypatch.setattr(streams, "PATIENCE", 1.0)
    monkeypatch.setattr(streams.Writer, "is_stuck", lambda writer: True)
    source, sink = os.pipe()
    lines = [letter * 200_000 for letter in "abcdef"]  # none of them fits the pipe
    found = []

    def read():
        for line in lines:
            time.sleep(0.3)
            with open(source, "rb", closefd=False, buffering=0) as file:
                text = b""
                while len(text) <= len(line) and (more := file.read(len(line) + 1 - len(text))):
                    text += more
            found.append(text.decode().rstrip("\n"))

    reader = threading.Thread(target=read)
    reader.start()
    writer = streams.Writer(sink)
    for line in lines:
        writer(line)
    writer.close()
    os.close(sink)
    reader.join()
    os.close(source)
    assert found == lines

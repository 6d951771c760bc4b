"""Engines that mean harm: whatever one writes costs at most its own game, a bounded amount of memory, and no terminal."""

import io
import json
import queue
import sys
import time
import tracemalloc
from types import SimpleNamespace

import chess.pgn
import pytest
from arena_playing import play, scripted, wait_until

from arena.client import LONGEST_LINE, Client
from arena.declarations import fitting
from arena.engine import EngineFailure, EngineProcess, centipawns, parse_info
from arena.pgn import game_text
from arena.settings import EngineSettings, Rules
from arena.text import visible
from arena.transcript import Transcript

DESCRIPTION = {"name": 'a test\n[Hidden "tag"]', "rules": {"chess960": False}}


def engine_of(source, **rules):
    """An engine that is one line of Python."""
    return EngineProcess(EngineSettings("e", [sys.executable, "-c", source], "nodes=1"), Rules(**rules))


# One line


def test_the_end_of_a_flood_is_heard():
    """A hundred thousand options came faster than they were read, and the `uciok` behind them was dropped with the rest."""
    slow = SimpleNamespace(inbox=queue.SimpleQueue(), delivered=0, taken=0)
    for _ in range(10_000):
        slow.inbox.put("option name x type button")
    assert not EngineProcess.has_room_for(slow, "option name y type button")
    assert EngineProcess.has_room_for(slow, "uciok\r")
    for _ in range(10_000):
        slow.inbox.put("uciok")
    assert not EngineProcess.has_room_for(slow, "uciok")  # nor may that be a flood


@pytest.mark.parametrize("mode", ["digits", "text", "options"])
def test_absurd_lines_cost_nothing(mode):
    """The game goes on, and the record can be written down."""
    for record, _ in play(scripted(mode), scripted("good"), most_moves=6):
        assert record["failure"] is None, record["reason"]
        assert len(record["moves"]) == 12
        own = record["thoughts"][0 if record["white"] == mode else 1]
        expected = {"digits": {"depth": 5}, "text": {"depth": 5, "score": 37}}.get(mode)
        if expected is not None:
            assert {name: value for name, value in own.items() if name in ("depth", "score", "mate")} == expected
        assert "\x00" not in json.dumps(record, ensure_ascii=False)


def test_a_mate_in_millions_is_no_loss():
    """Subtracted from the score of a mate it would say that the side is being mated, and it would be resigned for it."""
    for record, _ in play(scripted("mates"), scripted("good"), most_moves=6, resign_score=500, resign_moves=1):
        assert record["reason"] == "draw after 6 moves"
    assert centipawns(parse_info("info score mate 9999")) > 90_000


def test_numbers_of_thoughts():
    many = "9" * 5000
    assert parse_info(f"info depth {many} score cp -{many} nodes {many}") == {}
    assert parse_info("info depth 12 score cp +35 nodes 123456789012345678") == {
        "depth": 12,
        "score": 35,
        "nodes": 123456789012345678,
    }
    assert parse_info("info depth \u0665 score mate \u0661") == {}


def test_what_engines_say_is_made_visible():
    assert visible("info depth 5 score cp 3\r") == "info depth 5 score cp 3"
    assert visible("a\tb\x0bc\u2028d\x85e") == "a b c d e"
    assert visible("\x1b[2J\x07\x00\x7f\x9b") == "\\x1b[2J\\x07\\x00\\x7f\\x9b"
    assert visible("\u202egnp.exe\udcff\ufeff") == "\\u202egnp.exe\\udcff\\ufeff"
    assert visible("Weiß, Kōmodo 象棋 ½") == "Weiß, Kōmodo 象棋 ½"
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert visible(everything).isprintable()


def test_a_move_of_control_characters():
    """It is illegal; the reason neither steers a terminal nor ends the comment that it stands in."""
    for record, log in play(scripted("escape"), scripted("good"), most_moves=20):
        assert (record["failure"], record["failed"]) == ("illegal move", "escape")
        assert record["reason"].isprintable()
        assert all(line.isprintable() for line in log.splitlines())
        text = game_text({**record, "white": 'a\n[Result "1-0"]\r\n\n1. e4', "opening": "x\u2028y"}, DESCRIPTION)
        file = io.StringIO(text)
        game = chess.pgn.read_game(file)
        assert chess.pgn.read_game(file) is None
        assert not game.errors
        assert game.headers["Result"] == record["result"]
        assert "Hidden" not in game.headers
        assert game.headers["White"] == "a [Result '1-0']   1. e4"
        assert [move.uci() for move in game.mainline_moves()] == record["moves"]
        assert "which is illegal" in " ".join(list(game.mainline())[-1].comment.split())


# Bytes


def test_a_line_without_an_end_is_not_kept():
    """60 MB: the beginning arrives with a word that it was cut, and the rest is not taken for a line of its own."""
    source = (
        "import sys; write = sys.stdout.write\n"
        "for _ in range(60): write('x' * 500_000 + ' bestmove a1a1 ' + 'x' * 500_000)\n"
        "write('\\nbestmove e2e4\\n'); sys.stdout.flush(); sys.stdin.read()"
    )
    tracemalloc.start()
    try:
        with Client([sys.executable, "-c", source], patience=120.0) as client:
            first, last = client.until("bestmove")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert first == "x" * LONGEST_LINE + f" [cut after {LONGEST_LINE} bytes]"
    assert last == "bestmove e2e4"
    assert peak < 5_000_000


def test_a_flood_ends_an_engine_that_is_listened_to():
    """Where every line is kept there is a limit to all of them together."""
    with Client([sys.executable, "-c", "while True: print('x' * 1000)"], patience=120.0, most_bytes=10**7) as client:
        with pytest.raises(Exception, match="ended after 10000000 bytes of output"):
            client.until("uciok")
        assert sum(map(len, client.lines)) <= 10**7


def test_a_failure_log_is_bounded():
    """75 MB of thoughts and 5 MB of errors before a crash; the log says what it leaves out, and has the last words."""
    ((record, log),) = play(scripted("bulk"), scripted("good"), games=1, most_moves=20)
    assert record["failure"] == "crash"
    assert len(log) < 6_000_000
    assert "characters left out]" in log
    assert "lines left out ..." in log
    assert "the last words" in log


def test_a_transcript_is_bounded():
    transcript = Transcript()
    for number in range(100_000):
        transcript.add(0.0, "e", ">", f"{number} " + "x" * 1000)
    lines = transcript.lines()
    assert sum(map(len, lines)) < 5 << 20
    assert " 0 x" in lines[0]
    assert " 99999 x" in lines[-1]
    left_out = next(line for line in lines if line.endswith("lines left out ..."))
    assert int(left_out.split()[1]) == 100_000 - (len(lines) - 1)


def test_an_endless_greeting_is_bounded():
    """Lines come as fast as they can for as long as the engine may take; they are not collected."""
    source = "import sys\nwhile True: sys.stdout.write('option name ' + 'x' * 900 + ' type string\\n')"
    tracemalloc.start()
    engine = engine_of(source, startup_seconds=3.0)
    try:
        with pytest.raises(EngineFailure, match="no uciok in 3 s"):
            engine.greet()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        engine.end()
    assert peak < 40_000_000
    assert engine.warnings


def test_lines_that_nobody_asked_for_are_bounded():
    """The longest lines, and each of their bytes takes six characters to show: 100 of them are 39 MB."""
    source = (
        "import sys\nprint('uciok\\nreadyok', flush=True)\nsys.stdin.readline()\n"
        "for _ in range(100): sys.stdout.buffer.write(b'\\xff' * 65_000 + b'\\n')\n"
        "sys.stdout.flush()\nsys.stdin.readline()\nsys.stdin.readline()\n"
        "print('readyok\\nbestmove e2e4', flush=True)\nsys.stdin.read()"
    )
    engine = engine_of(source, startup_seconds=60.0, ping_seconds=60.0)
    try:
        engine.greet()
        assert wait_until(lambda: engine.warnings)
        assert engine.delivered < 5_000_000
        assert engine.inbox.qsize() < 20
        engine.ping()
        engine.expect("bestmove", 60.0, "stall", "no move")
        assert engine.warnings == [
            "e writes more than 10000 lines or 4194304 characters that nobody asked for; the rest is not heard"
        ]
    finally:
        engine.end()


def test_what_was_not_heard_is_said_after_the_game(tmp_path):
    said = []
    sides = [scripted(mode, tmp_path / "pids") for mode in ("chatty", "patient")]
    ((record, _),) = play(*sides, games=1, on_warning=said.append, most_moves=1)
    assert record["failure"] is None, record["reason"]
    assert len(said) == 1
    assert said[0].startswith("chatty writes more than 10000 lines")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that do not block are Unix's")
def test_an_engine_that_does_not_read():
    """The pipe is full after a while; that is a stall, and nobody waits for ever."""
    source = "import sys, time\nprint('uciok\\nreadyok', flush=True)\ntime.sleep(600)"
    engine = engine_of(source, startup_seconds=2.0)
    try:
        engine.greet()
        started = time.perf_counter()
        with pytest.raises(EngineFailure, match="does not read its input") as caught:
            engine.begin("position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 10_000, "go nodes 1")
        assert caught.value.kind == "stall"
        assert time.perf_counter() - started < 60
    finally:
        engine.leave()


# Options


DECLARED = [
    ("spin default 1 min 1 max 8", "8", "8"),
    ("spin default 1 min 1 max 8", "+3", "+3"),
    ("spin default 1 min -5 max 8", "-5", "-5"),
    ("spin default 1", "123456", "123456"),
    ("spin default x min y max z", "7", "7"),
    ("spin min " + "9" * 5000 + " max " + "9" * 6000, "9" * 5500, "9" * 5500),
    ("check default false", "TRUE", "true"),
    ("combo default a var a var Very Solid var b", "very solid", "Very Solid"),
    ("combo default a", "whatever", "whatever"),
    ("string default <empty>", "a b  c", "a b  c"),
    ("string", "", ""),
    ("button", "", None),
    ("button", "now", None),
    ("", "x", "x"),
    ("matrix 3", "x", "x"),
]


@pytest.mark.parametrize(("declaration", "value", "sent"), DECLARED)
def test_values_that_fit(declaration, value, sent):
    assert fitting(declaration, value) == sent


MISFITS = [
    ("spin default 1 min 1 max 8", "9", "9 is not between 1 and 8"),
    ("spin default 1 min 1 max 8", "0", "0 is not between 1 and 8"),
    ("spin default 1 max 8", "-" + "9" * 5000 + "x", "is no whole number"),
    ("spin default 1 max 8", "9" * 5000, "is not between anything and 8"),
    ("spin default 1 min 1 max 8", "", "'' is no whole number"),
    ("spin default 1 min 1 max 8", "3.0", "'3.0' is no whole number"),
    ("spin default 1 min 1 max 8", "\u0663", "is no whole number"),
    ("check default false", "1", "'1' is neither true nor false"),
    ("combo default a var a var b", "c", "'c' is none of a, b"),
    ("string default x", "a\nquit", "one line"),
    ("button", "a\nquit", "one line"),
]


@pytest.mark.parametrize(("declaration", "value", "message"), MISFITS)
def test_values_that_do_not_fit(declaration, value, message):
    with pytest.raises(ValueError, match=message) as caught:
        fitting(declaration, value)
    assert len(str(caught.value)) < 600

"""`quetzal match` as a user runs it: results, interruption and resumption, bad input."""

import json
import os
import signal
import subprocess
import sys

import chess.pgn
import pytest
from arena_playing import PATIENCE, command, is_running, processes, run_quetzal, wait_until
from support import DATA

from arena.encounters import Encounters
from arena.openings import START
from arena.processes import available_cores, resolve_command, share_cores, split_command
from arena.settings import Rules, as_dict
from board.fen import STARTING_FEN
from pool.local import LocalPool

# Not pinned: a neighbour on a busy machine may own one processor, but not all of them.
QUICK = ("--no-pin", "--tc", "nodes=10", "--max-moves", "20", "--move-timeout", "120", "--startup-timeout", "120")


def games_of(directory):
    """Those whose lines are whole: the last one may be on its way to the disk."""
    path = directory / "games.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def test_a_match(tmp_path):
    """Two games at once; one opening for each pair, with both colours; the same figures everywhere."""
    openings = tmp_path / "openings.epd"
    fens = [
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
        STARTING_FEN,
        "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2",
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    ]
    openings.write_text("\n".join(fens) + "\n", encoding="utf-8")
    run = tmp_path / "run"
    arguments = ("--games", "8", "-c", "2", "--openings", str(openings), "--dir", str(run), "--names", "one,two")
    result = run_quetzal("match", command("good"), command("resigns"), "--resign", "800,3", *arguments, *QUICK)
    assert result.returncode == 0, result.stderr
    games = games_of(run)
    assert sorted(game["game"] for game in games) == list(range(8))
    for game in games:
        pair = [other for other in games if other["pair"] == game["pair"]]
        assert len(pair) == 2
        assert pair[0]["fen"] == pair[1]["fen"] == fens[game["pair"]]
        assert pair[0]["white"] == pair[1]["black"]
    wins = sum(game["points"] == float(game["white"] == "one") and game["points"] != 0.5 for game in games)
    draws = sum(game["points"] == 0.5 for game in games)
    assert f"games  8 of 8   +{wins} -{8 - wins - draws} ={draws}" in result.stdout
    assert "ms per move between the clocks" in result.stdout
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    assert results["summary"]["wins"] == wins
    assert sum(results["summary"]["pentanomial"]) == 4
    assert sorted(game["game"] for game in results["games"]) == list(range(1, 9))
    with open(run / "games.pgn", encoding="utf-8") as file:
        read = [chess.pgn.read_game(file) for _ in range(8)]
        assert chess.pgn.read_game(file) is None
    assert sorted(int(game.headers["GameNumber"]) for game in read) == list(range(1, 9))


def test_a_sequential_test_stops_by_itself(tmp_path):
    """One side always resigns: the test accepts a difference long before the last game."""
    run = tmp_path / "run"
    arguments = ("--sprt", "0,200", "--games", "400", "--dir", str(run), "--resign", "800,1")
    result = run_quetzal("match", command("good"), command("resigns"), *arguments, *QUICK)
    assert result.returncode == 0, result.stderr
    assert "200 accepted" in result.stdout
    summary = json.loads((run / "results.json").read_text(encoding="utf-8"))["summary"]
    assert summary["verdict"] == "H1"
    assert summary["llr"] >= summary["llr_bounds"][1]
    assert summary["games"] < 100


def test_a_failing_engine_leaves_the_others_alone(tmp_path):
    """The one that crashes loses all its games, with a log of each; the other never fails; nobody is left behind."""
    run, pids = tmp_path / "run", tmp_path / "pids"
    result = run_quetzal(
        "match",
        command("good", pids),
        command("crash", pids),
        "--names",
        "python 1,python 2",
        "--games",
        "6",
        "-c",
        "2",
        "--dir",
        str(run),
        *QUICK,
    )
    assert result.returncode == 0, result.stderr
    assert "+6 -0 =0" in result.stdout
    assert "python 2: 6 games lost: crash" in result.stdout
    for game in games_of(run):
        assert game["failure"] == "crash"
        assert game["log"] == f"failures/game-{game['game'] + 1}.log"
        assert "assertion failed" in (run / game["log"]).read_text(encoding="utf-8")
    assert not any(is_running(pid) for pid in processes(pids))


def test_an_engine_that_never_starts_is_no_match(tmp_path):
    """It is tried twice, and then nothing is played or written."""
    pids = tmp_path / "pids"
    arguments = ("--games", "100", "--dir", str(tmp_path / "run"), "--tc", "nodes=10", "--startup-timeout", "0.5")
    result = run_quetzal("match", command("silent", pids), command("silent", pids), *arguments)
    assert result.returncode == 2
    assert "silent 1" not in result.stderr
    assert "did not start: no uciok in 0.5 s" in result.stderr
    assert not (tmp_path / "run").exists()
    assert len(processes(pids)) == 2
    assert not any(is_running(pid) for pid in processes(pids))


def test_an_engine_that_dies_at_once_ends_the_match(tmp_path):
    """After two games instead of a hundred, with the reason; and a resumed match gives it another chance."""
    run = tmp_path / "run"
    arguments = ("--games", "100", "--names", "one,two", "--dir", str(run), *QUICK)
    result = run_quetzal("match", command("good"), command("dies"), *arguments)
    for games in (2, 4):
        assert result.returncode == 1
        reason = "two is out: it lost 2 games in the same way"
        assert f"quetzal match: {reason}" in result.stderr.splitlines()[-1]
        assert "ended with status 3" in result.stderr.splitlines()[-1]
        assert len(games_of(run)) == games
        assert (run / "report.html").exists()
        result = run_quetzal("match", "--resume", str(run))


def test_an_engine_that_does_not_count_its_nodes_is_out(tmp_path):
    """Every game would cost the time that a move without a clock may take."""
    run = tmp_path / "run"
    arguments = ("--games", "100", "--names", "one,two", "--dir", str(run), "--tc", "nodes=10", "--move-timeout", "0.5")
    result = run_quetzal("match", command("calm"), command("never"), "--no-pin", "--startup-timeout", "60", *arguments)
    assert result.returncode == 1
    assert "two is out: it lost 2 games in the same way" in result.stderr
    assert "stalls (no move in 0.5 s)" in result.stderr
    assert [game["failure"] for game in games_of(run)] == ["stall"] * 2


OPTIONS = [
    ("Hash=abc", "two does not take option Hash: 'abc' is no whole number"),
    ("hash=99", "two does not take option hash: 99 is not between 1 and 64"),
    ("Hash=" + "9" * 5000, "is not between 1 and 64"),
    ("UCI_Chess960=yes", "two does not take option UCI_Chess960: 'yes' is neither true nor false"),
]


@pytest.mark.parametrize(("option", "message"), OPTIONS)
def test_options_are_checked_before_the_first_game(tmp_path, option, message):
    run = tmp_path / "run"
    arguments = ("--option-b", option, "--names", "one,two", "--dir", str(run), *QUICK)
    result = run_quetzal("match", command("good"), command("fine"), *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert not run.exists()


def test_an_option_that_an_engine_does_not_have_is_a_warning(tmp_path):
    """`--option` is for every engine, and not every engine has everything."""
    arguments = ("--option", "Contempt=3", "--option", "hash=2", "--games", "2", "--dir", str(tmp_path / "run"), *QUICK)
    result = run_quetzal("match", command("good"), command("fine"), *arguments)
    assert result.returncode == 0, result.stderr
    assert "has no option Contempt" in result.stderr
    assert "option hash" not in result.stderr


def start_match(run, pids, games):
    arguments = ("--games", str(games), "-c", "2", "--dir", str(run), *QUICK)
    return subprocess.Popen(
        [sys.executable, "-m", "uci_engine", "match", command("good", pids), command("fine", pids), *arguments],
        cwd=DATA,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_and_resumed(tmp_path):
    """kill -9 in the middle: no engine survives it, and after resuming every game was played once."""
    run, pids = tmp_path / "run", tmp_path / "pids"
    with start_match(run, pids, 60) as process:
        assert wait_until(lambda: len(games_of(run)) >= 8)
        process.kill()
        process.communicate()
    assert wait_until(lambda: not any(is_running(pid) for pid in processes(pids)))
    before = (run / "games.jsonl").read_bytes()
    assert 8 <= before.count(b"\n") < 60
    with open(run / "games.jsonl", "ab") as file:
        file.write(b'{"game":3')  # as if it had been killed while writing
    result = run_quetzal("match", "--resume", str(run))
    assert result.returncode == 0, result.stderr
    assert "continuing after" in result.stdout
    assert (run / "games.jsonl").read_bytes().startswith(before)
    assert sorted(game["game"] for game in games_of(run)) == list(range(60))
    assert (run / "games.pgn").read_text(encoding="utf-8").count("[Event ") == 60
    assert not any(is_running(pid) for pid in processes(pids))
    # A complete match has nothing left to do, and can be made longer.
    assert run_quetzal("match", "--resume", str(run), "--games", "62").returncode == 0
    assert sorted(game["game"] for game in games_of(run)) == list(range(62))


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_interrupted(tmp_path):
    """Ctrl-C ends it cleanly, with a word on how to go on."""
    run, pids = tmp_path / "run", tmp_path / "pids"
    with start_match(run, pids, 500) as process:
        assert wait_until(lambda: len(games_of(run)) >= 2)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert f"quetzal match --resume {run} goes on" in output
    assert "Traceback" not in output
    assert not any(is_running(pid) for pid in processes(pids))
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    assert len(results["games"]) == len(games_of(run)) < 500


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_a_worker_that_dies_is_replaced(tmp_path):
    run, pids = tmp_path / "run", tmp_path / "pids"
    with start_match(run, pids, 40) as process:
        assert wait_until(lambda: len(games_of(run)) >= 4)
        engine = next(pid for pid in reversed(processes(pids)) if is_running(pid))
        with open(f"/proc/{engine}/stat", encoding="ascii") as file:
            worker = int(file.read().rsplit(")", 1)[1].split()[1])
        os.kill(worker, signal.SIGKILL)
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "a worker died" in output
    assert sorted(game["game"] for game in games_of(run)) == list(range(40))
    assert wait_until(lambda: not any(is_running(pid) for pid in processes(pids)))


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not pin processes")
def test_workers_are_pinned():
    core = available_cores()[-1]
    pool = LocalPool(Encounters(cores=[[core]]), 1)
    try:
        pool.give({"number": 7, "rules": as_dict(Rules()), "engines": {}, "opening": START, "games": []})
        assert wait_until(lambda: (event := pool.event(0.1)) is not None and event.kind == "result")
        assert os.sched_getaffinity(pool.threads[0].doer.process.pid) == {core}
    finally:
        pool.close()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not pin processes")
def test_processors_are_shared_out():
    cores = available_cores()
    assert sorted(cores) == sorted(os.sched_getaffinity(0))
    assert share_cores(1, len(cores)) == [cores]
    assert share_cores(len(cores), 1) == [[core] for core in cores]
    assert share_cores(len(cores), 2) is None


BAD = [
    (("match", "GOOD"), "a match has two engines, not 1"),
    (("match", "GOOD", "/no/such/engine"), "there is no program '/no/such/engine'"),
    (("match", "GOOD", "GOOD", "--openings", "absent.epd"), "absent.epd: there is no such file"),
    (("match", "GOOD", "GOOD", "--openings", "BAD.epd"), "bad.epd:2: "),
    (("match", "GOOD", "GOOD", "--openings", "EMPTY.epd"), "empty.epd: there is no opening in it"),
    (("match", "GOOD", "GOOD", "--tc", "fast"), "time control 'fast'"),
    (("match", "GOOD", "GOOD", "--sprt", "5,0"), "the smaller difference first"),
    (("match", "GOOD", "GOOD", "--sprt", "nan,5"), "between -1000 and 1000"),
    (("match", "GOOD", "GOOD", "--sprt=-inf,inf"), "between -1000 and 1000"),
    (("match", "GOOD", "GOOD", "--sprt", "0,300", "--normalized"), "between -200 and 200"),
    (("match", "GOOD", "GOOD", "--move-timeout", "1e999"), "a timeout of inf s"),
    (("match", "GOOD", "GOOD", "--margin", "nan"), "a margin of nan ms"),
    (("match", "GOOD", "GOOD", "-c", "1000000"), "concurrency is not between 1 and 1024"),
    (("match", "GOOD", "GOOD", "--seed", "9" * 30), "openings.seed is 99999"),
    (("match", "GOOD", "GOOD", "--sprt", "x"), "--sprt takes ELO0,ELO1"),
    (("match", "GOOD", "GOOD", "--alpha", "0.1"), "--alpha needs --sprt"),
    (("match", "GOOD", "GOOD", "--resign", "5"), "resign takes CP,MOVES[,both]"),
    (("match", "GOOD", "GOOD", "--draw", "1,2"), "draw takes CP,MOVES,FROM"),
    (("match", "GOOD", "GOOD", "--option", "Hash"), "--option takes NAME=VALUE"),
    (("match", "GOOD", "GOOD", "--syzygy-path", "/no/tables"), "/no/tables: there is no such directory"),
    (("match", "--resume", "/no/such/run"), "/no/such/run: there is no run to resume"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(tmp_path, arguments, message):
    """A message that names the place, exit status 2, and nothing was started or written."""
    (tmp_path / "bad.epd").write_text(f"{STARTING_FEN}\nnonsense here\n", encoding="utf-8")
    (tmp_path / "empty.epd").write_text("\n", encoding="utf-8")
    pids = tmp_path / "pids"
    places = {
        "GOOD": command("good", pids),
        "BAD.epd": str(tmp_path / "bad.epd"),
        "EMPTY.epd": str(tmp_path / "empty.epd"),
    }
    words = [places.get(word, word) for word in arguments]
    if "--resume" not in words:
        words += ["--dir", str(tmp_path / "run")]
    result = run_quetzal(*words, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "run").exists()
    assert not pids.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"C:\quetzal.exe", ["C:\\quetzal.exe"]),
        (r'"C:\Program Files\q é.exe" -m "a b"', ["C:\\Program Files\\q é.exe", "-m", "a b"]),
        (r"C:\O'Brien\q.exe #1 'x y'", ["C:\\O'Brien\\q.exe", "#1", "'x", "y'"]),
        (r'q.exe --dir="D:\Bases 1\" ""', ["q.exe", "--dir=D:\\Bases 1\\", ""]),
    ],
)
def test_commands_as_windows_users_write_them(text, words):
    assert split_command(text, windows=True) == words


def test_a_path_with_blanks(tmp_path):
    """Alone it needs no quotes, be it a full one or one that starts from the file that names it."""
    (tmp_path / "my engines").mkdir()
    program = tmp_path / "my engines" / "engine 1"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    assert resolve_command(str(program)) == [str(program)]
    assert resolve_command("my engines/engine 1", tmp_path) == [str(program)]
    assert resolve_command("'my engines/engine 1' -x", tmp_path) == [str(program), "-x"]


def test_a_long_command_is_no_path(tmp_path):
    """Systems take no name of so many characters, but arguments may have them."""
    words = [sys.executable, "-m", 300 * "x"]
    assert resolve_command(" ".join(words)) == words
    assert resolve_command(" ".join(words), tmp_path) == words

"""`quetzal suite` as a user types it: tables, JSON, exit status, interruption and resumption."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from support import DATA, quetzal

from command.line import run
from play.suite_run import Solving
from pool.tasks import PoolError

SUITE = (
    '6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra8#; id "back rank";\n'
    '4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - bm Qb8+; id "opera";\n'
    '6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra7; id "wrong";\n'
    '8/5P1k/5K2/8/8/8/8/8 w - - am f8=Q; id "stalemate";\n'
    "this is no position\n"
    '7K/8/k1P5/7p/8/8/8/8 w - - ce 0; c0 "Kg7=10, c7=2"; id "points";\n'
)


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "tiny.epd"
    path.write_text(SUITE, encoding="utf-8")
    return path


def test_a_suite_is_solved(suite):
    """Two mates that are found, one wrong claim, a move to avoid, points, and a line that is no position."""
    result = quetzal("suite", str(suite), "--nodes", "20000", "--hash", "4")
    assert result.returncode == 0, result.stderr
    miss, head, row, foot = result.stdout.splitlines()
    assert miss == "wrong: played Ra8#, not Ra7"
    assert head.split() == [
        "engine",
        "solved",
        "of",
        "per",
        "cent",
        "points",
        "of",
        "ce",
        "error",
        "time",
        "to",
        "solution",
    ]
    assert row.split()[:6] == ["Quetzal", "4", "5", "80.0", "10", "10"]
    assert foot == "5 positions, nodes 20000 each"
    assert "tiny.epd:5:" in result.stderr


def test_engines_side_by_side(suite):
    other = f"{sys.executable} -m uci_engine"
    arguments = (
        "--engine",
        "own",
        "--engine",
        other,
        "--nodes",
        "20000",
        "--hash",
        "4",
        "--json",
        "--concurrency",
        "2",
    )
    result = quetzal("suite", str(suite), *arguments)
    assert result.returncode == 0, result.stderr
    own, process = json.loads(result.stdout)["engines"]
    assert own["solved"] == process["solved"] == 4
    for one, two in zip(own["attempts"], process["attempts"], strict=True):
        # The same engine with the same limits, once in this process and once through UCI.
        same = ("id", "move", "score", "mate", "depth", "nodes", "solved")
        assert {name: one[name] for name in same} == {name: two[name] for name in same}


def test_what_was_solved_is_shown_when_the_cluster_is_lost(suite, monkeypatch, capsys):
    """Without -o there is nothing to go on from: the work must not have been for nothing."""
    attempts = Solving.attempts

    def lost(self, problems, is_stopped):
        found = attempts(self, problems, is_stopped)
        yield next(found)
        found.close()
        raise PoolError("the scheduler is gone")

    monkeypatch.setattr(Solving, "attempts", lost)
    # The command says that its process is the reaper of all that it starts; this process has other tests' children, too.
    monkeypatch.setattr("command.suite.adopt_descendants", lambda: None)
    for form, told in (((), "Quetzal"), (("--json",), '"solved": 1')):
        assert run(["suite", str(suite), "--nodes", "20000", "--hash", "4", *form]) == 1
        shown = capsys.readouterr()
        assert told in shown.out
        assert shown.err.endswith("quetzal suite: the scheduler is gone\n")


def test_a_bad_suite_is_refused(tmp_path, suite):
    empty = tmp_path / "empty.epd"
    empty.touch()
    for arguments in (
        (empty,),
        (tmp_path / "missing.epd",),
        (suite, "--engine", "nobody-there"),
        (suite, "--option", "x"),
        (suite, "--move-timeout", "0"),
        (suite, "--move-timeout", "nan"),
        (suite, "-o", suite),
        (suite, "-o", tmp_path),
        (suite, "-o", tmp_path / "none" / "x.json"),
    ):
        result = quetzal("suite", *map(str, arguments))
        assert result.returncode == 2, arguments
        assert "Traceback" not in result.stderr
        assert result.stderr.startswith(("quetzal suite: ", str(suite)))
    assert suite.read_text(encoding="utf-8") == SUITE


def start(arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "uci_engine", *map(str, arguments)],
        cwd=DATA,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_answers(journal, more, process):
    """Until the journal has so many more lines than now, or the process has ended."""
    first = journal.read_bytes().count(b"\n") if journal.exists() else 1
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if journal.exists() and journal.read_bytes().count(b"\n") >= first + more:
            return
        time.sleep(0.01)


def answers_in(path):
    """What does not depend on the clock, in its order."""
    found = json.loads(path.read_text(encoding="utf-8"))
    for engine in found["engines"]:
        engine.pop("solution_milliseconds")
        for attempt in engine["attempts"]:
            for name in ("milliseconds", "solution_milliseconds"):
                attempt.pop(name)
    return found


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_killed_and_resumed_gives_the_same_answers(tmp_path):
    """By SIGKILL and by Ctrl-C, at the first engine and at the second one."""
    long, whole, output = tmp_path / "long.epd", tmp_path / "whole.json", tmp_path / "out.json"
    journal = tmp_path / "out.json.journal"
    long.write_text(30 * SUITE, encoding="utf-8")
    both = ("--engine", "own", "--engine", f"{sys.executable} -m uci_engine")
    arguments = ("suite", long, "--nodes", 10_000, "--hash", 4, *both)
    process = start((*arguments, "-o", whole))
    _, said = process.communicate()
    assert process.returncode == 0, said
    for signal_number, more in ((signal.SIGKILL, 20), (signal.SIGINT, 135), (signal.SIGKILL, 20), (signal.SIGINT, 20)):
        process = start((*arguments, "-o", output))
        wait_for_answers(journal, more, process)
        process.send_signal(signal_number)
        _, said = process.communicate()
        assert process.returncode == (130 if signal_number == signal.SIGINT else -signal.SIGKILL), said
        assert not output.exists()
        if signal_number == signal.SIGINT:
            assert f"interrupted; the same command goes on from {journal}" in said
    kept = journal.read_bytes()
    refused = quetzal(*map(str, arguments), "-o", str(output), "--chess960")
    assert refused.returncode == 2
    assert "other settings (chess960)" in refused.stderr
    journal.write_bytes(kept[:-9])  # cut short
    result = quetzal(*map(str, arguments), "-o", str(output), "--json")
    assert result.returncode == 0, result.stderr
    assert result.stdout == output.read_text(encoding="utf-8")
    assert answers_in(output) == answers_in(whole)
    assert not journal.exists()


def test_an_engine_that_fails_is_kept_with_its_reason(suite, tmp_path):
    arguments = ("suite", str(suite), "--nodes", "20000", "-o", str(tmp_path / "x.json"), "--engine")
    engine = tmp_path / "engine.py"
    engine.write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    if line == 'uci\\n': print('uciok', flush=True)\n"
        "    elif line == 'isready\\n': print('readyok', flush=True)\n"
        "    elif line[:2] == 'go': sys.exit(3)\n"
        "    elif line == 'quit\\n': break\n",
        encoding="utf-8",
    )
    command = f"{sys.executable} {engine}"
    first = quetzal(*arguments, command)
    assert first.returncode == 1, first.stderr
    assert first.stdout.count("status 3") == 5
    assert "status 3" in first.stderr
    second = quetzal(*arguments, "own", "--engine", command, "--json")
    assert second.returncode == 1
    assert second.stdout == (tmp_path / "x.json").read_text(encoding="utf-8")
    failures = [[each["failure"] for each in engine["attempts"]] for engine in json.loads(second.stdout)["engines"]]
    assert failures[0] == 5 * [None]
    assert all("status 3" in failure for failure in failures[1])


# Until there is a file, it thinks until it is told to stop.
BROKEN = """
import os, sys
for line in sys.stdin:
    if line == "uci\\n": print("uciok", flush=True)
    elif line == "isready\\n": print("readyok", flush=True)
    elif line == "stop\\n" or (line[:2] == "go" and os.path.exists(sys.argv[1])): print("bestmove a1a8", flush=True)
    elif line == "quit\\n": break
"""


def broken(tmp_path):
    """The command of an engine that stalls, and the file that repairs it."""
    engine = tmp_path / "broken.py"
    engine.write_text(BROKEN, encoding="utf-8")
    return f"{sys.executable} {engine} {tmp_path / 'repaired'}", tmp_path / "repaired"


def failures_in(path):
    found = json.loads(path.read_text(encoding="utf-8"))
    return [[attempt["failure"] for attempt in engine["attempts"]] for engine in found["engines"]]


def test_an_engine_that_stalls_is_out(suite, tmp_path):
    """And the next one goes on."""
    command, _ = broken(tmp_path)
    output = tmp_path / "x.json"
    limits = ("--nodes", "20000", "--move-timeout", "0.5", "--hash", "4")
    result = quetzal("suite", str(suite), *limits, "--engine", command, "--engine", "own", "-o", str(output))
    assert result.returncode == 1, result.stderr
    late, out = "no move in 0.5 s", "not asked, the engine is out"
    assert failures_in(output) == [[late, late, out, out, out], 5 * [None]]
    assert f" is out: it stalled at 2 positions ({late})" in result.stderr
    assert out not in result.stderr
    assert not (tmp_path / "x.json.journal").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_engine_that_stalled_has_another_chance(tmp_path):
    """Its positions that were not answered stay so; those that were left are asked, and none of them is lost."""
    suite, output = tmp_path / "mates.epd", tmp_path / "x.json"
    suite.write_text(4 * SUITE.splitlines(keepends=True)[0], encoding="utf-8")
    command, repaired = broken(tmp_path)
    arguments = ("suite", str(suite), "--nodes", "100", "--move-timeout", "5", "--engine", command, "-o", str(output))
    process = start(arguments)
    wait_for_answers(tmp_path / "x.json.journal", 1, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    repaired.touch()
    result = quetzal(*arguments)
    assert result.returncode == 1, result.stderr
    assert failures_in(output) == [["no move in 5 s", None, None, None]]


def test_what_is_complete_asks_nobody(suite, tmp_path, monkeypatch, capsys):
    """The disk was full when the result was to be written: the same command writes it, and does nothing else."""
    output = tmp_path / "x.json"
    words = ["suite", str(suite), "--nodes", "20000", "--hash", "4", "-o", str(output)]
    monkeypatch.setattr("command.suite.adopt_descendants", lambda: None)

    def full(path, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    with monkeypatch.context() as patch:
        patch.setattr("command.suite.replace_file", full)
        assert run(words) == 2
    assert f"{output}: No space left on device; what was finished before is kept" in capsys.readouterr().err
    journal = tmp_path / "x.json.journal"
    kept = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()[1:]]
    assert len(kept) == 5

    monkeypatch.setattr("command.suite.Solving", None)
    assert run([*words, "--json"]) == 0
    assert capsys.readouterr().out == output.read_text(encoding="utf-8")
    (engine,) = json.loads(output.read_text(encoding="utf-8"))["engines"]
    assert [each["nodes"] for each in engine["attempts"]] == [each["nodes"] for each in kept]
    assert not journal.exists()


@pytest.mark.skipif(os.name == "nt", reason="names of files are Unicode there")
def test_a_file_whose_name_is_no_utf_8(tmp_path):
    """Once all was answered, the result could not be written, and never by the same command."""
    suite, output = tmp_path / os.fsdecode(b"\xff.epd"), tmp_path / "x.json"
    suite.write_text(SUITE.splitlines()[0], encoding="utf-8")
    result = quetzal("suite", str(suite), "--nodes", "1000", "-o", str(output))
    assert result.returncode == 0, result.stderr
    (engine,) = json.loads(output.read_text(encoding="utf-8"))["engines"]
    assert engine["attempts"][0]["file"] == str(suite)

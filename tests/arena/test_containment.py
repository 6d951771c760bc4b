"""What an engine starts ends with it: in other sessions, without parents, and when worker or run are killed."""

import os
import signal
import subprocess
import sys

import pytest
from arena_playing import command, is_running, processes, run_quetzal, scripted, wait_until
from support import DATA, ROOT

from arena.encounters import Encounters
from arena.openings import START
from arena.settings import Rules, as_dict
from pool.containment import MARK, end_process, start
from pool.local import LocalPool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the reaper of all descendants is Linux's")

QUICK = ("--no-pin", "--tc", "nodes=10", "--max-moves", "6", "--move-timeout", "120", "--startup-timeout", "120")


def play_in_a_worker(first, second, games=2):
    """The records of a few games, played by a worker process that is then told to end."""
    pool = LocalPool(Encounters(), 1)
    heard = []
    rules = as_dict(Rules(startup_seconds=120.0, ping_seconds=120.0, most_moves=6))
    plans = [
        {"game": game, "pair": game // 2, "round": 1, "players": [game % 2, 1 - game % 2]} for game in range(games)
    ]
    try:
        engines = {0: as_dict(first), 1: as_dict(second)}
        pool.give({"number": 0, "rules": rules, "engines": engines, "opening": START, "games": plans})
        while (event := pool.event(300.0)) is None or event.kind != "result":
            if event is not None and event.kind == "part" and event.value["kind"] == "game":
                heard.append(event.value["record"])
    finally:
        pool.close()
    return heard


def test_daemons_end_with_the_run(tmp_path):
    """One of them has left its session, the other has lost its parent as well."""
    pids = tmp_path / "pids"
    for record in play_in_a_worker(scripted("daemons", pids), scripted("good")):
        assert record["failure"] is None, record["reason"]
    assert len(processes(pids)) == 3
    assert wait_until(lambda: not any(is_running(pid) for pid in processes(pids)), 30)


def test_daemons_end_with_their_engine(tmp_path):
    """Long before the run: with `restart` every game has a new engine."""
    pids = tmp_path / "pids"
    pool = LocalPool(Encounters(), 1)
    rules = as_dict(Rules(startup_seconds=120.0, ping_seconds=120.0, most_moves=6))
    engines = {0: as_dict(scripted("daemons", pids, restart=True)), 1: as_dict(scripted("good"))}
    games = [{"game": game, "pair": 0, "round": 1, "players": [0, 1]} for game in range(3)]
    try:
        pool.give({"number": 0, "rules": rules, "engines": engines, "opening": START, "games": games})
        while (event := pool.event(300.0)) is None or event.kind != "result":
            pass
        assert len(processes(pids)) == 9
        assert wait_until(lambda: sum(map(is_running, processes(pids))) == 3, 30)
    finally:
        pool.close()
    assert wait_until(lambda: not any(map(is_running, processes(pids))), 30)


def test_the_opponents_helpers_stay(tmp_path):
    """An engine crashes in every game, and is ended with everything; what its opponent has started is not touched."""
    pids = tmp_path / "pids"
    records = play_in_a_worker(scripted("helped", pids), scripted("dies"), games=4)
    assert [(record["failed"], record["failure"]) for record in records] == [("dies", "crash")] * 4
    assert len(processes(pids)) == 2
    assert wait_until(lambda: not any(is_running(pid) for pid in processes(pids)), 30)


def worker_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


@pytest.mark.parametrize("victim", ["worker", "run"])
def test_daemons_end_when_somebody_is_killed(tmp_path, victim):
    """Whoever is left takes over: the run for its worker, the worker for the run."""
    pids = tmp_path / "pids"
    arguments = ("--games", "1000", "--dir", str(tmp_path / "run"), *QUICK)
    with subprocess.Popen(
        [sys.executable, "-m", "uci_engine", "match", command("daemons", pids), command("calm"), *arguments],
        cwd=DATA,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        # The first three are those of the trial before the run; they have ended with it.
        assert wait_until(lambda: sum(map(is_running, processes(pids)[3:])) == 3)
        first = processes(pids)
        if victim == "run":
            process.kill()
        else:
            os.kill(worker_of(first[3]), signal.SIGKILL)
            assert wait_until(lambda: not any(is_running(pid) for pid in first), 60)
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
    assert wait_until(lambda: not any(is_running(pid) for pid in processes(pids)), 60)


def test_a_healthy_match_is_not_disturbed(tmp_path):
    result = run_quetzal(
        "match", command("good"), command("fine"), "--games", "2", "--dir", str(tmp_path / "r"), *QUICK
    )
    assert result.returncode == 0, result.stderr
    assert "games  2 of 2" in result.stdout


# An engine with a daemon in its own session, without a parent, our pipes or the mark in its environment.
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    daemon = os.fork()
    if daemon:
        with open(sys.argv[1], "a", encoding="ascii") as file:
            file.write(f"{daemon}\\n")
        os._exit(0)
    for handle in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), handle)
    os.execve(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(60)"], {})
os.wait()
for line in sys.stdin:
    if line == "uci\\n":
        print("id name Daemon\\nid author nobody\\nuciok", flush=True)
    elif line == "isready\\n":
        print("readyok", flush=True)
    elif line == "quit\\n":
        break
"""
# All cases take minutes.
UCI_CHECK = """
import sys
from arena.conformance import cases
from command.__main__ import main
cases.CASES = [case for case in cases.CASES if case.__name__ in ("greets", "ignores_idle_stop", "quits_idle")]
sys.exit(main(["uci-check", *sys.argv[1:]]))
"""


def test_daemons_end_with_uci_check(tmp_path):
    """In a process of its own: it reaps all its descendants."""
    pids, engine = tmp_path / "pids", tmp_path / "engine.py"
    engine.write_text(DAEMON, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-c", UCI_CHECK, sys.executable, str(engine), str(pids)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.stdout.splitlines()[-1].startswith("3 passed, 0 failed"), (result.stdout, result.stderr)
    assert len(processes(pids)) == 3
    assert not any(is_running(pid) for pid in processes(pids))


def test_a_case_chooses_the_environment():
    """`runs_anywhere` takes variables away; the mark is added to what it leaves."""
    process = start([sys.executable, "-c", "import os; print(*os.environ)"], env={"WANTED": "1"})
    names = process.stdout.read().decode().split()
    end_process(process)
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert {"WANTED", MARK} <= set(names)
    assert not {"HOME", "PATH"} & set(names)

"""Matches on a Dask cluster of two workers on this machine."""

import json
import os
import shlex
import signal
import subprocess
import sys

import pytest
from arena_playing import PATIENCE, SCRIPT, command, is_running, processes, run_quetzal, wait_until
from clusters import NEEDS_DASK, local_cluster
from pool_work import identity
from support import DATA

from arena.calibration import measure_speed, time_scale
from arena.encounters import Encounters, placed, rules_at
from arena.settings import EngineSettings, Rules, as_dict
from play.suite_engines import UciWork
from pool.cluster import Cluster, ClusterError, ClusterPool
from pool.tasks import Place, Unfit

pytestmark = NEEDS_DASK

QUICK = ("--tc", "nodes=10", "--max-moves", "20", "--move-timeout", "120", "--startup-timeout", "120")


@pytest.fixture(scope="module")
def cluster():
    with local_cluster() as found:
        yield found.address, found.workers


def games_of(directory):
    """Those whose lines are whole: the last one may be on its way to the disk."""
    path = directory / "games.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def test_a_worker_is_killed_on_the_way(tmp_path, cluster):
    """40 games, one of the two workers killed: 40 results, each game once, no engine left behind."""
    address, workers = cluster
    run, pids = tmp_path / "run", tmp_path / "pids"
    arguments = ("--games", "40", "--cluster", address, "--dir", str(run), *QUICK)
    process = subprocess.Popen(
        [sys.executable, "-m", "uci_engine", "match", command("good", pids), command("fine", pids), *arguments],
        cwd=DATA,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert wait_until(lambda: len(games_of(run)) >= 4 or process.poll() is not None)
    assert process.poll() is None
    os.kill(workers[0], signal.SIGKILL)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    games = games_of(run)
    assert sorted(game["game"] for game in games) == list(range(40))
    assert "games  40 of 40" in output
    # Speeds are measured on the same machine; a busy one may still differ a lot from moment to moment.
    assert all(0.02 < game["scale"] < 50 for game in games)
    assert json.loads((run / "run.json").read_text(encoding="utf-8"))["reference_speed"] > 1000
    assert wait_until(lambda: not any(is_running(pid) for pid in processes(pids)))


def test_the_scheduler_dies_and_the_match_goes_on_here(tmp_path):
    run = tmp_path / "run"
    with local_cluster() as workers:
        arguments = ("--games", "40", "--cluster", workers.address, "--dir", str(run), *QUICK)
        process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", "match", command("good"), command("fine"), *arguments],
            cwd=DATA,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert wait_until(lambda: len(games_of(run)) >= 4 or process.poll() is not None)
        assert process.poll() is None
        os.kill(workers.scheduler, signal.SIGKILL)
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, output
    assert f"the scheduler at {workers.address} is gone; what is finished is kept" in output
    assert "Traceback" not in output
    kept = games_of(run)
    assert 4 <= len(kept) < 40
    result = run_quetzal("match", "--resume", str(run))
    assert result.returncode == 0, result.stdout + result.stderr
    games = games_of(run)
    assert games[: len(kept)] == kept
    assert sorted(game["game"] for game in games) == list(range(40))


def test_a_sequential_test_stops_early_and_the_engines_are_uploaded(tmp_path, cluster):
    """The engines are two small programs that exist nowhere else under their uploaded name."""
    engines = []
    for mode in ("good", "resigns"):
        path = tmp_path / f"engine-{mode}"
        path.write_text(
            f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(SCRIPT)} {mode}\n", encoding="utf-8"
        )
        path.chmod(0o700)
        engines.append(str(path))
    run = tmp_path / "run"
    arguments = ("--sprt", "0,200", "--resign", "800,1", "--cluster", cluster[0], "--upload", "--dir", str(run))
    result = run_quetzal("match", *engines, *arguments, *QUICK)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "200 accepted" in result.stdout
    assert len(games_of(run)) < 200
    assert {game["white"] for game in games_of(run)} == {"engine-good", "engine-resigns"}


def test_trouble_is_said(tmp_path, cluster):
    here = tmp_path / "only-here"
    here.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(SCRIPT)} good\n", encoding="utf-8")
    here.chmod(0o700)
    result = run_quetzal("match", command("good"), command("good"), "--upload", "--dir", str(tmp_path / "run"))
    assert result.returncode == 2
    assert "--upload needs --cluster" in result.stderr
    result = run_quetzal(
        "match",
        str(here),
        command("good"),
        "--cluster",
        "tcp://127.0.0.1:1",
        "--dir",
        str(tmp_path / "run"),
    )
    assert result.returncode == 2
    assert "there is no cluster at tcp://127.0.0.1:1" in result.stderr
    arguments = ("--cluster", cluster[0], "--dir", str(tmp_path / "run"), *QUICK)
    result = run_quetzal("match", str(here), command("good"), "--upload", "--option-a", "Hash=x", *arguments)
    assert result.returncode == 2
    assert "only-here does not take option Hash: 'x' is no whole number" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "run").exists()


def test_an_engine_that_no_worker_has(cluster):
    connection = Cluster(cluster[0], identity)
    work = Encounters([{"command": ["/no/such/engine"], "options": {}}], as_dict(Rules()))
    with pytest.raises(ClusterError, match="can do this: there is no /no/such/engine on this worker"):
        ClusterPool(connection, work).check()
    connection.close()


def test_networks_and_books_go_along(tmp_path):
    """What options name is found under the name that it got there; what is no file stays as it is."""
    network, book = tmp_path / "a.qnn", tmp_path / "b.bin"
    network.write_bytes(b"n")
    book.write_bytes(b"b")
    options = {"EvalFile": str(network), "BookFile": str(book), "Hash": "16"}
    engines = [
        {"command": [sys.executable], "options": options},
        {"command": [sys.executable], "options": {"EvalFile": "default.qnn"}},
    ]
    work = Encounters(engines)
    assert work.files() == [str(network), str(book)]
    assert Encounters(engines, upload=True).files() == [sys.executable, str(network), str(book)]
    place = Place(0, {str(network): "/there/a.qnn", str(book): "/there/b.bin"})
    assert placed(engines[0], place)["options"] == {
        "EvalFile": "/there/a.qnn",
        "BookFile": "/there/b.bin",
        "Hash": "16",
    }
    assert placed(engines[1], place)["options"] == {"EvalFile": "default.qnn"}


def test_options_are_known_in_any_case(tmp_path):
    """Engines take `evalfile` for EvalFile; a worker's engine complained of the file and played its own network."""
    network = tmp_path / "a.qnn"
    network.write_bytes(b"n")
    engine = {"command": [sys.executable], "options": {"evalfile": str(network), "BOOKFILE": str(network)}}
    assert Encounters([engine]).files() == [str(network)]
    there = placed(engine, Place(0, {str(network): "/there/a.qnn"}))["options"]
    assert there == {"evalfile": "/there/a.qnn", "BOOKFILE": "/there/a.qnn"}


@pytest.mark.parametrize("name", ["SyzygyPath", "syzygypath"])
def test_tables_of_an_engine_have_to_be_on_the_worker(tmp_path, name):
    here, missing = str(tmp_path), str(tmp_path / "tables")
    there, local = Place(None, {}), Place(0, {})

    def work(value):
        return Encounters([{"command": [sys.executable], "options": {name: value}}], as_dict(Rules()))

    for value in (here, "", "<empty>", here + os.pathsep + here):
        work(value).open(there).close()
    work(missing).open(local).close()
    for look in (work(here + os.pathsep + missing).open, work(missing).check):
        with pytest.raises(Unfit, match=r"there are no tables in .*tables on this worker"):
            look(there)
    settings = EngineSettings("e", [sys.executable], "nodes=1", {name: missing})
    with pytest.raises(Unfit, match=r"there are no tables in .*tables on this worker"):
        UciWork(settings, {"nodes": 1}).open(there)


def test_tables_go_along(tmp_path):
    """Those that judge games without distances, those of engines with them; anything else in the directory stays here."""
    for name in ("KQvK.rtbw", "KQvK.rtbz", "KRvK.rtbw", "notes.txt", "KQ.rtbw", "KQvK.rtbw.old"):
        (tmp_path / name).write_bytes(b"t")
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "KQvK.rtbw").write_bytes(b"the second of this name")
    both = f"{tmp_path}{os.pathsep}{tmp_path / 'second'}"
    judge, player = str(tmp_path), both
    rules = as_dict(Rules(syzygy=judge))
    engines = [{"command": [sys.executable], "options": {"syzygypath": player}}]
    work = Encounters(engines, rules)
    wdl = [str(tmp_path / name) for name in ("KQvK.rtbw", "KRvK.rtbw")]
    assert work.folders() == {judge: wdl, player: [wdl[0], str(tmp_path / "KQvK.rtbz"), wdl[1]]}
    place = Place(None, {judge: "/there/1", player: "/there/2"})
    assert placed(engines[0], place)["options"] == {"syzygypath": "/there/2"}
    assert rules_at(rules, place)["syzygy"] == "/there/1"
    assert Encounters(engines, as_dict(Rules(syzygy=player))).folders()[player] == work.folders()[player]
    assert Encounters([{"command": ["x"], "options": {"SyzygyPath": "<empty>"}}], as_dict(Rules())).folders() == {}


def test_speed():
    assert measure_speed(rounds=1) > 1000


def test_speed_is_the_processors_whatever_else_runs():
    """Workers measure at the same time, and often with more of them than processors."""
    quiet = measure_speed()
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3 * (os.cpu_count() or 1))]
    try:
        assert quiet / measure_speed() < 2
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


@pytest.mark.parametrize(
    ("speed", "scale"), [(1000, 1), (1095, 1), (915, 1), (1200, 1000 / 1200), (800, 1.25), (100, 10)]
)
def test_clocks_are_scaled_only_where_speeds_differ(speed, scale):
    """The workers of one machine once got 0.95 to 1.27 times its own clock, and played nine tenths of the games."""
    assert time_scale(1000, speed) == pytest.approx(scale)

"""Self-play, reviews and suites on a cluster of two workers: what comes out is what comes out here, also if one is killed."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from arena_playing import PATIENCE, wait_until
from clusters import HELPERS, NEEDS_DASK, another_worker, local_cluster, make_certificates
from support import DATA, TESTS, quetzal

from play.suite import read_suites
from play.suite_engines import OwnWork
from play.suite_run import Solving
from pool.cluster import Cluster
from training.files import GameReader
from uci_engine.identity import identity

pytestmark = NEEDS_DASK

KNOWN = TESTS / "play" / "known_games.pgn"
SUITE = """6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra8#;
4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - bm Qb8+; dm 2;
8/5P1k/5K2/8/8/8/8/8 w - - am f8=Q;
7K/8/k1P5/7p/8/8/8/8 w - - bm Kg7;
"""


@pytest.fixture(scope="module")
def workers():
    with local_cluster() as found:
        yield found


def run(*arguments):
    result = quetzal(*map(str, arguments), timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    return result


@pytest.mark.parametrize(
    "address",
    ["localhost", "", "foo bar", "http://127.0.0.1:18786", "tcp://127.0.0.1", "tcp://:8786", "tcp://127.0.0.1:87860"],
)
def test_a_mistyped_address_is_refused_at_once(tmp_path, address):
    """Dask's client would wait for half a minute and print a traceback."""
    began = time.monotonic()
    refused = quetzal("selfplay", "-o", str(tmp_path / "x.qzg"), "--games", "4", "--cluster", address)
    assert time.monotonic() - began < 15
    assert refused.returncode == 2
    reason = f"{address!r} is no address of a cluster, such as tcp://HOST:8786 or tls://HOST:8786"
    assert refused.stderr == f"quetzal selfplay: {reason}\n"


def test_nobody_listens_at_the_address(tmp_path):
    """A scheduler that is just starting gets its ten seconds."""
    began = time.monotonic()
    refused = quetzal("selfplay", "-o", str(tmp_path / "x.qzg"), "--games", "4", "--cluster", "tcp://127.0.0.1:1")
    assert time.monotonic() - began < 40
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert line.startswith("quetzal selfplay: there is no cluster at tcp://127.0.0.1:1: ")


def games_of(path):
    with GameReader(path) as reader:
        return list(reader)


def has_games(path):
    """A few of them are on the disk."""
    return path.exists() and path.stat().st_size > 5000


def test_self_play(tmp_path, workers):
    """Byte for byte, with a network that the workers do not have, begun here and finished there."""
    here, there = tmp_path / "here.qzg", tmp_path / "there.qzg"
    network = tmp_path / "net.qnn"
    network.write_bytes((TESTS.parent / "eval" / "default.qnn").read_bytes())
    quick = ("--nodes", 60, "--seed", 5, "--eval-file", network)
    run("selfplay", "-o", here, "--games", 40, *quick)
    run("selfplay", "-o", there, "--games", 3, *quick)
    run("selfplay", "-o", there, "--games", 40, *quick, "--cluster", workers.address)
    assert there.read_bytes() == here.read_bytes()


def test_self_play_with_a_worker_killed(tmp_path):
    here, there = tmp_path / "here.qzg", tmp_path / "there.qzg"
    quick = ("--nodes", 400, "--seed", 6)
    with local_cluster() as workers:
        command = ["selfplay", "-o", there, "--games", 150, *quick, "--cluster", workers.address]
        process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", *map(str, command)], cwd=DATA, stderr=subprocess.PIPE, text=True
        )
        assert wait_until(lambda: has_games(there) or process.poll() is not None)
        assert process.poll() is None
        os.kill(workers.workers[0], signal.SIGKILL)
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, told
    run("selfplay", "-o", here, "--games", 150, *quick)
    assert there.read_bytes() == here.read_bytes()


def test_the_scheduler_dies_and_self_play_goes_on_here(tmp_path):
    here, there = tmp_path / "here.qzg", tmp_path / "there.qzg"
    quick = ("--nodes", 400, "--seed", 8)
    with local_cluster() as workers:
        command = ["selfplay", "-o", there, "--games", 100_000, *quick, "--cluster", workers.address]
        process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", *map(str, command)], cwd=DATA, stderr=subprocess.PIPE, text=True
        )
        assert wait_until(lambda: has_games(there) or process.poll() is not None)
        assert process.poll() is None
        os.kill(workers.scheduler, signal.SIGKILL)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, told
    assert f"the scheduler at {workers.address} is gone; what is finished is kept" in told
    games = len(games_of(there)) + 2
    run("selfplay", "-o", there, "--games", games, *quick)
    run("selfplay", "-o", here, "--games", games, *quick)
    assert there.read_bytes() == here.read_bytes()


def test_an_interrupted_self_play_goes_on_here(tmp_path, workers):
    here, there = tmp_path / "here.qzg", tmp_path / "there.qzg"
    quick = ("--nodes", 400, "--seed", 7)
    command = ["selfplay", "-o", there, "--games", 100_000, *quick, "--cluster", workers.address]
    process = subprocess.Popen(
        [sys.executable, "-m", "uci_engine", *map(str, command)], cwd=DATA, stderr=subprocess.PIPE, text=True
    )
    assert wait_until(lambda: has_games(there) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, told
    games = len(games_of(there)) + 2
    run("selfplay", "-o", there, "--games", games, *quick)
    run("selfplay", "-o", here, "--games", games, *quick)
    assert there.read_bytes() == here.read_bytes()


def test_a_stalled_cluster_does_not_keep_self_play(tmp_path):
    """The first Ctrl-C is answered although no game comes, and the second one ends it."""
    path = tmp_path / "x.qzg"
    command = ["selfplay", "-o", path, "--games", 100_000, "--nodes", 400]
    with local_cluster(1) as workers:
        process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", *map(str, command), "--cluster", workers.address],
            cwd=DATA,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert wait_until(lambda: has_games(path) or process.poll() is not None)
        os.kill(workers.workers[0], signal.SIGSTOP)
        try:
            process.send_signal(signal.SIGINT)
            assert any("Ctrl-C again gives up" in line for line in process.stderr)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=60)
        finally:
            os.kill(workers.workers[0], signal.SIGCONT)
            process.kill()
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert games_of(path)


def test_reviews(tmp_path, workers):
    here, there = tmp_path / "here.pgn", tmp_path / "there.pgn"
    first = run("analyse", KNOWN, "-o", here, "--nodes", 500, "--json")
    second = run("analyse", KNOWN, "-o", there, "--nodes", 500, "--json", "--cluster", workers.address)
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize("option, value", [("--tls-ca", "x"), ("--send-tables", "3"), ("--send-tables", "0")])
def test_options_of_a_cluster_need_one(tmp_path, option, value):
    refused = quetzal("analyse", str(KNOWN), "-o", str(tmp_path / "x.pgn"), "--nodes", "1", option, value)
    assert refused.returncode == 2
    assert f"{option} needs --cluster" in refused.stderr


def test_reviews_with_a_worker_killed(tmp_path):
    """Fifteen games: each comes out once and in its place."""
    games, here, there = tmp_path / "games.pgn", tmp_path / "here.pgn", tmp_path / "there.pgn"
    games.write_text(3 * (KNOWN.read_text(encoding="utf-8") + "\n"), encoding="utf-8")
    with local_cluster() as workers:
        command = ["analyse", games, "-o", there, "--nodes", 1500, "--cluster", workers.address]
        process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", *map(str, command)],
            cwd=DATA,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        journal = tmp_path / "there.pgn.journal"
        assert wait_until(
            lambda: process.poll() is not None or (journal.exists() and journal.read_bytes().count(b"\n") > 2)
        )
        assert process.poll() is None
        os.kill(workers.workers[0], signal.SIGKILL)
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, told
    run("analyse", games, "-o", here, "--nodes", 1500)
    assert there.read_bytes() == here.read_bytes()


def test_suites(tmp_path, workers):
    path = tmp_path / "suite.epd"
    path.write_text(SUITE, encoding="utf-8")

    def attempts(*more):
        result = run("suite", path, "--nodes", 20_000, "--json", "--engine", "own", "--engine", "quetzal", *more)
        found = json.loads(result.stdout)["engines"]
        for attempt in (each for engine in found for each in engine["attempts"]):
            for name in ("milliseconds", "solution_milliseconds"):
                attempt.pop(name)
        return [engine["attempts"] for engine in found]

    assert attempts() == attempts("--cluster", workers.address)


def test_an_engine_that_stalls_is_out_of_a_suite(tmp_path, workers):
    """On both workers, and as on this machine."""
    path, engine = tmp_path / "suite.epd", tmp_path / "endless.py"
    path.write_text(3 * SUITE, encoding="utf-8")
    engine.write_text(
        "import sys\n"
        "answers = {'uci': 'uciok', 'isready': 'readyok', 'stop': 'bestmove a1a8'}\n"
        "for line in sys.stdin:\n"
        "    if line.strip() in answers: print(answers[line.strip()], flush=True)\n"
        "    elif line == 'quit\\n': break\n",
        encoding="utf-8",
    )
    arguments = ("suite", path, "--nodes", 100, "--move-timeout", 1, "--json", "--engine", f"{sys.executable} {engine}")

    def failures(*more):
        result = quetzal(*map(str, (*arguments, *more)), timeout=PATIENCE)
        assert result.returncode == 1, result.stderr
        assert " is out: it stalled at 2 positions (no move in 1 s)" in result.stderr
        (found,) = json.loads(result.stdout)["engines"]
        return [attempt["failure"] for attempt in found["attempts"]]

    found = failures()
    assert found == failures("--cluster", workers.address)
    assert found[:2] == 2 * ["no move in 1 s"]
    assert set(found[2:]) == {"not asked, the engine is out"}


def test_suites_with_a_worker_killed(tmp_path):
    """Every position has its attempt once, in its place, and they are those of this machine."""
    path = tmp_path / "suite.epd"
    path.write_text(10 * SUITE, encoding="utf-8")
    problems = read_suites([path], pytest.fail)
    work = OwnWork("Quetzal", {"nodes": 20_000}, 16)

    def answers(attempts):
        return [
            (problem.name, attempt.move, attempt.score, attempt.mate, attempt.nodes) for problem, attempt in attempts
        ]

    with local_cluster() as workers, contextlib.closing(Cluster(workers.address, identity)) as cluster:
        attempts = Solving(work, 1, cluster=cluster).attempts(problems)
        found = [next(attempts) for _ in range(3)]
        os.kill(workers.workers[0], signal.SIGKILL)
        found += attempts
    assert len(found) == 40
    assert answers(found) == answers(Solving(work, 1).attempts(problems))


ENDINGS = """[White "Queen"]
[FEN "8/8/8/4k3/8/8/1Q6/K7 w - - 0 1"]

1. Qb5+ Kd4 2. Ka2 Ke4 3. Ka3 Kf4 *

[White "Ending"]
[FEN "8/8/8/4k3/8/8/1Qr5/K7 w - - 0 1"]

1. Qxc2 Kd5 2. Qc3 Ke4 3. Qd2 *
"""


def test_endgame_tables_go_along(tmp_path):
    """To two workers that have not the directory, and not again; what is too large is asked for by its name."""
    tables, games = tmp_path / "tables", tmp_path / "games.pgn"
    games.write_text(ENDINGS, encoding="utf-8")
    run("tables", "generate", "KQvK", "-o", tables)
    (tables / "notes.txt").write_text("not a table", encoding="utf-8")
    arguments = ("analyse", games, "--nodes", 300, "--syzygy-path", tables)
    run(*arguments, "-o", tmp_path / "here.pgn")
    folders = [tmp_path / "one", tmp_path / "two"]
    with contextlib.ExitStack() as stack:
        workers = stack.enter_context(local_cluster(0))
        for folder in folders:
            folder.mkdir()
            variables = {"TMPDIR": str(folder), "POOL_TEST_HIDDEN": str(tables)}
            stack.enter_context(another_worker(workers.address, folder.name, str(HELPERS / "elsewhere"), **variables))
        first = run(*arguments, "-o", tmp_path / "there.pgn", "--cluster", workers.address)
        assert "sending 2 files, " in first.stderr
        assert "endgame tables from SyzygyPath: 1 WDL and 1 DTZ, up to 3 men" in first.stderr
        for folder in folders:
            (private,) = folder.glob("quetzal-files-*")
            assert {path.name for path in private.rglob("*.*")} == {"KQvK.rtbw", "KQvK.rtbz"}
        again = run(*arguments, "-o", tmp_path / "again.pgn", "--cluster", workers.address)
        assert "sending" not in again.stderr
        output = tmp_path / "no.pgn"
        refused = quetzal(
            *map(str, (*arguments, "-o", output, "--cluster", workers.address, "--send-tables", 0)), timeout=PATIENCE
        )
        assert refused.returncode == 2
        assert f"{tables}: " in refused.stderr
        assert "are more than the 0 kB that are sent" in refused.stderr
        assert f"the files of {tables} are missing or others on this worker, and too large to be sent" in refused.stderr
        assert not output.exists()
    here = (tmp_path / "here.pgn").read_bytes()
    assert (tmp_path / "there.pgn").read_bytes() == here
    assert (tmp_path / "again.pgn").read_bytes() == here


def test_the_scheduler_dies_and_a_suite_goes_on_here(tmp_path):
    suite, here, there = tmp_path / "suite.epd", tmp_path / "here.json", tmp_path / "there.json"
    suite.write_text(30 * SUITE, encoding="utf-8")
    arguments = ("suite", suite, "--nodes", 20_000, "--hash", 4)
    journal = tmp_path / "there.json.journal"
    with local_cluster() as workers:
        process = subprocess.Popen(
            [sys.executable, "-m", "uci_engine", *map(str, (*arguments, "-o", there, "--cluster", workers.address))],
            cwd=DATA,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert wait_until(
            lambda: process.poll() is not None or (journal.exists() and journal.read_bytes().count(b"\n") > 5)
        )
        assert process.poll() is None
        os.kill(workers.scheduler, signal.SIGKILL)
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, told
    assert f"is gone; what is finished is kept; the same command goes on from {journal}" in told
    assert 5 < journal.read_bytes().count(b"\n") < 121
    run(*arguments, "-o", there)
    run(*arguments, "-o", here)
    assert answers_in(there) == answers_in(here)


def answers_in(path):
    """What does not depend on the clock."""
    (engine,) = json.loads(path.read_text(encoding="utf-8"))["engines"]
    times = ("milliseconds", "solution_milliseconds")
    return [{name: value for name, value in each.items() if name not in times} for each in engine["attempts"]]


def test_a_worker_of_another_commit_is_named(tmp_path, workers):
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import uci_engine._build\nuci_engine._build.COMMIT = '0123456'\n", encoding="utf-8"
    )
    with another_worker(workers.address, "other", str(folder)):
        result = run("selfplay", "-o", tmp_path / "x.qzg", "--games", 2, "--nodes", 60, "--cluster", workers.address)
    assert "gets no work: its commit is 0123456, here it is " in result.stderr
    assert "tcp://127.0.0.1:" in result.stderr


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_certificates_as_they_are_typed(tmp_path):
    files = make_certificates(tmp_path / "ours")
    flags = [word for pair in zip(("--tls-ca", "--tls-cert", "--tls-key"), files, strict=True) for word in pair]
    with local_cluster(1, files) as workers:
        command = ("selfplay", "-o", tmp_path / "x.qzg", "--games", 2, "--nodes", 60, "--cluster", workers.address)
        run(*command, *flags)
        assert len(games_of(tmp_path / "x.qzg")) == 2
        for some, reason in ((flags[:0], "needs certificates"), (flags[:4], "the key is missing")):
            refused = quetzal(*map(str, (*command, *some)), timeout=PATIENCE)
            assert refused.returncode == 2
            assert reason in refused.stderr


def test_tables(tmp_path, workers):
    here, there = tmp_path / "here", tmp_path / "there"
    run("tables", "generate", "KPvK", "KRvKN", "-o", here)
    run("tables", "generate", "KPvK", "KRvKN", "-o", there, "--cluster", workers.address)
    names = sorted(os.listdir(here))
    assert sorted(os.listdir(there)) == names
    assert all((here / name).read_bytes() == (there / name).read_bytes() for name in names)
    again = run("tables", "generate", "KPvK", "-o", there, "--cluster", workers.address)
    assert "has all of them already" in again.stdout

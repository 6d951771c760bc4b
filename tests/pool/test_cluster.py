"""The pool of a Dask cluster: the same results as here, lost workers, unfit workers by name, an early end, TLS."""

import contextlib
import hashlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from arena_playing import is_running, wait_until
from clusters import HELPERS, NEEDS_DASK, another_worker, local_cluster, make_certificates
from pool_work import Squares, identity, times_done

from pool.cluster import Certificates, Cluster, ClusterError, ClusterPool, check_address, shares
from pool.folders import Absent
from pool.remote import perform, receive
from pool.tasks import Ordered, PoolError

pytestmark = NEEDS_DASK


@pytest.fixture(scope="module")
def workers():
    with local_cluster() as found:
        yield found


@pytest.fixture
def cluster(workers):
    connection = Cluster(workers.address, identity)
    yield connection
    connection.close()


def checked_pool(cluster, work):
    pool = ClusterPool(cluster, work)
    pool.check()
    return pool


def test_results_are_those_of_this_machine(cluster, tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(b"known")
    parts = []
    work = Squares("slow", folder=str(tmp_path), file=str(path))
    ordered = Ordered(checked_pool(cluster, work), range(40), on_part=parts.append)
    assert list(ordered.results()) == [number * number for number in range(40)]
    assert sorted(parts) == sorted(f"about {number}" for number in range(40))
    assert {times_done(tmp_path, number) for number in range(40)} == {1}
    # Both workers had a part, each with one process.
    assert len({(tmp_path / f"{number}").read_text() for number in range(40)}) == 2


def test_what_a_task_raises_is_raised(cluster):
    with pytest.raises(KeyError, match="seven"):
        list(Ordered(checked_pool(cluster, Squares("raises")), range(20)).results())


def test_a_process_that_dies_is_replaced(cluster, tmp_path):
    said = []
    work = Squares("dies once", folder=str(tmp_path))
    ordered = Ordered(checked_pool(cluster, work), range(20), on_warning=said.append)
    assert list(ordered.results()) == [number * number for number in range(20)]
    assert said == ["a worker died; number 7 is begun again"]
    assert times_done(tmp_path, 7) == 2


def test_a_task_that_ends_every_process_ends_the_run(cluster):
    with pytest.raises(PoolError, match="number 7 ended 3 workers"):
        list(Ordered(checked_pool(cluster, Squares("dies")), range(20)).results())


def test_an_early_end_reaches_the_workers_within_a_second(cluster, tmp_path):
    pool = checked_pool(cluster, Squares("waits", folder=str(tmp_path)))
    pool.give(7)
    assert wait_until(lambda: times_done(tmp_path, 7) == 1)
    process = int((tmp_path / "7").read_text())
    assert is_running(process)
    began = time.monotonic()
    pool.close()
    assert wait_until(lambda: not is_running(process), 10)
    assert time.monotonic() - began < 5  # a second, on a machine that has nothing else to do


def test_what_no_worker_has_begun_is_taken_back(cluster):
    pool = checked_pool(cluster, Squares("slow"))
    ordered = Ordered(pool, range(10_000), ahead=50)
    stream = ordered.results()
    found = [next(stream)]
    ordered.begin_no_more()
    assert len(ordered.pending) < 100
    found += stream
    assert found == [number * number for number in range(len(found))]


def test_workers_that_differ_get_no_work_and_are_named(cluster, workers, tmp_path):
    """One of another commit, one that lacks something, one whose disk is full; the others go on."""
    path = tmp_path / "data.bin"
    path.write_bytes(b"known" * 2000)  # more than the limit below
    folder = tmp_path / "small"
    folder.mkdir()
    with (
        another_worker(workers.address, "other", POOL_TEST_COMMIT="def"),
        another_worker(workers.address, "poor", POOL_TEST_LACKS="1"),
        another_worker(workers.address, "full", most_bytes=4096, TMPDIR=str(folder)),
    ):
        pool = checked_pool(cluster, Squares())
        said = []
        assert list(Ordered(pool, range(20), on_warning=said.append).results()) == [n * n for n in range(20)]
        assert sorted(text.split(" gets no work: ")[1] for text in said) == [
            "it lacks what it needs",
            "its commit is def, here it is abc",
        ]
        assert all(text.startswith("tcp://127.0.0.1:") for text in said)
        pool = ClusterPool(cluster, Squares(file=str(path)))
        pool.check()
        reasons = sorted(pool.unfit.values())
        assert len(reasons) == 3
        assert reasons[-1].startswith("its files cannot be stored: ")
        pool.close()


def shelf_in(folder, *sizes):
    """Files whose names have the digests of what is in them."""
    folder.mkdir()
    paths = []
    for number, size in enumerate(sizes):
        data = bytes([number]) * size
        paths.append(folder / f"{hashlib.sha256(data).hexdigest()}.bin")
        paths[-1].write_bytes(data)
    return list(map(str, paths))


@contextlib.contextmanager
def elsewhere(address, name, folder, hidden, **more):
    """A worker of a machine that has neither the files of this one nor its temporary directory."""
    folder.mkdir()
    variables = {"TMPDIR": str(folder), "POOL_TEST_HIDDEN": str(hidden)}
    with another_worker(address, name, str(HELPERS / "elsewhere"), **variables, **more) as process:
        yield process


def squares_of(pool, count, said):
    assert list(Ordered(pool, range(count), on_warning=said.append).results()) == [n * n for n in range(count)]


def test_folders_go_once_to_each_worker_that_lacks_them(tmp_path, monkeypatch):
    """In pieces, one of them empty; a worker that joins later gets them, too, while the others go on."""
    monkeypatch.setattr("pool.cluster.PIECE", 1000)
    home = tmp_path / "home"
    shelf = shelf_in(home, 3500, 0, 1000, 17)
    (home / "notes.txt").write_text("nobody needs these", encoding="utf-8")
    told, said = [], []
    with (
        local_cluster(0) as workers,
        elsewhere(workers.address, "one", tmp_path / "one", home),
        elsewhere(workers.address, "two", tmp_path / "two", home),
    ):
        cluster = Cluster(workers.address, identity, say=told.append)
        squares_of(checked_pool(cluster, Squares(shelf=shelf)), 20, said)
        assert told == ["sending 4 files, 4.41 kB, to 2 workers"]
        for name in ("one", "two"):
            (private,) = (tmp_path / name).glob("quetzal-files-*")
            assert {path.name for path in private.rglob("*") if path.is_file()} == set(map(os.path.basename, shelf))
            assert all(path.stat().st_mode & 0o077 == 0 for path in private.rglob("*"))
        squares_of(checked_pool(cluster, Squares(shelf=shelf[1:])), 20, said)
        assert len(told) == 1
        stream = Ordered(
            checked_pool(cluster, Squares("slow", shelf=shelf)), range(200), on_warning=said.append
        ).results()
        found = [next(stream)]
        with elsewhere(workers.address, "late", tmp_path / "late", home):
            found += stream
            assert found == [number * number for number in range(200)]
            assert told[1].startswith("sending 4 files, 4.41 kB, to tcp://127.0.0.1:")
            assert len(told) == 2
        assert said == []
        cluster.close()


def test_workers_of_one_machine_get_the_same_pieces_at_once(tmp_path, monkeypatch):
    """Into the same directory; none spoils what another one is writing."""
    monkeypatch.setattr("pool.cluster.PIECE", 1000)
    home, there = tmp_path / "home", tmp_path / "there"
    shelf = shelf_in(home, *[3500] * 10)
    there.mkdir()
    variables = {"TMPDIR": str(there), "POOL_TEST_HIDDEN": str(home)}
    with contextlib.ExitStack() as stack:
        workers = stack.enter_context(local_cluster(0))
        for name in ("one", "two", "three"):
            stack.enter_context(another_worker(workers.address, name, str(HELPERS / "elsewhere"), **variables))
        cluster = Cluster(workers.address, identity)
        said = []
        squares_of(checked_pool(cluster, Squares(shelf=shelf)), 20, said)
        assert said == []
        assert not list(there.rglob("*.partial"))
        cluster.close()


def test_folders_that_are_here_already_are_used(cluster, tmp_path):
    """As where machines share a file system."""
    told = []
    cluster.say = told.append
    squares_of(checked_pool(cluster, Squares(shelf=shelf_in(tmp_path / "home", 500, 2000))), 20, told)
    assert told == []


def test_folders_that_are_too_large_have_to_be_there(tmp_path):
    """Not a word of it is sent; workers that have files of these sizes under these names can work."""
    home = tmp_path / "home"
    shelf = shelf_in(home, 3000, 500)
    told = []
    with local_cluster(0) as workers, elsewhere(workers.address, "one", tmp_path / "one", home):
        cluster = Cluster(workers.address, identity, say=told.append, most_sent=3000)
        with pytest.raises(ClusterError, match=f"the files of {home} are missing or others on this worker"):
            ClusterPool(cluster, Squares(shelf=shelf)).check()
        assert told == [
            f"{home}: 3.42 kB are more than the 2.93 kB that are sent; workers need the same files under the same name"
        ]
        with another_worker(workers.address, "near"):
            said = []
            squares_of(checked_pool(cluster, Squares(shelf=shelf)), 20, said)
            assert len(said) == 1
        cluster.close()


def test_a_worker_without_room_for_folders_is_named(tmp_path, monkeypatch):
    home = tmp_path / "home"
    shelf = shelf_in(home, 3000, 9000)
    with (
        local_cluster(0) as workers,
        elsewhere(workers.address, "one", tmp_path / "one", home),
        elsewhere(workers.address, "full", tmp_path / "full", home, most_bytes=4096),
    ):
        cluster = Cluster(workers.address, identity)
        said = []
        squares_of(checked_pool(cluster, Squares(shelf=shelf)), 20, said)
        assert len(said) == 1
        assert "gets no work: its files cannot be stored: [Errno 27] File too large" in said[0]
        assert not list((tmp_path / "full").rglob("*.partial"))
        cluster.close()


class Scripted:
    """A client whose workers and tasks do what a test says."""

    status = "running"

    def __init__(self, *workers):
        self.workers = dict.fromkeys(workers, 1)
        self.given = []
        self.arrival = threading.Event()  # pieces arrive, or the worker is gone

    def nthreads(self):
        return dict(self.workers)

    def processing(self):
        return {}

    def cancel(self, futures, **more):
        pass

    def submit(self, function, *arguments, workers=None, **more):
        self.given.append(ScriptedFuture(self, function, arguments, workers))
        return self.given[-1]

    def tasks(self, function=perform):
        return [future for future in self.given if future.function is function]


class ScriptedFuture:
    status, key = "pending", "a key"

    def __init__(self, client, function, arguments, workers):
        self.client, self.function, self.arguments, self.workers = client, function, arguments, workers

    def add_done_callback(self, hear):
        self.hear = hear

    def done(self):
        return self.status != "pending"

    def fail(self, error):
        self.status, self.error = "error", error
        self.hear(self)

    def exception(self):
        return self.error

    def result(self, timeout):
        assert self.client.arrival.wait(60)
        if self.workers[0] not in self.client.workers:
            raise TimeoutError


def scripted_pool(client, shelf, told):
    cluster = SimpleNamespace(
        client=client, address="here", identity=identity, expected={}, say=told.append, most_sent=1000
    )
    return ClusterPool(cluster, Squares(shelf=shelf))


def lacking(pool, worker):
    return Absent(worker, [entry.key for folder in pool.folders for entry in folder.entries])


def heard(pool, seconds=0.0):
    """The texts of what happens, until nothing does; of workers the pool hears at once."""
    found = []
    while True:
        pool.known_until = 0.0
        event = pool.event(seconds)
        if event is None and not pool.waiting:
            return found
        found += [] if event is None else [event.value]


def test_tasks_that_wait_for_files_go_to_whoever_joins(tmp_path):
    """Once that was a KeyError, or they were done twice; and it was said that no worker is left."""
    told = []
    client = Scripted("late")
    pool = scripted_pool(client, shelf_in(tmp_path / "home", 10), told)
    pool.give(1)
    client.tasks()[0].fail(lacking(pool, "late"))
    assert heard(pool) == []
    pool.give(2)
    assert heard(pool) == []
    assert len(client.tasks()) == 1
    client.workers["new"] = 1
    assert heard(pool) == []
    assert [task.workers for task in client.tasks()] == [None, ["new"], ["new"]]
    assert pool.withdraw() == [1, 0]
    client.arrival.set()
    assert wait_until(lambda: not pool.inbox.empty())
    assert heard(pool) == []
    assert len(client.tasks()) == 3
    pool.give(3)
    assert client.tasks()[-1].workers is None
    assert told == ["sending 1 file, 0.00977 kB, to late"]


def test_a_worker_that_disappears_while_files_are_sent_does_not_end_the_run(tmp_path):
    client = Scripted("late")
    pool = scripted_pool(client, shelf_in(tmp_path / "home", 10), [])
    pool.give(1)
    client.tasks()[0].fail(lacking(pool, "late"))
    assert heard(pool) == []
    client.workers.clear()
    client.arrival.set()
    assert wait_until(lambda: not pool.inbox.empty())
    assert heard(pool) == [
        "late gets no work: it is gone",
        "no worker of here is left that can do this; waiting for one",
    ]
    client.workers["new"] = 1
    assert heard(pool) == []
    assert client.tasks()[-1].workers == ["new"]


def test_files_are_not_sent_for_ever(tmp_path):
    """To a worker that loses them each time."""
    told = []
    client = Scripted("late")
    client.arrival.set()
    pool = scripted_pool(client, shelf_in(tmp_path / "home", 10), told)
    pool.give(1)
    with pytest.raises(PoolError, match="late: what was sent to it is gone"):
        for _ in range(10):
            client.tasks()[-1].fail(lacking(pool, "late"))
            heard(pool)
            assert wait_until(lambda: not pool.inbox.empty())
            heard(pool)
    assert len(told) == 3


def test_nothing_is_sent_for_a_run_that_has_ended(tmp_path):
    told = []
    client = Scripted("late")
    pool = scripted_pool(client, shelf_in(tmp_path / "home", 10, 20, 30), told)
    pool.give(1)
    client.tasks()[0].fail(lacking(pool, "late"))
    assert heard(pool) == []
    assert wait_until(lambda: client.tasks(receive))
    pool.close()
    client.arrival.set()
    assert wait_until(lambda: not pool.inbox.empty())
    assert len(client.tasks(receive)) == 1


def test_the_same_content_is_sent_under_each_of_its_names(tmp_path):
    """Such as the empty files that a broken download leaves."""
    home = tmp_path / "home"
    home.mkdir()
    shelf = [str(home / name) for name in ("KQvK.rtbw", "KRvK.rtbw")]
    for path in shelf:
        Path(path).touch()
    client = Scripted("late")
    client.arrival.set()
    pool = scripted_pool(client, shelf, [])
    pool.equip({"late": lacking(pool, "late").keys})
    assert [task.arguments[2].path for task in client.tasks(receive)] == shelf


def test_a_worker_that_joins_later_is_asked_before_it_works(cluster, workers):
    pool = checked_pool(cluster, Squares("slow"))
    said = []
    stream = Ordered(pool, range(120), on_warning=said.append).results()
    found = [next(stream)]
    with another_worker(workers.address, "late", POOL_TEST_COMMIT="def"):
        found += stream
    assert found == [number * number for number in range(120)]
    assert all("its commit is def, here it is abc" in text for text in said)


def test_a_busy_worker_is_waited_for_and_that_is_said(cluster, monkeypatch):
    said = []
    monkeypatch.setattr("pool.cluster._CONNECT_SECONDS", 0.5)
    cluster.say = said.append
    worker = next(iter(cluster.client.nthreads()))
    task = cluster.client.submit(time.sleep, 3, workers=[worker], pure=False)
    checked_pool(cluster, Squares()).close()
    assert task.done()
    assert said == [f"waiting for {worker}, which is busy or does not answer"]


def test_that_all_workers_are_gone_is_said_once():
    """New ones go on with the work."""
    said = []
    with local_cluster(0) as workers:
        with another_worker(workers.address, "first"):
            cluster = Cluster(workers.address, identity)
            stream = Ordered(checked_pool(cluster, Squares("slow")), range(60), on_warning=said.append).results()
            found = [next(stream)]
        rest = threading.Thread(target=lambda: found.extend(stream), daemon=True)
        rest.start()
        assert wait_until(lambda: said)
        time.sleep(1.5)  # it would be said again
        with another_worker(workers.address, "second"):
            rest.join(120)
        assert found == [number * number for number in range(60)]
        assert [text for text in said if "is begun again" not in text] == [
            f"no worker of {workers.address} is left that can do this; waiting for one"
        ]
        cluster.close()


def test_a_stalled_worker_does_not_keep_the_end():
    with local_cluster(1) as workers:
        cluster = Cluster(workers.address, identity)
        found = checked_pool(cluster, Squares())
        os.kill(workers.workers[0], signal.SIGSTOP)
        try:
            began = time.monotonic()
            found.close()
            assert time.monotonic() - began < 30
        finally:
            os.kill(workers.workers[0], signal.SIGCONT)
        cluster.close()


def test_workers_of_one_machine_share_it(cluster):
    """The first one stays where there is not enough for both."""
    warnings = []
    pool = checked_pool(cluster, Squares(most=1))
    assert list(Ordered(pool, range(5), on_warning=warnings.append).results()) == [0, 1, 4, 9, 16]
    second = max(cluster.client.nthreads())
    assert warnings == [f"{second} gets no work: 2 are too many"]
    machines = {"tcp://10.0.0.1:2": 4, "tcp://10.0.0.1:1": 1, "tcp://10.0.0.2:1": 2}
    assert shares(machines) == {"tcp://10.0.0.1:1": 1, "tcp://10.0.0.1:2": 5, "tcp://10.0.0.2:1": 2}


def test_no_worker_is_fit(cluster, workers):
    others = Cluster(workers.address, identity)
    others.expected = {"commit": "xyz"}
    with pytest.raises(ClusterError, match=r"no worker of .* its commit is abc, here it is xyz \(tcp://127"):
        ClusterPool(others, Squares()).check()
    others.close()


def test_one_of_two_workers_is_killed(tmp_path):
    with local_cluster() as workers:
        cluster = Cluster(workers.address, identity)
        stream = Ordered(checked_pool(cluster, Squares("slow", folder=str(tmp_path))), range(200)).results()
        found = [next(stream) for _ in range(20)]
        os.kill(workers.workers[0], signal.SIGKILL)
        found += stream
        assert found == [number * number for number in range(200)]
        cluster.close()


def test_a_scheduler_that_dies_is_said():
    with local_cluster() as workers:
        cluster = Cluster(workers.address, identity)
        warnings = []
        stream = Ordered(checked_pool(cluster, Squares("slow")), range(10_000), on_warning=warnings.append).results()
        next(stream)
        os.kill(workers.scheduler, signal.SIGKILL)
        with pytest.raises(PoolError, match=r"the scheduler at .* is gone"):
            list(stream)
        assert warnings == []  # nobody begins a task again
        cluster.close()


def test_there_is_no_such_cluster():
    with pytest.raises(ClusterError, match=r"there is no cluster at tcp://127\.0\.0\.1:1"):
        Cluster("tcp://127.0.0.1:1", identity)


def test_addresses_that_dask_understands():
    for host in ("10.0.0.1", "node-7.example.org", "[::1]", "[fe80::1%eth0]"):
        for scheme in ("tcp://", "tls://", ""):
            check_address(f"{scheme}{host}:8786")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_certificates(tmp_path):
    files = make_certificates(tmp_path / "ours")
    strangers = make_certificates(tmp_path / "theirs")
    with local_cluster(1, files) as workers:
        assert workers.address.startswith("tls://")
        cluster = Cluster(workers.address, identity, Certificates(*map(str, files)))
        assert list(Ordered(checked_pool(cluster, Squares()), range(5)).results()) == [0, 1, 4, 9, 16]
        cluster.close()
        with pytest.raises(ClusterError, match="certificate"):
            Cluster(workers.address, identity, Certificates(*map(str, strangers)))
        with pytest.raises(ClusterError, match="needs certificates"):
            Cluster(workers.address, identity)
        # A worker of strangers is not let in, and leaves after three seconds.
        flags = zip(("--tls-ca-file", "--tls-cert", "--tls-key"), map(str, strangers), strict=True)
        command = [sys.executable, "-m", "distributed.cli.dask_worker", workers.address, "--death-timeout", "3"]
        stranger = subprocess.run(
            [*command, "--no-nanny", "--no-dashboard", *itertools.chain(*flags)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "Waiting to connect to" in stranger.stderr
        assert "Registered to" not in stranger.stderr
        cluster = Cluster(workers.address, identity, Certificates(*map(str, files)))
        assert len(cluster.client.nthreads()) == 1
        cluster.close()
        with pytest.raises(ClusterError, match="the key is missing"):
            Cluster(workers.address, identity, Certificates(*map(str, files[:2])))
        with pytest.raises(ClusterError, match="for tls:// addresses"):
            Cluster(workers.address.replace("tls", "tcp"), identity, Certificates(*map(str, files)))
        with pytest.raises(ClusterError, match="no such file"):
            Cluster(workers.address, identity, Certificates(*map(str, files[:2]), str(tmp_path / "none.pem")))

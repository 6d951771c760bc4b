"""Clusters of a few workers on this machine."""

import contextlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

NEEDS_DASK = [
    pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs Dask: the extra 'cluster'"),
    pytest.mark.skipif(os.name == "nt", reason="signals of Unix"),
]
HELPERS = Path(__file__).parent


class LocalCluster(NamedTuple):
    """Its address, the process numbers of its workers, and that of its scheduler."""

    address: str
    workers: list
    scheduler: int


def environment(*first, **more):
    """Where workers find the helpers of the tests, and before them the modules of other directories."""
    known = filter(None, (*first, str(HELPERS), os.environ.get("PYTHONPATH")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(known), **more}


@contextlib.contextmanager
def local_cluster(workers=2, certificates=()):
    process = subprocess.Popen(
        [sys.executable, str(HELPERS / "local_cluster.py"), str(workers), *map(str, certificates)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )
    try:
        address, *pids = process.stdout.readline().split()
        yield LocalCluster(address, [int(pid) for pid in pids], process.pid)
        process.stdin.close()
        process.wait(60)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@contextlib.contextmanager
def another_worker(address, name, *paths, most_bytes=None, **variables):
    """One more worker, with other modules or variables in its environment, or with a limit for the size of files."""

    def limit():
        if most_bytes is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--name", name]
    process = subprocess.Popen(
        [*command, "--nthreads", "1", "--no-nanny", "--no-dashboard"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(*paths, **variables),
        preexec_fn=limit,
    )
    try:
        wait_for_worker(address, name)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def wait_for_worker(address, name):
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        for _ in range(600):
            names = [worker["name"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
            if name in names:
                return
            client.sync(sleep_a_moment)
    raise TimeoutError(f"worker {name} did not join {address}")


async def sleep_a_moment():
    import asyncio

    await asyncio.sleep(0.1)


def make_certificates(folder, name="cluster"):
    """An authority, and a certificate of it with its key, by openssl: three paths."""
    folder.mkdir(exist_ok=True)
    authority, key = folder / "ca.pem", folder / f"{name}-key.pem"
    request, certificate = folder / f"{name}.csr", folder / f"{name}.pem"

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)

    ca_key = folder / "ca-key.pem"
    openssl(
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        2,
        "-subj",
        "/CN=test",
        "-keyout",
        ca_key,
        "-out",
        authority,
    )
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
    openssl(
        "x509",
        "-req",
        "-in",
        request,
        "-CA",
        authority,
        "-CAkey",
        ca_key,
        "-CAcreateserial",
        "-days",
        2,
        "-out",
        certificate,
    )
    return authority, certificate, key

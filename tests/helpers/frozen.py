"""The frozen directory that tests drive: built once for a state of the sources, whichever test asks first."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from functools import cache

import pytest
from support import ROOT

LONGEST_BUILD = 1200  # seconds, on a very busy machine


@cache
def freeze():
    """scripts/freeze.py as a module."""
    spec = importlib.util.spec_from_file_location("freeze", ROOT / "scripts" / "freeze.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fingerprint():
    """Changes with everything that goes into the frozen program."""
    from uci_engine import _build

    maker = freeze()
    digest = hashlib.sha256(repr((_build.SOURCES_SHA256, sys.version)).encode())
    files = [path for _, path in maker.sources()] + [path for path, _ in maker.data_files()]
    files += [ROOT / "scripts" / name for name in ("freeze.py", "quetzal.spec")]
    for path in files:
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:16]


def build(target, *arguments):
    command = [sys.executable, str(ROOT / "scripts" / "freeze.py"), "--output", str(target), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_BUILD)
    assert result.returncode == 0, result.stdout + result.stderr


@cache
def frozen(kind="directory"):
    """The path of the frozen program, in a directory of its own or as a single file; built if it is not there."""
    pytest.importorskip("PyInstaller", reason="PyInstaller is not installed")
    if "PYTHONPATH" in os.environ:
        pytest.skip("a checked build is under test; only the release build is frozen")
    shelf = ROOT / "build" / "frozen"
    shelf.mkdir(parents=True, exist_ok=True)
    place, lock = shelf / f"{kind}-{fingerprint()}", shelf / "lock"
    deadline = time.monotonic() + LONGEST_BUILD
    while not (place / "done").exists():
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            assert time.monotonic() < deadline, f"nobody finishes the build; if none is running, delete {lock}"
            time.sleep(0.5)
            continue
        try:
            if not (place / "done").exists():
                for old in shelf.glob(f"{kind}-*"):
                    shutil.rmtree(old)
                build(place, *(("--directory-only",) if kind == "directory" else ()))
                (place / "done").touch()
        finally:
            lock.unlink(missing_ok=True)
    suffix = ".exe" if sys.platform == "win32" else ""
    return place / (freeze().directory_name() if kind == "directory" else "") / f"quetzal{suffix}"

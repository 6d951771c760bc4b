"""Quetzal for Linux on ARM64, under qemu: what `make arm64` has made is the same engine. `make test-arm64` runs these.

Not tested, because the emulator says nothing about it: speed, how well the clock is kept, and the threads' memory model.
"""

import os
import re
import subprocess
import sys
import tarfile

import pytest

if os.environ.get("QUETZAL_ARM64", "0") == "0":
    pytest.skip("needs qemu, and what `make arm64` makes: `make test-arm64` runs these", allow_module_level=True)

import arm64
from check_signature import QUICK_DEPTH, SIGNATURE, count
from networks import random_network, write_network
from support import ROOT, TESTS, quetzal

# They start this system's programs, look for files of the checkout, measure time, or look at this system's memory.
NOT_UNDER_EMULATION = (
    "not speed and not stockfish and not tools and not small and not time and not was_stopped and not pages"
)
ENGINE = [str(arm64.STARTER), "-m", "uci_engine"]
FROZEN = [str(arm64.RUNNER), str(arm64.PROGRAM)]
PATIENCE = "100"  # seconds that an answer may take; starting takes ten times as long as without the emulator


def python(*words, timeout=3000, **popen):
    command = [arm64.STARTER, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, **popen)


@pytest.mark.parametrize("command", [ENGINE, FROZEN], ids=["core", "frozen"])
def test_the_same_nodes(command):
    assert count(command, QUICK_DEPTH) == SIGNATURE[QUICK_DEPTH]


def test_it_is_another_machine():
    assert "aarch64 default" in python("-m", "uci_engine", "--version").stdout


def test_the_archive_is_complete():
    path = ROOT / "dist" / f"{arm64.NAME}.tar.gz"
    with tarfile.open(path) as archive:
        names = set(archive.getnames())
        program = archive.extractfile(f"{arm64.NAME}/quetzal").read(20)
        for member in archive.getmembers():  # two builds have to be the same, wherever they were made
            assert not member.isfile() or str(ROOT).encode() not in archive.extractfile(member).read(), member.name
    assert {f"{arm64.NAME}/{name}" for name in ("README.txt", "LICENSE", "quetzal.1")} <= names
    assert program[18:20] == b"\xb7\0"  # EM_AARCH64, in the header of the file
    sums = (ROOT / "dist" / f"{arm64.NAME}.sha256").read_text(encoding="utf-8").split()
    assert sums == [arm64.sha256(path), path.name]


def test_uci_check():
    result = quetzal("uci-check", "--patience", PATIENCE, *ENGINE, timeout=2400)
    failed = [line for line in result.stdout.splitlines() if line.startswith("FAIL")]
    assert failed == [], result.stdout
    assert re.search(r"\d+ passed, 0 failed", result.stdout)


SCORES = """
import sys
sys.path.insert(0, sys.argv[1])
from positions import random_walk
from eval import Evaluator, load_evaluation
for name in sys.argv[2:]:
    load_evaluation(name)
    evaluator = Evaluator()
    for seed in range(10):
        print(*(evaluator.evaluate(board, board.ply) for board in random_walk(seed)))
"""


def test_the_vector_loops_give_the_same_numbers(tmp_path):
    """Games move by move, with networks of every shape that the loops know, against the loops of this machine."""
    files = [write_network(tmp_path / f"{size}.qnn", random_network(size, size)) for size in (32, 96, 256, 1024)]
    files.append(write_network(tmp_path / "extreme.qnn", random_network(256, 3, extreme=True)))
    words = ["-c", SCORES, str(TESTS / "helpers"), *map(str, files)]
    theirs = python(*words)
    ours = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert theirs.stdout == ours, theirs.stderr
    assert len(ours.split()) > 2000


def test_the_loops_are_vectors():
    """Eight 16-bit numbers at once: NEON's multiplications of whole registers are in the compiled network."""
    (module,) = (arm64.TREE / "eval").glob("network.*.so")
    code = subprocess.run(
        ["aarch64-linux-gnu-objdump", "-d", module], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r"\bmul\s+v\d+\.8h", code)
    assert re.search(r"\badd\s+v\d+\.8h", code)


@pytest.mark.parametrize("part", ["board", "eval", "search"])
def test_the_suite(part):
    """With the vector loops of this machine: their results are compared with exact arithmetic."""
    result = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", NOT_UNDER_EMULATION, f"tests/{part}")
    print(result.stdout)
    assert result.returncode == 0, result.stdout + result.stderr

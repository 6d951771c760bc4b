"""Quetzal for Linux on ARM64, under qemu: what `make arm64` has made is the same engine. `make test-arm64` runs these.

Not tested, because the emulator says nothing about it: speed, and how well the clock is kept.
"""

import os
import re
import subprocess

import pytest

if os.environ.get("QUETZAL_ARM64", "0") == "0":
    pytest.skip("needs qemu, and what `make arm64` makes: `make test-arm64` runs these", allow_module_level=True)

import arm64
from check_signature import QUICK_DEPTH, SIGNATURE, count
from support import ROOT, quetzal

# They start this system's programs, look for files of the checkout, or measure time.
NOT_UNDER_EMULATION = "not speed and not stockfish and not tools and not small and not time"


def python(*words, timeout=3000):
    return subprocess.run([arm64.STARTER, *words], cwd=ROOT, capture_output=True, text=True, timeout=timeout)


def test_the_same_nodes():
    assert count([str(arm64.STARTER), "-m", "uci_engine"], QUICK_DEPTH) == SIGNATURE[QUICK_DEPTH]


def test_it_is_another_machine():
    assert "aarch64 default" in python("-m", "uci_engine", "--version").stdout


def test_uci_check():
    result = quetzal("uci-check", str(arm64.STARTER), "-m", "uci_engine", timeout=1200)
    failed = [line for line in result.stdout.splitlines() if line.startswith("FAIL")]
    assert failed == [], result.stdout
    assert re.search(r"\d+ passed, 0 failed", result.stdout)


@pytest.mark.parametrize("part", ["board", "eval", "search"])
def test_the_suite(part):
    """With the vector loops of this machine: their results are compared with exact arithmetic."""
    result = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", NOT_UNDER_EMULATION, f"tests/{part}")
    assert result.returncode == 0, result.stdout + result.stderr

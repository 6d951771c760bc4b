"""The suite gives the same answers from a terminal, under nohup and in the background."""

import os
import subprocess
import sys

import pytest
from support import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")

IGNORED = """
import signal
print(*(number.name for number in signal.valid_signals() if signal.getsignal(number) == signal.SIG_IGN))
"""


def test_programs_start_with_no_ignored_signal():
    child = subprocess.run([sys.executable, "-c", IGNORED], capture_output=True, text=True)
    # Python itself ignores these two.
    assert set(child.stdout.split()) <= {"SIGPIPE", "SIGXFSZ"}


def test_nor_where_the_tests_ignore_some():
    path = f"{__file__}::{test_programs_start_with_no_ignored_signal.__name__}"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", path]
    shell = subprocess.run(
        ["sh", "-c", "trap '' HUP INT QUIT TERM; exec \"$@\"", "sh", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert shell.returncode == 0, shell.stdout

"""Setting up: only what is needed is installed, progress is shown, and a missing compiler is said in one line."""

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest
from check_system import REMEDIES, message, missing
from support import ROOT
from terminal import Terminal, plain

SYSTEMS = ("Debian/Ubuntu", "Fedora", "Arch", "macOS")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")

# Announces modules as Cython and setup.py do, and fails if it is told so.
FAKE_SETUP = """
import sys
for step in ("Cythonizing", "Compiling"):
    for number in range(1, 17):
        print(f"[{number:2}/16] {step} search.module{number}")
        print("a warning of the compiler")
if "fail" in sys.argv:
    sys.exit("error: no room")
"""


def test_nothing_is_missing_here():
    assert message(missing()) is None


@pytest.mark.parametrize("what", ["compiler", "header", "venv", "version"])
def test_one_line_says_what_is_missing_and_what_to_install(what, monkeypatch, tmp_path):
    words = {"compiler": "a C compiler", "header": "Python.h", "venv": "module venv", "version": "3.11 or newer"}
    if what == "compiler":
        monkeypatch.setenv("CC", "no-such-compiler -O2")
    elif what == "header":
        monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    elif what == "venv":
        monkeypatch.setitem(sys.modules, "ensurepip", None)
    else:
        monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    text = message(missing())
    assert words[what] in text
    assert sum(each in text for each in words.values()) == 1
    assert "\n" not in text
    assert all(system in text for system in SYSTEMS)


def test_without_a_compiler_setup_py_says_so_too(tmp_path):
    """As `pip install .` would show it."""
    command = [sys.executable, "setup.py", "build_ext", "--build-lib", str(tmp_path), "--build-temp", str(tmp_path)]
    environment = {**os.environ, "CC": "no-such-compiler"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("Building Quetzal needs a C compiler (no-such-compiler). Debian")
    assert "Traceback" not in result.stderr


def test_the_readme_names_the_packages():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for system, packages in REMEDIES:
        assert f"| {system} | `{packages}` |" in text


def recipes(target):
    """What make would do from nothing."""
    result = subprocess.run(["make", "-nB", target], cwd=ROOT, capture_output=True, text=True, check=True)
    return result.stdout


@needs_make
def test_running_installs_less_than_testing():
    for target in ("build", "run"):
        assert "requirements.py build run >" in recipes(target)
        assert "requirements.py dev" not in recipes(target)
    for target in ("test", "freeze", "lint"):
        assert "requirements.py build run >" in recipes(target)
        assert "requirements.py dev >" in recipes(target)


@pytest.fixture
def fake_build(tmp_path):
    """The builder beside a setup.py that compiles nothing."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "build_core.py", tmp_path / "scripts")
    (tmp_path / "setup.py").write_text(FAKE_SETUP, encoding="utf-8")
    return [sys.executable, str(tmp_path / "scripts" / "build_core.py"), str(tmp_path / "log")]


def test_compiling_shows_how_far_it_is(fake_build, tmp_path):
    with Terminal(*fake_build) as terminal:
        status, output = terminal.wait()
    assert status == 0
    assert "Translating to C" in plain(output)
    assert "16/16" in plain(output)
    assert "search.module16" in plain(output)
    assert "warning" not in output
    assert (tmp_path / "log").read_text(encoding="utf-8").count("a warning of the compiler") == 32


def test_into_a_file_compiling_writes_lines(fake_build):
    result = subprocess.run(fake_build, capture_output=True, text=True, check=True)
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        f"{title}: {number} of 16 modules" for title in ("Translating to C", "Compiling") for number in (8, 16)
    ]


def test_a_build_that_fails_shows_the_end_of_its_log(fake_build):
    result = subprocess.run([*fake_build, "fail"], capture_output=True, text=True)
    assert result.returncode == 1
    assert "error: no room" in result.stderr
    assert "has the whole log" in result.stderr

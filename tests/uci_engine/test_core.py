"""A core that is missing or older than its sources is noticed, said, and never run.

The checks need the packages and nothing else, so they work on copies in which a file is changed or taken away.
"""

import os
import shutil
from pathlib import Path

import pytest
from support import quetzal

from uci_engine import _build

PLACE = Path(_build.__file__).parent.parent
PACKAGES = {source.split("/")[0] for source in _build.SOURCES} | {"arena", "command", "pool", "uci_engine"}


@pytest.fixture
def copy(tmp_path):
    for package in PACKAGES:
        shutil.copytree(PLACE / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(copy, *arguments):
    """Runs the copied packages, not those of the checkout: the working directory comes first on the path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return quetzal(*arguments, cwd=copy, env=environment)


def assert_refused(result, message):
    assert result.returncode == 1
    assert message in result.stderr
    assert "make build" in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_an_intact_copy_runs(copy):
    result = run(copy, "perft", "2")
    assert result.returncode == 0, result.stderr
    assert "Nodes searched: 400" in result.stdout


def test_nothing_was_built(copy):
    (copy / "uci_engine" / "_build.py").unlink()
    assert_refused(run(copy, "--version"), "has not been built")


def test_a_module_is_missing(copy):
    (module,) = [path for path in (copy / "board").glob("see.*") if path.suffix in (".so", ".pyd")]
    module.unlink()
    assert_refused(run(copy, "perft", "1"), "board.see is missing")


@pytest.mark.parametrize("name", ["movegen.py", "types.pxd", "intrinsics.h"])
def test_a_source_is_newer(copy, name):
    source = copy / "board" / name
    source.write_text(source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert_refused(run(copy, "perft", "1"), "older than its sources")
    assert_refused(run(copy), "older than its sources")

"""`quetzal bench` and the scripts that measure the search."""

import re
import subprocess
import sys

import ablate
import pytest
from check_signature import QUICK_DEPTH, SIGNATURE, closing_nodes
from support import DATA, ROOT, quetzal

from uci_engine.bench import DEFAULT_DEPTH

CLOSING = re.compile(r"(\d+) nodes (\d+) nps")


def script(name, *arguments):
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / name, *arguments], capture_output=True, text=True, timeout=120, cwd=DATA
    )


def test_bench_closes_with_nodes_and_speed():
    result = quetzal("bench", "--depth", "4")
    assert (result.returncode, result.stderr) == (0, "")
    *positions, branching, closing = result.stdout.splitlines()
    assert 45 <= len(positions) <= 60
    nodes = sum(int(re.match(r" *\d+/\d+ +(\d+) nodes ", line)[1]) for line in positions)
    assert int(CLOSING.fullmatch(closing)[1]) == nodes
    assert re.fullmatch(r"effective branching factor \d+\.\d+ \(mean over the positions, depth 4\)", branching)


@pytest.mark.parametrize("depth", [depth for depth in SIGNATURE if depth <= QUICK_DEPTH])
def test_the_signature(depth):
    """These counts are the search's own, as nothing else can be: they say whether it has changed, not whether it is
    right. `make bench` compares the deep ones too; CONTRIBUTING.md says what to do about a difference."""
    assert closing_nodes(quetzal("bench", "--depth", str(depth)).stdout) == SIGNATURE[depth]


def test_the_signature_goes_to_the_depth_of_the_bench():
    assert list(SIGNATURE) == sorted(SIGNATURE) and max(SIGNATURE) == DEFAULT_DEPTH


def test_another_engine_has_another_signature(tmp_path):
    """A program that is not this engine is noticed, by name and with both counts."""
    other = tmp_path / "other.py"
    other.write_text("print('effective branching factor 2.0')\nprint('42 nodes 1 nps')\n")
    result = script("check_signature.py", "--depth", str(QUICK_DEPTH), sys.executable, str(other))
    assert result.returncode == 1
    assert f"visits 42 nodes in bench --depth {QUICK_DEPTH}; the signature is {SIGNATURE[QUICK_DEPTH]}" in result.stdout


def test_bench_is_the_same_in_every_process():
    """New processes have new addresses and new hash seeds; the node count knows nothing of them. Nor does it depend on
    the size of a table that is large enough."""
    runs = [quetzal("bench", "--depth", "4", "--hash", megabytes) for megabytes in ("16", "16", "64")]
    assert len({CLOSING.fullmatch(run.stdout.splitlines()[-1])[1] for run in runs}) == 1


def test_bench_with_threads():
    assert CLOSING.fullmatch(quetzal("bench", "--depth", "3", "--threads", "2").stdout.splitlines()[-1])


@pytest.mark.parametrize("arguments", [("--depth", "0"), ("--threads", "0"), ("--hash", "0")])
def test_bench_refuses(arguments):
    result = quetzal("bench", *arguments)
    assert result.returncode == 2
    assert "less than 1" in result.stderr


def test_ablate_writes_a_table(tmp_path):
    path = tmp_path / "table.md"
    result = script(
        "ablate.py",
        "--depth",
        "4",
        "--positions",
        "4",
        "--only",
        "null_move",
        "transposition_table",
        "--markdown",
        path,
    )
    assert result.returncode == 0, result.stderr
    header, rule, *rows = path.read_text(encoding="utf-8").splitlines()
    assert header.startswith("| step | 4 positions, depth 4 | nodes |")
    assert [[cell.strip() for cell in row.split("|")[1:3]] for row in rows] == [
        ["", "everything on"],
        ["9", "without null-move pruning"],
        ["4", "without transposition table"],
    ]
    assert len({line.count("|") for line in (header, rule, *rows)}) == 1
    assert rows[0].split("|")[4].strip() == "1.00"


def test_ablate_with_a_clock_that_has_not_moved():
    rows = [("", "everything on", 100, 0.0, 2.0), ("4", "without table", 150, 0.0, 3.0)]
    *_, last = ablate.node_lines(rows, 4, 1)
    assert last == "| 4 | without table | 150 | 1.50 | 0.0 | - | 3.000 |"


def test_ablate_knows_the_techniques():
    result = script("ablate.py", "--only", "magic")
    assert result.returncode == 2
    assert "there is no technique magic" in result.stderr

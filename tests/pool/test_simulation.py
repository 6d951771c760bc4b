"""The simulated cluster prints a row for each size, and names the limit."""

import re
import subprocess
import sys

from clusters import NEEDS_DASK
from support import ROOT

pytestmark = NEEDS_DASK


def test_a_small_simulation():
    script = [sys.executable, str(ROOT / "scripts" / "simulate_cluster.py")]
    sizes = ["--workers", "1", "3", "--seconds", "0.05", "0.1", "--most", "0.2", "--kilobytes", "1"]
    result = subprocess.run([*script, *sizes], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    header, rule, *rows, _, limit = result.stdout.splitlines()
    assert header == "| workers | 0.05 s | 0.1 s | tasks/s |"
    assert rule == "|--:|--:|--:|--:|"
    assert [re.fullmatch(r"\| (\d) \| (\d+) % \| (\d+) % \| (\d+) \|", row)[1] for row in rows] == ["1", "3"]
    for row in rows:
        shares = [int(share) for share in re.findall(r"(\d+) %", row)]
        assert all(0 < share <= 100 for share in shares)
    assert re.fullmatch(r"One scheduler: \d+ tasks/s of 1 kB; tasks of S seconds keep \d+ \* S workers busy\.", limit)


def test_workers_by_kind_of_work():
    script = [sys.executable, str(ROOT / "scripts" / "simulate_cluster.py"), "--kinds", "--workers", "1", "2"]
    result = subprocess.run([*script, "--most", "0.2"], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    header, _, *rows = result.stdout.splitlines()
    assert header == "| a task | bytes there | bytes back | seconds | tasks/s | workers |"
    assert len(rows) >= 5
    for row in rows:
        *_, seconds, rate, workers = (cell.strip().replace(",", "") for cell in row.strip("| ").split("|"))
        # One worker does at most 20 tasks of 0.05 s in a second, two do 40.
        assert 0 < float(rate) <= 40
        assert abs(int(workers) - float(rate) * float(seconds)) <= 0.5 * float(seconds) + 0.5

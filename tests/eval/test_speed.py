"""The speed command runs and prints its figures. How large they are depends on the machine."""

import re
import subprocess
import sys

from support import DATA, ROOT


def test_speed_is_printed():
    command = [sys.executable, ROOT / "scripts" / "bench_speed.py", "--movetime", "20", "--positions", "2"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=DATA).stdout
    for evaluation in ("network", "classical"):
        assert re.search(rf"^Quetzal \S+ \({evaluation}\) +[\d,]+ +[\d,]+$", printed, re.MULTILINE)
    assert re.search(r"^network / classical, per CPU second: \d+\.\d\d", printed, re.MULTILINE)
    assert re.search(r"^two threads / one: \d+\.\d\d", printed, re.MULTILINE)
    (rate,) = re.findall(r"^([\d,]+) classical evaluations per CPU second", printed, re.MULTILINE)
    assert int(rate.replace(",", "")) > 0

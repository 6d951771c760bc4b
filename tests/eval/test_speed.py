"""The speed command runs and prints its figures. How large they are depends on the machine."""

import re
import subprocess
import sys

from support import DATA, ROOT


def test_speed_is_printed():
    command = [sys.executable, ROOT / "scripts" / "bench_speed.py", "--rounds", "2", "--positions", "20"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=DATA).stdout
    rates = [float(rate) for rate in re.findall(r"(?:slowest|median|fastest) (\d+\.\d+)", printed)]
    assert len(rates) == 3
    assert 0 < rates[0] <= rates[1] <= rates[2]

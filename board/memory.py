"""How much memory may a table take? Asking too much would not fail: the system would end some process later."""

import os
from pathlib import Path


def available_megabytes():
    """What this process can still get, or None where the system does not say."""
    figures = [figure for figure in (_free_in_system(), _free_in_group()) if figure is not None]
    return min(figures) if figures else _physical()


def _free_in_system():
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    except (OSError, ValueError):
        pass
    return None


def _free_in_group():
    """Containers have limits of their own."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            return (int(Path(limit).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii"))) >> 20
        except (OSError, ValueError):
            continue  # no such file, or "max"
    return None


def _physical():
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    except (AttributeError, OSError, ValueError):
        return None

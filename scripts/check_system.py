"""Is everything on this machine that building Quetzal needs? Says in one line what is missing, and what to install.

python scripts/check_system.py

It runs before anything is installed, and with a Python that may be too old, so it uses nothing but old Python.
"""

import os
import shutil
import sys
import sysconfig

OLDEST = (3, 11)
REMEDIES = (
    ("Debian/Ubuntu", "apt install build-essential python3-dev python3-venv"),
    ("Fedora", "dnf install gcc make python3-devel"),
    ("Arch", "pacman -S base-devel python"),
    ("macOS", "xcode-select --install; brew install python"),
)


def compiler():
    """The C compiler that setuptools will call, as it is called."""
    return (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]


def missing(builds_environment=True):
    """What is not there, as a list of words for people. On Windows, setuptools finds compilers in its own ways."""
    found = []
    if sys.version_info < OLDEST:
        found.append("Python {}.{} or newer (this one is {}.{})".format(*OLDEST, *sys.version_info[:2]))
    if builds_environment:
        try:
            import ensurepip  # noqa: F401 - Debian ships Python without it
            import venv  # noqa: F401
        except ImportError:
            found.append("Python's module venv")
    if os.name == "posix":
        if shutil.which(compiler()) is None:
            found.append(f"a C compiler ({compiler()})")
        if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
            found.append("Python's header files (Python.h)")
    return found


def message(found):
    """One line for what was found missing, or None."""
    if not found:
        return None
    remedies = " | ".join("{}: {}".format(*remedy) for remedy in REMEDIES)
    return "Building Quetzal needs {}. {}".format(" and ".join(found), remedies)


if __name__ == "__main__":
    sys.exit(message(missing()))

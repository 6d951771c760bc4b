"""Makes and tries Quetzal for Linux on ARM64 with an x86 machine: cross-compiled, and run by qemu.

python scripts/arm64.py             compiles the core and compares its node counts (`make arm64`)
python scripts/arm64.py python …    the ARM64 Python with that core, under qemu

A Python for ARM64 comes from Debian's packages, unpacked into build/arm64/root; nothing of it is installed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from check_signature import QUICK_DEPTH, difference
from cross import NotMadeError, compile_core, dependencies, install_programs, is_made, pip, run, say

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "arm64"
SYSTEM = PLACE / "root"  # the other system's files
PYTHON = PLACE / "python"  # its headers, as setup.py wants them
TREE = PLACE / "tree"
STARTER = PLACE / "python3"  # qemu with the other Python: a program like any other

PROGRAMS = {  # and Debian's packages that have them
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
    "/usr/aarch64-linux-gnu/include/stdlib.h": "libc6-dev-arm64-cross",
    "qemu-aarch64": "qemu-user",
}
PACKAGES = ("python3.11", "libpython3.11-dev", "libpython3.11-stdlib")


def check_machine():
    install_programs(PROGRAMS)
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise NotMadeError("the ARM64 Python comes from Debian's packages: apt-get and dpkg are needed")


def fetch_system():
    """Debian's own tools unpack another architecture's packages beside this system, with lists of their own."""
    stamp = PLACE / "system-made"
    if is_made(stamp, " ".join(PACKAGES)):
        return
    say("fetching Debian's Python for ARM64")
    state = PLACE / "apt"
    for name in ("lists/partial", "archives/partial", "dpkg"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "dpkg" / "status").touch()
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "Dir::State": state,
        "Dir::State::Lists": state / "lists",
        "Dir::State::status": state / "dpkg" / "status",
        "Dir::Cache": state,
        "Dir::Cache::Archives": state / "archives",
        "APT::Sandbox::User": "root",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    run("apt-get", *words, "update", "-qq")
    run("apt-get", *words, "install", "-y", "-qq", "--download-only", "--no-install-recommends", *PACKAGES)
    shutil.rmtree(SYSTEM, ignore_errors=True)
    SYSTEM.mkdir()
    for package in sorted((state / "archives").glob("*.deb")):
        run("dpkg", "-x", package, SYSTEM)
    add_headers()
    stamp.write_text(" ".join(PACKAGES), encoding="utf-8")


def add_headers():
    """Debian's pyconfig.h only says where the one of the architecture lies; here they become one directory."""
    headers = SYSTEM / "usr" / "include"
    shutil.rmtree(PYTHON, ignore_errors=True)
    shutil.copytree(headers / "python3.11", PYTHON / "include")
    shutil.copy(headers / "aarch64-linux-gnu" / "python3.11" / "pyconfig.h", PYTHON / "include" / "pyconfig.h")


def write_starter():
    python = SYSTEM / "usr" / "bin" / "python3.11"
    packages = PLACE / "packages"
    text = f'#!/bin/sh\nexport PYTHONPATH="{TREE}:{packages}" PYTHONSAFEPATH=1 QUETZAL_PYTHON="{STARTER}"\n'
    text += f'exec qemu-aarch64 -L "{SYSTEM}" "{python}" "$@"\n'
    STARTER.write_text(text, encoding="utf-8")
    STARTER.chmod(0o755)


def fetch_packages():
    """Pure Python, all of them: the machine makes no difference."""
    target = PLACE / "packages"
    wanted = (*dependencies(), "pytest>=8", "hypothesis>=6.100")
    if is_made(target / "made", " ".join(wanted)):
        return
    say(f"fetching {', '.join(wanted)}")
    shutil.rmtree(target, ignore_errors=True)
    pip("install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target", target, *wanted)
    (target / "made").write_text(" ".join(wanted), encoding="utf-8")


def make():
    check_machine()
    PLACE.mkdir(parents=True, exist_ok=True)
    fetch_system()
    fetch_packages()
    compile_core("linux-arm64", PYTHON, PLACE)
    write_starter()
    say("comparing its node counts under qemu")
    problem = difference([str(STARTER), "-m", "uci_engine"], QUICK_DEPTH)
    if problem is not None:
        raise NotMadeError(problem)
    print(f"{TREE}: the same nodes in bench --depth {QUICK_DEPTH}")


def main():
    words = sys.argv[1:]
    try:
        if not words:
            make()
        elif words[0] == "python":
            return subprocess.run([STARTER, *words[1:]]).returncode
        else:
            print(__doc__)
            return 0 if words[0] in ("-h", "--help") else 2
    except NotMadeError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What makes Quetzal for other systems on this one: fetching, and cross-compiling through setup.py."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class NotMadeError(Exception):
    """Why there is nothing to download, for people."""


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def run(*command, **options):
    """A step's program. What it says is shown only when it fails."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL, **options}
    result = subprocess.run([str(word) for word in command], text=True, errors="replace", **options)
    if result.returncode:
        lines = (result.stdout or "").splitlines()[-30:]
        raise NotMadeError("\n".join([*lines, f"{command[0]} ended with status {result.returncode}"]))
    return result.stdout or ""


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def is_made(stamp, state):
    """Was this step done with the same state of what it depends on?"""
    return stamp.exists() and stamp.read_text(encoding="utf-8") == state


def missing_packages(programs):
    return sorted({package for name, package in programs.items() if not (shutil.which(name) or Path(name).is_file())})


def install_programs(programs):
    """Programs, or files with their full path, that Debian's packages have."""
    packages = missing_packages(programs)
    if not packages:
        return
    command = f"apt-get install {' '.join(packages)}"
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise NotMadeError(f"missing programs; on Debian or Ubuntu, as root: {command}")
    say(f"installing {' '.join(packages)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run("apt-get", "update", "-qq", env=quiet)
    run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages, env=quiet)
    if missing_packages(programs):
        raise NotMadeError(f"still missing after {command}")


def pip(*words):
    command = (sys.executable, "-m", "pip", *words)
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode:
        raise NotMadeError(f"{result.stderr.strip()}\npip could not fetch what is needed: is there a network?")


def dependencies():
    """What Quetzal needs from others to run."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def compile_core(target, python, place):
    """Compiles for a target of targets.py with its Python's headers, into `tree` of a place; tests' modules, too."""
    say(f"compiling the core for {target}")
    variables = {"QUETZAL_TARGET": target, "QUETZAL_TARGET_PYTHON": str(python), "QUETZAL_FOR_TESTS": "1"}
    words = ["build", "--build-base", str(place / "base"), "--build-lib", str(place / "tree")]
    words += ["--parallel", str(os.cpu_count() or 1)]
    command = [sys.executable, str(ROOT / "scripts" / "build_core.py"), str(place / "core.log"), *words]
    if subprocess.run(command, env={**os.environ, **variables}).returncode:
        raise NotMadeError(f"the core does not compile for {target}: see {place / 'core.log'}")

"""What makes Quetzal for other systems on this one: fetching, and cross-compiling through setup.py."""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
from pathlib import Path

from freeze import settings, size_of

ROOT = Path(__file__).resolve().parent.parent
FREEZING = ("scripts", "docs/logo", "tests/data", "pyproject.toml", "LICENSE")  # what scripts/freeze.py reads


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


def npm(*words, **options):
    command = ("npm", *words)
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if result.returncode:
        raise NotMadeError(f"{result.stderr.strip()[-2000:]}\nnpm could not fetch what is needed: is there a network?")


def copy_headers(target):
    """This Python's own, as one directory: Debian's pyconfig.h only says where the one of the architecture lies."""
    include = Path(sysconfig.get_path("include"))
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(include, target)
    of_machine = include.parent / (sysconfig.get_config_var("MULTIARCH") or "") / include.name / "pyconfig.h"
    if of_machine.exists():
        shutil.copy(of_machine, target / "pyconfig.h")


def dependencies():
    """What Quetzal needs from others to run."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def room_for(size):
    """Refuses to begin what the disk has no room for."""
    free = shutil.disk_usage(ROOT).free
    if free < size:
        raise NotMadeError(f"only {free / 1e9:.1f} GB are free on the disk; {size / 1e9:.1f} are needed")


def publish(files, folder=ROOT / "dist"):
    """Copies finished files to where people look for them: all of them or, if the disk has no room, none."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [folder / f"{path.name}.part" for path in files]
    try:
        for path, part in zip(files, parts, strict=True):
            shutil.copy2(path, part)
        for path, part in zip(files, parts, strict=True):
            os.replace(part, folder / path.name)
            print(f"{folder / path.name}: {path.stat().st_size / 1e6:.1f} MB")
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def publish_folder(made, folder):
    """The same for a folder as a whole: the old one stays until the new one is complete."""
    part, old = folder.with_name(f"{folder.name}.part"), folder.with_name(f"{folder.name}.old")
    folder.parent.mkdir(parents=True, exist_ok=True)
    for leftover in (part, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        shutil.copytree(made, part)
        if folder.exists():
            folder.rename(old)
        part.rename(folder)
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise
    finally:
        for leftover in (part, old):
            shutil.rmtree(leftover, ignore_errors=True)
    print(f"{folder}: {size_of(folder) / 1e6:.1f} MB")


def main(make, words, others, document):
    """What a script does with its words: makes it all without any, else one of the `others`. The exit status."""
    try:
        if not words:
            make()
        elif words[0] in others:
            return others[words[0]](words[1:])
        else:
            print(document)
            return 0 if words[0] in ("-h", "--help") else 2
    except (NotMadeError, OSError) as problem:
        print(problem, file=sys.stderr)
        print("nothing was made", file=sys.stderr)
        return 1
    return 0


def add_freezing_files(tree):
    """To a tree of compiled packages, what freezing them needs; and takes away modules that are gone from the sources.

    The note of the build stays: in a checkout that was never built for this system the tree's is the only one.
    """
    for path in (*tree.rglob("*.py"), *tree.rglob("*.pyd"), *tree.rglob("*.so")):
        source = ROOT / path.relative_to(tree).with_name(path.name.split(".")[0] + ".py")
        if not source.exists() and path != tree / "uci_engine" / "_build.py":
            path.unlink()
    for name in FREEZING:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)


def tree_state(tree, *others):
    """Changes with everything that goes into the program; the tests, which may lie there as well, do not."""
    tops = {package.split(".")[0] for package in settings()["packages"]} | set(FREEZING)
    digest = hashlib.sha256(" ".join(others).encode())
    for top in sorted(tops):
        found = tree / top
        for path in sorted(found.rglob("*")) if found.is_dir() else [found]:
            if path.is_file() and path.suffix != ".pyc":
                digest.update(str(path.relative_to(tree)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def compile_core(target, python, place):
    """Compiles for a target of targets.py with its Python's headers, into `tree` of a place; tests' modules, too."""
    say(f"compiling the core for {target}")
    variables = {"QUETZAL_TARGET": target, "QUETZAL_TARGET_PYTHON": str(python), "QUETZAL_FOR_TESTS": "1"}
    words = ["build", "--build-base", str(place / "base"), "--build-lib", str(place / "tree")]
    words += ["--parallel", str(os.cpu_count() or 1)]
    command = [sys.executable, str(ROOT / "scripts" / "build_core.py"), str(place / "core.log"), *words]
    if subprocess.run(command, env={**os.environ, **variables}).returncode:
        raise NotMadeError(f"the core does not compile for {target}: see {place / 'core.log'}")

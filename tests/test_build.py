"""The build: what depends on what, what a wheel needs, and how fast the result starts."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from Cython.Build.Dependencies import create_dependency_tree
from support import DATA, ROOT

import board
from uci_engine import _build

PACKAGES = sorted({name.split(".")[0] for name in _build.MODULES})
OURS = rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+"
CIMPORT = re.compile(rf"^from (?:cython\.cimports\.({OURS}) import|({OURS}) cimport)", re.MULTILINE)

# What setup.py hands to setuptools, without building it. To a file, as Cython writes to stdout meanwhile.
LIST_EXTENSIONS = """
import setuptools
from distutils.core import run_setup
extensions = run_setup("setup.py", stop_after="init").ext_modules
with open("extensions", "w") as listing:
    for extension in extensions:
        print(extension.name, *extension.depends, file=listing)
"""


def definitions_behind(module):
    """All .pxd files that a module sees, found by reading the sources and not by asking Cython."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        stem = ROOT.joinpath(*name.split("."))
        texts = [stem.with_suffix(".pxd").read_text(encoding="utf-8")]
        if name == module:
            texts.append(stem.with_suffix(".py").read_text(encoding="utf-8"))
        found.add(name)
        cimported = {compiled or plain for text in texts for compiled, plain in CIMPORT.findall(text)}
        waiting += cimported - found
    return found


def test_the_running_core_is_the_one_under_test():
    """Extension modules, all beside the note of how they were built."""
    root = Path(_build.__file__).parent.parent
    assert Path(board.__file__).parent.parent == root
    assert len(_build.MODULES) >= 10
    for name in _build.MODULES:
        __import__(name)
        file = Path(sys.modules[name].__file__)
        assert file.suffix in (".so", ".pyd")
        assert file.parent == root.joinpath(*name.split(".")[:-1])


@pytest.mark.parametrize("module", _build.MODULES)
def test_every_definition_that_a_module_sees_is_tracked(module, monkeypatch):
    monkeypatch.chdir(ROOT)
    tracked = create_dependency_tree(quiet=True).all_dependencies(module.replace(".", "/") + ".py")
    tracked = {os.path.relpath(path, ROOT).replace(os.sep, "/") for path in tracked}
    wanted = {name.replace(".", "/") + ".pxd" for name in definitions_behind(module)}
    assert wanted <= tracked


def test_a_changed_definition_translates_its_dependents_again(tmp_path):
    """The decision of the real setup.py, on a copy of the sources and of what was translated before.

    Headers are left to setuptools, which compiles again when a dependency it was told of is newer.
    """
    translated = ROOT / "build" / "release" / "c"
    if not translated.is_dir():
        pytest.skip("the release build has not been made here")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    for package in (*PACKAGES, "uci_engine"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copytree(translated, tmp_path / "build" / "release" / "c")
    files = {
        name: tmp_path.joinpath("build", "release", "c", *name.split(".")[:-1], f"{name.split('.')[-1]}.c")
        for name in _build.MODULES
    }
    now = time.time()
    for file in files.values():
        os.utime(file, (now + 10, now + 10))

    def translate():
        before = {name: file.stat().st_mtime for name, file in files.items()}
        environment = {**os.environ, "QUETZAL_PROFILE": "release"}
        environment.pop("PYTHONPATH", None)
        subprocess.run(
            [sys.executable, "-c", LIST_EXTENSIONS], cwd=tmp_path, env=environment, check=True, capture_output=True
        )
        extensions = [line.split() for line in (tmp_path / "extensions").read_text(encoding="utf-8").splitlines()]
        assert {name for name, *_ in extensions} == set(files)
        assert all("board/intrinsics.h" in depends for _, *depends in extensions)
        return {name for name, file in files.items() if file.stat().st_mtime != before[name]}

    assert translate() == set()
    os.utime(tmp_path / "board" / "notation.pxd", (now + 20, now + 20))
    dependents = {name for name in files if "board.notation" in definitions_behind(name)}
    assert {"board.notation", "board.api"} <= dependents < set(files)
    assert translate() == dependents


IS_LONG = os.environ.get("QUETZAL_LONG", "0") != "0"


@pytest.mark.skipif(os.name == "nt" or shutil.which("gcc") is None, reason="as gcc reads it")
@pytest.mark.parametrize("module", _build.MODULES if IS_LONG else ["search.joined", "training.selfplay"])
def test_checked_builds_compile(module, tmp_path):
    """Their overflow check takes operands for numbers: a difference of pointers is none of its kind to a C compiler."""
    source = ROOT / f"{module.replace('.', '/')}.py"
    listed = [f"{name}={value}" for name, value in setup_directives().items() if name != "language_level"]
    command = [sys.executable, "-m", "cython", "-3", "-X", ",".join(listed), source, "-o", tmp_path / "module.c"]
    translated = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert translated.returncode == 0, translated.stderr
    packages = sorted({path.parent for name in PACKAGES for path in (ROOT / name).rglob("*.pxd")})
    places = [f"-I{path}" for path in (*packages, sysconfig.get_path("include"))]
    checked = subprocess.run(
        ["gcc", "-fsyntax-only", "-Werror=int-conversion", *places, tmp_path / "module.c"],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr


def setup_directives():
    """What setup.py tells Cython for a checked profile; it cannot be imported without building."""
    tree = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    (table,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DIRECTIVES"
    )
    return eval(compile(ast.Expression(table), "setup.py", "eval"), {"CHECKED": True})


@pytest.mark.skipif(_build.PROFILE != "release", reason="only the release build is meant to be fast")
def test_importing_is_quick():
    """Under 100 ms of the processor's time: the clock on the wall also counts the other programs of a busy machine."""
    program = "import time; start = time.process_time(); import board; print(time.process_time() - start)"
    trials = [
        float(subprocess.run([sys.executable, "-c", program], cwd=DATA, capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    assert min(trials) < 0.1


def test_no_code_for_one_machine_only():
    files = ("setup.py", "Makefile", "scripts/compilers.py", "scripts/targets.py")
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in files)
    assert "march=native" not in text
    assert "x86-64-v2" in text

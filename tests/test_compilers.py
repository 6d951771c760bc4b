"""The C that Cython writes, as other compilers than the build's read it: not a warning. And what compilers are told."""

import os
import re
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import compilers
import macos
import pytest
from support import ROOT

from uci_engine import _build

WRITTEN = ROOT / "build" / "release" / "c"
HEADERS = ("board", "eval", "book", "book/opening", "book/endgame", "search", "training")
# Every .pxd brings inline functions that not every module uses, and Cython's own come with it.
FLAGS = ("-fsyntax-only", "-Wall", "-Wsign-compare", "-Werror", "-Wno-unused-function", "-DCYTHON_WITHOUT_ASSERTIONS")


NEEDS_CLANG = pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")


@pytest.mark.skipif(not WRITTEN.exists(), reason="the core was not built in this checkout")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compilers_have_nothing_to_say(compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    include = [f"-I{path}" for path in (sysconfig.get_path("include"), *HEADERS)]
    level = ["-march=x86-64-v2"] if os.uname().machine == "x86_64" else []

    def complaints(module):
        source = WRITTEN.joinpath(*module.split(".")).with_suffix(".c")
        command = [compiler, *FLAGS, *level, *include, str(source)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stderr

    with ThreadPoolExecutor(2) as pool:
        assert "".join(pool.map(complaints, _build.MODULES)) == ""


def driver(place, *words):
    """The commands that clang would run, without running them, and what it has to say."""
    (place / "x.c").touch()
    result = subprocess.run(["clang", "-###", *words, "-c", "x.c"], cwd=place, capture_output=True, text=True)
    commands = [line for line in result.stderr.splitlines() if '"-cc1"' in line]
    return commands, [line for line in result.stderr.splitlines() if "warning:" in line or "error:" in line]


@NEEDS_CLANG
def test_a_mac_program_of_both_kinds_gets_the_level_of_each(tmp_path):
    """Python for macOS compiles for Intel and ARM with one command; a level for one must not reach the other."""
    arch = ["-arch", "arm64", "-arch", "x86_64"]
    machines = compilers.machines_of(["cc", *arch])
    assert machines == ["arm64", "x86_64"]
    choice = compilers.choose(compilers.GCC, machines, "release")
    commands, said = driver(tmp_path, "--target=arm64-apple-macos11", *arch, *choice.compile_flags)
    assert said == []
    levels = {re.search(r'"-triple" "(\w+?)-', text)[1]: '"x86-64-v2"' in text for text in commands}
    assert levels == {"arm64": False, "x86_64": True}
    assert all('"-fwrapv"' in text for text in commands)
    assert choice.cpu_level == "arm64 default and x86-64-v2"


@NEEDS_CLANG
@pytest.mark.parametrize("machine", ["arm64", "x86_64"])
def test_a_mac_program_of_one_kind(machine, tmp_path):
    choice = compilers.choose(compilers.GCC, [machine], "release")
    commands, said = driver(tmp_path, f"--target={machine}-apple-macos11", "-arch", machine, *choice.compile_flags)
    assert said == []
    assert ['"x86-64-v2"' in text for text in commands] == [machine == "x86_64"]


@NEEDS_CLANG
def test_clang_cl_takes_its_flags(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", r"C:\Program Files\LLVM\bin\clang-cl.exe".replace("\\", os.sep))
    assert compilers.kind_of("msvc") == compilers.CLANG_CL
    choice = compilers.choose(compilers.CLANG_CL, ["amd64"], "release")
    ((command,), said) = driver(tmp_path, "--driver-mode=cl", "--target=x86_64-pc-windows-msvc", *choice.compile_flags)
    assert said == []
    for word in ("-fwrapv", "-O3", "x86-64-v2", "CYTHON_WITHOUT_ASSERTIONS"):
        assert f'"{word}"' in command
    assert choice.cpu_level == "x86-64-v2"


def test_plain_msvc_says_that_it_is_slower(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    assert compilers.kind_of("msvc") == compilers.MSVC
    choice = compilers.choose(compilers.MSVC, ["amd64"], "release")
    assert not any(flag.startswith("-") for flag in choice.compile_flags)
    assert "slower" in choice.cpu_level
    assert "slower" in compilers.SLOWER


def test_the_level_of_this_build():
    machine = os.uname().machine
    assert compilers.level_of([machine]) == _build.CPU_LEVEL
    assert (_build.CPU_LEVEL == "x86-64-v2") == (machine == "x86_64")


OBJECT = "int missing(int); static int own(void) { return 1; } int PyInit_name(void) { return missing(own()); }\n"


@NEEDS_CLANG
@pytest.mark.parametrize("machine", ["arm64", "x86_64"])
def test_the_names_in_a_file_for_macos(machine, tmp_path):
    """What scripts/macos.py reads from a compiled file is what a compiler has put there."""
    source, target = tmp_path / "name.c", tmp_path / "name.o"
    source.write_text(OBJECT, encoding="utf-8")
    subprocess.run(["clang", f"--target={machine}-apple-macos11", "-c", source, "-o", target], check=True)
    module = macos.read_module(target)
    assert module.machine == machine
    assert module.defined == {"_PyInit_name"}
    assert module.needed == module.looked_up == {"_missing"}
    assert not module.is_signed


def test_what_a_mac_would_not_like(monkeypatch, tmp_path):
    module = macos.Module("arm64", False, {"_PyInit_tree"}, set(), {"_PyList_New", "__Py_Dealloc", "___cpu_model"})
    monkeypatch.setattr(macos, "read_module", lambda path: module)
    assert list(macos.problems_of(tmp_path, "search.tree", "arm64")) == [
        "is not signed",
        "needs ___cpu_model, which neither Python nor the C library has",
    ]
    assert len(list(macos.problems_of(tmp_path, "search.root", "x86_64"))) == 3

"""Profile-guided builds: asked of gcc alone, and the same engine as any other."""

import os
import shutil
import subprocess
import sys

import guided_build
import pytest
from check_signature import QUICK_DEPTH, SIGNATURE, closing_nodes
from support import ROOT

IS_LONG = os.environ.get("QUETZAL_LONG", "0") != "0"


def test_only_gcc_is_asked(tmp_path):
    assert not guided_build.is_gcc(["no-such-compiler"])
    assert not guided_build.is_gcc([sys.executable])
    for program, wanted in (("gcc", sys.platform == "linux"), ("clang", False)):
        if shutil.which(program):
            assert guided_build.is_gcc([program]) == wanted


def test_a_plain_build_gets_no_flags():
    assert guided_build.flags(False) == guided_build.flags("") == []


def test_both_builds_name_the_same_counts():
    (counting,) = guided_build.flags(guided_build.COUNTING)
    using = guided_build.flags("1")
    assert counting.startswith("-fprofile-generate=")
    assert counting.partition("=")[2] == using[0].partition("=")[2]
    assert using[0].startswith("-fprofile-use=")


@pytest.mark.skipif(not IS_LONG, reason="compiles everything twice; QUETZAL_LONG=1 asks for it")
def test_it_searches_the_same_nodes_and_says_so(tmp_path):
    if not guided_build.is_gcc([os.environ.get("CC", "gcc")]):
        pytest.skip("needs gcc")
    tree = tmp_path / "tree"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in files.split("\0")[:-1]:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    environment = {**os.environ, "QUETZAL_GUIDED": "1"}
    build = [sys.executable, "setup.py", "build_ext", "--inplace", "--parallel", "2"]
    built = subprocess.run(build, cwd=tree, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    assert list((tree / guided_build.COUNTS).glob("*joined.gcda"))

    def quetzal(*words):
        command = [sys.executable, "-m", "uci_engine", *words]
        return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout

    assert "release, guided" in quetzal("--version")
    assert closing_nodes(quetzal("bench", "--depth", str(QUICK_DEPTH))) == SIGNATURE[QUICK_DEPTH]

"""The C that Cython writes, as other compilers than the build's read it: not a warning."""

import os
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import ROOT

from uci_engine import _build

WRITTEN = ROOT / "build" / "release" / "c"
HEADERS = ("board", "eval", "book", "book/opening", "book/endgame", "search", "training")
# Every .pxd brings inline functions that not every module uses, and Cython's own come with it.
FLAGS = ("-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-function", "-DCYTHON_WITHOUT_ASSERTIONS")


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
@pytest.mark.skipif(not WRITTEN.exists(), reason="the core was not built in this checkout")
def test_clang_has_nothing_to_say():
    include = [f"-I{path}" for path in (sysconfig.get_path("include"), *HEADERS)]
    level = ["-march=x86-64-v2"] if os.uname().machine == "x86_64" else []

    def complaints(module):
        source = WRITTEN.joinpath(*module.split(".")).with_suffix(".c")
        command = ["clang", *FLAGS, *level, *include, str(source)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stderr

    with ThreadPoolExecutor(2) as pool:
        assert "".join(pool.map(complaints, _build.MODULES)) == ""

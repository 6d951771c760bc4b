"""Other systems that setup.py can compile the core for on this one: QUETZAL_TARGET names one of them.

QUETZAL_TARGET_PYTHON is a directory with that system's Python: its headers in `include`, and on Windows the import
library in `libs`.
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from compilers import BASELINE


class Target(NamedTuple):
    compiler: tuple  # the command
    suffix: str  # of a compiled module
    machine: str
    compile_flags: tuple = ()
    link_flags: tuple = ("-shared",)  # "{python}" stands for the target's Python
    module_flags: tuple = ()  # more of them, in which "{entry}" stands for the function that Python starts a module with
    level: str = BASELINE  # the compiler's own name for the oldest x86 processors


def mac(machine, zig_name):
    """Only to see whether it compiles and links (scripts/macos.py): what is shipped for macOS is built on a Mac."""
    return Target(
        compiler=("zig", "cc", "-target", f"{zig_name}-macos.{OLDEST_MACOS}"),
        suffix=".cpython-{}{}-darwin.so".format(*sys.version_info[:2]),
        machine=machine,
        level=BASELINE.replace("-", "_"),
        compile_flags=("-Wall", "-Werror"),
        # The interpreter has its own functions already when it loads a module.
        link_flags=("-shared", "-Wl,-undefined,dynamic_lookup"),
    )


OLDEST_MACOS = "11.0"  # the first one on ARM64; the release workflow builds for it, too
TARGETS = {
    "windows-x86_64": Target(
        compiler=("x86_64-w64-mingw32-gcc",),
        suffix=".cp311-win_amd64.pyd",
        machine="x86_64",
        # gcc aligns the stack to 16 bytes on Windows, whatever a vector of 32 or 64 would like: so no aligned moves.
        compile_flags=("-Wa,-muse-unaligned-vector-move",),
        # No file of gcc's has to lie beside the program, no symbols in it, and neither the time of the build nor its
        # place, of which the linker would make an address.
        link_flags=(
            "-shared",
            "-s",
            "-static-libgcc",
            "-Wl,--no-insert-timestamp,--disable-auto-image-base",
            "-L{python}/libs",
            "-lpython311",
        ),
    ),
    "linux-arm64": Target(
        compiler=("aarch64-linux-gnu-gcc",),
        suffix=".cpython-311-aarch64-linux-gnu.so",
        machine="aarch64",
        compile_flags=("-fPIC",),
        link_flags=("-shared", "-s"),
    ),
    "wasm": Target(
        compiler=("emcc",),
        suffix=".cpython-311-wasm32-emscripten.so",
        machine="wasm32",
        # Pyodide 0.25 hands 64-bit numbers to JavaScript as such. Every browser has vectors of 128 bits since 2023.
        compile_flags=("-fPIC", "-msimd128"),
        # A module for a program that runs already, with nothing to be seen in it but what Python calls first.
        link_flags=("-O3", "-sSIDE_MODULE=2", "-sWASM_BIGINT"),
        module_flags=("-sEXPORTED_FUNCTIONS=_{entry}",),
    ),
    "macos-arm64": mac("arm64", "aarch64"),
    "macos-x86_64": mac("x86_64", "x86_64"),
}


def wanted():
    """The target that the environment names, and the directory of its Python."""
    name = os.environ["QUETZAL_TARGET"]
    if name not in TARGETS:
        raise SystemExit(f"QUETZAL_TARGET is '{name}', but must be one of {', '.join(TARGETS)}")
    python = Path(os.environ.get("QUETZAL_TARGET_PYTHON", ""))
    if not (python / "include" / "Python.h").exists():
        raise SystemExit(f"QUETZAL_TARGET_PYTHON is '{python}', where there is no include/Python.h")
    return TARGETS[name], python

"""Does the core compile and link for macOS? For both kinds of Macs, on Linux, with zig (`make macos-check`).

python scripts/macos.py

zig, a compiler that PyPI's ziglang carries, has the headers and the names of macOS' C library. Python's headers are this
system's: what differs on macOS is not what the core uses. No warning is let through, and the modules that come out are
looked into: the right machine, the function that Python calls, the signature without which an ARM64 Mac loads nothing, and
no name that neither Python nor the C library would have, which a Mac would find missing only when the module is loaded.
Nothing of it can be run here.
"""

import ast
import os
import re
import shutil
import struct
import sys
from pathlib import Path
from typing import NamedTuple

from cross import NotMadeError, compile_core, copy_headers, is_made, main, pip, say

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "macos"
ZIG = PLACE / "zig"
PYTHON = PLACE / "python"
COMPILER = "ziglang==0.17.0"
# The compiler's are errors (targets.py); setuptools has some of its own, about packages.
WARNING = re.compile(r"^(?:ld|lld|zig): warning|^warning\(|\.(?:c|h|o|so)\b.*: warning")
TARGETS = {"macos-arm64": "arm64", "macos-x86_64": "x86_64"}

# The format of compiled code on macOS, Mach-O: <mach-o/loader.h> and <mach-o/nlist.h> name these numbers.
MAGIC_64 = 0xFEEDFACF
CPU_TYPES = {0x01000007: "x86_64", 0x0100000C: "arm64"}
LC_SYMTAB = 0x02
LC_CODE_SIGNATURE = 0x1D
N_STAB, N_TYPE, N_EXT = 0xE0, 0x0E, 0x01
NO_LIBRARY = (0x00, 0xFE)  # in place of a library's number, by zig and by Apple: whoever has the name when it is loaded


class Module(NamedTuple):
    """What a compiled file says of itself."""

    machine: str
    is_signed: bool
    defined: set  # names that others may use
    needed: set  # names that others have to have
    looked_up: set  # those of them that no library is named for


def read_module(path):
    data = path.read_bytes()
    magic, cpu, _, _, commands = struct.unpack_from("<5I", data)
    if magic != MAGIC_64:
        raise NotMadeError(f"{path.name} is not a module for macOS")
    is_signed, defined, needed, looked_up = False, set(), set(), set()
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", data, at)
        is_signed = is_signed or command == LC_CODE_SIGNATURE
        if command == LC_SYMTAB:
            symbols, count, texts = struct.unpack_from("<3I", data, at + 8)
            for number in range(count):
                name_at, kind, _, description = struct.unpack_from("<IBBH", data, symbols + 16 * number)
                if kind & N_STAB or not kind & N_EXT:
                    continue
                start = texts + name_at
                name = data[start : data.index(b"\0", start)].decode()
                if kind & N_TYPE:
                    defined.add(name)
                    continue
                needed.add(name)
                if description >> 8 in NO_LIBRARY:
                    looked_up.add(name)
        at += size
    return Module(CPU_TYPES.get(cpu, hex(cpu)), is_signed, defined, needed, looked_up)


def problems_of(path, name, machine):
    """What a Mac would not like about the compiled module of that name."""
    module = read_module(path)
    if module.machine != machine:
        yield f"is for {module.machine}"
    if f"_PyInit_{name.rpartition('.')[2]}" not in module.defined:
        yield "has no function for Python to start with"
    if machine == "arm64" and not module.is_signed:
        yield "is not signed"
    # Names of C begin with an underscore there, and so do some of Python's own.
    foreign = {each for each in module.looked_up if not each.startswith(("_Py", "__Py"))}
    if foreign:
        yield f"needs {', '.join(sorted(foreign))}, which neither Python nor the C library has"


def fetch_compiler():
    stamp = ZIG / "made"
    if not is_made(stamp, COMPILER):
        say(f"fetching zig ({COMPILER}, 100 MB)")
        shutil.rmtree(ZIG, ignore_errors=True)
        pip("install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target", ZIG, COMPILER)
        stamp.write_text(COMPILER, encoding="utf-8")
    os.environ["PATH"] = f"{ZIG / 'ziglang'}{os.pathsep}{os.environ['PATH']}"
    os.environ["ZIG_GLOBAL_CACHE_DIR"] = os.environ["ZIG_LOCAL_CACHE_DIR"] = str(PLACE / "cache")


def modules_of(tree):
    """Their names, from the note that setup.py wrote."""
    note = ast.parse((tree / "uci_engine" / "_build.py").read_text(encoding="utf-8"))
    return next(ast.literal_eval(line.value) for line in note.body[1:] if line.targets[0].id == "MODULES")


def check(target, machine):
    place = PLACE / machine
    compile_core(target, PYTHON, place)
    log = (place / "core.log").read_text(encoding="utf-8", errors="replace")
    found = [line for line in log.splitlines() if WARNING.search(line)]
    names = modules_of(place / "tree")
    for name in names:
        folder = place.joinpath("tree", *name.split(".")[:-1])
        files = list(folder.glob(f"{name.rpartition('.')[2]}.*-darwin.so"))
        if len(files) != 1:
            raise NotMadeError(f"{target}: there is no compiled {name}")
        found += [f"{name} {problem}" for problem in problems_of(files[0], name, machine)]
    if found:
        raise NotMadeError("\n".join(f"{target}: {line}" for line in found))
    print(f"{target}: {len(names)} modules compile and link without a warning")


def make():
    PLACE.mkdir(parents=True, exist_ok=True)
    fetch_compiler()
    copy_headers(PYTHON / "include")
    for target, machine in TARGETS.items():
        check(target, machine)


if __name__ == "__main__":
    sys.exit(main(make, sys.argv[1:], {}, __doc__))

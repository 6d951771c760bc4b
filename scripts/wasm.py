"""Makes Quetzal for browsers: the core compiled to WebAssembly for Pyodide's Python, and a page to play on (`make wasm`).

python scripts/wasm.py                  all of it: dist/web, a folder for any web server
python scripts/wasm.py bench --depth N  the bench under node
python scripts/wasm.py python FILE      Pyodide's Python with Quetzal in it, under node; -c CODE instead of a file

Pyodide, a Python for browsers, comes from npm as one file whose checksum is known. It brings no headers: those of this
system's Python 3.11 serve, with a pyconfig.h of what Pyodide's Python says about its own build.
"""

import ast
import py_compile
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import chess
from check_signature import QUICK_DEPTH, SIGNATURE, closing_nodes
from cross import (
    NotMadeError,
    compile_core,
    copy_headers,
    install_programs,
    is_made,
    main,
    npm,
    publish_folder,
    room_for,
    run,
    say,
    sha256,
)
from freeze import archive_zip, data_files, imports_of, licences, size_of, sources, version
from targets import TARGETS

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build" / "wasm"
PYODIDE = PLACE / "pyodide"
PYTHON = PLACE / "python"  # its headers, as setup.py wants them
TREE = PLACE / "tree"
PROGRAM = PLACE / "quetzal"  # what is unpacked in the browser
ARCHIVE = PLACE / "quetzal.zip"
WEB = PLACE / "web"
RUNNER = ROOT / "scripts" / "wasm_node.mjs"
ROOM = 500_000_000  # bytes

PACKAGE = "pyodide@0.25.1"  # Python 3.11.3
PACKAGE_SHA256 = "d301c5b18b888ec7ad2bf616fcdd14eb36f4c9f41c513f89fcfcc3455d447a63"
SERVED = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PROGRAMS = {"emcc": "emscripten", "node": "nodejs", "npm": "npm"}  # and Debian's packages that have them

# What the worker imports; the rooms below it go in as a whole, because compiled modules do not show what they import.
ENTRY = "play.browser"
ROOMS = ("board", "eval", "book", "search", "uci_engine")
PAPERS = ("LICENSE", "LICENSE-Python.txt", "LICENSE-chess.txt")

BENCH = """
from search import Searcher
from uci_engine.bench import lines
for line in lines({depth}, think=Searcher.think):
    print(line)
"""
SETTINGS = "import sysconfig; print(sysconfig.get_config_vars())"


# What is needed


def check_machine():
    if sys.version_info[:2] != (3, 11) or not sys.platform.startswith("linux"):
        raise NotMadeError("make wasm needs Python 3.11 on Linux: its headers are those of the Python in the browser")
    room_for(ROOM)
    install_programs(PROGRAMS)


def fetch_pyodide():
    stamp = PYODIDE / "made"
    if is_made(stamp, PACKAGE_SHA256):
        return
    say(f"fetching {PACKAGE}")
    npm("pack", "--silent", "--pack-destination", str(PLACE), PACKAGE)
    package = PLACE / f"{PACKAGE.replace('@', '-')}.tgz"
    if sha256(package) != PACKAGE_SHA256:
        package.unlink()
        raise NotMadeError(f"{package.name} is not the file that it should be; it was deleted")
    shutil.rmtree(PYODIDE, ignore_errors=True)
    PYODIDE.mkdir()
    with tarfile.open(package) as archive:
        for member in archive.getmembers():
            path = Path(member.name)
            if member.isfile() and len(path.parts) == 2:  # all lie in the folder `package`
                (PYODIDE / path.name).write_bytes(archive.extractfile(member).read())
    stamp.write_text(PACKAGE_SHA256, encoding="utf-8")


def python(code, *, with_quetzal=True, options=()):
    """What code prints in Pyodide's Python under node, which may get options of its own."""
    return run("node", *options, RUNNER, PYODIDE, ARCHIVE if with_quetzal else "", code)


def pyconfig(template, settings):
    """The header in which Python's build describes its system, with the settings of another build.

    `template` is any such header of the same version: all of them have the same names, defined or not. In the settings a
    number 0 stands for what is not defined.
    """
    names = dict.fromkeys(re.findall(r"^(?:/\* *)?# *(?:define|undef) +(\w+)", template, re.MULTILINE))
    found = {name: settings[name] for name in names if settings.get(name) not in (None, 0, "")}
    return "".join(f"#define {name} {value}\n" for name, value in found.items())


def add_headers():
    header = PYTHON / "include" / "pyconfig.h"
    stamp = PYTHON / "made"
    state = f"{PACKAGE_SHA256} {sys.version} {sha256(Path(__file__))}"
    if is_made(stamp, state):
        return
    copy_headers(PYTHON / "include")
    settings = ast.literal_eval(python(SETTINGS, with_quetzal=False).strip())
    header.write_text(pyconfig(header.read_text(encoding="utf-8"), settings), encoding="utf-8")
    stamp.write_text(state, encoding="utf-8")


# What goes in


def source_of(name):
    """The file of a module of `play` or python-chess, None for all others."""
    top, *parts = name.split(".")
    folders = {"play": ROOT / "play", "chess": Path(chess.__file__).parent}
    if top not in folders:
        return None
    path = folders[top].joinpath(*parts)
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def followed(entry):
    """The modules of `play` and python-chess that one of them imports, with all that those import: name and file."""
    found, waiting = {}, [entry]
    while waiting:
        name = waiting.pop()
        path = source_of(name)
        if path is None or name in found:
            continue
        found[name] = path
        waiting += [name.rpartition(".")[0], *imports_of(path)]
    return found


def collect():
    """Everything that Python needs in the browser, compiled: modules to WebAssembly, the others to Python's own code."""
    suffix = TARGETS["wasm"].suffix
    modules = {name: TREE / path.relative_to(ROOT) for name, path in sources() if name.split(".")[0] in ROOMS}
    modules |= {"uci_engine._build": TREE / "uci_engine" / "_build.py", **followed(ENTRY)}
    shutil.rmtree(PROGRAM, ignore_errors=True)
    for name, path in modules.items():
        folder = PROGRAM.joinpath(*name.split(".")[: None if path.stem == "__init__" else -1])
        folder.mkdir(parents=True, exist_ok=True)
        compiled = TREE.joinpath(*name.split(".")[:-1], path.stem + suffix)
        if compiled.exists():
            shutil.copy(compiled, folder)
        else:
            # Without the time of the source, so that the same source makes the same bytes.
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(path, folder / f"{path.stem}.pyc", dfile=name, doraise=True, invalidation_mode=mode)
    for path, folder in data_files():
        if folder.split("/")[0] in ROOMS:
            target = PROGRAM / folder
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    archive_zip(PROGRAM)


README = """Quetzal {version}, a chess engine, for browsers.

Put this folder on any web server and open index.html there; for a look on this machine:
    python3 -m http.server --bind 127.0.0.1
and the browser at http://127.0.0.1:8000. Nothing is loaded from anywhere else, and nothing is sent anywhere.

Quetzal is free software under the GNU General Public License, version 3 or later: see LICENSE. Its source code comes with
it wherever it is offered. The folder pyodide has files of Pyodide {pyodide} as npm has them (Mozilla Public
License 2.0; npm's package names the Apache License 2.0), and in them Python (LICENSE-Python.txt); quetzal.zip has parts
of python-chess (LICENSE-chess.txt).
"""


def build_page():
    """The folder as it will be served, in build/wasm/web."""
    sys.path.insert(0, str(ROOT))
    from play.browser_page import page_text, worker_text

    shutil.rmtree(WEB, ignore_errors=True)
    (WEB / "pyodide").mkdir(parents=True)
    for name in SERVED:
        shutil.copy(PYODIDE / name, WEB / "pyodide")
    shutil.copy(ARCHIVE, WEB)
    texts = {name: text for name, text in licences() if name in PAPERS}
    texts["README.txt"] = README.format(version=version(), pyodide=PACKAGE.partition("@")[2])
    texts["index.html"] = page_text(round(size_of(WEB) / 1e6))
    texts["worker.js"] = worker_text()
    for name, text in texts.items():
        (WEB / name).write_text(text, encoding="utf-8")


def check_nodes():
    nodes = closing_nodes(python(BENCH.format(depth=QUICK_DEPTH)))
    if nodes != SIGNATURE[QUICK_DEPTH]:
        raise NotMadeError(f"the bench has {nodes} nodes under node; the signature is {SIGNATURE[QUICK_DEPTH]}")


def make():
    check_machine()
    PLACE.mkdir(parents=True, exist_ok=True)
    fetch_pyodide()
    add_headers()
    compile_core("wasm", PYTHON, PLACE)
    collect()
    say("comparing its node counts with the signature of the search, under node")
    check_nodes()
    build_page()
    publish_folder(WEB, ROOT / "dist" / "web")


def run_code(code):
    return subprocess.run(["node", RUNNER, PYODIDE, ARCHIVE, code]).returncode


def run_bench(words):
    depth = int(words[1]) if words[:1] == ["--depth"] and len(words) == 2 else QUICK_DEPTH
    return run_code(BENCH.format(depth=depth))


def run_python(words):
    return run_code(words[1] if words[0] == "-c" else Path(words[0]).read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main(make, sys.argv[1:], {"bench": run_bench, "python": run_python}, __doc__))

"""Calls go down only: no room imports or cimports one that stands above it. And files are opened in one place."""

import ast
import re

import pytest
from support import ROOT

# Who may use whom, besides the room itself; docs/house.md has the picture.
BELOW = {
    "board": set(),
    "eval": {"board"},
    "book": {"board", "pool"},
    "search": {"board", "eval", "book"},
    "uci_engine": {"board", "eval", "book", "search"},
    "web": set(),
    "pool": set(),
    "arena": {"board", "eval", "book", "search", "uci_engine", "pool", "web"},
    "training": {"board", "eval", "book", "search", "uci_engine", "arena", "pool"},
    "play": {"board", "eval", "book", "search", "uci_engine", "arena", "pool", "web"},
    "command": {"board", "eval", "book", "search", "uci_engine", "arena", "training", "play", "pool", "web"},
}
ROOMS = [name for name in BELOW if (ROOT / name).is_dir()]
DOORS = {"uci_engine/__main__.py"}  # `python -m uci_engine` is the whole program; nothing imports this file


def imported(path):
    """The top-level packages that a Python or Cython file imports, wherever in it, as pairs of line and name."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".pxd":
        for found in re.finditer(r"^\s*(?:from\s+(\w+)[\w.]*\s+c?import|c?import\s+(\w+))", text, re.MULTILINE):
            yield text.count("\n", 0, found.start()) + 1, found[1] or found[2]
        return
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("import_module", "files"):
            names = [part.value for part in node.args[:1] if isinstance(part, ast.Constant) and part.value]
        for name in names:
            words = str(name).removeprefix("cython.cimports.").split(".")
            yield node.lineno, words[0]


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_reaches_up(room):
    files = sorted(path for path in (ROOT / room).rglob("*") if path.suffix in (".py", ".pxd"))
    assert files
    upward = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files
        if path.relative_to(ROOT).as_posix() not in DOORS
        for line, name in imported(path)
        if name in BELOW and name != room and name not in BELOW[room]
    ]
    assert not upward


def test_every_package_is_a_room():
    packages = {path.parent.relative_to(ROOT).parts[0] for path in ROOT.glob("*/__init__.py")}
    assert packages <= set(BELOW)


# Who opens files in another way than `board/files.py`, and why it may.
OPENS_ITSELF = {
    "arena/client.py": "what the system says about a process",
    "arena/openings.py": "the package's own openings",
    "arena/processes.py": "what the system says about processors",
    "board/memory.py": "what the system says about memory",
    "book/opening/pgn.py": "a collection of games may come through a pipe",
    "book/opening/repertoire.py": "the package's own repertoire",
    "pool/cluster.py": "a room without chess; the files are engines' programs, networks, books and tables, which were looked at",
    "pool/containment.py": "what the system says about processes",
    "pool/folders.py": "pieces of files in its own directory",
    "pool/uploads.py": "files of its own directory, and tables that were looked at",
    "uci_engine/bench.py": "the package's own positions",
    "uci_engine/build.py": "the package's own sources",
    "web/page.py": "the package's own pages",
}


def opened(path):
    """The lines on which files are opened or read without `open_regular`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "open":
            if not any(word.arg == "opener" for word in node.keywords):
                yield node.lineno
        elif getattr(node.func, "attr", "") in ("read_text", "read_bytes", "write_text", "write_bytes"):
            yield node.lineno


def test_files_are_opened_where_pipes_and_devices_are_refused():
    """A pipe under a file's name keeps its reader for ever, and a device gives bytes without end."""
    found = {
        path.relative_to(ROOT).as_posix(): list(opened(path))
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
    }
    found = {name: lines for name, lines in found.items() if lines}
    assert {name: lines for name, lines in found.items() if name not in OPENS_ITSELF} == {}
    assert set(OPENS_ITSELF) == set(found), "no longer true of these"


# Who reads JSON or TOML in another way than `parse_json` and `read_toml`, and why it may.
PARSES_ITSELF = {
    "arena/toml_file.py": "read_toml",
    "board/files.py": "parse_json",
    "play/browser.py": "requests of our own page, whatever is wrong with them is answered",
    "training/shards.py": "what was written as JSON a moment before",
    "uci_engine/wdl.py": "the package's own model",
    "web/server.py": "requests, in a room that imports no other",
}


def test_json_and_toml_are_read_where_all_errors_are_caught():
    """Besides its own errors, json and tomllib let those of deep brackets and of long numbers pass."""
    found = {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if re.search(r"\b(?:json|tomllib)\.loads?\(", path.read_text(encoding="utf-8"))
    }
    assert found == set(PARSES_ITSELF)

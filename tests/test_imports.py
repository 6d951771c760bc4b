"""Calls go down only: no room imports or cimports one that stands above it."""

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

"""What the documents say is what the program has."""

import ast
import os
import re
from pathlib import Path

import pytest
from support import CHESS960, ROOT, STANDARD

from command.table import build_parser
from uci_engine.options import OPTIONS

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def test_the_readme_lists_every_option():
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \| (.*?) \| (.*?) \|$", README, re.MULTILINE)
    assert [(name, meaning) for name, _, _, meaning in rows] == [(option.name, option.help) for option in OPTIONS]
    for (_, default, reach, _), option in zip(rows, OPTIONS, strict=True):
        if option.kind == "spin":
            assert (default, reach) == (str(option.default), f"{option.least} to {option.most}")
        elif option.kind == "check":
            assert (default, reach) == (str(option.default).lower(), "true, false")


def test_the_readme_lists_every_command():
    listed = set(re.findall(r"^\| `quetzal ([\w-]+)", README, re.MULTILINE))
    (commands,) = [action.choices for action in build_parser()._actions if action.dest == "command"]
    assert listed == set(commands)


def test_the_readme_opens_with_the_two_commands():
    assert re.findall(r"^make (run|test)\b", README[:600], re.MULTILINE) == ["run", "test"]


def test_the_size_of_the_perft_files():
    text = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert f"{len(STANDARD)} standard and {len(CHESS960)} Chess960 positions" in text


def test_every_test_file_is_described():
    """The table of docs/testing.md has a row for each directory, and each file states its claim in its docstring."""
    text = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `(tests/[\w/]*)` \|", text, re.MULTILINE))
    files = list((ROOT / "tests").rglob("test_*.py"))
    assert described == {path.parent.relative_to(ROOT).as_posix() + "/" for path in files}
    for path in files:
        claim = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert claim, f"{path.relative_to(ROOT)} does not say what it proves"


def test_the_steps_of_the_search_have_sections():
    """Each numbered step of the node has its section, in the same order; two steps may share one."""
    text = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    named = re.findall(r"^### Steps? ([^.]*)\.", text, re.MULTILINE)
    source = (ROOT / "search" / "tree.py").read_text(encoding="utf-8")
    steps = {int(number) for number in re.findall(r"# Step (\d+)\.", source)}
    assert [int(number) for name in named for number in re.findall(r"\d+", name)] == sorted(steps)
    assert sorted(steps) == list(range(1, len(steps) + 1))


def foreign():
    """Where this checkout and its user live, and what lies beside it: nobody else has that."""
    places = [str(ROOT)] * (len(ROOT.parts) > 2) + [f"{Path.home()}/"] * (len(Path.home().parts) > 1)
    beside = (path.name for path in ROOT.parent.iterdir() if not (ROOT / path.name).exists())
    # A whole name: a neighbour called p is not meant by ../pictures.
    names = "|".join(
        [re.escape(f"../{name}") + r"(?![\w.-])" for name in beside] + [re.escape(each) for each in places]
    )
    return re.compile(names or r"(?!)")


def test_no_file_needs_anything_outside_of_the_project():
    """Neither a path of the machine where it was written, nor a directory beside the checkout."""
    words = foreign()
    skipped = {".git", ".venv", "build", "dist", "node_modules", "hostile-failures", ".hypothesis"}
    seen = 0
    for directory, names, files in os.walk(ROOT):
        names[:] = [
            name for name in names if name not in skipped and not name.endswith(("cache__", ".egg-info", "_cache"))
        ]
        for path in (Path(directory) / name for name in files):
            if (
                path.suffix in (".so", ".pyd", ".c", ".png", ".qnn", ".bin", ".rtbw", ".rtbz")
                or path.name == "_build.py"
            ):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not words.search(text), path
            seen += 1
    assert seen > 300


def test_security_names_modules_that_exist():
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    named = re.findall(
        r"`((?:arena|board|book|eval|pool|search|training|uci_engine|web|command)/[\w/]+\.(?:py|h))`", text
    )
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).is_file()] == []


def headings(path):
    """The anchors of a document, as code hosts derive them from its headings."""
    lines = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line.lower()).strip().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", path.read_text(encoding="utf-8")):
        other = path.parent / target if target else path
        assert other.exists(), f"{path.name} links to {target}"
        assert not anchor or anchor in headings(other), f"{path.name} links to {target}#{anchor}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_lines_are_readable(path):
    """At most 120 characters; a table has one line per row, and the target of a link cannot be broken."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        shown = re.sub(r"\]\([^)]*\)|https?://\S+", "]", line)
        assert line.startswith("|") or len(shown) <= 120, f"{path.name}:{number} has {len(shown)} characters"


def test_the_lichess_configuration_names_our_options():
    text = (ROOT / "docs" / "gui.md").read_text(encoding="utf-8")
    block = re.search(r"  uci_options:\n((?:    .+\n)+)", text)[1]
    names = re.findall(r"^    ([^:]+):", block, re.MULTILINE)
    assert {"Move Overhead", "Threads", "Hash"} <= set(names) <= {option.name for option in OPTIONS}

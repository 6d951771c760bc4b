"""What the documents say is what the program has."""

import re

from support import CHESS960, ROOT, STANDARD

from command.table import build_parser
from uci_engine.options import OPTIONS

README = (ROOT / "README.md").read_text(encoding="utf-8")


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
    assert listed - {"--version", "--help"} == set(commands)


def test_the_readme_opens_with_the_two_commands():
    assert re.findall(r"^make (run|test)\b", README[:600], re.MULTILINE) == ["run", "test"]


def test_the_size_of_the_perft_files():
    text = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert f"{len(STANDARD)} standard and {len(CHESS960)} Chess960 positions" in text


def test_links_lead_somewhere():
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_the_lichess_configuration_names_our_options():
    text = (ROOT / "docs" / "gui.md").read_text(encoding="utf-8")
    block = re.search(r"  uci_options:\n((?:    .+\n)+)", text)[1]
    names = re.findall(r"^    ([^:]+):", block, re.MULTILINE)
    assert {"Move Overhead", "Threads", "Hash"} <= set(names) <= {option.name for option in OPTIONS}

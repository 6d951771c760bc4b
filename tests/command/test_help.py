"""Help, completion and the manual page come from one table, and what they say is true."""

import os
import re
import shlex
import shutil
import subprocess

import pytest
from support import ROOT, quetzal

from command.completion import SHELLS
from command.table import COMMANDS, SECTIONS, build_parser, leaves

NAMES = [command.name for command in COMMANDS]
PLAIN = {"FEN": "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1"}


def test_the_overview_has_every_command_in_its_section():
    result = quetzal("--help")
    assert result.returncode == 0
    assert result.stdout == quetzal("help").stdout == quetzal("-h").stdout
    parts = re.split(r"\n\n(\S[^\n]*)(?=\n  )", result.stdout)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert [name for name in sections if name in SECTIONS] == list(SECTIONS)
    for command in COMMANDS:
        assert re.search(rf"^  {command.name}  +\S", sections[command.section], re.MULTILINE)
    assert re.search(r"^  quetzal  +\S", sections["play"], re.MULTILINE)
    assert max(map(len, result.stdout.splitlines())) <= 120


def test_the_overview_fits_the_terminal():
    lines = quetzal("--help", env={**os.environ, "COLUMNS": "72"}).stdout.splitlines()
    assert max(len(line) for line in lines if line.startswith("  ")) <= 72


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_examples_are_valid_and_pages_exist(command):
    words = [PLAIN.get(word, word) for word in shlex.split(re.split(r" [|>] ", command.example)[0])]
    assert words[: 1 + len(command.name.split())] == ["quetzal", *command.name.split()]
    options = build_parser(words[1:]).parse_args(words[1:])
    assert callable(options.run)
    path, _, anchor = command.page.partition("#")
    text = (ROOT / path).read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }
    assert not anchor or anchor in headings


@pytest.mark.parametrize("name", ["go", "book build", "tables stats", "match"])
def test_the_help_of_a_command_shows_its_example_and_page(name):
    (command,) = [each for each in COMMANDS if each.name == name]
    told = quetzal(*name.split(), "--help").stdout
    assert told.startswith(f"usage: quetzal {name}")
    assert command.example in told
    assert command.page in told


def test_one_name_for_one_option():
    """Where an option occurs it has the same short name and the same kind of operand."""
    seen = {}
    for name, parser in leaves(build_parser()):
        for action in parser._actions:
            if action.option_strings and action.dest in (
                "output",
                "threads",
                "eval_file",
                "syzygy_path",
                "hash",
                "fen",
            ):
                seen.setdefault(action.dest, set()).add((tuple(action.option_strings), action.nargs))
                assert name, action.dest
    assert {name: len(forms) for name, forms in seen.items()} == dict.fromkeys(seen, 1)
    assert seen["output"] == {(("-o", "--output"), None)}
    assert len(seen) == 6


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_commands_and_options(shell):
    result = quetzal("completion", shell)
    assert (result.returncode, result.stderr) == (0, "")
    for word in ("uci-check", "tournament", "verify", "san", "syzygy-path"):
        assert word in result.stdout


def test_bash_completes(tmp_path):
    """The real shell, asked as the Tab key asks it."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    script = quetzal("completion", "bash").stdout
    ask = (
        'COMP_WORDS=(quetzal {}); COMP_CWORD={}; COMP_LINE="${{COMP_WORDS[*]}}"; COMP_POINT=${{#COMP_LINE}}\n'
        "$(complete -p quetzal | sed 's/.*-F \\([^ ]*\\).*/\\1/') quetzal\n"
        'printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    )

    def completed(*words):
        text = script + "\n" + ask.format(" ".join(shlex.quote(word) for word in words), len(words))
        return subprocess.run([bash], input=text, capture_output=True, text=True, cwd=tmp_path).stdout.split()

    (tmp_path / "mine.qzg").touch()

    assert completed("tou") == ["tournament"]
    assert "--syzygy-path" in completed("go", "--s")
    assert completed("book", "ve") == ["verify"]
    assert completed("train", "mi") == ["mine.qzg"]
    assert completed("train", "-o", "mi") == ["mine.qzg"]


def test_the_manual_page_has_everything():
    result = quetzal("manual")
    assert (result.returncode, result.stderr) == (0, "")
    for command in COMMANDS:
        assert f'.SS "quetzal {command.name}"'.replace("-", "\\-") in result.stdout
    assert "\\fB\\-\\-syzygy\\-path\\fR \\fIDIRS\\fR" in result.stdout
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("there is no groff")
    shown = subprocess.run(
        [groff, "-man", "-Tutf8", "-ww", "-K", "utf8"], input=result.stdout, capture_output=True, text=True
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "quetzal tables generate" in re.sub(r"\x1b\[[0-9;]*m|.\x08", "", shown.stdout)

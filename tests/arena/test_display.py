"""What a match shows on a terminal: a table redrawn in place, at the end what a pipe would get, and a cursor."""

import os
import re

import pytest
from arena_playing import command, run_quetzal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a POSIX matter")
if os.name == "posix":
    from terminal import plain, quetzal_terminal, screen

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def match_of(tmp_path, games, name):
    """Engines that take a moment for each move, so that the table is redrawn."""
    engines = [command("calm"), command("calm")]
    return [
        "match", *engines, "--names", "A,B", "--games", str(games), "--tc", "nodes=10", "--dir", str(tmp_path / name),
        "--max-moves", "4", "--openings", "none",
    ]  # fmt: skip


def steady(line):
    """Without what differs from run to run: times and directories."""
    return re.sub(r"\d+\.\d+ ms|in \d+:\d\d|results in .*", "", line).rstrip()


def test_the_table_is_redrawn_and_then_stays(tmp_path):
    with quetzal_terminal(*match_of(tmp_path, 6, "seen"), columns=120) as terminal:
        status, output = terminal.wait()
    assert status == 0, output
    assert re.search(r"━ +\d+ % +\d+\.\d games/min", plain(output))
    assert output.count(HIDE) == output.count(SHOW) >= 1
    piped = run_quetzal(*match_of(tmp_path, 6, "piped"))
    assert "\x1b" not in piped.stdout
    written = [steady(line) for line in piped.stdout.splitlines()]
    assert [steady(line) for line in screen(output, 120) if line][-len(written) :] == written


def test_ctrl_c_gives_the_cursor_back(tmp_path):
    with quetzal_terminal(*match_of(tmp_path, 100_000, "stopped"), columns=120) as terminal:
        begun = terminal.until("games/min, ")
        terminal.send("\x03")
        status, output = terminal.wait()
    assert status == 130
    # The table may have been away just then: whatever was hidden last must be shown in the end.
    assert (begun + output).rindex(SHOW) > (begun + output).rindex(HIDE), output
    assert "--resume" in screen(output, 120)[-2]
    assert "Traceback" not in output

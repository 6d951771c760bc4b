"""A FIFO under the name of a file: every command says so at once, and never waits, reads or replaces it."""

import os
import stat
import sys

import pytest
from support import quetzal

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")

ENGINE = f"{sys.executable} -m uci_engine"
MATCH = ("match", ENGINE, ENGINE, "--games", "2", "--tc", "nodes=10", "--dir", "run")

# The FIFO's name, and the command that is given it or finds it.
READERS = [
    ("a.epd", ("suite", "a.epd", "--nodes", "10")),
    ("a.toml", ("tournament", "a.toml")),
    ("a.epd", (*MATCH, "--openings", "a.epd")),
    ("a.json", ("tune", "a.qzg", "-o", "weights.json", "--start", "a.json")),
    ("a.qnn", ("train", "a.qzg", "-o", "new.qnn", "--start", "a.qnn")),
    ("a.qnn", ("eval", "--eval-file", "a.qnn")),
    ("a.bin", ("book", "show", "a.bin")),
    ("a.qzg", ("data", "a.qzg")),
    ("list", ("tables", "check", ".", "--md5", "list")),
    ("KQvK.rtbw", ("tables", "check", ".")),
    ("KQvK.rtbw", ("tables", "generate", "KQvK", "--threads", "1")),
    ("run/run.json", ("match", "--resume", "run")),
    ("run/lock", MATCH),
]

# The same for files that are written.
WRITERS = [
    ("a.pgn", ("analyse", "good.pgn", "-o", "a.pgn", "--nodes", "10")),
    ("a.pgn.journal", ("analyse", "good.pgn", "-o", "a.pgn", "--nodes", "10")),
    ("a.html", ("analyse", "good.pgn", "-o", "a.pgn", "--nodes", "10", "--html", "a.html")),
    ("a.qzg", ("selfplay", "-o", "a.qzg", "--games", "1", "--nodes", "10")),
    ("a.svg", ("data", "good.qzg", "--plot", "a.svg")),
    ("a.json", ("tune", "good.qzg", "-o", "a.json")),
    ("a.json.checkpoint", ("tune", "good.qzg", "-o", "a.json")),
    ("a.qnn", ("train", "good.qzg", "-o", "a.qnn")),
    ("run/games.pgn", MATCH),
    ("run/report.html", MATCH),
]


@pytest.mark.parametrize(("name", "arguments"), READERS + WRITERS)
def test_a_fifo_is_named_and_left_alone(name, arguments, tmp_path):
    for good in {"good.pgn", "good.qzg"} & {*arguments}:
        (tmp_path / good).write_bytes(b"")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / name)
    run = quetzal(*arguments, cwd=tmp_path, timeout=60)
    assert run.returncode in (1, 2)
    said = run.stdout + run.stderr
    assert os.path.basename(name) in said and "Traceback" not in said
    assert "not a regular file" in said
    assert stat.S_ISFIFO(os.lstat(tmp_path / name).st_mode)

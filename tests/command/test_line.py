"""The command as a user types it."""

import errno
import os
import re
import subprocess
import sys

import pytest
from support import DATA, quetzal

from command.line import reason_of
from uci_engine import __version__

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


def nodes(output):
    return int(re.search(r"^Nodes searched: (\d+)$", output, re.MULTILINE)[1])


def test_version_says_how_it_was_built():
    result = quetzal("--version")
    assert result.returncode == 0
    first, *rest = result.stdout.splitlines()
    assert first == f"Quetzal {__version__}"
    assert [line.split()[0] for line in rest] == ["commit", "compiler", "profile", "CPU"]
    assert all(len(line.split(maxsplit=1)) == 2 for line in rest)


def test_the_version_has_short_names():
    assert quetzal("-v").stdout == quetzal("-V").stdout == quetzal("--version").stdout == quetzal("compiler").stdout


def test_perft_reports_nodes_time_and_speed():
    result = quetzal("perft", "3")
    assert result.returncode == 0
    assert nodes(result.stdout) == 8902
    assert re.search(r"^Time: \d+\.\d+ s$", result.stdout, re.MULTILINE)
    assert re.search(r"^Nodes per second: \d+$", result.stdout, re.MULTILINE)


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_perft_with_fen_and_threads(threads):
    assert nodes(quetzal("perft", "4", "--fen", KIWIPETE, "--threads", threads).stdout) == 4085603


@pytest.mark.parametrize("depth", ["1", "2", "4"])
def test_divide_adds_up(depth):
    result = quetzal("perft", depth, "--fen", KIWIPETE, "--divide")
    parts = dict(re.findall(r"^([a-h][1-8][a-h][1-8]): (\d+)$", result.stdout, re.MULTILINE))
    assert len(parts) == 48
    assert "e1g1" in parts
    assert sum(map(int, parts.values())) == nodes(result.stdout) == {"1": 48, "2": 2039, "4": 4085603}[depth]


def test_divide_over_moves_that_end_the_game():
    """A mated side has no second ply to split; that move counts nothing."""
    result = quetzal("perft", "4", "--fen", "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "--divide", "--threads", "2")
    assert "a1a8: 0" in result.stdout.splitlines()
    plain = quetzal("perft", "4", "--fen", "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1")
    assert nodes(result.stdout) == nodes(plain.stdout)


def test_chess960_writes_castling_as_king_takes_rook():
    result = quetzal("perft", "1", "--fen", KIWIPETE, "--chess960", "--divide")
    assert {"e1h1: 1", "e1a1: 1"} <= set(result.stdout.splitlines())
    assert nodes(result.stdout) == 48


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("perft", "3", "--fen", "8/8/8/8/8/8/8/8 w - - 0 1"), "White has 0 kings instead of one"),
        (("perft", "3", "--fen", ""), "the FEN is empty"),
        (("perft", "-1"), "depth from 0 to 30"),
        (("perft", "31"), "depth from 0 to 30"),
        (("perft", "three"), "invalid int value: 'three'"),
        (("perft",), "required: depth"),
        (("perft", "2", "--threads", "0"), "0 is less than 1"),
        (("nonsense",), "there is no command 'nonsense'"),
        (("bensh",), "did you mean 'bench'?"),
        (("book", "biuld"), "did you mean 'build'?"),
        (("book",), "required: ACTION"),
        (("bench", "5"), "did you mean '--depth 5'?"),
        (("bench", "--thraeds", "2"), "did you mean '--threads'?"),
        (("--foo",), "'--foo' is not understood"),
        (("--verison",), "did you mean '--version'?"),
        (("uci",), "'quetzal' without arguments"),
        (("position", "startpos"), "'quetzal' without arguments"),
        (("help", "mtach"), "did you mean 'match'?"),
        (("completion", "tcsh"), "invalid choice: 'tcsh'"),
        (("data", "games.qzg", "--plot", "x.png"), "its name ends in .svg"),
    ],
)
def test_bad_arguments(arguments, message):
    result = quetzal(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("arguments", [("perft", "2", "--divide"), ()])
def test_a_reader_that_leaves(arguments):
    """`quetzal perft 5 --divide | head -1` ends without a complaint."""
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [sys.executable, "-m", "uci_engine", *arguments],
        input=b"uci\n",
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=DATA,
        timeout=60,
    )
    os.close(writing)
    assert result.returncode in (0, 141)
    assert result.stderr == b""


@pytest.mark.parametrize("filename", [None, "out.pgn"])
def test_a_full_disk_is_said(filename):
    """Python's own text for it is a number, and a file that is being written has no name in it."""
    words = reason_of(OSError(errno.ENOSPC, "No space left on device", filename))
    assert (
        words == ("" if filename is None else "out.pgn: ") + "No space left on device; what was finished before is kept"
    )


GAME = '[Event "?"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 *\n\n'


@pytest.mark.skipif(os.name == "nt", reason="limits of Unix")
@pytest.mark.parametrize(
    "arguments",
    [
        ("selfplay", "--games", "600", "--nodes", "20", "--seed", "3", "-o"),
        ("analyse", "games.pgn", "--nodes", "200", "-o"),
    ],
)
def test_a_write_that_fails_loses_nothing(tmp_path, arguments):
    """Where no more can be written the command says so, and with room the same command ends as if nothing had been."""
    import resource

    (tmp_path / "games.pgn").write_text(GAME * 60)

    def run(name, limit=resource.RLIM_INFINITY):
        command = [sys.executable, "-m", "uci_engine", *arguments, name]
        return subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )

    failed = run("out", 20_000)
    assert failed.returncode == 2
    assert failed.stderr.splitlines()[-1] == f"quetzal {arguments[0]}: File too large"
    assert run("out").returncode == run("reference").returncode == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "reference").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.pgn", "out", "reference"]

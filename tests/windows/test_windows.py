"""Quetzal for Windows, under wine: what `make windows` has made is the same engine, and behaves as Windows' users expect.

`make test-windows` runs these. Not tested, because wine has no part in it or does it differently: Ctrl-Break (wine 8 refuses to
send it), Windows' own way of telling Ctrl-C, Ctrl-C in the first fifth of a second of a search, large pages, limits of
memory, virus scanners, the icon.
"""

import os
import re
import shutil
import time
import tty

import chess
import pytest

if os.environ.get("QUETZAL_WINDOWS", "0") == "0":
    pytest.skip("needs wine, and what `make windows` makes: `make test-windows` runs these", allow_module_level=True)

import windows
from check_signature import QUICK_DEPTH, SIGNATURE, closing_nodes
from support import ROOT
from terminal import Terminal, plain
from wine import DIRECTORY, FORMS, PROGRAM, PYTHON, SINGLE, SLOW, quetzal

from arena.client import Client

PATIENCE = 120.0


@pytest.fixture(scope="module")
def other_drive():
    """Drive D, another one than %TEMP%'s, with both forms under a path that has blanks and letters of the world."""
    place = windows.DRIVE_D / "Schach Motoren" / "Кетцаль é"
    shutil.rmtree(windows.DRIVE_D / "Schach Motoren", ignore_errors=True)
    shutil.copytree(DIRECTORY, place)
    shutil.copy(SINGLE, place / "single.exe")
    yield place, "D:\\Schach Motoren\\Кетцаль é\\"
    shutil.rmtree(windows.DRIVE_D / "Schach Motoren")


def engine(program=PROGRAM, **popen):
    return Client(["wine", str(program)], patience=PATIENCE, env=windows.wine_environment(), **popen)


# The same engine


@pytest.mark.parametrize("form", FORMS)
def test_the_same_nodes(form):
    assert closing_nodes(quetzal("bench", "--depth", str(QUICK_DEPTH), program=FORMS[form])) == SIGNATURE[QUICK_DEPTH]


@pytest.mark.parametrize("name", ["quetzal.exe", "single.exe"])
def test_from_another_drive_and_a_path_with_blanks(other_drive, name):
    _, windows_place = other_drive
    output = quetzal("bench", "--depth", str(QUICK_DEPTH), program=windows_place + name)
    assert closing_nodes(output) == SIGNATURE[QUICK_DEPTH]


def test_it_was_built_for_windows():
    text = quetzal("--version")
    assert "mingw32" in text
    assert "x86-64-v2" in text


def test_the_archive_is_complete_and_small():
    import zipfile

    path = ROOT / "dist" / f"{windows.NAME}.zip"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert {f"{windows.NAME}/{name}" for name in ("quetzal.exe", "README.txt", "LICENSE")} <= set(names)
    assert not any(name.endswith((".c", ".pxd")) for name in names)
    assert path.stat().st_size < windows.MOST_ZIP
    sums = (ROOT / "dist" / f"{windows.NAME}.sha256").read_text(encoding="utf-8").split()
    assert sums[0] == windows.sha256(path)


def test_no_file_tells_where_it_was_built():
    """Nor does its preferred address, which the linker would make of its path: two builds have to be the same."""
    modules = [path for path in DIRECTORY.rglob("*.pyd") if path.relative_to(DIRECTORY).parts[1] == "search"]
    assert modules
    for path in DIRECTORY.rglob("*"):
        assert path.is_dir() or str(ROOT).encode() not in path.read_bytes(), path
    for path in modules:
        data = path.read_bytes()
        header = int.from_bytes(data[0x3C:0x40], "little") + 24  # where the optional header begins
        assert int.from_bytes(data[header + 24 : header + 32], "little") == 0x180000000, path  # as linkers choose it


def test_windows_shows_name_and_version():
    data = PROGRAM.read_bytes()
    assert "Quetzal, a UCI chess engine".encode("utf-16-le") in data


# The protocol


def test_uci_check():
    """The case of signals is not applicable there, and wine does not tell processor times."""
    text = quetzal("uci-check", windows.windows_path(PROGRAM), timeout=2 * SLOW)
    passed, failed, warnings, skipped = map(int, re.findall(r"(\d+) (?:passed|failed|warnings|not applicable)", text))
    assert (failed, warnings) == (0, 0), text
    assert passed >= 40
    assert skipped <= 3


@pytest.mark.parametrize("form", FORMS)
def test_lines_with_cr_lf_and_the_end_of_the_input(form):
    with engine(FORMS[form]) as client:
        client.send_bytes(b"uci\r\nisready\r\nposition startpos moves e2e4\r\ngo nodes 1000\r\n")
        answer = client.until("bestmove")[-1]
        board = chess.Board()
        board.push_uci("e2e4")
        assert board.is_legal(chess.Move.from_uci(answer.split()[1]))
        client.send("go infinite")
        client.close_input()
        assert client.wait()[0] == 0


@pytest.mark.parametrize("form", FORMS)
def test_ctrl_c_in_a_console_stops_a_search_and_then_leaves(form):
    """Wine makes a console of a terminal that gives it every key. It tells of Ctrl-C only who waits for keys."""
    with Terminal("wine", str(FORMS[form]), env=windows.wine_environment()) as terminal:
        tty.setraw(terminal.ours)
        terminal.until("quetzal>")
        terminal.send("go infinite\r")
        terminal.until("info depth 20 ")  # keys are waited for a fifth of a second after the search began
        terminal.send("\x03")
        terminal.until("bestmove ")
        terminal.send("isready\r")
        terminal.until("readyok")
        time.sleep(1.0)  # and after an answer
        terminal.send("\x03")
        status, output = terminal.wait()
    assert status == 130
    assert "Traceback" not in plain(output)


def test_sixteen_at_once():
    clients = [engine() for _ in range(16)]
    try:
        for client in clients:
            client.send("uci")
        for client in clients:
            client.until("uciok")
            client.send("go nodes 2000")
        for client in clients:
            client.until("bestmove")
            client.send("quit")
        assert [client.wait()[0] for client in clients] == [0] * 16
    finally:
        for client in clients:
            client.__exit__()


def test_a_table_of_a_gigabyte():
    with engine() as client:
        client.send("setoption name Hash value 1024")
        client.ready(PATIENCE)
        assert not any("no memory" in line for line in client.lines)
        client.ask("go nodes 20000", until="bestmove")


# Files


def test_tables_and_books_by_windows_paths(other_drive, tmp_path):
    """Two directories with ';' between them, the second one with the tables; and a book on another drive."""
    place, windows_place = other_drive
    tables = ROOT / "book" / "endgame" / "tables"
    shutil.copytree(tables, place / "tables")
    shutil.copy(ROOT / "book" / "opening" / "default.bin", place / "book.bin")
    with engine() as client:
        client.send(f"setoption name SyzygyPath value {windows.windows_path(tmp_path)};{windows_place}tables")
        client.ready()
        lines = client.ask("position fen 8/8/8/4k3/8/8/4K3/4Q3 w - - 0 1", "go depth 4", until="bestmove")
        assert any(int(re.search(r"tbhits (\d+)", line)[1]) > 0 for line in lines if "tbhits" in line)
        client.send(f"setoption name BookFile value {windows_place}book.bin", "setoption name OwnBook value true")
        client.ready()
        assert any("book" in line for line in client.ask("position startpos", "go movetime 500", until="bestmove"))


# The suite


# Under wine only: a program that writes to the temporary file of pytest's own capture does not start.
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--capture=sys")


@pytest.mark.parametrize("part", ["board", "search", "eval", "book", "uci_engine"])
def test_the_suite_under_windows_python(part):
    """The tests that run on Linux every day. What cannot run there says so in the report of skipped tests."""
    windows.add_test_tools()
    words = (PYTHON, *PYTEST, f"tests/{part}")
    output = windows.under_wine(*words, timeout=6 * SLOW, log=windows.PLACE / f"test-{part}.log")
    print(output)
    assert re.search(r"\d+ passed", output), output
    assert "failed" not in output.splitlines()[-1], output

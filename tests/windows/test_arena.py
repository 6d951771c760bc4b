"""Matches and tournaments of the Windows program, under wine: they go on after they were stopped, and leave no process behind.

`make test-windows` runs these. Wine gives Ctrl-C to all programs of a console, as Windows does; Ctrl-Break it refuses to send.
"""

import json
import os
import re
import subprocess
import sys
import time

import pytest

if os.environ.get("QUETZAL_WINDOWS", "0") == "0":
    pytest.skip("needs wine, and what `make windows` makes: `make test-windows` runs these", allow_module_level=True)

import windows
from arena_playing import wait_until
from support import ROOT
from wine import DIRECTORY, PROGRAM, PYTHON, SINGLE, SLOW, quetzal, running

QUICK = ("--tc", "nodes=500", "--startup-timeout", "120", "--ping-timeout", "120")
OURS = (DIRECTORY.name + "\\quetzal.exe", f"{DIRECTORY.name}/quetzal.exe", SINGLE.name)


def match(*engines, games=4, folder, extra=()):
    words = ("match", *engines, "--games", str(games), "--dir", windows.windows_path(folder), *extra)
    return quetzal(*words, timeout=2 * SLOW)


def ours():
    """The command lines of this checkout's Windows programs that are running."""
    place = str(windows.PLACE)
    return [line for line in running(*OURS) if place in line or windows.windows_path(place) in line]


def games_of(run):
    """Numbers of the games that a run has kept so far."""
    path = run / "games.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line)["game"] for line in lines if line.endswith("\n")]


def check_complete(run, games):
    """Every game was played once, without a fault, and is in all files."""
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    assert sorted(game["game"] for game in results["games"]) == list(range(1, games + 1))
    assert [game["reason"] for game in results["games"] if game["failure"] is not None] == []
    assert sorted(games_of(run)) == list(range(games))
    pgn = (run / "games.pgn").read_text(encoding="utf-8")
    assert len(re.findall(r"^\[Result ", pgn, re.MULTILINE)) == games
    return results


# What a worker of a cluster is sent

STORE = """
import hashlib, os, sys
sys.path.insert(0, sys.argv[1])
from pool.uploads import store_file
for name in ("some.qnn", "engine.exe"):
    data = name.encode() * 1000
    digest = hashlib.sha256(data).hexdigest()
    path = store_file(data, digest, name)
    assert open(path, "rb").read() == data
    os.utime(path, ns=(10**18, 10**18))
    assert store_file(b"", digest, name) == path  # known, so that nothing has to be sent again
    print("stored", name)
"""


def test_files_that_are_no_programs_are_stored():
    output = windows.under_wine(PYTHON, "-c", STORE, windows.windows_path(windows.TREE), timeout=SLOW)
    assert output.split("\n")[:2] == ["stored some.qnn", "stored engine.exe"], output


# Contests


def test_a_match_inside_windows(tmp_path):
    text = match(*[windows.windows_path(PROGRAM)] * 2, folder=tmp_path / "run", extra=QUICK)
    assert "4 of 4" in text
    check_complete(tmp_path / "run", 4)


CUP = """name = "Кубок"
format = "round-robin"
concurrency = 2
[timeouts]
startup = 120
ping = 120
[[engine]]
name = "Directory"
command = '''PROGRAM'''
tc = "nodes=500"
[[engine]]
name = "Single"
command = 'Motoren é\\single.exe'
tc = "nodes=300"
[[engine]]
name = "Python"
command = '''"PYTHON" -m uci_engine'''
tc = "depth=3"
"""


def test_a_tournament(tmp_path):
    """A round robin of three programs that are started in different ways, from a file as Windows' editor saves it."""
    run, file = tmp_path / "run", tmp_path / "cup.toml"
    (tmp_path / "Motoren é").mkdir()
    (tmp_path / "Motoren é" / "single.exe").symlink_to(SINGLE)
    text = CUP.replace("PROGRAM", windows.windows_path(PROGRAM)).replace("PYTHON", windows.windows_path(PYTHON))
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    words = ("tournament", windows.windows_path(file), "--dir", windows.windows_path(run))
    output = quetzal(*words, timeout=2 * SLOW)
    assert "round-robin" in output
    results = check_complete(run, 6)
    assert results["name"] == "Кубок"
    table = results["summary"]["standings"]
    assert {row["engine"]: row["games"] for row in table} == {"Directory": 4, "Single": 4, "Python": 4}
    assert sum(row["points"] for row in table) == 6
    assert wait_until(lambda: not ours(), 60), ours()


def test_a_killed_match_goes_on(tmp_path):
    """As from the task manager: the match is ended at once, and Windows ends its engines."""
    run, games = tmp_path / "run", 60
    words = ("match", *[windows.windows_path(PROGRAM)] * 2, "--games", str(games), *QUICK)
    command = ["wine", str(PROGRAM), *words, "--dir", windows.windows_path(run)]
    streams = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
    }  # not files, under wine
    with subprocess.Popen(command, env=windows.wine_environment(), **streams) as process:
        try:
            assert wait_until(lambda: len(games_of(run)) >= 3, 120)
            assert len(ours()) >= 4, ours()  # the match, its worker, two engines
        finally:
            process.kill()
    assert wait_until(lambda: not ours(), 60), ours()
    kept = (run / "games.jsonl").read_bytes()
    assert 3 <= kept.count(b"\n") < games
    output = quetzal("match", "--resume", windows.windows_path(run), "-c", "2", timeout=2 * SLOW)
    assert "continuing after" in output
    assert (run / "games.jsonl").read_bytes().startswith(kept)
    check_complete(run, games)
    assert wait_until(lambda: not ours(), 60), ours()


# It starts a program in a console of their own, as a window with a prompt has one, and presses Ctrl-C when a file has so
# many lines. It hears it, too, and is not to.
CONSOLE = """
import ctypes, pathlib, subprocess, sys, time
file, lines, *command = sys.argv[1:]
kernel = ctypes.WinDLL("kernel32", use_last_error=True)
kernel.FreeConsole()
if not kernel.AllocConsole():
    sys.exit("no console")
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stdout, stderr=sys.stdout)
kernel.SetConsoleCtrlHandler(None, True)
file = pathlib.Path(file)
while process.poll() is None and (not file.exists() or file.read_bytes().count(b"\\n") < int(lines)):
    time.sleep(0.05)
if not kernel.GenerateConsoleCtrlEvent(0, 0):
    print("no Ctrl-C:", ctypes.get_last_error())
print("status", process.wait(), flush=True)
"""


@pytest.mark.parametrize("program", [PROGRAM, SINGLE], ids=["directory", "single file"])
def test_ctrl_c_ends_a_match_that_goes_on(tmp_path, program):
    """It ends between two games, says how to go on, and leaves no engine; the rest is played later."""
    run, games, script = tmp_path / "run", 60, tmp_path / "console.py"
    script.write_text(CONSOLE, encoding="utf-8")
    words = ("match", *[windows.windows_path(PROGRAM)] * 2, "--games", str(games), *QUICK)
    command = (windows.windows_path(program), *words, "--dir", windows.windows_path(run))
    watched = (windows.windows_path(script), windows.windows_path(run / "games.jsonl"), "3")
    output = windows.under_wine(PYTHON, *watched, *command, timeout=2 * SLOW)
    assert "status 130" in output
    assert f"quetzal match --resume {windows.windows_path(run)} goes on" in output
    assert "Traceback" not in output
    assert wait_until(lambda: not ours(), 60), ours()
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    assert 3 <= len(results["games"]) == len(games_of(run)) < games
    kept = (run / "games.jsonl").read_bytes()
    quetzal("match", "--resume", windows.windows_path(run), "-c", "2", timeout=2 * SLOW)
    assert (run / "games.jsonl").read_bytes().startswith(kept)
    check_complete(run, games)


# Bad engines


BAD = """
import subprocess, sys, time
kind = sys.argv[1]
for line in sys.stdin:
    word = line.split()[:1]
    if word == ["uci"]:
        print("id name bad\\nuciok", flush=True)
    elif word == ["isready"]:
        print("readyok", flush=True)
    elif word == ["quit"]:
        break
    elif word == ["go"]:
        if kind == "crash":
            sys.exit(3)
        if kind == "fork":
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "left-behind"])
        time.sleep(600)
"""


@pytest.mark.parametrize("kind", ["crash", "hang", "fork"])
def test_engines_that_crash_hang_or_fork(kind, tmp_path):
    script = tmp_path / "bad.py"
    script.write_text(BAD, encoding="utf-8")
    python, program = (windows.windows_path(path) for path in (windows.PYTHON / "python.exe", PROGRAM))
    bad = f"{python} {windows.windows_path(script)} {kind}"
    try:
        text = match(bad, program, games=2, folder=tmp_path / "run", extra=("--tc", "1+0.01", "-c", "1"))
    except windows.NotMadeError as error:  # who fails twice in the same way is out, and the match ends with status 1
        text = str(error)
        assert "is out" in text
    assert re.search(r"\+0 -2 =0", text), text
    time.sleep(1)
    processes = subprocess.run(["ps", "ax", "-o", "args"], capture_output=True, text=True).stdout
    assert "left-behind" not in processes


def test_a_match_against_linux(tmp_path):
    """Twenty games at 2+0.02 with the Linux program on the other side: nobody crashes, forfeits or moves illegally."""
    starter = tmp_path / "windows-quetzal"
    variables = {
        name: value for name, value in windows.wine_environment().items() if name.startswith(("WINE", "PYTHON"))
    }
    exports = "".join(f"export {name}='{value}'\n" for name, value in variables.items())
    starter.write_text(f"#!/bin/sh\nunset DISPLAY\n{exports}exec wine '{PROGRAM}' \"$@\"\n", encoding="utf-8")
    starter.chmod(0o755)
    linux = [sys.executable, "-m", "uci_engine"]
    command = [
        *linux,
        "match",
        str(starter),
        " ".join(linux),
        "--games",
        "20",
        "--tc",
        "2+0.02",
        "--dir",
        str(tmp_path / "run"),
    ]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2 * SLOW)
    assert result.returncode == 0, result.stderr
    assert "20 of 20" in result.stdout
    assert "lost:" not in result.stdout, result.stdout

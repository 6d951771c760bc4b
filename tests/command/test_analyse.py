"""`quetzal analyse` as a user types it: files, exit status, interruption and resumption."""

import gzip
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import chess.pgn
import pytest
from support import TESTS, quetzal

KNOWN = TESTS / "play" / "known_games.pgn"
BROKEN = '[Event "Broken"]\n[White "Nobody"]\n\n1. e4 e5 2. Ke3 *\n\n'


GOOD = '[Event "Good"]\n[White "Somebody"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n'


def games_in(text):
    handle = io.StringIO(text)
    games = []
    while (game := chess.pgn.read_game(handle)) is not None:
        games.append(game)
    return games


def analyse(*arguments, **more):
    return quetzal("analyse", *map(str, arguments), **more)


def moves_of(game):
    return [node.san() for node in game.mainline()]


def test_every_game_comes_out_with_its_moves(tmp_path):
    result = analyse(KNOWN, "-o", tmp_path / "out.pgn", "--nodes", "500")
    assert result.returncode == 0, result.stderr
    before = games_in(KNOWN.read_text(encoding="utf-8"))
    after = games_in((tmp_path / "out.pgn").read_text(encoding="utf-8"))
    assert [moves_of(game) for game in after] == [moves_of(game) for game in before]
    for old, new in zip(before, after, strict=True):
        assert not new.errors
        assert dict(old.headers).items() <= dict(new.headers).items()
        for node in new.mainline():
            assert (node.eval() is None) == node.board().is_checkmate()
    table = result.stdout.splitlines()
    assert table[0].split()[:4] == ["player", "games", "moves", "accuracy"]
    assert any(line.startswith("Kramnik ") for line in table)
    assert "5 games" in table[-1]
    assert os.listdir(tmp_path) == ["out.pgn"]


def test_threads_and_packing_change_nothing(tmp_path):
    packed = tmp_path / "games.gz"
    packed.write_bytes(gzip.compress(KNOWN.read_bytes()))
    assert analyse(KNOWN, "-o", tmp_path / "one.pgn", "--nodes", "800", "--threads", "1").returncode == 0
    assert analyse(packed, "-o", tmp_path / "two.pgn", "--nodes", "800", "--threads", "2").returncode == 0
    piped = analyse("-", "-o", tmp_path / "three.pgn", "--nodes", "800", stdin=KNOWN.read_text(encoding="utf-8"))
    assert piped.returncode == 0
    one = (tmp_path / "one.pgn").read_bytes()
    assert (tmp_path / "two.pgn").read_bytes() == one
    assert (tmp_path / "three.pgn").read_bytes() == one


def test_a_broken_game_is_named_and_skipped(tmp_path):
    path = tmp_path / "games.pgn"
    path.write_text(BROKEN + GOOD + BROKEN, encoding="utf-8")
    result = analyse(path, "-o", tmp_path / "out.pgn", "--nodes", "500", "--json")
    assert result.returncode == 0
    assert f"{path}:1: game 1: illegal san: 'Ke3'" in result.stderr
    assert "game 3" in result.stderr
    data = json.loads(result.stdout)
    assert (data["games"], data["broken"]) == (1, 2)
    assert [review.get("broken") is not None for review in data["reviews"]] == [True, False, True]
    assert len(games_in((tmp_path / "out.pgn").read_text(encoding="utf-8"))) == 1


def test_the_reason_for_a_broken_game_is_short(tmp_path):
    """A FEN of a whole line's length was quoted in full."""
    path = tmp_path / "games.pgn"
    path.write_text(f'[FEN "{"9" * 900_000}"]\n[SetUp "1"]\n\n1. e4 *\n\n{GOOD}', encoding="utf-8")
    result = analyse(path, "-o", tmp_path / "out.pgn", "--nodes", "300", "--json")
    assert result.returncode == 0
    assert f"{path}:1: game 1: " in result.stderr
    assert len(result.stderr) < 1000
    assert len(json.loads(result.stdout)["reviews"][0]["broken"]) < 300


def test_one_player_only(tmp_path):
    result = analyse(KNOWN, "-o", tmp_path / "out.pgn", "--nodes", "300", "--only", "kramnik")
    assert result.returncode == 0
    (game,) = games_in((tmp_path / "out.pgn").read_text(encoding="utf-8"))
    assert game.headers["Black"] == "Kramnik"
    assert "Deep Fritz" not in result.stdout


def test_a_page_stands_alone(tmp_path):
    assert analyse(KNOWN, "-o", tmp_path / "o.pgn", "--nodes", "300", "--html", tmp_path / "o.html").returncode == 0
    text = (tmp_path / "o.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "Kramnik" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def refused(tmp_path, *arguments):
    before = sorted(os.listdir(tmp_path))
    result = analyse(*arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert sorted(os.listdir(tmp_path)) == before
    return result.stderr


def test_bad_input_is_refused(tmp_path):
    games = tmp_path / "games.pgn"
    shutil.copy(KNOWN, games)
    os.symlink(games, tmp_path / "link.pgn")
    empty = tmp_path / "empty.pgn"
    empty.touch()
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(KNOWN.read_bytes())[:20])
    out = tmp_path / "out.pgn"
    content = games.read_bytes()
    assert "one of the files to read" in refused(tmp_path, games, "-o", games)
    assert "one of the files to read" in refused(tmp_path, games, "-o", tmp_path / "link.pgn")
    assert "one of the files to read" in refused(tmp_path, games, "-o", out, "--html", games)
    assert "the same file" in refused(tmp_path, games, "-o", out, "--html", out)
    assert "twice" in refused(tmp_path, games, games, "-o", out)
    assert "no such directory" in refused(tmp_path, games, "-o", tmp_path / "none" / "out.pgn")
    assert "cannot be opened" in refused(tmp_path, tmp_path / "missing.pgn", "-o", out)
    assert "there is no game" in refused(tmp_path, empty, "-o", out)
    assert "player 'Nobody'" in refused(tmp_path, games, "-o", out, "--only", "Nobody")
    assert "damaged" in refused(tmp_path, cut, "-o", out)
    assert "less than 1" in refused(tmp_path, games, "-o", out, "--nodes", "0")
    if os.name != "nt":
        assert "not a regular file" in refused(tmp_path, games, "-o", os.devnull)
    assert games.read_bytes() == content


def test_a_file_that_is_cut_off_gives_what_it_has(tmp_path):
    packed = tmp_path / "cut.gz"
    packed.write_bytes(gzip.compress(KNOWN.read_bytes() + os.urandom(50_000))[:30_000])
    result = analyse(packed, "-o", tmp_path / "out.pgn", "--nodes", "200")
    assert result.returncode == 1
    assert "is damaged" in result.stderr
    assert len(games_in((tmp_path / "out.pgn").read_text(encoding="utf-8"))) >= 4


MEASURED = """
import resource, subprocess, sys
status = subprocess.run([sys.executable, "-m", "uci_engine", *sys.argv[1:]]).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.skipif(os.name == "nt", reason="the system does not tell")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """Games of 1 MB and of 100 MB, packed, of which one is wanted: the process is as large."""
    game = '[White "Other"]\n[Black "Third"]\n\n1. e4 e5 {' + 5_000 * "word " + "} 2. Nf3 *\n\n"
    sizes = []
    for count in (40, 4_000):
        with gzip.open(tmp_path / "games.gz", "wt", compresslevel=1) as file:
            for _ in range(count):
                file.write(game)
            file.write(GOOD)
        output = tmp_path / f"{count}.pgn"
        arguments = ("analyse", tmp_path / "games.gz", "-o", output, "--only", "somebody", "--nodes", "200", "--json")
        result = subprocess.run(
            [sys.executable, "-c", MEASURED, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path
        )
        *_, status, size = result.stdout.split()
        assert status == "0", result.stderr
        assert len(games_in(output.read_text(encoding="utf-8"))) == 1
        sizes.append(int(size))
    assert sizes[1] < sizes[0] + 20_000  # kilobytes


def start(tmp_path, output):
    command = [sys.executable, "-m", "uci_engine", "analyse", str(tmp_path / "games.pgn"), "-o", str(output)]
    return subprocess.Popen(
        [*command, "--nodes", "4000", "--threads", "2"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_games(journal, more, process):
    """Until the journal has grown by so many lines."""
    first = journal.read_bytes().count(b"\n") if journal.exists() else 0
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if journal.exists() and journal.read_bytes().count(b"\n") >= first + more:
            return
        time.sleep(0.01)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_killed_and_resumed_gives_the_same_file(tmp_path):
    text = KNOWN.read_text(encoding="utf-8") + BROKEN
    (tmp_path / "games.pgn").write_text(text + text + text, encoding="utf-8")
    whole, output = tmp_path / "whole.pgn", tmp_path / "out.pgn"
    process = start(tmp_path, whole)
    process.communicate()
    assert process.returncode == 0
    for number, signal_number in enumerate((signal.SIGKILL, signal.SIGINT, signal.SIGKILL)):
        process = start(tmp_path, output)
        wait_for_games(tmp_path / "out.pgn.journal", 2, process)
        if process.poll() is None:
            process.send_signal(signal_number)
        _, said = process.communicate()
        assert process.returncode == (130 if signal_number == signal.SIGINT else -signal.SIGKILL), said
        assert not output.exists()
        if number == 1:
            assert "the same command goes on" in said
    result = quetzal("analyse", str(tmp_path / "games.pgn"), "-o", str(output), "--nodes", "5000")
    assert result.returncode == 2
    assert "other settings (limits)" in result.stderr
    process = start(tmp_path, output)
    process.communicate()
    assert process.returncode == 0
    assert output.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "out.pgn.journal").exists()

"""A short part of each fuzzer, from a seed; and the fuzzers themselves find what they are for, and keep it."""

import json
import random
import shutil
import subprocess
import sys

import cycles
import dialogue
import engine_output
import fens
import files
import fuzzing
import http_requests
import journal
import play_requests
import pytest
import run_all
from support import ROOT, scaled

from arena.client import Client
from eval.network_file import NetworkError, unpack_network

# Module, what it counts, and how many of them are a few seconds' work
FUZZERS = {
    "dialogue": (dialogue, "bursts", 25),
    "cycles": (cycles, "cycles", 100),
    "fens": (fens, "FENs", 2000),
    "engines": (engine_output, "games", 100),
    "journal": (journal, "runs", 100),
    "http": (http_requests, "requests", 300),
    "play": (play_requests, "requests", 200),
}


def kept(directory):
    return [path.read_text("utf-8")[:500] for path in directory.iterdir()]


@pytest.mark.parametrize("name", FUZZERS)
def test_nothing_gets_through(name, tmp_path):
    fuzzer, cases, most = FUZZERS[name]
    counts = fuzzer.run(20, 3600, tmp_path, most=scaled(most))
    assert counts[cases] == scaled(most)
    assert counts["problems"] == 0, kept(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", files.KINDS)
def test_no_file_gets_through(kind, tmp_path):
    counts = files.run(20, 3600, tmp_path, most=scaled(60), kinds=(kind,))
    assert counts[kind] == scaled(60)
    assert counts["problems"] == 0, kept(tmp_path)
    if scaled(60) >= 60:
        assert 0 < counts[f"{kind} accepted"] < counts[kind]


def test_networks_of_all_shapes_are_damaged():
    """Both versions of the format, every number of outputs and king buckets; some of what is damaged can be used."""
    shapes, versions, accepted = set(), set(), 0
    for number in range(300):
        blob = files.network(random.Random(number))
        try:
            data = unpack_network(blob, "memory")
        except NetworkError:
            continue
        shapes |= {("outputs", data.outputs), ("buckets", data.king_buckets)}
        versions.add(blob[4])
        accepted += isinstance(blob, files.Damaged)
    assert shapes == {(what, count) for what in ("outputs", "buckets") for count in range(1, 9)}
    assert versions == {1, 2}
    assert accepted > 20


def test_the_runner_knows_all_fuzzers(tmp_path):
    programs = {path.name for path in (ROOT / "tests" / "hostile").glob("*.py")}
    programs -= {"fuzzing.py", "run_all.py", "test_fuzzers.py"}
    assert {program for program, _ in run_all.FUZZERS.values()} == programs
    assert set(run_all.FUZZERS) == {*FUZZERS, "files"}
    command = [sys.executable, run_all.__file__, "--seconds", "2", "--seed", "5", "--only", "fens", "journal"]
    run = subprocess.run([*command, "--keep", str(tmp_path)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "fens, seed 5, 1 s" in run.stdout and "FENs: " in run.stdout and "runs: " in run.stdout


def test_make_runs_them():
    """As `make test-hostile` would, without setting anything up."""
    make = shutil.which("make")
    if make is None or not (ROOT / "Makefile").exists():
        pytest.skip("there is no make")
    command = [
        make,
        "-n",
        "-o",
        "build/.built",
        "-o",
        ".venv/.ready-to-test",
        "test-hostile",
        "SEED=3",
        "ONLY=fens http",
    ]
    planned = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert planned.returncode == 0, planned.stderr
    assert "tests/hostile/run_all.py --seconds 600 --seed 3 --only fens http" in planned.stdout


def test_a_case_that_ends_the_process_is_noted(tmp_path):
    code = "import os, sys; sys.path.insert(0, sys.argv[1])\n"
    code += "from fuzzing import cases\n"
    code += "for case in cases('fen', 7, 60, sys.argv[2]):\n    if case == '7-3': os._exit(9)\n"
    run = subprocess.run([sys.executable, "-c", code, str(ROOT / "tests" / "hostile"), str(tmp_path)])
    assert run.returncode == 9
    (note,) = tmp_path.iterdir()
    assert json.loads(note.read_text("utf-8"))["case"] == "7-3"
    command = [sys.executable, run_all.__file__, "--replay", str(note)]
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0 and again.stdout == "nothing is wrong\n"


def test_damage_changes_bytes():
    rng = random.Random(1)
    data = bytes(range(200))
    assert sum(fuzzing.damage_bytes(data, rng) != data for _ in range(100)) > 80


class Files:
    """Those of one kind."""

    replay = staticmethod(files.replay)

    def __init__(self, kind):
        self.kind = kind

    def run(self, seed, seconds, keep, most):
        return files.run(seed, seconds, keep, most, kinds=(self.kind,))


BAD_ENGINE = """
import sys
for line in sys.stdin:
    for word in line.split()[:1]:
        print({"uci": "uciok", "isready": "readyok", "go": "bestmove a1a1"}.get(word, "info string"), flush=True)
"""


def bad_engine(cwd):
    return Client([sys.executable, "-c", BAD_ENGINE], cwd=cwd)


def broken_news(snapshot, known):
    raise RuntimeError("a mistake")


class OtherError(ValueError):
    """Nobody said that this one may come."""


# A defence that is taken away, and the fuzzer that has to notice.
DEFENCES = [
    ("dialogue", "dialogue.Gui", bad_engine),
    ("cycles", "dialogue.Gui", bad_engine),
    ("fens", "fens.FenError", OtherError),
    ("network", "eval.network_file.MOST_FEATURE_WEIGHT", 32_767),
    ("pgn", "book.opening.builder.is_rated", lambda text, least: int(text) >= least),
    ("http", "arena.live.Snapshot.news", broken_news),
    ("play", "play.pages.position_facts", broken_news),
    ("engines", "arena.engine.visible", lambda text: text),
    ("engines", "arena.pgn.comment_text", lambda text: text),
    ("engines", "arena.engine.parse_info", None),
    ("journal", "arena.journal.check_record", lambda record, names: None),
    ("journal", "arena.journal.check_description", lambda description: None),
]


def careless_info(line):
    """Numbers of any length."""
    words = (line or "").split()
    return {name: int(words[words.index(name) + 1]) for name in ("depth", "nodes") if name in words}


@pytest.mark.parametrize(("name", "defence", "instead"), DEFENCES)
def test_what_is_found_is_kept_and_replays(name, defence, instead, tmp_path, monkeypatch):
    fuzzer = Files(name) if name in files.KINDS else FUZZERS[name][0]
    with monkeypatch.context() as patch:
        patch.setattr(defence if instead else "arena.game.parse_info", instead or careless_info)
        for seed in range(20, 60):
            fuzzer.run(seed, 3600, tmp_path, most=25)
            found = sorted(tmp_path.iterdir())
            if len(found) >= 3:
                break
        assert found
        # A connection that is reset may take an answer with it, so that not every request shows its problem again.
        assert any(fuzzer.replay(path) is not None for path in found)
    assert fuzzer.replay(found[0]) is None

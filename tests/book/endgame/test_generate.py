"""`quetzal tables generate` and `stats`, as a user runs them: right files, whole files, clear refusals."""

import errno
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import chess
import chess.syzygy
import pytest
from compare_tables import STOCKFISH, random_fens, stockfish_says
from support import DATA, ROOT, SCALE, quetzal, scaled
from tables import DIRECTORY, KNOWN, SHIPPED
from verify_ending import verify
from verify_files import by_moves

from board import files
from book.endgame import generator as generator_module
from book.endgame.endings import endings
from book.endgame.generator import GenerateError, Generator, write_table
from book.endgame.outcome_counts import count_outcomes
from book.endgame.syzygy import Tables
from book.endgame.syzygy_file import MappedTable
from book.endgame.table_comparison import compare_every, compare_random
from book.endgame.table_work import TableWork
from pool.tasks import Place, Unfit

SMALL = ("KQvK", "KRvK", "KBvK", "KNvK", "KPvK")
SUFFIXES = (".rtbw", ".rtbz")
HAS_STOCKFISH = os.name == "posix" and Path(STOCKFISH).exists()  # wine shows Linux' own, but cannot use it


def files_in(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def make(folder, *names, threads=1):
    maker = Generator(folder, threads)
    try:
        todo = maker.plan(names)
        for place, name in enumerate(todo):
            maker.make(name, todo[place + 1 :])
        return todo
    finally:
        maker.close()


# What ships


def test_all_endings_of_three_and_four_men_ship_in_little_room():
    wanted = {name + suffix for count in (3, 4) for name in endings(count) for suffix in SUFFIXES}
    assert set(os.listdir(SHIPPED)) == wanted
    total = sum(path.stat().st_size for path in SHIPPED.iterdir())
    assert total <= 1.25 * 4_346_656  # the official files
    assert Tables([str(SHIPPED)]).largest == 4


def test_the_generator_makes_what_ships(tmp_path):
    make(tmp_path, *SMALL, "KRvKB", threads=2)
    made = files_in(tmp_path)
    assert {name for name in made if name.endswith(".rtbw")} == {name + ".rtbw" for name in (*SMALL, "KRvKB")}
    for name, data in made.items():
        assert data == (SHIPPED / name).read_bytes(), name


def test_shipped_files_are_sound():
    for path in sorted(SHIPPED.iterdir()):
        assert path.stat().st_size % 64 == 16
        MappedTable(str(path)).check()


@pytest.mark.skipif(DIRECTORY == SHIPPED, reason="QUETZAL_SYZYGY names no directory of official tables")
@pytest.mark.parametrize("count", [3, 4])
def test_shipped_values_are_the_official_ones(count):
    """More than the known values. A share of what scripts/compare_tables.py does; docs/tables.md has the result of all of it."""
    ours, theirs = Tables([str(SHIPPED)]), Tables([str(DIRECTORY)])
    for name in endings(count):
        result = compare_random(name, ours, theirs, scaled(8000))
        assert (result.different, result.seen) == (0, scaled(8000)), result.examples
    if count == 3:
        assert compare_every("KPvK", ours, theirs)[1:] == (0, [])


def test_python_chess_reads_the_shipped_files():
    with chess.syzygy.open_tablebase(str(SHIPPED)) as prober:
        for fen, *known in KNOWN:
            board = chess.Board(fen)
            assert [prober.probe_wdl(board), prober.probe_dtz(board)] == known, fen


@pytest.mark.skipif(not HAS_STOCKFISH, reason="no stockfish")
def test_stockfish_reads_the_shipped_files():
    answers = stockfish_says(SHIPPED, [fen for fen, *_ in KNOWN])
    for (fen, *known), answer in zip(KNOWN, answers, strict=True):
        assert [*answer] == known, fen


def test_the_comparison_of_directories(tmp_path):
    """The script of the long comparison: tables are equal to themselves, by every prober, and a damaged one is found."""

    def compare(ours, *arguments):
        script = [sys.executable, ROOT / "scripts" / "compare_tables.py", ours, SHIPPED, *arguments]
        return subprocess.run(script, cwd=DATA, capture_output=True, text=True, timeout=120)

    probers = ["--python-chess", "5", *(["--stockfish", "5"] if HAS_STOCKFISH else [])]
    same = compare(SHIPPED, "--only", "KQvK", "KPvKP", "--random", "50", *probers)
    assert same.returncode == 0, same.stdout + same.stderr
    assert same.stdout.endswith("all equal\n")
    assert "KPvKP: random 50 (0 differ), python-chess 5 (0 differ)" in same.stdout
    for name in ("KQvK", "KRvK"):
        for suffix in SUFFIXES:
            (tmp_path / (name + suffix)).write_bytes((SHIPPED / (name + suffix)).read_bytes())
    damaged = bytearray((tmp_path / "KQvK.rtbz").read_bytes())
    damaged[-1500:] = bytes(1500)
    (tmp_path / "KQvK.rtbz").write_bytes(damaged)
    other = compare(tmp_path, "--only", "KQvK", "KRvK", "--random", "200")
    assert other.returncode == 1
    assert re.search(r"^KQvK: every position [\d,]+ \([1-9]\d* differ\)", other.stdout, re.MULTILINE)
    assert re.search(r"^KRvK: every position [\d,]+ \(0 differ\)", other.stdout, re.MULTILINE)


def test_shipped_values_follow_from_those_one_move_further():
    with chess.syzygy.open_tablebase(str(SHIPPED)) as prober:
        for name in ("KRvKP", "KPvKP"):
            result, outcomes, _ = by_moves(prober, random_fens(name, random.Random(name)), scaled(60))
            assert (result.different, result.seen) == (0, scaled(60)), result.examples
            if SCALE >= 1:  # a slow build's few positions may all be alike
                assert outcomes[2] and outcomes[0]


def test_distances_that_do_not_follow_from_moves_are_found():
    with chess.syzygy.open_tablebase(str(SHIPPED)) as prober:
        wrong = SimpleNamespace(probe_wdl=prober.probe_wdl, probe_dtz=lambda board: 3 * prober.probe_dtz(board))
        result, *_ = by_moves(wrong, iter(["8/8/8/8/8/2k5/8/KQ6 w - - 0 1", "8/8/8/4k3/8/8/8/KR6 w - - 0 1"]), 2)
    assert (result.different, result.seen) == (2, 2)


# The command


def test_generating_again_says_that_there_is_nothing_to_do(tmp_path):
    first = quetzal("tables", "generate", "--men", "3", "-o", str(tmp_path / "new"))
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("5 endings, 433,152 positions") and "MB of memory" in first.stdout
    assert set(files_in(tmp_path / "new")) == {name + suffix for name in SMALL for suffix in SUFFIXES}
    again = quetzal("tables", "generate", "KvKQ", "-o", str(tmp_path / "new"))
    assert (again.returncode, again.stdout) == (0, f"{tmp_path / 'new'} has all of them already\n")


def test_what_is_missing_or_broken_is_made_again(tmp_path):
    make(tmp_path, "KPvK")
    before = files_in(tmp_path)
    (tmp_path / "KPvK.rtbz").unlink()
    (tmp_path / "KRvK.rtbw").write_bytes(b"no table")
    (tmp_path / ".quetzal-0123.partial").write_bytes(b"left by a killed run")
    assert make(tmp_path, "KPvK") == ["KRvK", "KPvK"]
    assert {name: data for name, data in files_in(tmp_path).items() if not name.endswith(".partial")} == before


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["KXvK"], "'KXvK' is no ending"),
        (["KQQQQQQvK"], "'KQQQQQQvK' has 8 men: tables of up to 5 can be made"),
        (["KvK"], "'KvK' needs no table"),
        (["KQvK", "KQvK"], "'KQvK' is named twice"),
        (["KQvK", "KvKQ"], "'KvKQ' is named twice (it is KQvK)"),
        (["QvK"], "'QvK' is no ending"),
        (["KQvK", "--men", "3"], "name endings"),
        ([], "name endings"),
        (["KRPvKR", "--memory", "500"], "only 500 are allowed; try --memory"),
    ],
)
def test_refusals(tmp_path, arguments, message):
    result = quetzal("tables", "generate", *arguments, "-o", str(tmp_path))
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert files_in(tmp_path) == {}


def test_a_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = quetzal("tables", "generate", "KQvK", "-o", str(tmp_path / "file" / "tables"))
    assert result.returncode == 2 and "cannot write to" in result.stderr


def test_a_disk_that_is_too_small_is_refused_before_work_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(generator_module.shutil, "disk_usage", lambda path: SimpleNamespace(free=10_000))
    maker = Generator(tmp_path)
    with pytest.raises(GenerateError, match="has 0 MB left, the tables may take"):
        maker.plan(["KBNvK"])
    maker.close()
    assert files_in(tmp_path) == {}


def test_a_disk_that_fills_up_leaves_nothing_half_written(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write_table(tmp_path / "KQvK.rtbw", b"old")
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(GenerateError, match=r"cannot write .*KQvK.rtbw: No space left on device"):
        write_table(tmp_path / "KQvK.rtbw", b"new")
    assert files_in(tmp_path) == {"KQvK.rtbw": b"old"}


def start(folder):
    command = [sys.executable, "-m", "uci_engine", "tables", "generate", "KRRvK", "-o", str(folder), "--threads", "2"]
    return subprocess.Popen(command, cwd=DATA, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_killed_runs_leave_whole_files_and_can_be_resumed(tmp_path):
    rng = random.Random(20)
    for _ in range(3):
        process = start(tmp_path)
        process.stdout.readline()  # it has begun
        time.sleep(rng.uniform(0, 1.5))
        process.kill()
        process.communicate()
        for name, data in files_in(tmp_path).items():
            assert name.endswith(".partial") or data == (SHIPPED / name).read_bytes(), name
    make(tmp_path, "KRRvK")
    made = {name: data for name, data in files_in(tmp_path).items() if not name.endswith(".partial")}
    assert made == {
        name + suffix: (SHIPPED / (name + suffix)).read_bytes() for name in ("KRvK", "KRRvK") for suffix in SUFFIXES
    }


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT between processes")
def test_ctrl_c_ends_soon_and_says_how_to_go_on(tmp_path):
    process = start(tmp_path)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in errors
    assert re.search(r"interrupted: \d of 2 endings are finished; the same command goes on from there", output)


def test_forgotten_endings_are_solved_again(tmp_path):
    """With room for nothing, all that a pawn can become is forgotten again and again; the files are the same."""
    maker = Generator(tmp_path, memory=1)
    try:
        maker.solved("KRvK")
        assert maker.outcomes("KRvK") is None
        maker.make("KPvK")
    finally:
        maker.close()
    assert (tmp_path / "KPvK.rtbz").read_bytes() == (SHIPPED / "KPvK.rtbz").read_bytes()


def test_the_memory_that_is_promised():
    """Four bytes a number and one for each of the outcomes, as docs/tables.md says."""
    size, smaller = 462 * 64 * 64, 2 * 462 * 64
    assert generator_module.solving_memory("KBNvK") == generator_module.OWN_MEMORY + 5 * size + smaller


# Statistics


def test_statistics_of_the_textbooks_ending():
    result = quetzal("tables", "stats", "KBNvK")
    assert result.returncode == 0, result.stderr
    # Russell and Norvig give the number of positions; 33 moves are in every book on endings.
    assert result.stdout.startswith("KBNvK: 3,494,568 arrangements")
    assert "White's longest win: 33 moves (65 plies) to mate" in result.stdout
    fen, line = re.search(r"longest win: .*\n  (.*)\n  (.*)", result.stdout).groups()
    board = chess.Board(fen)
    for word in re.sub(r"\d+\.+", "", line).split():
        board.push_san(word)
    assert board.is_checkmate() and board.ply() == 65


def test_statistics_of_king_and_pawn():
    """The number of positions, counted once more: no king beside the other, Black's not left in the pawn's attack."""
    white = black = 0
    for pawn in (rank * 8 + file for rank in range(1, 7) for file in range(4)):
        attacked = chess.SquareSet(chess.BB_PAWN_ATTACKS[chess.WHITE][pawn])
        for king in set(range(64)) - {pawn}:
            others = [other for other in set(range(64)) - {pawn} if chess.square_distance(king, other) > 1]
            black += len(others)
            white += sum(other not in attacked for other in others)
    result = quetzal("tables", "stats", "KPvK")
    assert re.search(rf"White to move +{white:,} ", result.stdout)
    assert re.search(rf"Black to move +{black:,} ", result.stdout)


@pytest.mark.parametrize(
    "name, first, second",
    [("KQvK", 144508, 223944), ("KBvK", 193284, 223944), ("KNvK", 205496, 223944), ("KBNvK", 10875504, 13660584)],
)
def test_numbers_of_legal_positions_are_the_published_ones(name, first, second):
    """Joe Hurd's formally verified endgames, gilith.com/chess/endgames/all.html, give them for the whole board."""
    maker = Generator(None)
    try:
        ending = maker.solved(name)
    finally:
        maker.close()
    assert [count_outcomes(ending, side).boards for side in (0, 1)] == [first, second]


def test_statistics_refuse_what_is_no_ending():
    result = quetzal("tables", "stats", "KXvK")
    assert result.returncode == 2 and "'KXvK' is no ending" in result.stderr


# The definition


def test_values_follow_from_the_moves():
    """Every value against those one move further, by the rules written down once more; en passant among them."""
    maker = Generator(None)
    try:
        for name in ("KPvK", "KQvKN"):
            wrong, seen = verify(maker.solved(name), maker, scaled(400))
            assert wrong == []
            assert len(seen) == 3 or SCALE < 1
    finally:
        maker.close()


def test_a_worker_without_enough_memory_is_unfit(monkeypatch):
    """All tasks of its machine count."""
    work = TableWork(["KQvK", "KRvKN"], 3000 << 20)
    each = generator_module.memory_needed("KRvKN", 1) // (1 << 20) + 1
    monkeypatch.setattr("book.endgame.table_work.available_megabytes", lambda: 3 * each - 1)
    assert work.check(Place(None, {}, 2)) == []
    assert work.check(Place(None, {}, 3)) == [
        f"{3 * each} MB of memory are needed for 3 tasks at once, the system has {3 * each - 1} MB left"
    ]
    monkeypatch.setattr("book.endgame.table_work.available_megabytes", lambda: None)
    assert work.check(Place(None, {}, 3)) == []


def test_a_worker_whose_memory_ends_is_unfit(monkeypatch):
    """Not the run: the pool gives the ending to another worker."""

    def fail(*arguments):
        raise MemoryError("no memory to solve KQvK")

    maker = TableWork(["KQvK"], 3000 << 20).open(Place(None, {}))
    monkeypatch.setattr(maker.generator, "tables", fail)
    with pytest.raises(Unfit, match="KQvK: no memory to solve KQvK"):
        maker.do("KQvK", None)
    maker.close()

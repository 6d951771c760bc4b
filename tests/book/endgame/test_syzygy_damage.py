"""Files that are no tables any more: said once, never a crash, never a read outside of the file.

On the sanitizers' build the bytes lie in a block of their own, so that a read outside is seen. 10,000 mutations:
`QUETZAL_TEST_SCALE=20 make test-sanitize` (or pytest on this file only, in that environment).
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from support import scaled
from tables import DIRECTORY, SMALL, random_ending

from board import Board
from book.endgame.syzygy import Tables
from book.endgame.syzygy_file import MOST_READ, MappedTable, TableError
from uci_engine._build import PROFILE

KQVK = "8/8/8/4k3/8/8/8/KQ6 w - - 0 1"
KRVK = "8/8/8/4k3/8/8/8/KR6 w - - 0 1"
FILES = [f"{name}.rtb{letter}" for name in SMALL for letter in "wz"]


@pytest.fixture
def copy(tmp_path):
    for name in ("KQvK", "KRvK"):
        for suffix in (".rtbw", ".rtbz"):
            shutil.copy(DIRECTORY / (name + suffix), tmp_path)
    return tmp_path


def damaged(path, change):
    contents = bytearray(path.read_bytes())
    contents = change(contents) or contents
    path.chmod(0o644)
    path.write_bytes(contents)


def cut(contents):
    return contents[: len(contents) // 2]


def cut_to_a_good_length(contents):
    return contents[:80]


def lengthen(contents):
    return contents + bytes(64)


def change_magic(contents):
    contents[0] ^= 1


def change_pieces(contents):
    contents[6] ^= 1


def other_kind(contents):
    contents[4] ^= 2


@pytest.mark.parametrize(
    "change, reason",
    [
        (cut, "cut off"),
        (cut_to_a_good_length, "shorter than its header says"),
        (lengthen, "longer than its header says"),
        (change_magic, "does not begin as a table"),
        (change_pieces, "list of pieces is wrong"),
        (other_kind, "another kind of ending"),
    ],
)
def test_a_broken_file_is_said_once(copy, change, reason):
    damaged(copy / "KQvK.rtbw", change)
    told = []
    tables = Tables([copy], on_problem=told.append)
    assert told == []  # nothing is opened before it is wanted
    for _ in range(3):
        assert tables.wdl(Board(KQVK)) is None
        assert tables.dtz(Board(KQVK)) is None
    assert tables.problems == told
    assert len(told) == 1 and reason in told[0] and "KQvK.rtbw" in told[0]
    assert tables.wdl(Board(KRVK)) == 2  # the others go on


def test_an_empty_file(copy):
    (copy / "KQvK.rtbw").chmod(0o644)
    (copy / "KQvK.rtbw").write_bytes(b"")
    tables = Tables([copy])
    assert tables.wdl(Board(KQVK)) is None
    assert len(tables.problems) == 1 and "it is empty" in tables.problems[0]


def test_what_cannot_be_read(copy):
    (copy / "KQvK.rtbw").unlink()
    (copy / "KQvK.rtbw").mkdir()
    tables = Tables([copy / "nowhere", copy])
    assert len(tables.problems) == 1 and "nowhere" in tables.problems[0]
    assert tables.wdl(Board(KQVK)) is None
    assert len(tables.problems) == 2


def test_a_file_that_goes_away(copy):
    tables = Tables([copy])
    (copy / "KQvK.rtbw").unlink()
    assert tables.wdl(Board(KQVK)) is None
    assert "No such file" in tables.problems[0]


def test_a_good_file_behind_a_broken_one(copy, tmp_path):
    second = tmp_path / "second"
    second.mkdir()
    shutil.copy(DIRECTORY / "KQvK.rtbw", second)
    damaged(copy / "KQvK.rtbw", cut)
    tables = Tables([copy, second])
    assert tables.wdl(Board(KQVK)) == 2
    assert len(tables.problems) == 1


def test_a_broken_distance_leaves_the_result(copy):
    damaged(copy / "KQvK.rtbz", cut)
    tables = Tables([copy])
    assert tables.wdl(Board(KQVK)) == 2
    assert tables.dtz(Board(KQVK)) is None
    assert tables.wdl(Board(KQVK)) == 2
    assert len(tables.problems) == 1


def test_damage_inside_is_noticed_while_reading(tmp_path):
    """The blocks of a large table are only seen when they are read: an index that leads far away is noticed then."""
    path = tmp_path / "KRvKN.rtbw"
    contents = bytearray((DIRECTORY / path.name).read_bytes())
    good = MappedTable(str(path), bytes(contents))
    sizes = {size for _, _, size in good.sub_tables}
    assert sizes == {31332 * 61}
    # The index stands before the lengths: overwrite the middle of the file's first half with the highest numbers.
    contents[2000:3000] = b"\xff" * 1000
    path.write_bytes(contents)
    try:
        MappedTable(str(path)).check()
    except TableError:
        pass
    else:
        pytest.fail("the damage was not found")
    for name in ("KRvK.rtbw", "KNvK.rtbw"):
        shutil.copy(DIRECTORY / name, tmp_path)
    tables = Tables([tmp_path])
    rng = random.Random(1)
    for _ in range(300):
        tables.wdl(Board(random_ending(rng, "KRvKN")))
    assert len(tables.problems) <= 1  # once at most, however often it is met


# Files that another program cuts short while they are in use

CUTTING = pytest.mark.skipif(os.name == "nt", reason="Windows refuses to cut a file that is mapped")
LARGE = "KBNvK"  # its results (9 kB) are read at once, its distances (478 kB) are mapped
KBNVK = "8/8/8/4k3/8/8/8/KBN5 w - - 0 1"


@pytest.fixture
def large(tmp_path):
    for name in (LARGE, "KBvK", "KNvK"):
        for suffix in (".rtbw", ".rtbz"):
            shutil.copy(DIRECTORY / (name + suffix), tmp_path)
            (tmp_path / (name + suffix)).chmod(0o644)
    assert (tmp_path / f"{LARGE}.rtbz").stat().st_size > MOST_READ
    return tmp_path


@CUTTING
@pytest.mark.parametrize("length", [0, 1, 100, 5000, 100_000])
def test_a_file_that_is_cut_short_while_open(large, length):
    """Without a guard the processor's error about the missing page would end this process."""
    rng = random.Random(length)
    told = []
    tables = Tables([large], on_problem=told.append)
    boards = [Board(random_ending(rng, LARGE)) for _ in range(200)]
    before = [tables.dtz(board) for board in boards]
    assert None not in before
    os.truncate(large / f"{LARGE}.rtbz", length)
    tables.drop_cut_files()
    assert len(told) == 1 and f"{LARGE}.rtbz is not used any more: it was cut short" in told[0]
    after = [tables.dtz(board) for board in boards]
    assert all(value in (None, 0) or abs(value) == 1 for value in after)  # what needs no table of this ending
    assert [tables.wdl(board) for board in boards] == [Tables([large]).wdl(board) for board in boards]
    assert len(told) == 1


@CUTTING
def test_a_file_that_is_cut_short_while_it_is_read(large):
    """Nobody looks at the file's length: the missing page itself is noticed, by whichever thread comes across it."""
    rng = random.Random(1)
    told = []
    tables = Tables([large], on_problem=told.append)
    boards = [Board(random_ending(rng, LARGE)) for _ in range(400)]
    for board in boards:
        tables.dtz(board)
    os.truncate(large / f"{LARGE}.rtbz", 0)
    threads = [threading.Thread(target=lambda: [tables.dtz(board) for board in boards]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1 and "it was cut short by another program" in told[0]


@CUTTING
def test_checking_a_file_that_is_cut_short(large):
    path = large / f"{LARGE}.rtbz"
    table = MappedTable(str(path))
    table.check()
    os.truncate(path, 50_000)
    with pytest.raises(TableError, match="cannot be read to its end"):
        table.check()
    assert table.value(0, 0, 0) is None or table.is_cut


def test_a_small_file_is_not_read_again(large):
    path = large / f"{LARGE}.rtbw"
    tables = Tables([large])
    assert tables.wdl(Board(KBNVK)) == 2
    os.truncate(path, 0)
    tables.drop_cut_files()
    assert tables.wdl(Board(KBNVK)) == 2 and not tables.problems


@CUTTING
@pytest.mark.skipif(PROFILE in ("sanitize", "thread"), reason="sanitizers report such errors in their own way")
def test_other_bus_errors_are_as_before(tmp_path):
    """A page that is missing in anybody else's mapping still ends the process, and Python says where it was."""
    path = tmp_path / "x"
    code = (
        "import mmap, os, sys\n"
        "from book.endgame.syzygy_file import MappedTable\n"
        f"MappedTable({str(DIRECTORY / (LARGE + '.rtbz'))!r})\n"
        f"mapping = mmap.mmap(os.open({str(path)!r}, os.O_RDWR), 0)\n"
        f"os.truncate({str(path)!r}, 0)\n"
        "mapping[50_000]\n"
    )
    for options in ([], ["-X", "faulthandler"]):
        path.write_bytes(bytes(100_000))
        run = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=60)
        assert run.returncode == -signal.SIGBUS
        assert ("Bus error" in run.stderr) == bool(options)


def mutate(rng, contents):
    """A few bytes changed: anywhere, or in the header, where it hurts."""
    contents = bytearray(contents)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 40))):
        reach = rng.choice((len(contents), min(len(contents), 64), min(len(contents), 4000)))
        place = rng.randrange(4, reach)
        contents[place] = rng.choice((rng.randrange(256), 0, 255, contents[place] ^ 1 << rng.randrange(8)))
    if rng.random() < 0.02:
        del contents[rng.randrange(len(contents)) // 64 * 64 + 16 :]
    return contents


def test_mutated_bytes_in_memory():
    rng = random.Random(20)
    originals = {file: (DIRECTORY / file).read_bytes() for file in FILES}
    refused = found = survived = 0
    for _ in range(scaled(500)):
        file = rng.choice(FILES)
        contents = mutate(rng, originals[file])
        try:
            table = MappedTable(file, contents)
        except TableError:
            refused += 1
            continue
        try:
            table.check()
            survived += 1
        except TableError:
            found += 1
        for leading, side, size in table.sub_tables:
            for place in (0, size - 1, size, 1 << 40, *(rng.randrange(size) for _ in range(20))):
                value = table.value(leading, side, place)
                assert value is None or 0 <= value < 4096
    if scaled(500) >= 500:
        assert refused and found and survived


def test_mutated_files(tmp_path):
    """The whole way from the position: results are in range or unknown, whatever the file holds."""
    rng = random.Random(21)
    for file in FILES:
        shutil.copy(DIRECTORY / file, tmp_path)
    for _ in range(scaled(40)):
        file = rng.choice(FILES)
        name = file.split(".")[0]
        path = tmp_path / file
        path.chmod(0o644)
        path.write_bytes(mutate(rng, (DIRECTORY / file).read_bytes()))
        tables = Tables([tmp_path])
        for _ in range(8):
            board = Board(random_ending(rng, name))
            assert tables.wdl(board) in (None, -2, -1, 0, 1, 2)
            dtz = tables.dtz(board)
            assert dtz is None or abs(dtz) < 1 << 18
        assert len(tables.problems) <= 1
        del tables  # Windows does not let anybody write to a file that is mapped
        shutil.copy(DIRECTORY / file, tmp_path)

"""`quetzal book show`, `merge` and `verify` as a user runs them."""

import argparse
import os
import stat

import books
import chess
import chess.polyglot
import pytest
from support import quetzal

from board import files
from book.opening.polyglot import Book
from command import book_merge


@pytest.fixture
def small(tmp_path):
    return books.write(
        tmp_path / "small.bin",
        books.entry("", "e2e4", 60),
        books.entry("", "d2d4", 30),
        books.entry("", "g1f3", 10),
        books.entry("e2e4", "e7e5", 3),
        books.entry("e2e4", "c7c5", 1),
        books.entry("e2e4 e7e5", "g1f3", 1),
        books.entry("d2d4", "g8f6", 1),
    )


def read(path):
    with chess.polyglot.open_reader(path) as reader:
        return sorted((entry.key, entry.raw_move, entry.weight) for entry in reader)


# show


def test_the_start_is_shown_with_a_tree(small):
    run = quetzal("book", "show", str(small))
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == "small.bin: 7 entries"
    assert [line.split() for line in lines[3:6]] == [
        ["e4", "60", "60.0%"],
        ["d4", "30", "30.0%"],
        ["Nf3", "10", "10.0%"],
    ]
    assert lines[7:] == [
        "1. e4  60%",
        "   1... e5  75%",
        "      2. Nf3  100%",
        "   1... c5  25%",
        "1. d4  30%",
        "   1... Nf6  100%",
        "1. Nf3  10%",
    ]


def test_the_tree_leaves_rare_moves_out(small):
    lines = quetzal("book", "show", str(small), "--depth", "2", "--least", "27").stdout.splitlines()
    assert lines[7:] == [
        "1. e4  60%",
        "   1... e5  75%",
        "   … 1 rarer move",
        "1. d4  30%",
        "   1... Nf6  100%",
        "… 1 rarer move",
    ]


def test_any_position_is_shown(small):
    run = quetzal("book", "show", str(small), "--fen", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")
    assert [line.split() for line in run.stdout.splitlines()[3:]] == [["e5", "3", "75.0%"], ["c5", "1", "25.0%"]]
    run = quetzal("book", "show", str(small), "--fen", "4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    assert run.returncode == 0 and "nothing about this position" in run.stdout


def test_the_own_book_is_shown_by_default():
    run = quetzal("book", "show", "--depth", "1")
    assert run.returncode == 0 and "Quetzal's own book" in run.stdout and "e4" in run.stdout


@pytest.mark.parametrize("arguments", [("show", "none.bin"), ("show", "--fen", "bad"), ("verify", "none.bin")])
def test_bad_input(arguments):
    run = quetzal("book", *arguments)
    assert run.returncode == 2 and run.stderr.startswith("quetzal book: ") and run.stderr.count("\n") == 1


# merge


def test_merging_sums(small, tmp_path):
    other = books.write(tmp_path / "other.bin", books.entry("", "e2e4", 5), books.entry("c2c4", "e7e5", 2))
    output = tmp_path / "both.bin"
    run = quetzal("book", "merge", str(small), str(other), "-o", str(output))
    assert run.returncode == 0, run.stderr
    expected = {(key, move): weight for key, move, weight in read(small)}
    for key, move, weight in read(other):
        expected[key, move] = expected.get((key, move), 0) + weight
    assert read(output) == sorted((*place, weight) for place, weight in expected.items())
    assert quetzal("book", "verify", str(output)).returncode == 0


def test_the_first_book_may_win(small, tmp_path):
    other = books.write(tmp_path / "other.bin", books.entry("", "a2a3", 500), books.entry("c2c4", "e7e5", 2))
    output = tmp_path / "both.bin"
    assert quetzal("book", "merge", str(small), str(other), "-o", str(output), "--first").returncode == 0
    start = chess.polyglot.zobrist_hash(chess.Board())
    assert read(output) == sorted(read(small) + [each for each in read(other) if each[0] != start])


def test_merging_mends_a_book(small, tmp_path):
    """Unsorted, with a duplicate and a cut-off end; the output may be the input."""
    data = small.read_bytes()
    good = read(small)
    small.write_bytes(data[32:] + data[:32] + data[:5])
    assert quetzal("book", "verify", str(small)).returncode == 1
    run = quetzal("book", "merge", str(small), "-o", str(small))
    assert run.returncode == 0 and "cut off" in run.stderr and "not sorted" in run.stderr
    assert read(small) == good
    assert quetzal("book", "verify", str(small)).returncode == 0


def test_books_are_closed_before_one_of_them_is_replaced(small, monkeypatch):
    """Windows does not replace a file that is open."""
    opened, were_closed = [], []

    class Watched(Book):
        def __init__(self, path):
            super().__init__(path)
            opened.append(self)

    def take_place(temporary, target):
        were_closed.extend(book._file.closed for book in opened)
        os.replace(temporary, target)

    monkeypatch.setattr(book_merge, "Book", Watched)
    monkeypatch.setattr(files, "_take_place", take_place)
    book_merge.run(argparse.Namespace(books=[str(small)], output=str(small), first=False))
    assert were_closed == [True]


def test_weights_that_are_too_large_together(tmp_path):
    one = books.write(tmp_path / "one.bin", books.entry("", "e2e4", 60000), books.entry("", "d2d4", 600))
    run = quetzal("book", "merge", str(one), str(one), "-o", str(tmp_path / "two.bin"))
    assert run.returncode == 0
    weights = sorted(weight for _, _, weight in read(tmp_path / "two.bin"))
    assert weights == [655, 65535]  # the same shares: 1200 / 120000 of 65535


def test_merging_something_else(small, tmp_path):
    text = tmp_path / "text.bin"
    text.write_text("not a book at all, " * 30)
    run = quetzal("book", "merge", str(small), str(text), "-o", str(tmp_path / "out.bin"))
    assert run.returncode == 2 and "no Polyglot book" in run.stderr
    assert not (tmp_path / "out.bin").exists()
    run = quetzal("book", "merge", str(small), "-o", str(tmp_path / "none" / "out.bin"))
    assert run.returncode == 2 and "no such directory" in run.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_replaced_by_a_book(small, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for command in (("book", "merge", str(small)), ("book", "build", str(small))):
        run = quetzal(*command, "-o", str(pipe))
        assert run.returncode == 2 and f"{pipe}: not a regular file" in run.stderr
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


# verify


def test_a_good_book(small):
    run = quetzal("book", "verify", str(small))
    assert run.returncode == 0
    assert run.stdout.splitlines() == [
        "small.bin: 7 entries, 4 positions, 4 reached from the start",
        "no faults",
    ]


@pytest.mark.parametrize(
    ("extra", "fault"),
    [
        (books.entry("", "e2e5", 9), "1 illegal move: e2e5"),
        (books.entry("", "a1a1", 9), "no move on any board"),
        (books.entry("", "e2e4", 9), "1 duplicate"),
        (b"12345", "cut off"),
    ],
)
def test_faults_are_found(small, extra, fault):
    entries = [small.read_bytes()[place : place + 16] for place in range(0, small.stat().st_size, 16)]
    if len(extra) == 16:
        books.write(small, *entries, extra)
    else:
        small.write_bytes(small.read_bytes() + extra)
    run = quetzal("book", "verify", str(small))
    assert run.returncode == 1
    assert any(line.startswith("fault: ") and fault in line for line in run.stdout.splitlines())


def test_an_unsorted_book_has_a_fault(small):
    data = small.read_bytes()
    small.write_bytes(data[-16:] + data[:-16])
    run = quetzal("book", "verify", str(small))
    assert run.returncode == 1 and "not sorted" in run.stdout


def test_weights_of_zero(tmp_path):
    some = books.write(tmp_path / "some.bin", books.entry("", "e2e4", 0), books.entry("", "d2d4", 1))
    run = quetzal("book", "verify", str(some))
    assert run.returncode == 0 and "note: 1 entry with weight 0" in run.stdout
    nothing = books.write(tmp_path / "nothing.bin", books.entry("", "e2e4", 0))
    run = quetzal("book", "verify", str(nothing))
    assert run.returncode == 1 and "all weights are 0" in run.stdout


def test_books_for_one_side_are_played_through(tmp_path):
    """The opponent's moves are not in the book; whatever they may be, they are tried."""
    white = books.write(
        tmp_path / "white.bin",
        books.entry("", "e2e4"),
        books.entry("e2e4 c7c5", "g1f3"),
        books.entry("e2e4 a7a6", "d2d5"),
    )
    run = quetzal("book", "verify", str(white))
    assert "3 reached" in run.stdout and "illegal move: d2d5" in run.stdout
    black = books.write(tmp_path / "black.bin", books.entry("e2e4", "c7c5"), books.entry("e2e4 c7c5 g1f3", "d7d6"))
    run = quetzal("book", "verify", str(black))
    assert run.returncode == 0 and "2 positions, 2 reached" in run.stdout


def test_answers_to_moves_that_the_book_does_not_play(tmp_path):
    path = books.write(tmp_path / "b.bin", books.entry("", "e2e4"), books.entry("f2f3", "e7e5"))
    run = quetzal("book", "verify", str(path))
    assert run.returncode == 0 and "2 positions, 2 reached" in run.stdout and "note" not in run.stdout


def test_positions_out_of_reach_are_mentioned(tmp_path):
    path = books.write(
        tmp_path / "b.bin", books.entry("", "e2e4"), books.entry("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4")
    )
    run = quetzal("book", "verify", str(path))
    assert run.returncode == 0 and "note: 1 position that the book does not lead to" in run.stdout

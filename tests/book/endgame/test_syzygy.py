"""Endgame tables: results and distances against python-chess, captures and en passant, threads."""

import random
import shutil
import threading

import chess
import chess.syzygy
import pytest
from support import scaled
from tables import DIRECTORY, KNOWN, SMALL, random_en_passant, random_ending

from board import Board
from book.endgame.endings import ending_of
from book.endgame.syzygy import Tables


@pytest.fixture(scope="module")
def tables():
    tables = Tables([DIRECTORY])
    yield tables
    assert tables.problems == []


@pytest.fixture(scope="module")
def reference():
    with chess.syzygy.open_tablebase(str(DIRECTORY)) as reference:
        yield reference


def test_the_collection(tables):
    assert tables.endings == set(SMALL)
    assert (tables.counts, tables.largest) == ((35, 35), 4)


@pytest.mark.parametrize("name", SMALL)
def test_random_positions_equal_python_chess(tables, reference, name):
    """QUETZAL_TEST_SCALE=150 compares 105,000 positions."""
    rng = random.Random(name)
    for _ in range(scaled(20)):
        fen = random_ending(rng, name)
        board, witness = Board(fen), chess.Board(fen)
        wanted = (reference.probe_wdl(witness), reference.probe_dtz(witness))
        assert (tables.wdl(board), tables.dtz(board)) == wanted, fen


def test_positions_with_en_passant_equal_python_chess(tables, reference):
    """The tables do not know of it: the capture is searched, and often it changes the result."""
    rng = random.Random(3)
    changed = 0
    for _ in range(scaled(100)):
        fen = random_en_passant(rng)
        board, witness = Board(fen), chess.Board(fen)
        wanted = (reference.probe_wdl(witness), reference.probe_dtz(witness))
        assert (tables.wdl(board), tables.dtz(board)) == wanted, fen
        placement, turn, *_ = fen.split()
        changed += tables.wdl(Board(f"{placement} {turn} - - 0 1")) != wanted[0]
    assert changed >= scaled(100) // 50


def test_known_values(tables):
    for fen, wdl, dtz in KNOWN:
        board = Board(fen)
        assert (tables.wdl(board), tables.dtz(board)) == (wdl, dtz), fen
    assert {ending_of(fen) for fen, *_ in KNOWN} == set(SMALL)


@pytest.mark.parametrize(
    "fen, wdl",
    [
        ("8/8/8/4k3/8/8/8/K7 w - - 0 1", 0),  # bare kings need no table
        ("8/8/8/8/8/5k2/7q/7K w - - 0 1", 0),  # the queen can be taken … by a king that is in check and has to
        ("8/8/8/8/8/6k1/7q/7K w - - 0 1", -2),  # … or not: mate
        ("7K/5k1P/8/8/8/8/8/8 w - - 0 1", 0),  # a rook's pawn, and no move
    ],
)
def test_results_known_without_a_table(tables, fen, wdl):
    assert tables.wdl(Board(fen)) == wdl


@pytest.mark.parametrize(
    "fen",
    [
        "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1",  # castling
        "4k3/8/8/8/8/8/8/RRR1K3 w - - 0 1",  # five men
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    ],
)
def test_what_tables_do_not_know(tables, fen):
    assert tables.wdl(Board(fen)) is None
    assert tables.dtz(Board(fen)) is None


def test_a_capture_into_an_unknown_ending(tmp_path):
    """KQvKR is there, but the capture leads to KQvK, which is not."""
    shutil.copy(DIRECTORY / "KQvKR.rtbw", tmp_path)
    tables = Tables([tmp_path])
    assert tables.wdl(Board("7k/8/8/8/8/1r6/8/KQ6 w - - 0 1")) is None
    assert tables.wdl(Board("7k/8/8/8/8/5r2/8/KQ6 w - - 0 1")) is not None
    assert tables.dtz(Board("7k/8/8/8/8/5r2/8/KQ6 w - - 0 1")) is None
    assert tables.problems == []


def test_threads_open_and_read_the_same_tables(reference):
    """All threads ask for the same unopened files at once, and all get right answers."""
    rng = random.Random(11)
    fens = [random_ending(rng, name) for name in SMALL for _ in range(3)]
    wanted = [reference.probe_wdl(chess.Board(fen)) for fen in fens]
    for _ in range(scaled(5)):
        tables = Tables([DIRECTORY])
        answers = [None] * 4
        start = threading.Barrier(4)

        def ask(number, tables=tables, answers=answers, start=start):
            boards = [Board(fen) for fen in fens]
            start.wait()
            answers[number] = [tables.wdl(board) for board in boards]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [wanted] * 4

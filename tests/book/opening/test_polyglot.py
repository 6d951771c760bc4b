"""Reading Polyglot books: against python-chess, and books as they should not be."""

import random
import re
import struct
import sys

import books
import chess
import chess.polyglot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import ROOT, scaled

sys.path.insert(0, str(ROOT / "scripts"))
import make_book

from board import STARTING_FEN, Board
from book.opening.polyglot import Book, BookError, BookMove, Entry, choose, code_text, default_book, encode_move, shares
from book.opening.repertoire import read_repertoire

START = ""


def texts(book, board):
    return {board.uci(each.move): each.weight for each in book.moves(board)}


def oracle(reader, board):
    """The same from python-chess: legal entries, weights of duplicates summed."""
    weights = {}
    for entry in reader.find_all(board, minimum_weight=0):
        weights[entry.move.uci()] = weights.get(entry.move.uci(), 0) + entry.weight
    return weights


def test_the_default_book_is_read_as_python_chess_reads_it():
    """All of it: every position of the book comes from a line of the repertoire or from a game, and these are replayed."""
    lines = [line.moves for line in read_repertoire()]
    with open(make_book.GAMES, encoding="utf-8") as file:
        text = file.read()
    lines += [re.sub(r"\d+\. ", "", line).split()[:-1] for line in text.splitlines() if line.startswith("1. ")]
    seen = set()
    with default_book() as book, chess.polyglot.open_reader(book.path) as reader:
        for line in lines:
            ours, theirs = Board(), chess.Board()
            for text in line:
                if ours.polyglot_key not in seen:
                    seen.add(ours.polyglot_key)
                    assert ours.polyglot_key == chess.polyglot.zobrist_hash(theirs)
                    found = texts(book, ours)
                    assert found == oracle(reader, theirs), line
                    assert len(found) == len(book.entries(ours.polyglot_key))  # no entry is illegal
                ours.push_san(text)
                theirs.push_san(text)
        assert seen >= {entry.key for entry in book}


def test_random_books_are_read_as_python_chess_reads_them(tmp_path):
    """Positions and moves of random games, entries in the wrong place among them, weights of 0 too."""
    rng = random.Random(6)
    kinds = set()
    entries, boards = [], []
    for _ in range(scaled(40)):
        board = chess.Board()
        for move in books.random_game(rng, 60).move_stack:
            boards.append(board.copy(stack=False))
            kinds |= {"castling"} if board.is_castling(move) else set()
            kinds |= {"promotion"} if move.promotion else set()
            kinds |= {"en passant"} if board.is_en_passant(move) else set()
            text = board.uci(move, chess960=True)  # king takes rook
            fen = board.fen(en_passant="fen")
            entries.append(books.entry(fen, text, rng.randrange(5)))
            entries.append(books.entry(fen, rng.choice(("e2e4", "e1g1", "a7a8q", "h8h1")), 3))
            board.push(move)
    path = books.write(tmp_path / "random.bin", *entries)
    with Book(path) as book, chess.polyglot.open_reader(path) as reader:
        assert book.warnings == []
        for board in boards:
            assert texts(book, Board(board.fen(en_passant="fen"))) == oracle(reader, board), board.fen()
    if scaled(40) == 40:
        assert kinds >= {"castling", "promotion", "en passant"}


@pytest.mark.parametrize(
    ("fen", "written", "meant"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1h1", "e1g1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1a1", "e1c1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8h8", "e8g8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8a8", "e8c8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "e1g1"),  # as some books have it
        ("3k4/8/8/8/8/8/8/K3R2r w - - 0 1", "e1h1", "e1h1"),  # a rook that captures
        ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "e1h1", None),  # no right to castle
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e7e8q", "e7e8q"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e7d8n", "e7d8n"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e7e8r", "e7e8r"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e7e8b", "e7e8b"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e7e8", None),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "e5d6"),
        (STARTING_FEN, "e2e4q", None),
        (STARTING_FEN, "e2e5", None),
        (STARTING_FEN, "a1a1", None),
    ],
)
def test_moves_are_what_they_mean(tmp_path, fen, written, meant):
    path = books.write(
        tmp_path / "one.bin", books.entry(fen, written, 7), books.entry(fen, "a1a2" if meant else "b1b2")
    )
    with Book(path) as book:
        board = Board(fen)
        assert texts(book, board).get(meant or written) == (7 if meant else None)


def test_the_key_of_a_pawn_that_cannot_be_taken(tmp_path):
    """Polyglot counts en passant when a pawn stands beside, even if taking would uncover the king."""
    fen = "8/8/8/K2pP2q/8/8/8/4k3 w - d6 0 2"
    path = books.write(tmp_path / "pinned.bin", books.entry(fen, "a5b5", 3))
    board = Board(fen)
    assert board.key != board.polyglot_key
    with Book(path) as book:
        assert texts(book, board) == {"a5b5": 3}


def test_encoding_every_move_of_a_position():
    for fen in (STARTING_FEN, "r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 2"):
        board = Board(fen)
        theirs = chess.Board(fen)
        ours = {encode_move(move) for move in board.legal_moves()}
        assert ours == {books.code(theirs.uci(move, chess960=True)) for move in theirs.legal_moves}
    assert code_text(books.code("e7e8q")) == "e7e8q"
    assert code_text(books.code("e2e4")) == "e2e4"
    assert "?" in code_text(0xFFFF)


# Odd books


def test_duplicates_are_one_move(tmp_path):
    path = books.write(
        tmp_path / "b.bin",
        *(books.entry(START, move, weight) for move, weight in (("e2e4", 3), ("d2d4", 5), ("e2e4", 4))),
    )
    with Book(path) as book:
        assert [(Board().uci(each.move), each.weight) for each in book.moves(Board())] == [("e2e4", 7), ("d2d4", 5)]


def test_a_weight_of_zero_is_known_but_not_played(tmp_path):
    path = books.write(tmp_path / "b.bin", books.entry(START, "e2e4", 0), books.entry("e2e4", "e7e5", 1))
    with Book(path) as book:
        moves = book.moves(Board())
        assert [each.weight for each in moves] == [0]
        assert choose(moves, 100, random.Random(1)) is None
        assert shares(moves) == [0.0]


def test_an_unsorted_spot_hides_nothing(tmp_path):
    entries = [books.entry(line, move) for line, move in (("", "e2e4"), ("e2e4", "e7e5"), ("e2e4 e7e5", "g1f3"))]
    entries += [books.entry("d2d4", "d7d5"), books.entry("c2c4", "e7e5"), books.entry("", "d2d4")]
    entries.sort(key=lambda each: each[:8])
    for place in range(len(entries)):
        moved = entries[:place] + entries[place + 1 :] + [entries[place]]
        path = books.write(tmp_path / f"{place}.bin", *moved, keep_order=True)
        with Book(path) as book:
            assert bool(book.warnings) == (moved != entries)
            assert set(texts(book, Board())) == {"e2e4", "d2d4"}
            for line, move in (("e2e4", "e7e5"), ("d2d4", "d7d5"), ("c2c4", "e7e5")):
                board = Board()
                board.push_uci(line)
                assert set(texts(book, board)) == {move}


def test_a_last_entry_that_is_cut_off(tmp_path):
    path = books.write(tmp_path / "b.bin", books.entry(START, "e2e4", 3))
    for extra in range(1, 16):
        path.write_bytes(path.read_bytes()[:16] + b"x" * extra)
        with Book(path) as book:
            assert texts(book, Board()) == {"e2e4": 3}
            assert f"{extra} bytes" in book.warnings[0]


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "is empty"),
        (b"x", "is no Polyglot book"),
        (b'[Event "F/S Return Match"]\n[Site "Belgrade"]\n\n1. e4 e5 2. Nf3 Nc6 *\n' * 40, "is no Polyglot book"),
        (b"\xff" * 4096, "is no Polyglot book"),
        (b"\x00" * 4096, "is no Polyglot book"),
        (bytes(random.Random(1).randbytes(65536)), "is no Polyglot book"),
        (b"".join(struct.pack(">QHHI", 10**9 - n, 0x31C, 1, 0) for n in range(200)), "not in order"),
    ],
    ids=["empty", "a byte", "PGN", "ones", "zeros", "noise", "backwards"],
)
def test_files_that_are_no_books(tmp_path, contents, reason):
    path = tmp_path / "b.bin"
    path.write_bytes(contents)
    with pytest.raises(BookError, match=reason) as refusal:
        Book(path)
    assert str(path) in str(refusal.value)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(BookError, match="cannot be opened"):
        Book(tmp_path / "none.bin")
    with pytest.raises(BookError, match="cannot be opened"):
        Book(tmp_path)


def test_entries_are_found_wherever_blocks_end(tmp_path):
    """Keys with few and with hundreds of entries, in books around the size of what is read at once."""
    rng = random.Random(3)
    for count in (1, 2, 255, 256, 257, 511, 512, 513, 2000):
        keys = [5, 6, (1 << 64) - 1, *(rng.getrandbits(64) for _ in range(rng.choice((3, 40, 3000))))]
        entries = sorted(Entry(rng.choice(keys), 0x31C, number % 60000) for number in range(count))
        path = tmp_path / "b.bin"
        path.write_bytes(b"".join(entry.pack() for entry in entries))
        with Book(path) as book:
            assert list(book) == entries
            for key in (0, 7, *keys[:40]):
                assert book.entries(key) == [entry for entry in entries if entry.key == key]


def test_a_book_that_is_cut_short_while_open(tmp_path):
    path = books.write(tmp_path / "b.bin", *(books.entry(START, move) for move in ("e2e4", "d2d4")))
    with Book(path) as book:
        path.write_bytes(b"")
        with pytest.raises(BookError, match="cut short"):
            book.moves(Board())


@given(st.binary(max_size=200), st.integers(0, 40))
@settings(max_examples=scaled(200), deadline=None)
def test_odd_bytes(tmp_path_factory, noise, place):
    """A book with a stretch of anything in it: an error that is meant, or legal moves."""
    good = b"".join(sorted(books.entry(START, move) for move in ("e2e4", "d2d4", "g1f3")))
    path = tmp_path_factory.mktemp("odd") / "b.bin"
    path.write_bytes(good[:place] + noise + good[place:])
    board = Board()
    try:
        book = Book(path)
    except BookError:
        return
    with book:
        for each in book.moves(board):
            assert board.is_legal(each.move)


# Choosing


MOVES = [BookMove(1, 60), BookMove(2, 30), BookMove(3, 10), BookMove(4, 0)]


def test_variety_0_is_always_the_best():
    assert {choose(MOVES, 0, random.Random(seed)) for seed in range(50)} == {MOVES[0]}


def test_variety_100_follows_the_weights():
    """4,000 throws: each share within five standard deviations, and never the move with weight 0."""
    rng = random.Random(3)
    count = 4000
    drawn = [choose(MOVES, 100, rng) for _ in range(count)]
    for each, share in zip(MOVES, shares(MOVES), strict=True):
        assert abs(drawn.count(each) - count * share) <= 5 * (count * share * (1 - share)) ** 0.5


def test_less_variety_prefers_the_heavier():
    """At 50 the weights count squared: 36 to 9 to 1."""
    rng = random.Random(4)
    count = 4000
    drawn = [choose(MOVES, 50, rng) for _ in range(count)]
    for each, share in zip(MOVES, (36 / 46, 9 / 46, 1 / 46, 0), strict=True):
        assert abs(drawn.count(each) - count * share) <= 5 * (count * share * (1 - share)) ** 0.5
    assert choose([], 50, rng) is None

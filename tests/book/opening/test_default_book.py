"""The book that comes with Quetzal, and the repertoire that it is made from."""

import re
import sys

import chess
import chess.pgn
import pytest
from support import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import make_book

from board import Board
from book.opening.polyglot import default_book
from book.opening.repertoire import opening_names, read_repertoire
from book.opening.verify import verify

LINES = read_repertoire()
MAIN_FIRST_MOVES = {"e4", "d4", "Nf3", "c4", "b3", "f4", "g3", "Nc3", "b4"}
# What a player of White has to be ready for, and of Black.
MAIN_REPLIES = {
    "e4": {"e5", "c5", "e6", "c6", "d5", "d6", "g6", "Nf6"},
    "d4": {"d5", "Nf6", "f5", "e6", "c5"},
    "c4": {"e5", "c5", "Nf6", "e6", "c6"},
    "Nf3": {"d5", "c5", "g6"},
}


def test_the_repertoire_is_broad():
    assert len(LINES) >= 150
    assert len({line.title for line in LINES}) == len(LINES)
    assert {line.moves[0] for line in LINES} >= MAIN_FIRST_MOVES
    for first, replies in MAIN_REPLIES.items():
        assert {line.moves[1] for line in LINES if line.moves[0] == first} >= replies
    assert all(re.fullmatch(r"[A-E][0-9][0-9]", line.code) for line in LINES)
    assert all(8 <= len(line.moves) <= 30 for line in LINES)
    assert len({tuple(line.moves) for line in LINES}) == len(LINES)


def test_the_repertoire_is_legal_for_python_chess_too():
    for line in LINES:
        board = chess.Board()
        for move in line.moves:
            assert board.san(board.parse_san(move)) == move, line.title
            board.push_san(move)


@pytest.mark.parametrize("text", ["C20 Wrong: e4 e4", "no colon", "C20: e4"])
def test_mistakes_in_the_repertoire_are_named(tmp_path, text):
    path = tmp_path / "r.txt"
    path.write_text(f"# remark\n\n{text}\n")
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}:3:"):
        read_repertoire(path)


@pytest.mark.parametrize(
    ("moves", "name"),
    [
        ("", ""),
        ("e2e4", ""),  # lines with all names go through it
        ("e2e4 e7e5 g1f3 b8c6 f1b5", "Ruy Lopez"),
        ("e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1 f6e4 f1e1", "Ruy Lopez, Berlin Defence, Re1"),
        ("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 a2a3 h7h6", "Ruy Lopez, Exchange"),  # the last one with a name
    ],
)
def test_openings_have_names(moves, name):
    assert opening_names().of_game(moves.split()) == name


def test_a_transposition_has_the_same_name():
    board = Board()
    for move in ["Nf3", "Nc6", "e4", "e5", "Bb5"]:
        board.push_san(move)
    assert opening_names().of(board) == "Ruy Lopez"


def test_the_book_is_what_the_script_makes(tmp_path):
    make_book.build(tmp_path / "book.bin")
    assert (tmp_path / "book.bin").read_bytes() == make_book.BOOK.read_bytes()
    assert make_book.BOOK.stat().st_size <= 1_000_000


def test_every_line_is_in_the_book():
    with default_book() as book:
        for line in LINES:
            board = Board()
            for text in line.moves:
                move = board.parse_san(text)
                assert any(each.move == move and each.weight > 0 for each in book.moves(board)), line.title
                board.push(move)


def test_the_book_has_no_faults():
    with default_book() as book:
        verdict = verify(book)
    assert verdict.faults == []
    assert verdict.reached >= 0.99 * verdict.positions


def test_games_were_played_from_every_line():
    titles = {}
    with open(make_book.GAMES, encoding="utf-8") as file:
        while (headers := chess.pgn.read_headers(file)) is not None:
            assert headers["Result"] in ("1-0", "0-1", "1/2-1/2")
            titles[headers["Event"]] = titles.get(headers["Event"], 0) + 1
    assert set(titles) == {line.title for line in LINES}
    assert min(titles.values()) >= 2


def test_a_game_can_be_repeated():
    """The same seed, the same game; another seed, another one among a few."""
    from random import Random

    from search import Searcher

    searcher = Searcher(megabytes=8)
    line = LINES[-1]
    games = [make_book.play_game(searcher, line, 200, Random(seed)) for seed in (1, *range(1, 13))]
    assert games[0] == games[1]
    assert len({tuple(moves) for moves, _ in games}) > 1
    assert all(
        moves[: len(line.moves)] == line.moves and result in ("1-0", "0-1", "1/2-1/2") for moves, result in games
    )

"""The moves of PGN games: against python-chess, in all the ways that they are written, and when they are wrong."""

import io
import random
import re

import books
import chess
import chess.pgn
import chess.polyglot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import SCALE, scaled

from board import STARTING_FEN, Board
from book.opening.movetext import replay
from book.opening.pgn import split_games


def plies_of(game):
    """Keys and moves of a game by python-chess."""
    board = game.root() if isinstance(game, chess.Board) else chess.Board()
    for move in game.move_stack:
        yield chess.polyglot.zobrist_hash(board), books.code(board.uci(move, chess960=True))
        board.push(move)


def decorated(rng, game):
    """The game as PGN, with comments, variations, glyphs and everything else that has nothing to do with its moves."""
    node = root = chess.pgn.Game()
    for move in game.move_stack:
        if rng.random() < 0.1:
            node.add_variation(next(iter(node.board().legal_moves)), comment="a (bracket} in; it".replace("}", ""))
        if rng.random() < 0.1 and node.variations:
            node.variations[-1].add_variation(next(iter(node.variations[-1].board().legal_moves)), nags=[6])
        rare = node.add_main_variation(move)
        if rng.random() < 0.2:
            rare.comment = rng.choice(("[%clk 0:01:00]", "1. e4 e5 ( $3", "x\n[Event in a comment]\n1-0", "é"))
        if rng.random() < 0.2:
            rare.nags.add(rng.randrange(1, 140))
        node = rare
    return str(root)


def test_random_games():
    rng = random.Random(11)
    seen = set()
    for _ in range(scaled(150)):
        game = books.random_game(rng, 120)
        text = decorated(rng, game)
        (found,) = split_games(io.BytesIO(text.encode()))
        assert replay(Board(), found.text) == list(plies_of(game)), text
        most = rng.randrange(60)
        assert replay(Board(), found.text, most) == list(plies_of(game))[:most]
        seen |= set(text)
    assert seen >= set("{}()$=+#O") or SCALE < 1


@pytest.mark.parametrize(
    ("fen", "written", "move"),
    [
        (STARTING_FEN, "Nf3", "g1f3"),
        (STARTING_FEN, "Ngf3", "g1f3"),
        (STARTING_FEN, "N1f3", "g1f3"),
        (STARTING_FEN, "Ng1f3", "g1f3"),
        (STARTING_FEN, "Ng1-f3", "g1f3"),
        (STARTING_FEN, "Nf3!?", "g1f3"),
        (STARTING_FEN, "1.Nf3", "g1f3"),
        (STARTING_FEN, "1 . Nf3", "g1f3"),
        (STARTING_FEN, "1 Nf3", "g1f3"),
        (STARTING_FEN, "e4", "e2e4"),
        (STARTING_FEN, "e2e4", "e2e4"),
        (STARTING_FEN, "e2-e4", "e2e4"),
        (STARTING_FEN, "Pe4", "e2e4"),
        (STARTING_FEN, "$1 +- = e4 +/- !?", "e2e4"),
        (STARTING_FEN, "% e5\n e4", "e2e4"),
        (STARTING_FEN, "; e5\n e4", "e2e4"),
        (STARTING_FEN, "{e5} (d4 (c4 {)} Nf6) {(} d5) e4", "e2e4"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "O-O", "e1h1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "0-0", "e1h1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "0-0-0", "e1a1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "1...O-O-O+", "e8a8"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e8=Q", "e7e8q"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e8N", "e7e8n"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e7e8r", "e7e8r"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "exd8=B+", "e7d8b"),
        ("3n4/4P3/8/8/8/8/8/K1k5 w - - 0 1", "e7:d8/Q", "e7d8q"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "exd6", "e5d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "exd6e.p.", "e5d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "exd6 e.p.", "e5d6"),
        ("4k3/8/8/8/8/8/3b4/1N2KN2 w - - 0 1", "Nbxd2", "b1d2"),
        ("4k3/8/8/8/8/8/3b4/4KN2 w - - 0 1", "Nxd2", "f1d2"),
    ],
)
def test_ways_to_write_a_move(fen, written, move):
    ((key, code),) = replay(Board(fen), written.encode())
    assert code == books.code(move)
    assert key == chess.polyglot.zobrist_hash(chess.Board(fen))


@pytest.mark.parametrize("result", ["1-0", "0-1", "1/2-1/2", "1/2", "*"])
def test_the_result_ends_the_game(result):
    assert len(replay(Board(), f"1. e4 {result} e5".encode())) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("e4 e4", "'e4' is not a legal move here"),
        ("e4 Hello", "'Hello' is no move"),
        ("e4 K", "'K' is no move"),
        ("Nf3 d5 Na3 d4 Nd2", "'Nd2' is not a legal move here"),
        ("a4 h5 Ra3 h4 Rh3 g5 Na3 g4 Nf3 f6 Nb1 f5 N1", "is no move"),
        ("Nc3 a6 Nf3 a5 Nd4 a4 Ne4 a3 Nb5 Ra6 Nc3", "can mean several moves"),
        ("e4 {a comment", "a comment has no end"),
        ("e4 (d4 d5", "a variation has no end"),
        ("O-O", "'O-O' is not a legal move here"),
        ("e8=Q", "'e8=Q' is not a legal move here"),
        ("e8=K", "'e8=K' is no move"),
        ("e9", "'e9' is no move"),
        ("Nf3\x00", "is no move"),
    ],
)
def test_wrong_moves(text, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        replay(Board(), text.encode())


def test_what_lies_behind_the_depth_is_not_looked_at():
    assert len(replay(Board(), b"e4 e5 nonsense {", 2)) == 2
    assert replay(Board(), b"nonsense", 0) == []


@given(st.binary(max_size=300))
@settings(max_examples=scaled(300), deadline=None)
def test_any_bytes(data):
    try:
        line = replay(Board(), data)
    except ValueError:
        return
    board = chess.Board()
    for key, code in line:
        assert key == chess.polyglot.zobrist_hash(board)
        legal = {books.code(board.uci(move, chess960=True)): move for move in board.legal_moves}
        board.push(legal[code])


WORDS = [
    "e4",
    "e5",
    "Nf3",
    "Nc6",
    "O-O",
    "1.",
    "2...",
    "{",
    "}",
    "(",
    ")",
    ";",
    "\n",
    "$5",
    "1-0",
    "*",
    "%",
    "[",
    '"',
    "!?",
]


@given(st.lists(st.sampled_from(WORDS), max_size=40))
@settings(max_examples=scaled(300), deadline=None)
def test_any_words(words):
    try:
        line = replay(Board(), " ".join(words).encode())
    except ValueError:
        return
    assert len(line) <= len(words)

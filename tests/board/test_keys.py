"""Zobrist keys: Polyglot's published examples, and what our own key counts differently."""

import pytest

from board import Board

# The nine positions of the Polyglot book format's description, with their keys.
PUBLISHED = [
    ("", 0x463B96181691FC9C),
    ("e2e4", 0x823C9B50FD114196),
    ("e2e4 d7d5", 0x0756B94461C50FB0),
    ("e2e4 d7d5 e4e5", 0x662FAFB965DB29D4),
    ("e2e4 d7d5 e4e5 f7f5", 0x22A48B5A8E47FF78),
    ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652A607CA3F242C1),
    ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00FDD303C946BDD9),
    ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3C8123EA7B067637),
    ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5C3F9B829B279560),
]


@pytest.mark.parametrize(("moves", "key"), PUBLISHED)
def test_published_keys(moves, key):
    board = Board()
    for move in moves.split():
        board.push_uci(move)
    assert board.polyglot_key == key
    assert Board(board.fen()).polyglot_key == key


def test_illegal_en_passant_counts_for_polyglot_only():
    pinned = "4k3/4r3/8/3pP3/8/8/8/4K3 w - {} 0 2"
    passed, plain = Board(pinned.format("d6")), Board(pinned.format("-"))
    assert passed.key == plain.key
    assert passed.polyglot_key != plain.polyglot_key
    assert plain.polyglot_key == plain.key


def test_legal_en_passant_counts_for_both():
    fen = "4k3/8/8/3pP3/8/8/8/4K3 w - {} 0 2"
    passed, plain = Board(fen.format("d6")), Board(fen.format("-"))
    assert passed.key == passed.polyglot_key != plain.key


def test_keys_tell_turn_and_rights_apart():
    fens = ["4k3/8/8/8/8/8/8/R3K2R w KQ -", "4k3/8/8/8/8/8/8/R3K2R w K -", "4k3/8/8/8/8/8/8/R3K2R w Q -"]
    fens += ["4k3/8/8/8/8/8/8/R3K2R w - -", "4k3/8/8/8/8/8/8/R3K2R b - -"]
    assert len({Board(fen).key for fen in fens}) == len(fens)


@pytest.mark.parametrize(
    ("move", "changed"),
    [
        ("Nc3", {"minors", "white pieces"}),
        ("e4", {"pawns"}),
        ("Bxc6", {"minors", "white pieces", "black pieces"}),
        ("O-O", {"white pieces"}),
        ("Qxh7", {"white pieces", "pawns"}),
    ],
)
def test_partial_keys_change_with_their_pieces_only(move, changed):
    board = Board("r1bqkbnr/pppp1ppp/2n5/1B2p2Q/8/8/PPPPPPPP/RNB1K2R w KQkq - 0 1")
    before = board.partial_keys
    board.push_san(move)
    after = board.partial_keys
    assert {name for name in after if after[name] != before[name]} == changed


def test_a_promotion_leaves_the_pawn_key():
    board = Board("4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    assert board.partial_keys["pawns"] != 0
    board.push_san("a8=N")
    assert board.partial_keys["pawns"] == 0
    assert board.partial_keys["minors"] != 0

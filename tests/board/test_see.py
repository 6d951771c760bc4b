"""Static exchange evaluation: exchanges worked out by hand, and a public collection of cases."""

import pytest
from support import read_epd

from board import Board

# Pawn 100, knight and bishop 300, rook 500, queen 900. Each line says who takes what.
BY_HAND = [
    # a free pawn
    ("4k3/8/8/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", 100),
    # rook takes pawn, pawn takes rook
    ("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", 100 - 500),
    # pawn takes pawn, pawn takes pawn
    ("4k3/8/4p3/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", 0),
    # the same, but a second pawn takes back
    ("4k3/8/4p3/3p4/2P1P3/8/8/4K3 w - - 0 1", "e4d5", 100),
    # knight takes pawn, bishop takes knight, rook takes bishop: one pawn and bishop for a knight
    ("4k3/8/4b3/3p4/8/2N5/8/3RK3 w - - 0 1", "c3d5", 100),
    # knight takes pawn, pawn takes knight, rook takes pawn (nothing more)
    ("4k3/8/4p3/3p4/8/2N5/8/3RK3 w - - 0 1", "c3d5", 100 - 300 + 100),
    # doubled rooks against one rook: rook takes pawn, rook takes rook, the second rook takes back
    ("3rk3/8/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 100),
    # doubled rooks on both sides: the first capture loses a rook for a pawn
    ("3rk3/3r4/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 100 - 500),
    # queen behind bishop on the diagonal: bishop takes pawn, knight takes bishop, queen takes knight
    ("4k3/8/2n5/4p3/3B4/2Q5/8/4K3 w - - 0 1", "d4e5", 100),
    # only the king defends, and a second attacker forbids it to take
    ("8/8/8/3pk3/8/2N5/8/3RK3 w - - 0 1", "d1d5", 100),
    # only the king defends and may take
    ("8/8/4k3/3p4/8/8/8/3RK3 w - - 0 1", "d1d5", 100 - 500),
    # the king takes last: nobody is left
    ("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1", "e1e2", 100),
    # a quiet move to a safe square, and one into a pawn's mouth
    ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a4", 0),
    ("4k3/8/8/1p6/8/8/8/R3K3 w - - 0 1", "a1a4", -500),
    # a knight offered to a pawn that a pawn takes back
    ("4k3/8/8/1p6/8/1PN5/8/4K3 w - - 0 1", "c3a4", -300 + 100),
    # en passant, free and defended
    ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
    ("4k3/2p5/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 0),
    # en passant opens the file behind the captured pawn for its own side
    ("3rk3/8/8/3pP3/8/8/8/3RK3 w - d6 0 1", "e5d6", 100),
    # castling fights for nothing
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", 0),
    # promotion: safe, and recaptured
    ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8q", 900 - 100),
    ("1r5k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8q", -100),
    ("1r5k/P7/8/8/8/8/8/K7 w - - 0 1", "a7b8q", 500 + 900 - 100),
    ("1rr4k/P7/8/8/8/8/8/K7 w - - 0 1", "a7b8q", 500 - 100),
    ("1rr4k/P7/8/8/8/8/8/K7 w - - 0 1", "a7b8n", 500 - 100),
    # for Black
    ("3rk3/8/8/8/3P4/4P3/8/4K3 b - - 0 1", "d8d4", 100 - 500),
]


def value(board, move):
    """The exact value, from the yes-or-no question; every value is a whole number of pawns."""
    reached = [threshold for threshold in range(-1000, 2001, 100) if board.see(move, threshold)]
    assert reached == list(range(-1000, reached[-1] + 1, 100))
    return reached[-1]


@pytest.mark.parametrize(("fen", "move", "expected"), BY_HAND)
def test_worked_by_hand(fen, move, expected):
    board = Board(fen)
    number = board.parse_uci(move)
    assert value(board, number) == expected
    assert board.see(number, expected)
    assert not board.see(number, expected + 1)


def test_the_threshold_is_zero_by_default():
    board = Board("4k3/8/4p3/3p4/8/8/8/3RK3 w - - 0 1")
    assert not board.see(board.parse_uci("d1d5"))
    assert board.see(board.parse_uci("d1d4"))


def test_public_collection():
    cases = read_epd("see.epd")
    assert len(cases) >= 60
    for fen, case in cases:
        board = Board(fen)
        assert value(board, board.parse_san(case["sm"])) == int(case["see"]), fen

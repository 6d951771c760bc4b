"""Endings: draws score as draws, wins as wins that grow towards mate, king and pawn against king exactly."""

import chess
import chess.syzygy
import pytest
from tables import DIRECTORY

from board import Board
from eval import evaluate_classical as evaluate
from eval import explain, is_won_pawn_ending


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/4k3/8/8/3K4/8/8 w - - 0 1",  # kings
        "8/8/4k3/8/8/3KB3/8/8 w - - 0 1",  # a bishop
        "8/8/4k3/8/8/3KN3/8/8 b - - 0 1",  # a knight
        "8/8/4k3/8/8/3KNN2/8/8 w - - 0 1",  # two knights
        "8/8/4kb2/8/8/3KB3/8/8 w - - 0 1",  # a bishop each
        "8/8/4kn2/8/8/3KB3/8/8 w - - 0 1",  # bishop against knight
        "8/8/4kb2/8/8/3KN3/8/8 b - - 0 1",
        "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1",  # stalemate ahead
        "k7/8/K7/P7/8/8/8/8 w - - 0 1",  # the rook pawn
        "k7/8/8/1K6/P7/4B3/8/8 w - - 0 1",  # … with the wrong bishop
        "k7/P7/8/1K6/P7/4B3/8/8 b - - 0 1",
        "8/8/8/3b4/p7/1k6/8/K7 b - - 0 1",
        "7k/5K2/6Q1/8/8/8/8/8 b - - 0 1",  # stalemate
    ],
)
def test_draws_score_as_draws(fen):
    assert evaluate(Board(fen)) == 0


def test_right_bishop_is_no_draw():
    assert evaluate(Board("k7/8/8/1K6/P7/3B4/8/8 w - - 0 1")) > 300


def test_rook_against_minor_piece_is_nearly_a_draw():
    assert abs(evaluate(Board("8/4k3/4n3/8/8/3KR3/8/8 w - - 0 1"))) < 60
    assert abs(evaluate(Board("8/4k3/4b3/8/8/3KR3/8/8 b - - 0 1"))) < 60


def test_opposite_bishops_take_from_the_advantage():
    opposite = "8/5k2/3b4/8/8/3B4/3PPP2/4K3 w - - 0 1"
    same = "8/5k2/4b3/8/8/3B4/3PPP2/4K3 w - - 0 1"
    assert 0 < evaluate(Board(opposite)) < evaluate(Board(same)) * 3 // 4
    assert explain(Board(opposite)).scale < 64


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/4k3/8/8/3K1Q2/8/8 w - - 0 1",
        "8/8/4k3/8/8/3KR3/8/8 b - - 0 1",
        "8/8/4k3/8/8/3KBB2/8/8 w - - 0 1",
        "8/8/4k3/8/8/3KBN2/8/8 b - - 0 1",
        "8/8/4k3/8/8/3NNN2/8/4K3 b - - 0 1",
    ],
)
def test_mating_material_wins(fen):
    board = Board(fen)
    assert (-evaluate(board) if board.turn else evaluate(board)) > 4000


def test_score_rises_on_the_way_to_mate():
    """The lone king further out, the other king nearer, promotion, and mate's corner: each step is worth something."""

    def white_view(fen):
        board = Board(fen)
        return -evaluate(board) if board.turn else evaluate(board)

    assert white_view("8/8/8/3k4/8/8/1R6/K7 w - - 0 1") < white_view("8/8/8/k7/8/8/1R6/K7 w - - 0 1")
    assert white_view("8/k7/8/8/8/8/1R6/K7 w - - 0 1") < white_view("8/k7/8/2K5/8/8/1R6/8 w - - 0 1")
    assert white_view("8/4P1k1/4K3/8/8/8/8/8 w - - 0 1") < white_view("4Q3/6k1/4K3/8/8/8/8/8 b - - 0 1")
    # A dark bishop mates on a1 or h8, not on a8 or h1.
    right = white_view("7k/8/5K2/5N2/8/8/8/2B5 w - - 0 1")
    wrong = white_view("k7/8/2K5/2N5/8/8/8/2B5 w - - 0 1")
    assert right > wrong + 200
    # Queen against rook: the edge again.
    assert white_view("8/8/3k4/3r4/8/8/1Q6/K7 w - - 0 1") < white_view("3k4/3r4/8/8/8/8/1Q6/K7 w - - 0 1")


@pytest.mark.parametrize("file", "abcd")
def test_king_and_pawn_against_king_is_exact(file):
    """Every legal position with White's pawn on one file, and its mirror image, against the Syzygy tables."""
    compared = 0
    board = chess.Board(None)
    with chess.syzygy.open_tablebase(str(DIRECTORY)) as tables:
        for pawn in range(8 + "abcdefgh".index(file), 56, 8):
            for white_king in range(64):
                if white_king == pawn:
                    continue
                for black_king in range(64):
                    if black_king in (pawn, white_king) or chess.square_distance(white_king, black_king) < 2:
                        continue
                    board.clear()
                    board.set_piece_at(pawn, chess.Piece(chess.PAWN, chess.WHITE))
                    board.set_piece_at(white_king, chess.Piece(chess.KING, chess.WHITE))
                    board.set_piece_at(black_king, chess.Piece(chess.KING, chess.BLACK))
                    for turn in (chess.WHITE, chess.BLACK):
                        board.turn = turn
                        if board.was_into_check():
                            continue
                        won = tables.probe_wdl(board) * (1 if turn else -1) > 0
                        assert is_won_pawn_ending(white_king, black_king, pawn, turn) == won, board.fen()
                        mirrored = (square ^ 7 for square in (white_king, black_king, pawn))
                        assert is_won_pawn_ending(*mirrored, turn) == won, f"{board.fen()}, mirrored"
                        compared += 1
    assert compared > 40_000

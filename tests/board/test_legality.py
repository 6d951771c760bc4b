"""Moves that a hash table may hand over: every number of 16 bits is judged rightly in every position."""

import chess
import pytest
from support import ALL_FENS, CHESS960, STANDARD, scaled

from board import Board, MoveError

ENCODINGS = range(65536)
CASTLING, EN_PASSANT = 2, 5
BATCHES = 8


def batch(items, number):
    """One part of a list, shortened for slow builds but never to nothing."""
    part = items[number::BATCHES]
    return part[: scaled(len(part))]


def coordinates(move):
    """The UCI text of an encoding (see board/types.pxd), whether or not the move can be played."""
    text = chess.square_name(move & 63) + chess.square_name(move >> 6 & 63)
    return text + ("nbrq"[move >> 12 & 3] if move >> 15 else "")


@pytest.mark.parametrize("number", range(BATCHES))
def test_all_encodings(number):
    for fen, chess960 in batch(ALL_FENS, number):
        board = Board(fen, chess960=chess960)
        generated = sorted(board.legal_moves())
        assert [move for move in ENCODINGS if board.is_legal(move)] == generated, fen
        assert sorted(board.tactical_moves() + board.quiet_moves()) == generated, fen


@pytest.mark.parametrize("number", range(BATCHES))
def test_pseudo_legal_moves_are_those_of_python_chess(number):
    """Without castling and en passant, for which the two programs draw the line elsewhere (both exactly when legal)."""
    for fen, chess960 in batch(ALL_FENS, number):
        board = Board(fen, chess960=chess960)
        theirs = chess.Board(fen, chess960=chess960)
        ours = [move for move in ENCODINGS if board.is_pseudo_legal(move)]
        assert {coordinates(move) for move in ours if move >> 12 not in (CASTLING, EN_PASSANT)} == {
            theirs.uci(move)
            for move in theirs.pseudo_legal_moves
            if not theirs.is_castling(move) and not theirs.is_en_passant(move)
        }, fen
        assert set(board.legal_moves()) <= set(ours), fen


@pytest.mark.parametrize("number", range(BATCHES))
def test_moves_of_other_positions(number):
    """All moves of all positions, tried in each of them."""
    pool = set()
    for fen, chess960 in ALL_FENS:
        pool.update(Board(fen, chess960=chess960).legal_moves())
    assert len(pool) > 1500
    for fen, chess960 in batch(ALL_FENS, number):
        board = Board(fen, chess960=chess960)
        assert {move for move in pool if board.is_legal(move)} == pool & set(board.legal_moves()), fen


@pytest.mark.parametrize("number", range(BATCHES))
def test_perft_through_legality(number):
    """Leaves of two plies, counted by asking about every encoding instead of generating."""
    known = [(fen, totals, False) for fen, totals in STANDARD] + [(fen, totals, True) for fen, totals in CHESS960]
    small = [case for case in known if case[1][1] <= 25]
    for fen, totals, chess960 in batch(small, number):
        board = Board(fen, chess960=chess960)
        leaves = 0
        for move in ENCODINGS:
            if board.is_legal(move):
                board.push(move)
                leaves += sum(map(board.is_legal, ENCODINGS))
                board.pop()
        assert leaves == totals[2], fen


@pytest.mark.parametrize("number", range(BATCHES))
def test_gives_check(number):
    """Two plies deep, the answer is what making the move shows."""

    def look(board, depth):
        for move in board.legal_moves():
            foreseen = board.gives_check(move)
            board.push(move)
            assert board.is_check() == foreseen, (board.fen(), move)
            if depth > 1:
                look(board, depth - 1)
            board.pop()

    for fen, chess960 in batch(ALL_FENS, number):
        look(Board(fen, chess960=chess960), 2)


@pytest.mark.parametrize("move", [-1, 0, 65536, 1 << 40])
def test_numbers_that_are_no_moves(move):
    board = Board()
    assert not board.is_pseudo_legal(move)
    assert not board.is_legal(move)
    for ask in (board.push, board.uci, board.san, board.see, board.gives_check):
        with pytest.raises(MoveError, match="not legal here"):
            ask(move)
    assert board.ply == 0


def test_a_move_of_another_position_is_refused():
    board = Board()
    reply = Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").parse_uci("e7e5")
    with pytest.raises(MoveError, match=f"move {reply} is not legal here"):
        board.push(reply)

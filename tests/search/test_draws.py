"""Stalemate, the fifty-move rule and repetition: taken when losing, avoided when winning."""

import pytest
from searching import assert_mates, play, san_line, think

from board import Board, Termination
from search import Limits, Searcher

DRAWN = (-1, 0, 1)  # a draw scores zero, give or take one


def test_promoting_to_a_queen_is_stalemate():
    board = Board("8/5P1k/5K2/8/8/8/8/8 w - - 0 1")
    queen, rook = board.parse_san("f8=Q"), board.parse_san("f8=R")
    assert play(board, [queen]).outcome().termination is Termination.STALEMATE
    result = think(board, depth=6)
    assert result.best == rook
    assert_mates(board, result.info, 2)
    assert think(board, depth=6, moves=(queen,)).info.score == 0


def test_the_rook_that_wants_to_be_taken():
    """Black's king is stalemated, so the rook gives check for ever: whoever takes it draws."""
    board = Board("7k/5Q2/8/8/8/8/r7/7K b - - 0 1")
    result = think(board, depth=24)
    assert board.san(result.best) in ("Ra1+", "Rh2+")
    assert result.info.score in DRAWN
    # Without its checks the rook does not hold the queen.
    quiet = tuple(move for move in board.legal_moves() if not board.gives_check(move))
    assert think(board, depth=10, moves=quiet).info.score < -150


def test_perpetual_check_saves_a_lost_game():
    """Queen and rook threaten mate; the queen checks on e8 and h5 until the position repeats. Anything else loses."""
    board = Board("6k1/6p1/8/7Q/8/1q6/r5PP/7K w - - 0 1")
    result = think(board, depth=12)
    assert result.info.score in DRAWN
    assert board.san(result.best) == "Qe8+"
    others = tuple(move for move in board.legal_moves() if move != result.best)
    assert think(board, depth=12, moves=others).info.score < -500


# Mate in two (Kb6 and Rh8, or Kc7 and Ra1), without pawns or captures: three half-moves.
TWO_MOVES = "k7/8/2K5/8/8/8/8/7R w - - {} 80"


@pytest.mark.parametrize("clock", [0, 50, 90, 96, 97])
def test_mate_goes_before_the_fifty_move_rule(clock):
    """At 97 the mating move is the hundredth half-move, and mate ends the game before anybody can claim."""
    board = Board(TWO_MOVES.format(clock))
    result = think(board, depth=8)
    assert_mates(board, result.info, 2)


@pytest.mark.parametrize("clock", [98, 99])
def test_mate_after_the_fifty_move_rule_is_a_draw(clock):
    result = think(TWO_MOVES.format(clock), depth=8)
    assert not result.info.is_mate
    assert result.info.score in DRAWN


def test_mate_in_one_on_the_hundredth_half_move():
    board = Board("k7/8/1K6/8/8/8/8/7R w - - 99 80")
    assert_mates(board, think(board, depth=4).info, 1)


@pytest.mark.parametrize("clock", [97, 98, 99])
def test_the_winning_side_resets_the_counter(clock):
    """Rook and pawn against king: only a pawn move starts the counter anew before it is too late."""
    board = Board(f"8/8/4k3/8/8/8/1P2K3/7R w - - {clock} 80")
    result = think(board, depth=8)
    assert result.info.score > 300
    line = san_line(board, result.info.pv)
    assert any(text.startswith("b") for text in line[: 100 - clock])


def test_the_table_does_not_promise_a_mate_that_comes_too_late():
    """The key of a position does not know the counter: what was learned with a low one is not believed with a high one."""
    searcher = Searcher(megabytes=4)
    results = [searcher.think(Board(TWO_MOVES.format(clock)), Limits(depth=10)).info for clock in (0, 98, 97, 99, 0)]
    assert [info.is_mate for info in results] == [True, False, True, False, True]
    assert results[1].score in DRAWN and results[3].score in DRAWN


def shuffled(fen, moves, times):
    board = Board(fen)
    for _ in range(times):
        for text in moves:
            board.push_uci(text)
    return board


TO_AND_FRO = ("b2b3", "d5d6", "b3b2", "d6d5")


def test_the_winner_does_not_repeat():
    """The queen has gone to and fro. If it goes back once more, Black's king brings the first position about for the
    third time."""
    board = shuffled("8/8/8/3k4/8/8/1Q6/1K6 w - - 0 1", TO_AND_FRO, 1)
    board.push_uci("b2b3")
    board.push_uci("d5d6")
    again = board.parse_uci("b3b2")
    assert play(board, [again, play(board, [again]).parse_uci("d6d5")]).repetitions() == 3
    result = think(board, depth=10)
    assert result.best != again
    assert result.info.is_mate or result.info.score > 500
    assert think(board, depth=10, moves=(again,)).info.score in DRAWN


def test_the_loser_repeats():
    """Black, a queen down, may bring the same position about for the third time, and does."""
    board = shuffled("8/8/8/3k4/8/8/1Q6/1K6 w - - 0 1", TO_AND_FRO, 1)
    for text in ("b2b3", "d5d6", "b3b2"):
        board.push_uci(text)
    result = think(board, depth=8)
    assert board.uci(result.best) == "d6d5"
    assert result.info.score in DRAWN


def test_too_little_to_mate_with_is_a_draw_at_once():
    """White takes the last pawn, or it queens. King and bishop cannot win, however much the bishop counts."""
    result = think("8/8/8/8/8/2k5/3p4/3K1B2 w - - 0 1", depth=6)
    assert result.info.score in DRAWN

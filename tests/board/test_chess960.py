"""Start positions of Chess960, against python-chess's own list."""

import chess
import pytest

from board import STARTING_FEN, Board
from board.chess960 import back_rank, start_fen


def test_all_start_positions_agree_with_python_chess():
    for number in range(960):
        oracle = chess.Board.from_chess960_pos(number)
        assert Board(start_fen(number), chess960=True).fen() == oracle.fen()


def test_the_standard_position_has_number_518():
    assert Board(start_fen(518)).fen() == STARTING_FEN


def test_two_numbers_set_the_sides_up_differently():
    board = Board(start_fen(0, 959), chess960=True)
    assert board.fen(shredder=True).split()[0] == f"{back_rank(959).lower()}/pppppppp/8/8/8/8/PPPPPPPP/{back_rank(0)}"
    assert chess.Board(board.fen(), chess960=True).is_valid()


@pytest.mark.parametrize("number", [-1, 960])
def test_numbers_out_of_range_are_refused(number):
    with pytest.raises(ValueError, match="no number"):
        back_rank(number)

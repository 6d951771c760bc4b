"""What a quiet move's experience depends on."""

import pytest

from board import Board
from search.workbench import learned_score

G1, F3, A8 = 6, 21, 56
BONUS = 1000
# By squares, with these pawns, and as an answer to three moves, of which the earliest counts and learns by half.
EVERYWHERE = BONUS + BONUS + BONUS + BONUS + BONUS // 2 // 2


@pytest.mark.parametrize(
    "then, now, by_squares_too",
    [
        (set(), set(), True),
        ({G1}, {G1}, True),
        ({G1, F3}, {G1, F3}, True),
        ({A8}, set(), True),  # an attack elsewhere changes nothing
        (set(), {G1}, False),  # a move out of an attack is another move …
        (set(), {F3}, False),  # … and so is one into an attack
        ({G1}, {F3}, False),
        ({G1}, {G1, F3}, False),
    ],
)
def test_attacks_tell_moves_apart(then, now, by_squares_too):
    board = Board()
    move = board.parse_uci("g1f3")
    assert learned_score(board, move, BONUS, then, now) == EVERYWHERE - (0 if by_squares_too else BONUS)

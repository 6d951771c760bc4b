"""What are the rules? Positions, moves and everything that chess itself decides.

From Python, `Board` is all you need; compiled modules cimport the parts.
"""

from board.api import BLACK_TO_MOVE, MOST_PHASE, WHITE_TO_MOVE, Board, Outcome, Termination
from board.fen import STARTING_FEN, FenError
from board.notation import MoveError

__all__ = [
    "BLACK_TO_MOVE",
    "MOST_PHASE",
    "STARTING_FEN",
    "WHITE_TO_MOVE",
    "Board",
    "FenError",
    "MoveError",
    "Outcome",
    "Termination",
]

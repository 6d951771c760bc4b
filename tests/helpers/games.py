"""Made-up games for the tests of records and tuner."""

import random

from board import STARTING_FEN, Board
from training.records import Game

WORTH = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}


def balance(board):
    """Material in pawns, White's view."""
    placement = board.fen().split()[0]
    return sum(
        WORTH[letter.lower()] * (1 if letter.isupper() else -1) for letter in placement if letter.lower() in WORTH
    )


def random_game(seed, plies=120, fen=STARTING_FEN, chess960=False, opening=8):
    """Random moves that like to capture; scores follow the material, and the better army wins in the end."""
    rng = random.Random(seed)
    board = Board(fen, chess960=chess960)
    moves, scores = [], []
    while len(moves) < plies:
        legal = board.legal_moves()
        if not legal:
            break
        captures = board.tactical_moves()
        move = rng.choice(captures if captures and rng.random() < 0.3 else legal)
        if len(moves) >= opening:
            scores.append(100 * balance(board) + rng.randrange(-30, 31))
        board.push(move)
        moves.append(move)
    final = balance(board)
    result = 0 if abs(final) < 2 else 1 if final > 0 else -1
    opening = min(opening, len(moves))
    return Game(fen, chess960, opening, moves, scores, result)

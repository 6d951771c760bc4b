"""Games inside this process: no pipes and no clocks, for what is fitted to Quetzal's own play or rated by it.

A player has `new_game()`, and `move(board)`, which returns a move and its score in centipawns of the side to move, or
None for a score that is not known. Self-play for training has its own, compiled loop in selfplay.py.
"""

import random
from typing import NamedTuple

from board import Board
from search import Limits, Searcher
from uci_engine.strength import LineCollector, choose, value


class Ends(NamedTuple):
    """When a game is over before the rules say so."""

    win_score: int = 2500  # centipawns that both sides must see …
    win_plies: int = 6  # … for so many plies
    draw_score: int | None = None  # None: only the rules make draws
    draw_plies: int = 0
    draw_from: int = 0  # not before this ply
    most_plies: int = 300  # drawn then


class Player:
    """Chooses moves with a fixed handicap."""

    def __init__(self, handicap, seed=0, megabytes=4):
        self.handicap = handicap
        self.rng = random.Random(seed)
        self.searcher = Searcher(megabytes=megabytes)
        self.searcher.multipv = handicap.lines

    def new_game(self):
        self.searcher.clear()

    def move(self, board):
        collector = LineCollector()
        result = self.searcher.think(board, Limits(soft_nodes=self.handicap.nodes), collector)
        lines = collector.final_lines(result)
        return lines[choose(lines, self.handicap.spread, self.rng)].pv[0], value(lines[0])

    def close(self):
        self.searcher.close()


def board_of(opening):
    """The board after an opening of the arena."""
    board = Board(opening.fen)
    for move in opening.moves:
        board.push_uci(move)
    return board


def play(white, black, board, ends=None, on_move=None):
    """Plays on from here, and returns White's points. `on_move(board, move, score)` hears of a move before it is made."""
    ends = ends or Ends()
    players = (white, black)
    for player in players if white is not black else (white,):
        player.new_game()
    ahead = level = 0  # plies in a row: with a clear score, White's above 0; with an even one
    while (outcome := board.outcome()) is None:
        if board.ply >= ends.most_plies:
            return 0.5
        move, score = players[board.turn].move(board)
        if on_move is not None:
            on_move(board, move, score)
        if score is not None:
            side = (score >= ends.win_score) - (score <= -ends.win_score)
            side = side if board.turn == 0 else -side
            ahead = ahead + side if side and ahead * side >= 0 else side
            if abs(ahead) >= ends.win_plies:
                return 1.0 if ahead > 0 else 0.0
            is_level = ends.draw_score is not None and board.ply >= ends.draw_from and abs(score) <= ends.draw_score
            level = level + 1 if is_level else 0
            if level and level >= ends.draw_plies:
                return 0.5
        board.push(move)
    return {None: 0.5, 0: 1.0, 1: 0.0}[outcome.winner]

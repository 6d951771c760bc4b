"""Fast games inside one process, for the scripts that fit numbers on Quetzal's own play."""

import random
from pathlib import Path

from board import Board
from search import Limits, Searcher
from uci_engine.strength import LineCollector, choose, value

MOST_PLIES = 300
DECIDED = 2500  # centipawns that both sides must see for three moves to end a game early


class Player:
    """Chooses moves with a fixed handicap, and says what it thinks of the position."""

    def __init__(self, handicap, seed=0, megabytes=4):
        self.handicap = handicap
        self.rng = random.Random(seed)
        self.searcher = Searcher(megabytes=megabytes)
        self.searcher.multipv = handicap.lines

    def new_game(self):
        self.searcher.clear()

    def move(self, board):
        """A move, and the score of the best line in centipawns of the side to move."""
        collector = LineCollector()
        result = self.searcher.think(board, Limits(soft_nodes=self.handicap.nodes), collector)
        lines = collector.final_lines(result)
        return lines[choose(lines, self.handicap.spread, self.rng)].pv[0], value(lines[0])

    def close(self):
        self.searcher.close()


def play(white, black, fen, on_move=None):
    """Plays a game and returns White's points. `on_move(board, score)` hears of every move before it is made."""
    board = Board(fen)
    players = (white, black)
    for player in players:
        player.new_game()
    agreed = 0
    while (outcome := board.outcome()) is None:
        if board.ply >= MOST_PLIES:
            return 0.5
        move, score = players[board.turn].move(board)
        if score is not None:
            if on_move is not None:
                on_move(board, score)
            for_white = score if board.turn == 0 else -score
            side = (for_white >= DECIDED) - (for_white <= -DECIDED)
            agreed = agreed + side if side and agreed * side >= 0 else side
            if abs(agreed) >= 6:
                return 1.0 if agreed > 0 else 0.0
        board.push(move)
    return {None: 0.5, 0: 1.0, 1: 0.0}[outcome.winner]


def openings(path, seed):
    """An endless supply of FENs from an EPD file, in random order."""
    fens = [" ".join(line.split()[:4]) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    rng = random.Random(seed)
    while True:
        yield rng.choice(fens)

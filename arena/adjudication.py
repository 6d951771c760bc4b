"""Ending games whose result is clear: by the engines' own scores, by length, by endgame tables.

The tables are read by python-chess and not by book/endgame, though that is ours and faster: an arbiter should not be one
of the players. A mistake of Quetzal's prober would spoil its play and be confirmed by the verdict.
"""

import os

import chess
import chess.syzygy

from arena.engine import centipawns
from arena.errors import InputError


def open_tables(path):
    """Syzygy tables from one or several directories; InputError where there are none."""
    tables = chess.syzygy.Tablebase()
    found = 0
    for directory in path.split(os.pathsep):
        if not os.path.isdir(directory):
            raise InputError("there is no such directory", directory)
        found += tables.add_directory(directory)
    if not found:
        tables.close()
        raise InputError("there are no Syzygy tables in it", path)
    return tables


def most_men(tables):
    """The number of pieces of the largest table."""
    return max(len(name.replace("v", "")) for name in tables.wdl)


class Adjudicator:
    """Sees every move of one game with the mover's score, and says when it is over: (points of White, reason)."""

    def __init__(self, rules, tables=None):
        self.rules = rules
        self.tables = tables
        self.men = most_men(tables) if tables is not None else 0
        self.losing = [0, 0]  # moves in a row that a side has seen itself lost
        self.winning = [0, 0]
        self.level = 0  # plies in a row with a score near zero

    def judge(self, board, side, thought, move_number):
        """After `side` (0 White, 1 Black) has made a move. `board` has the move on it."""
        rules = self.rules
        score = centipawns(thought)
        if rules.resign_score is not None:
            self.losing[side] = self.losing[side] + 1 if score is not None and score <= -rules.resign_score else 0
            self.winning[side] = self.winning[side] + 1 if score is not None and score >= rules.resign_score else 0
            for loser in (0, 1):
                if self.losing[loser] >= rules.resign_moves and (
                    not rules.resign_both or self.winning[loser ^ 1] >= rules.resign_moves
                ):
                    return float(loser == 1), f"{('White', 'Black')[loser]} resigns"
        if rules.draw_score is not None:
            # A capture or pawn move begins the count anew: something still happens.
            quiet = score is not None and abs(score) <= rules.draw_score and board.halfmove_clock > 0
            self.level = self.level + 1 if quiet else 0
            if move_number >= rules.draw_from and self.level >= 2 * rules.draw_moves:
                return 0.5, "draw by adjudication"
        if self.tables is not None:
            verdict = self.look_up(board)
            if verdict is not None:
                return verdict
        if rules.most_moves is not None and side == 1 and move_number >= rules.most_moves:
            return 0.5, f"draw after {rules.most_moves} moves"
        return None

    def look_up(self, board):
        """The tables' verdict: draws at any time, wins where the fifty-move count begins anew and so cannot spoil them."""
        fen = board.fen(shredder=board.chess960)
        placement, _, castling, *_ = fen.split()
        if castling != "-" or sum(letter.isalpha() for letter in placement) > self.men:
            return None
        position = chess.Board(fen)
        wdl = self.tables.get_wdl(position)
        if wdl is None:
            return None
        if abs(wdl) < 2:
            return 0.5, "draw by endgame tables"
        if board.halfmove_clock > 0:
            return None
        white = (wdl > 0) == (board.turn == 0)
        return float(white), f"{'White' if white else 'Black'} wins by endgame tables"

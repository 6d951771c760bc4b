"""What a score means for the result: the chances to win, draw and lose, as Quetzal's own games went.

A side wins with the probability 1 / (1 + exp((a - score) / b)) and loses with the same of the negated score; the rest
is drawn. `a` is the score at which half of the games are won, `b` how quickly that changes; both move on a straight line
from the last ending to the full board. They belong to the scores of one network, so they are kept beside it:
training/adoption.py writes them. Slow games between strong players are drawn more often than those that it plays.
"""

import functools
import json
import math
import pkgutil
from typing import NamedTuple

from board import MOST_PHASE

MODEL_FILE = "default_wdl.json"  # in eval/, beside the network that comes with the program


class Model(NamedTuple):
    """The numbers of the model, in centipawns."""

    a_endgame: float
    a_middlegame: float
    b_endgame: float
    b_middlegame: float

    def chance(self, score, weight):
        """The probability to win with this score, at this phase of the game."""
        share = weight / MOST_PHASE
        a = self.a_endgame + (self.a_middlegame - self.a_endgame) * share
        b = self.b_endgame + (self.b_middlegame - self.b_endgame) * share
        return 1 / (1 + math.exp(max(-60.0, min(60.0, (a - score) / b))))


@functools.cache
def default_model():
    return Model(**json.loads(pkgutil.get_data("eval", MODEL_FILE))["model"])


def wdl(score, weight):
    """Per mille of wins, draws and losses, which sum to 1000; `weight` is the phase of the board."""
    model = default_model()
    win = round(1000 * model.chance(score, weight))
    loss = min(round(1000 * model.chance(-score, weight)), 1000 - win)
    return win, 1000 - win - loss, loss


def wdl_of(is_mate, score, weight):
    """The same for a score as UCI writes it: a mate is certain."""
    if not is_mate:
        return wdl(score, weight)
    return (1000, 0, 0) if score > 0 else (0, 0, 1000)


def expectation(is_mate, score, weight):
    """The points that a score is worth, from 0 to 1: the chance to win and half of that to draw, without rounding."""
    if is_mate:
        return 1.0 if score > 0 else 0.0
    model = default_model()
    return (1 + model.chance(score, weight) - model.chance(-score, weight)) / 2

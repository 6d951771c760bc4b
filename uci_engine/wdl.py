"""What a score means for the result: the chances to win, draw and lose, as Quetzal's own games went.

A side wins with the probability 1 / (1 + exp((a - score) / b)) and loses with the same of the negated score; the rest
is drawn. `a` is the score at which half of the games are won, `b` how quickly that changes; both move on a straight line
from the last ending to the full board.
"""

import math

# Fitted by `python scripts/fit_wdl.py --games 400 --nodes 3000 --seed 1` in November 2026 with the network g2
# (docs/networks.md): 16,832 positions of 400 games from slightly unbalanced openings (181 white wins, 131 draws, 88 black
# wins), 3,000 nodes per move; mean logarithm of the likelihood -0.6335. Slow games between strong players are drawn more
# often than these.
A_ENDGAME, A_MIDDLEGAME = 174.4, 70.0
B_ENDGAME, B_MIDDLEGAME = 55.6, 114.4

_WEIGHTS = {"n": 1, "b": 1, "r": 2, "q": 4}
FULL = 24


def phase(fen):
    """The weight of the pieces in a FEN: 24 with all of them on the board, 0 with kings and pawns."""
    placement = fen.split(" ", 1)[0].lower()
    return min(FULL, sum(weight * placement.count(letter) for letter, weight in _WEIGHTS.items()))


def wdl(score, weight):
    """Per mille of wins, draws and losses; they sum to 1000."""
    share = weight / FULL
    a = A_ENDGAME + (A_MIDDLEGAME - A_ENDGAME) * share
    b = B_ENDGAME + (B_MIDDLEGAME - B_ENDGAME) * share

    def chance(points):
        return 1 / (1 + math.exp(max(-60.0, min(60.0, (a - points) / b))))

    win = round(1000 * chance(score))
    loss = min(round(1000 * chance(-score)), 1000 - win)
    return win, 1000 - win - loss, loss


def wdl_of(is_mate, score, weight):
    """The same for a score as UCI writes it: a mate is certain."""
    if not is_mate:
        return wdl(score, weight)
    return (1000, 0, 0) if score > 0 else (0, 0, 1000)

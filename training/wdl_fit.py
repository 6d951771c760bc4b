"""Fits the win/draw/loss model of uci_engine/wdl.py to games that Quetzal plays against itself.

Of every game each third position is kept with its score and the game's result. The four numbers of the model are those
under which these results are most likely.
"""

import collections
import math
from typing import NamedTuple

from training.fast_games import Player, board_of, play
from uci_engine.strength import Handicap
from uci_engine.wdl import Model

_WIDTH = 10  # centipawns per bucket of scores
_MOST = 1500  # scores beyond are cut: there the result is settled
_EVERY = 3
_START = Model(150.0, 200.0, 60.0, 90.0)
_FIRST_STEP, _LAST_STEP = 40.0, 0.4


class Fit(NamedTuple):
    """The model and what it was found from."""

    model: Model
    results: dict  # points of White: games
    positions: int
    log_likelihood: float  # the mean over the positions


def gather(supply, games, nodes, on_game=None):
    """Plays games with the evaluation in use; counts of (score, phase, result) from the side to move, and the results.

    `supply` has the openings by number; `on_game` is called after every game.
    """
    counts, results = collections.Counter(), collections.Counter()
    handicap = Handicap(nodes, 1, 0.0)
    players = (Player(handicap, 1), Player(handicap, 2))
    try:
        for number in range(games):
            seen = []

            def keep(board, move, score, seen=seen, turn=number % _EVERY):
                if board.ply % _EVERY == turn:
                    bucket = round(max(-_MOST, min(_MOST, score)) / _WIDTH) * _WIDTH
                    seen.append((bucket, board.phase, board.turn))

            points = play(*players, board_of(supply[number]), on_move=keep)
            results[points] += 1
            for score, weight, turn in seen:
                counts[score, weight, points if turn == 0 else 1 - points] += 1
            if on_game is not None:
                on_game()
    finally:
        for player in players:
            player.close()
    return counts, dict(results)


def log_likelihood(counts, model):
    """The logarithm of the probability of what happened."""
    total = 0.0
    for (score, weight, result), count in counts.items():
        win, loss = model.chance(score, weight), model.chance(-score, weight)
        chance = win if result == 1 else loss if result == 0 else 1 - win - loss
        total += count * math.log(max(chance, 1e-9))
    return total


def fit(counts):
    """The most likely model: climbs one number at a time with shrinking steps; the surface has a single hill."""
    model, best = _START, log_likelihood(counts, _START)
    step = _FIRST_STEP
    while step > _LAST_STEP:
        improved = False
        for name in Model._fields:
            for change in (step, -step):
                trial = model._replace(**{name: getattr(model, name) + change})
                if min(trial.b_endgame, trial.b_middlegame) < 1:
                    continue
                value = log_likelihood(counts, trial)
                if value > best:
                    best, model, improved = value, trial, True
        if not improved:
            step /= 2
    return model, best


class Promise(NamedTuple):
    """All positions in which something was given about the same chance: how often did it happen?"""

    positions: int
    promised: float  # the mean of the chances
    kept: float  # the share in which it happened


def calibration(counts, model, bins=10):
    """What the model promises beside what happened: Promises for winning, drawing and scoring, by name.

    From the view of both sides, so a loss is the other side's win. Bins without positions are left out.
    """
    sums = {name: [[0, 0.0, 0.0] for _ in range(bins)] for name in ("win", "draw", "points")}
    for (score, weight, result), count in counts.items():
        win, loss = model.chance(score, weight), model.chance(-score, weight)
        seen = [
            ("win", win, result == 1),
            ("win", loss, result == 0),
            ("draw", 1 - win - loss, result == 0.5),
            ("points", (1 + win - loss) / 2, result),
            ("points", (1 + loss - win) / 2, 1 - result),
        ]
        for name, promised, kept in seen:
            entry = sums[name][min(bins - 1, int(promised * bins))]
            entry[0] += count
            entry[1] += count * promised
            entry[2] += count * kept
    return {
        name: [Promise(number, promised / number, kept / number) for number, promised, kept in entries if number]
        for name, entries in sums.items()
    }


def fit_to_games(supply, games, nodes, on_game=None):
    counts, results = gather(supply, games, nodes, on_game)
    positions = sum(counts.values())
    if not positions:
        raise ValueError("the games have no position to fit the model to")
    model, best = fit(counts)
    return Fit(model, results, positions, best / positions)

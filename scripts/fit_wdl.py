"""Fits the win/draw/loss model of uci_engine/wdl.py on Quetzal's own games.

    python scripts/fit_wdl.py --openings openings.epd --games 500 --nodes 3000

Plays games against itself with a fixed number of nodes per move, keeps every third position with its score and the
game's result, and finds the numbers under which these results are most likely: a side wins with the probability
1 / (1 + exp((a - score) / b)), where a and b are straight lines over the phase of the game.
"""

import argparse
import collections
import math
import sys
import time

from arena.openings import Supply, read_openings
from training.fast_games import Player, board_of, play
from uci_engine.strength import Handicap
from uci_engine.wdl import phase

WIDTH = 10  # centipawns per bucket of scores
MOST = 1500  # scores beyond are cut: there the result is settled
EVERY = 3


def gather(options):
    """Counts of (score, phase, result) over all games, from the side to move."""
    counts = collections.Counter()
    handicap = Handicap(options.nodes, 1, 0.0)
    players = (Player(handicap, 1), Player(handicap, 2))
    supply = Supply(read_openings(options.openings), shuffle=True, seed=options.seed)
    points = collections.Counter()
    started = time.perf_counter()
    for number in range(1, options.games + 1):
        seen = []

        def keep(board, move, score, seen=seen, turn=number % EVERY):
            if board.ply % EVERY == turn:
                bucket = round(max(-MOST, min(MOST, score)) / WIDTH) * WIDTH
                seen.append((bucket, phase(board.fen()), board.turn))

        result = play(*players, board_of(supply[number]), on_move=keep)
        points[result] += 1
        for score, weight, turn in seen:
            counts[score, weight, result if turn == 0 else 1 - result] += 1
        if number % 50 == 0:
            print(f"{number} games, {time.perf_counter() - started:.0f} s, {dict(points)}", file=sys.stderr)
    return counts, points


def likelihood(counts, numbers):
    """The logarithm of the probability of what happened."""
    a0, a1, b0, b1 = numbers
    total = 0.0
    for (score, weight, result), count in counts.items():
        share = weight / 24
        a, b = a0 + a1 * share, max(1.0, b0 + b1 * share)
        win = 1 / (1 + math.exp(max(-60.0, min(60.0, (a - score) / b))))
        loss = 1 / (1 + math.exp(max(-60.0, min(60.0, (a + score) / b))))
        chance = win if result == 1 else loss if result == 0 else 1 - win - loss
        total += count * math.log(max(chance, 1e-9))
    return total


def fit(counts):
    """Climbs one number at a time with shrinking steps; the surface has a single hill."""
    numbers = [150.0, 50.0, 60.0, 30.0]
    best = likelihood(counts, numbers)
    step = 40.0
    while step > 0.4:
        improved = False
        for index in range(len(numbers)):
            for change in (step, -step):
                trial = numbers.copy()
                trial[index] += change
                value = likelihood(counts, trial)
                if value > best:
                    best, numbers, improved = value, trial, True
        if not improved:
            step /= 2
    return numbers, best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openings", required=True, metavar="FILE.epd")
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--nodes", type=int, default=3000, help="per move, then the iteration is finished")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts, points = gather(options)
    (a0, a1, b0, b1), best = fit(counts)
    positions = sum(counts.values())
    print(f"# {options.games} games ({points[1.0]} white wins, {points[0.5]} draws, {points[0.0]} black wins),")
    print(f"# {positions} positions, {options.nodes} nodes per move, seed {options.seed};")
    print(f"# mean logarithm of the likelihood {best / positions:.4f}")
    print(f"A_ENDGAME, A_MIDDLEGAME = {a0:.1f}, {a0 + a1:.1f}")
    print(f"B_ENDGAME, B_MIDDLEGAME = {b0:.1f}, {b0 + b1:.1f}")


if __name__ == "__main__":
    main()

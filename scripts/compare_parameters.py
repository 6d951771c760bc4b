"""Plays the engine against itself with other search parameters, in this process, at a fixed number of nodes per move.

    python scripts/compare_parameters.py use_check_extension=0 --games 400
    python scripts/compare_parameters.py futility_base=90 futility_slope=80 --nodes 8000 --sprt 0 10

The named values play against the defaults, every opening with both colours, and the score is from their side. No pipes
and no clocks: only the tree counts, not the time it takes, and other work on the machine does not disturb the result.
"""

import argparse
import math
import multiprocessing
import random
import sys
from pathlib import Path

from board import Board
from search import Limits, Searcher
from search.parameters import TABLE, set_parameter

RESIGN_SCORE, RESIGN_PLIES = 700, 5
DRAW_SCORE, DRAW_PLIES, DRAW_FROM_PLY = 6, 10, 70
MAX_PLIES = 400


def random_opening(dice):
    """Eight random plies from the start; for lack of a file of openings."""
    while True:
        board = Board()
        while board.ply < 8 and board.outcome() is None:
            board.push(dice.choice(board.legal_moves()))
        if board.outcome() is None:
            return board.fen()


def play(fen, players, limits):
    """One game; players are (searcher, parameter values), White first. Returns White's score: 1, 0.5 or 0."""
    board = Board(fen)
    for searcher, _ in players:
        searcher.clear()
    ahead = level = 0
    first_turn = board.turn
    while board.ply < MAX_PLIES:
        outcome = board.outcome()
        if outcome is not None:
            return {None: 0.5, 0: 1.0, 1: 0.0}[outcome.winner]
        searcher, values = players[board.turn]
        for name, value in values.items():
            set_parameter(name, value)
        result = searcher.think(board, limits)
        score = result.info.score if not result.info.is_mate else math.copysign(30000, result.info.score)
        score = score if board.turn == 0 else -score
        ahead = (
            ahead + 1
            if score > RESIGN_SCORE and ahead >= 0
            else ahead - 1
            if score < -RESIGN_SCORE and ahead <= 0
            else 0
        )
        level = level + 1 if abs(score) <= DRAW_SCORE and board.ply + first_turn >= DRAW_FROM_PLY else 0
        if abs(ahead) >= RESIGN_PLIES:
            return 1.0 if ahead > 0 else 0.0
        if level >= DRAW_PLIES:
            return 0.5
        board.push(result.best)
    return 0.5


def play_pair(job):
    """Both games of one opening, as the new parameters' points: 0 to 2."""
    fen, new, nodes, megabytes = job
    old = {each.name: each.default for each in TABLE if each.name in new}
    limits = Limits(nodes=nodes)
    a, b = Searcher(megabytes=megabytes), Searcher(megabytes=megabytes)
    return play(fen, ((a, new), (b, old)), limits) + 1.0 - play(fen, ((b, old), (a, new)), limits)


def elo(score):
    score = min(max(score, 1e-6), 1 - 1e-6)
    return -400 * math.log10(1 / score - 1)


def summary(pairs, bounds):
    """Elo with its 95 % error, and the log-likelihood ratio of an SPRT, from the pentanomial counts."""
    count = sum(pairs)
    mean = sum(index / 4 * number for index, number in enumerate(pairs)) / count
    variance = max(sum(number * (index / 4 - mean) ** 2 for index, number in enumerate(pairs)) / count, 1e-6)
    error = 1.96 * math.sqrt(variance / count)
    ratio = 0.0
    if bounds:
        low, high = (1 / (1 + 10 ** (-bound / 400)) for bound in bounds)
        ratio = count * (high - low) * (2 * mean - low - high) / (2 * variance)
    return elo(mean), (elo(mean + error) - elo(mean - error)) / 2, ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("values", nargs="+", metavar="NAME=VALUE")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--nodes", type=int, default=8000)
    parser.add_argument("--hash", type=int, default=8, metavar="MB")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--openings", help="a file with a FEN per line (default: eight random plies)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"), help="stop when decided (5 %% errors)")
    options = parser.parse_args()
    known = {each.name for each in TABLE}
    new = {}
    for text in options.values:
        name, _, value = text.partition("=")
        if name not in known or not value.lstrip("-").isdecimal():
            parser.error(f"'{text}' is not NAME=VALUE with a known name")
        new[name] = int(value)
    dice = random.Random(options.seed)
    if options.openings:
        fens = [
            line.strip() for line in Path(options.openings).read_text(encoding="utf-8").splitlines() if line.strip()
        ]
        dice.shuffle(fens)
    else:
        fens = [random_opening(dice) for _ in range(options.games // 2)]
    jobs = [(fens[index % len(fens)], new, options.nodes, options.hash) for index in range(options.games // 2)]
    pairs = [0] * 5
    with multiprocessing.Pool(options.processes) as pool:
        for points in pool.imap_unordered(play_pair, jobs):
            pairs[round(points * 2)] += 1
            gain, error, ratio = summary(pairs, options.sprt)
            if sum(pairs) % 25 == 0 and sys.stdout.isatty():
                print(f"{2 * sum(pairs)} games: {gain:+.1f} ± {error:.1f}, LLR {ratio:+.2f}", flush=True)
            if options.sprt and abs(ratio) > 2.94:
                pool.terminate()
                break
    gain, error, ratio = summary(pairs, options.sprt)
    print(
        f"{' '.join(options.values)}: {2 * sum(pairs)} games, Elo {gain:+.1f} ± {error:.1f}, LLR {ratio:+.2f}, "
        f"pairs {pairs}, {options.nodes} nodes"
    )


if __name__ == "__main__":
    main()

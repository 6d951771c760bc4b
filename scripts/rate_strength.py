"""Rates the rungs of uci_engine/strength.py by games: each against the next, and some against Stockfish's own levels.

    python scripts/rate_strength.py ladder --openings openings.epd --games 200 --first 0 --last 5
    python scripts/rate_strength.py anchor --openings openings.epd --games 60 --pairs 1:1350 4:1700 --stockfish PATH
    python scripts/rate_strength.py check --openings openings.epd --games 60 --pairs 1400:1400 --stockfish PATH
    python scripts/rate_strength.py fit RESULTS.txt ...

Openings are played with both colours. Every line gives wins, draws, losses and the difference in Elo with its 95 %
margin. In `check` the first number of a pair is not a rung but a rating, as UCI_Elo gives it. `fit` reads all
these lines and finds the ratings that suit them best. Engines that differ only in depth are further apart against each other
than against anybody else, so differences between rungs count by a common factor, which is fitted too.
"""

import argparse
import math
import re
import time
from pathlib import Path

from arena.client import Client
from arena.openings import Supply, read_openings
from arena.ratings import inverse, solve
from arena.statistics import elo_difference
from training.fast_games import Player, board_of, play
from uci_engine.strength import LADDER, handicap


class Stockfish:
    """Stockfish with UCI_LimitStrength. Its level is a depth at which it picks; thinking longer changes nothing."""

    def __init__(self, path, elo):
        self.client = Client([path])
        share = (elo - 1320) / (3190 - 1320)
        level = max(0.0, min(19.0, ((37.2473 * share - 40.8525) * share + 22.2943) * share - 0.311438))
        self.depth = 1 + int(level)
        self.client.ask("uci", until="uciok")
        self.client.send("setoption name Hash value 16")
        self.client.send("setoption name UCI_LimitStrength value true")
        self.client.send(f"setoption name UCI_Elo value {elo}")

    def new_game(self):
        self.client.send("ucinewgame")
        self.client.ready()

    def move(self, board):
        self.client.lines.clear()
        answer = self.client.ask(f"position fen {board.fen()}", f"go depth {self.depth}", until="bestmove")[-1]
        return board.parse_uci(answer.split()[1]), None

    def close(self):
        self.client.send("quit")
        self.client.__exit__()


def elo(points):
    """A score between 0 and 1 as a difference of ratings, of at most 1200."""
    return elo_difference(max(1e-3, min(1 - 1e-3, points)))


def match(first, second, supply, first_opening, games):
    """Plays pairs of games; the text says how the first fared, and the number is the difference in Elo."""
    results = []
    for number in range(games):
        board = board_of(supply[first_opening + number // 2])
        results.append(play(first, second, board) if number % 2 == 0 else 1 - play(second, first, board))
    mean = sum(results) / len(results)
    margin = 1.96 * math.sqrt(sum((each - mean) ** 2 for each in results) / len(results) / len(results))
    low, high = elo(mean - margin), elo(mean + margin)
    score = f"+{results.count(1.0)} ={results.count(0.5)} -{results.count(0.0)}"
    return f"{score:18} {elo(mean):+7.0f}  [{low:+.0f}, {high:+.0f}]", elo(mean)


def fit(paths):
    """Ratings by weighted least squares: the rungs' ratings and the common factor are the unknowns."""
    line = re.compile(r"(rung|Elo) +(\d+) - (rung|Stockfish) +(\d+) .* ([+-]\d+)  \[([+-]\d+), ([+-]\d+)\]")
    results = [line.match(text) for path in paths for text in path.read_text(encoding="utf-8").splitlines()]
    results = [match.groups() for match in results if match]
    rungs = 1 + max(int(match[1]) for match in results if match[0] == "rung")
    matrix = [[0.0] * (rungs + 1) for _ in range(rungs + 1)]
    right = [0.0] * (rungs + 1)
    for measure, rung, kind, other, difference, low, high in results:
        weight = (3.92 / (int(high) - int(low))) ** 2
        row = [0.0] * (rungs + 1)
        if measure == "rung":
            row[int(rung)] = 1.0
        else:
            # A level between two rungs, by the ladder with which it was played.
            index = next(index for index in range(rungs - 1) if int(rung) <= LADDER[index + 1].elo)
            share = (int(rung) - LADDER[index].elo) / (LADDER[index + 1].elo - LADDER[index].elo)
            row[index], row[index + 1] = 1 - share, share
        value = 0.0
        if kind == "rung":
            row[int(other)], row[rungs] = -1.0, -float(difference)
        else:
            value = float(other) + float(difference)
        for a in range(rungs + 1):
            right[a] += weight * row[a] * value
            for b in range(rungs + 1):
                matrix[a][b] += weight * row[a] * row[b]
    (solution,) = solve(matrix, [right])
    covariance = inverse(matrix)
    for rung in range(rungs):
        print(f"rung {rung:2}  {solution[rung]:5.0f}  +-{1.96 * math.sqrt(covariance[rung][rung]):.0f}")
    print(f"differences between rungs count {solution[rungs]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("ladder", "anchor", "check", "fit"))
    parser.add_argument("results", nargs="*", type=Path, help="files to fit")
    parser.add_argument("--openings", metavar="FILE", help=".epd, .pgn, or .bin for a Polyglot book")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="lowest rung of the ladder")
    parser.add_argument("--last", type=int, default=len(LADDER) - 1, help="highest rung")
    parser.add_argument("--pairs", nargs="*", default=[], metavar="RUNG:ELO", help="rungs and Stockfish's ratings")
    parser.add_argument("--stockfish", default="stockfish", metavar="PATH")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.mode == "fit":
        fit(options.results)
        return
    if options.openings is None:
        parser.error("games need --openings")
    supply = Supply(read_openings(options.openings), shuffle=True, seed=options.seed)
    pairs = [tuple(map(int, pair.split(":"))) for pair in options.pairs]
    if options.mode == "ladder":
        pairs = [(index + 1, index) for index in range(options.first, options.last)]
    for index, (rung, other) in enumerate(pairs):
        started = time.perf_counter()
        weakness = handicap(rung) if options.mode == "check" else LADDER[rung].handicap
        first = Player(weakness, options.seed)
        if options.mode == "ladder":
            second = Player(LADDER[other].handicap, options.seed + 1)
        else:
            second = Stockfish(options.stockfish, other)
        text, _ = match(first, second, supply, index * ((options.games + 1) // 2), options.games)
        name = f"rung {other}" if options.mode == "ladder" else f"Stockfish {other}"
        who = "Elo" if options.mode == "check" else "rung"
        print(f"{who} {rung:2} - {name:15} {text}  ({time.perf_counter() - started:.0f} s)", flush=True)
        first.close()
        second.close()


if __name__ == "__main__":
    main()

"""A match between two engines: pairs of games until there are enough, or until a sequential test has decided."""

import collections

from arena.run import encounter
from arena.statistics import Sprt, estimate


def sprt_from(description):
    return None if description.get("sprt") is None else Sprt(**description["sprt"])


class Tally:
    """What the games between two engines add up to, seen from the first one."""

    def __init__(self, names):
        self.names = names
        self.wins = self.losses = self.draws = 0
        self.pairs = collections.defaultdict(list)
        self.pentanomial = [0] * 5
        self.failures = collections.Counter()
        self.moves = 0
        self.overhead = 0.0
        self.worst_overhead = 0.0

    @property
    def games(self):
        return self.wins + self.losses + self.draws

    def add(self, record, first):
        """`first` is the number of the engine whose side we take."""
        points = record["points"] if record["players"][0] == first else 1 - record["points"]
        self.wins += points == 1
        self.losses += points == 0
        self.draws += points == 0.5
        pair = self.pairs[record["pair"]]
        pair.append(points)
        if len(pair) == 2:
            self.pentanomial[round(2 * sum(pair))] += 1
        if record["failure"] is not None:
            self.failures[record["failed"], record["failure"]] += 1
        count, total, worst = record["overhead"]
        self.moves += count
        self.overhead += total
        self.worst_overhead = max(self.worst_overhead, worst)

    def mean_overhead(self):
        """Milliseconds per move between one engine's answer and the start of the other's clock."""
        return self.overhead / self.moves if self.moves else 0.0


class MatchSchedule:
    """Pairs of games, each from the next opening."""

    def __init__(self, description, supply):
        self.description = description
        self.supply = supply
        self.sprt = sprt_from(description)
        self.games = description["games"]
        self.names = [engine["name"] for engine in description["engines"]]
        self.tally = Tally(self.names)
        self.next_number = 0
        self.verdict = None

    @property
    def total(self):
        """Games to be played, or None where only the test will tell."""
        return self.games

    @property
    def done(self):
        return self.tally.games

    def next_encounter(self):
        number = self.next_number
        if self.games is not None and 2 * number >= self.games:
            return None
        self.next_number += 1
        games = 2 if self.games is None else min(2, self.games - 2 * number)
        return encounter(
            self.description,
            self.supply,
            number,
            (0, 1),
            round_number=number + 1,
            opening_number=number,
            first_game=2 * number,
            games=games,
        )

    def record(self, record):
        self.tally.add(record, 0)
        if self.sprt is not None and self.verdict is None:
            self.verdict = self.sprt.verdict(self.tally.pentanomial)

    def is_over(self):
        if self.verdict is not None:
            return True
        return self.games is not None and self.tally.games >= self.games

    def summary(self):
        tally = self.tally
        known = estimate(tally.pentanomial)
        summary = {
            "games": tally.games,
            "wins": tally.wins,
            "losses": tally.losses,
            "draws": tally.draws,
            "pentanomial": tally.pentanomial,
            "score": known.score,
            "elo": finite(known.elo),
            "elo_low": finite(known.elo_low),
            "elo_high": finite(known.elo_high),
            "normalized_elo": known.normalized_elo,
            "normalized_error": known.normalized_error,
            "los": known.los,
            "failures": [
                {"engine": name, "failure": kind, "games": count} for (name, kind), count in tally.failures.items()
            ],
            "overhead_ms": round(tally.mean_overhead(), 3),
            "worst_overhead_ms": tally.worst_overhead,
        }
        if self.sprt is not None:
            summary["llr"] = self.sprt.llr(tally.pentanomial)
            summary["llr_bounds"] = [self.sprt.lower, self.sprt.upper]
            summary["verdict"] = self.verdict
        return summary


def finite(number):
    """JSON has no infinity."""
    return None if number is None or number in (float("inf"), float("-inf")) else number

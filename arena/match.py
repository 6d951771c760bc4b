"""A match between two engines: pairs of games until there are enough, or until a sequential test has decided."""

import collections

from arena.figures import elo_text, los_text, normalized_text, sample_notes
from arena.repeats import Repeats
from arena.run import encounter
from arena.statistics import Sprt, estimate, finite


def sprt_from(description):
    return None if description.get("sprt") is None else Sprt(**description["sprt"])


class Tally:
    """What the games between two engines add up to, seen from the first one."""

    def __init__(self, names):
        self.names = names
        self.wins = self.losses = self.draws = 0
        self.pairs = collections.defaultdict(list)  # (points, moves) of games that are new
        self.repeats = Repeats()
        self.mirrored = 0  # pairs with the same moves in both games
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
        if not self.repeats.hear(record):
            self.add_to_pair(self.pairs[record["pair"]], points, record)
        if record["failure"] is not None:
            self.failures[record["failed"], record["failure"]] += 1
        count, total, worst = record["overhead"]
        self.moves += count
        self.overhead += total
        self.worst_overhead = max(self.worst_overhead, worst)

    def add_to_pair(self, pair, points, record):
        """A pair counts when both of its games are there, and both are new."""
        pair.append((points, record["moves_hash"] if record["failure"] is None else None))
        if len(pair) == 2:
            (first, moves), (second, others) = pair
            self.pentanomial[round(2 * (first + second))] += 1
            self.mirrored += moves is not None and moves == others

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
        self.stale = 0  # games since the last one that was new

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
        self.stale = self.stale + 1 if record["game"] in self.tally.repeats.games else 0
        if self.sprt is not None and self.verdict is None:
            self.verdict = self.sprt.verdict(self.tally.pentanomial)

    def is_over(self):
        if self.verdict is not None or self.is_exhausted():
            return True
        return self.games is not None and self.tally.games >= self.games

    def is_exhausted(self):
        """Would a test go on for ever, because all openings have been played again without a new game?"""
        return self.games is None and self.stale >= 2 * len(self.supply)

    def notes(self):
        notes = sample_notes(len(self.tally.repeats.games), self.tally.mirrored, self.supply)
        return [*notes, "stopped: no opening brings new games"] if self.is_exhausted() else notes

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
            "texts": {"elo": elo_text(known), "normalized_elo": normalized_text(known), "los": los_text(known)},
            "repeated_games": len(tally.repeats.games),
            "mirrored_pairs": tally.mirrored,
            "notes": self.notes(),
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

"""A tournament: rounds of meetings between several engines, each meeting a number of pairs of games.

What is played depends on nothing but the description and the results, never on the order in which games happen to end, so a
run that is resumed finds the same pairings again.
"""

import math

from arena.figures import rating_text, sample_notes
from arena.pairings import bracket, gauntlet, round_robin, swiss_round
from arena.ratings import fit
from arena.repeats import Repeats
from arena.run import encounter
from arena.standings import standings

FORMATS = ("round-robin", "gauntlet", "swiss", "knockout")
_PAIRS_APART = 1000  # numbers of pairs kept free for each meeting of a knockout, which may need more than planned


class Meeting:
    """Two players, and how many pairs of games they play. Pairs have numbers of their own from `first_pair` on."""

    def __init__(self, players, round_number, pairs, first_pair, first_opening):
        self.players = players
        self.round = round_number
        self.pairs = pairs
        self.first_pair = first_pair
        self.first_opening = first_opening
        self.given = 0
        self.points = [0.0, 0.0]
        self.done = 0  # games

    def hear(self, record):
        first = record["points"] if record["players"][0] == self.players[0] else 1 - record["points"]
        self.points[0] += first
        self.points[1] += 1 - first
        self.done += 1

    def is_over(self):
        return self.done >= 2 * self.pairs


class TournamentSchedule:
    """What `Run` asks for encounters and tells results."""

    def __init__(self, description, supply):
        self.description = description
        self.supply = supply
        self.names = [engine["name"] for engine in description["engines"]]
        self.kind = description["format"]
        self.pairs = description["games"] // 2
        self.records = []
        self.repeats = Repeats()
        self.meetings = []
        self.by_pair = {}
        self.round = 0
        self.byes = {}
        self.stages = dict.fromkeys(range(len(self.names)), 0)
        self.drawn = []  # knockout: the pairs of this round
        self.alive = None  # knockout: the winners of the last round, in the order of the bracket
        self.waiting = {}  # results of pairs that no meeting has asked for yet, by pair
        self.table = None  # the standings and ratings after so many games
        self.fixed = None
        if self.kind == "round-robin":
            self.fixed = list(round_robin(len(self.names), description["rounds"]))
        elif self.kind == "gauntlet":
            self.fixed = list(gauntlet(len(self.names), description["rounds"], description["challengers"]))
        for _ in range(self.rounds if self.fixed is not None else 1):
            self.begin_round()

    # Rounds

    @property
    def rounds(self):
        if self.fixed is not None:
            return len(self.fixed)
        if self.kind == "knockout":
            return max(1, math.ceil(math.log2(len(self.names))))
        return self.description["rounds"]

    @property
    def total(self):
        """Games that are certain to be played."""
        if self.fixed is not None:
            return 2 * self.pairs * sum(len(meetings) for meetings in self.fixed)
        if self.kind == "swiss":
            return 2 * self.pairs * (len(self.names) // 2) * self.rounds
        certain = 2 * self.pairs * (len(self.names) - 1)
        return certain + 2 * sum(meeting.pairs - self.pairs for meeting in self.meetings)

    def begin_round(self):
        """Fixed formats have all their rounds at once; the others wait for the results of the round before."""
        if self.fixed is not None:
            pairs = self.fixed[self.round]
        elif self.kind == "swiss":
            pairs = self.pair_swiss()
        else:
            pairs = self.pair_knockout()
        self.round += 1
        for players in pairs:
            self.add_meeting(players)

    def is_round_over(self):
        return all(meeting.is_over() for meeting in self.meetings)

    def add_meeting(self, players):
        if None in players:
            player = players[0] if players[1] is None else players[1]
            self.byes[player] = self.byes.get(player, 0) + 1
            return
        apart = _PAIRS_APART if self.kind == "knockout" else self.pairs
        # Everybody plays the same openings in a round of the same number.
        cycle = (self.round - 1) // (len(self.fixed) // self.description["rounds"]) if self.fixed else self.round - 1
        meeting = Meeting(players, self.round, self.pairs, apart * len(self.meetings), cycle * self.pairs)
        self.meetings.append(meeting)
        for index in range(self.pairs):
            self.claim(meeting, index)

    def claim(self, meeting, index):
        """Results that are known from before the run was interrupted come first."""
        pair = meeting.first_pair + index
        self.by_pair[pair] = meeting
        for record in self.waiting.pop(pair, []):
            meeting.hear(record)
        self.lengthen(meeting)

    def lengthen(self, meeting):
        """A knockout wants a winner: after a tie another pair is played, as often as the description allows."""
        tied = meeting.is_over() and meeting.points[0] == meeting.points[1]
        if self.kind == "knockout" and tied and meeting.pairs < self.pairs + self.description["extra_pairs"]:
            meeting.pairs += 1
            self.claim(meeting, meeting.pairs - 1)

    def pair_swiss(self):
        points = {row.player: row.points for row in self.rows()}
        met = {frozenset(meeting.players) for meeting in self.meetings}
        order = sorted(range(len(self.names)), key=lambda player: (-points[player], player))
        return swiss_round(order, points, met, self.byes)

    def pair_knockout(self):
        if self.alive is None:
            pairs = bracket(len(self.names))
        else:
            pairs = [(self.alive[index], self.alive[index + 1]) for index in range(0, len(self.alive), 2)]
        self.drawn = pairs
        return pairs

    def settle_knockout(self):
        """The winners of the round that is over; the higher seed after all tied pairs."""
        meetings = {frozenset(meeting.players): meeting for meeting in self.meetings if meeting.round == self.round}
        self.alive = []
        for one, other in self.drawn:
            if other is None or one is None:
                winner = one if other is None else other
            else:
                meeting = meetings[frozenset((one, other))]
                first, second = meeting.points
                winner = meeting.players[0] if first > second else meeting.players[1]
                if first == second:
                    winner = min(meeting.players)
            self.alive.append(winner)
            self.stages[winner] = self.round

    # What Run asks

    def next_encounter(self):
        for meeting in self.meetings:
            if meeting.given < meeting.pairs:
                pair = meeting.first_pair + meeting.given
                opening = meeting.first_opening + meeting.given
                meeting.given += 1
                return encounter(
                    self.description,
                    self.supply,
                    pair,
                    meeting.players,
                    round_number=meeting.round,
                    opening_number=opening,
                    first_game=2 * pair,
                )
        return None

    def record(self, record):
        self.records.append(record)
        self.repeats.hear(record)
        meeting = self.by_pair.get(record["pair"])
        if meeting is None:
            self.waiting.setdefault(record["pair"], []).append(record)
            return
        meeting.hear(record)
        self.lengthen(meeting)
        self.proceed()

    def proceed(self):
        """On to the next round as far as the results lead; several rounds at once when a run is resumed."""
        while self.fixed is None and self.is_round_over():
            if self.kind == "knockout":
                self.settle_knockout()
            if self.round == self.rounds:
                return
            self.begin_round()

    @property
    def done(self):
        return len(self.records)

    def is_over(self):
        return self.round == self.rounds and self.is_round_over()

    # What the results mean

    def rows(self):
        return standings(
            self.names,
            self.records,
            self.kind,
            byes=self.byes,
            stages=self.stages if self.kind == "knockout" else None,
            bye_points=2 * self.pairs if self.kind == "swiss" else 0,
        )

    def ratings(self):
        """A rating for each player, in the order of the description, from games that do not repeat others."""
        anchors = {
            index: engine["rating"]
            for index, engine in enumerate(self.description["engines"])
            if engine["rating"] is not None
        }
        games = [
            (*record["players"], record["points"], record["pair"])
            for record in self.records
            if record["game"] not in self.repeats.games
        ]
        return fit(len(self.names), games, anchors)

    def current_table(self):
        """Standings and ratings, computed once after each game."""
        if self.table is None or self.table[0] != self.done:
            self.table = (self.done, self.rows(), self.ratings())
        return self.table[1:]

    def notes(self):
        return sample_notes(len(self.repeats.games), 0, self.supply)

    def summary(self):
        rows, ratings = self.current_table()
        is_anchored = any(rating.is_anchor for rating in ratings)
        overheads = [record["overhead"] for record in self.records]
        moves = sum(count for count, _, _ in overheads)
        return {
            "games": len(self.records),
            "round": self.round,
            "rounds": self.rounds,
            "repeated_games": len(self.repeats.games),
            "notes": self.notes(),
            "standings": [
                {
                    "place": place,
                    "engine": row.name,
                    "points": row.points,
                    "games": row.games,
                    "wins": row.wins,
                    "draws": row.draws,
                    "losses": row.losses,
                    "byes": row.byes,
                    "direct": row.direct,
                    "buchholz": row.buchholz,
                    "sonneborn_berger": row.sonneborn,
                    "stage": row.stage,
                    "failures": row.failures,
                    "rating": round(ratings[row.player].elo, 1),
                    "rating_error": None
                    if math.isinf(ratings[row.player].error)
                    else round(ratings[row.player].error, 1),
                    "rating_is_bounded": ratings[row.player].is_bounded,
                    "rating_text": rating_text(ratings[row.player], is_anchored),
                    "against": {self.names[other]: scores for other, scores in sorted(row.against.items())},
                }
                for place, row in enumerate(rows, 1)
            ],
            "overhead_ms": round(sum(total for _, total, _ in overheads) / max(1, moves), 3),
            "worst_overhead_ms": max((worst for _, _, worst in overheads), default=0.0),
        }

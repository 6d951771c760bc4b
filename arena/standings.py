"""Standings with tie-breaks, and the cross-table."""

import dataclasses


@dataclasses.dataclass
class Row:
    """One player's line of the table."""

    player: int
    name: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    byes: int = 0
    bye_points: float = 0.0
    buchholz: float = 0.0  # what all opponents have scored, once for each game against them
    sonneborn: float = 0.0  # what beaten opponents have scored, and half of drawn ones
    direct: float = 0.0  # points against those with the same number of points
    stage: int = 0  # knockout: rounds survived
    failures: int = 0
    against: dict = dataclasses.field(default_factory=dict)  # opponent: [points by game, in order]

    @property
    def games(self):
        return self.wins + self.draws + self.losses

    @property
    def points(self):
        return self.wins + self.draws / 2 + self.bye_points

    @property
    def share(self):
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0


def tabulate(names, records):
    """A row for each player, not sorted yet. Records in the order of their numbers."""
    rows = [Row(index, name) for index, name in enumerate(names)]
    for record in sorted(records, key=lambda each: each["game"]):
        white, black = record["players"]
        for player, other, points in ((white, black, record["points"]), (black, white, 1 - record["points"])):
            row = rows[player]
            row.wins += points == 1
            row.losses += points == 0
            row.draws += points == 0.5
            row.against.setdefault(other, []).append(points)
        if record["failure"] is not None:
            loser = white if record["points"] == 0 else black
            rows[loser].failures += 1
    return rows


def break_ties(rows):
    """Fills in the tie-breaks, which need everybody's points."""
    for row in rows:
        row.buchholz = sum(len(scores) * rows[other].points for other, scores in row.against.items())
        row.sonneborn = sum(sum(scores) * rows[other].points for other, scores in row.against.items())
        row.direct = sum(sum(scores) for other, scores in row.against.items() if rows[other].points == row.points)
    return rows


ORDERS = {
    "round-robin": lambda row: (row.points, row.direct, row.sonneborn, row.wins),
    "gauntlet": lambda row: (row.share, row.wins),
    "swiss": lambda row: (row.points, row.buchholz, row.sonneborn, row.wins),
    "knockout": lambda row: (row.stage, row.points),
}


def standings(names, records, kind="round-robin", byes=None, stages=None, bye_points=0.0):
    """Rows from the first place to the last. `byes` counts free rounds, `stages` the rounds survived in a knockout."""
    rows = tabulate(names, records)
    for player, number in (byes or {}).items():
        rows[player].byes = number
        rows[player].bye_points = number * bye_points
    for player, stage in (stages or {}).items():
        rows[player].stage = stage
    break_ties(rows)
    return sorted(rows, key=lambda row: (*(-value for value in ORDERS[kind](row)), row.player))


def points_text(points):
    """Points with a half, as chess players write them."""
    whole = int(points)
    half = "½" if points != whole else ""
    return half if half and whole == 0 else f"{whole}{half}"

"""UCI_LimitStrength: a weaker game on purpose.

A weak player sees less and is content with less. So a limited search gets few nodes, looks at several moves, and then
plays one of those that it believes to be nearly best: every move's score gets a random bonus of at most `spread`
centipawns, and the highest sum is played. What the short search does see, a hanging queen for instance, is not thrown
away at any level. docs/limit-strength.md says how the rungs were rated.
"""

import itertools
from typing import NamedTuple

from search import Listener

# However careless, nobody plays a move that is seen to lose more than this: a piece perhaps, never a queen for one.
VISIBLE = 350

# A mate in one is worth so many centipawns here, each further move 100 less: far more than any spread.
MATE_VALUE = 20000


FULL_SKILL = 20  # the Skill Level that limits nothing


class Handicap(NamedTuple):
    """How a limited search works: no new iteration after `nodes`, `lines` moves to choose from, a bonus up to `spread`."""

    nodes: int
    lines: int
    spread: float


class Rung(NamedTuple):
    elo: int
    handicap: Handicap


# Weakest first; between two rungs the handicap is interpolated. Ratings are measured but for the last, see
# docs/limit-strength.md.
LADDER = (
    Rung(600, Handicap(1, 24, 2000.0)),
    Rung(815, Handicap(1, 16, 1000.0)),
    Rung(1055, Handicap(1, 12, 500.0)),
    Rung(1230, Handicap(1, 10, 320.0)),
    Rung(1385, Handicap(1, 8, 200.0)),
    Rung(1505, Handicap(300, 8, 130.0)),
    Rung(1760, Handicap(1_000, 6, 85.0)),
    Rung(2045, Handicap(2_000, 5, 60.0)),
    Rung(2180, Handicap(4_000, 4, 40.0)),
    Rung(2315, Handicap(8_000, 4, 28.0)),
    Rung(2405, Handicap(16_000, 4, 20.0)),
    Rung(2550, Handicap(32_000, 3, 12.0)),
    Rung(2725, Handicap(64_000, 2, 6.0)),
    Rung(3000, Handicap(500_000, 1, 0.0)),
)


def skill_elo(level):
    """The rating that a Skill Level below FULL_SKILL stands for: equal steps over the range of UCI_Elo."""
    return 800 + 110 * level


def handicap(elo):
    """The handicap for a rating. Nodes are interpolated by their logarithm: a doubling is worth about the same."""
    elo = max(LADDER[0].elo, min(elo, LADDER[-1].elo))
    low, high = next((low, high) for low, high in itertools.pairwise(LADDER) if elo <= high.elo)
    share = (elo - low.elo) / (high.elo - low.elo)
    a, b = low.handicap, high.handicap
    return Handicap(
        nodes=round(a.nodes ** (1 - share) * b.nodes**share),
        lines=max(a.lines, b.lines) if share < 1 else b.lines,
        spread=a.spread * (1 - share) + b.spread * share,
    )


class LineCollector(Listener):
    """Keeps the lines of the last complete iteration, best first."""

    def __init__(self):
        self.lines = []

    def on_info(self, info):
        if info.bound != "exact":
            return
        if info.multipv == 1:
            self.lines = []
        self.lines.append(info)

    def final_lines(self, result):
        """The lines at the end of a search: its result first, then the other moves as they stood."""
        first = result.info._replace(bound="exact")
        others = [line for line in self.lines if line.pv[0] != first.pv[0]]
        room = max(len(self.lines), 1)
        lines = [first, *others][:room]
        return [line._replace(multipv=number) for number, line in enumerate(lines, 1)]


def value(line):
    """A line's score as one number, mates beyond everything else."""
    if not line.is_mate:
        return line.score
    return MATE_VALUE - 100 * line.score if line.score > 0 else -MATE_VALUE - 100 * line.score


def choose(lines, spread, rng):
    """The index of the line that a player of this carelessness plays. `rng` is a random.Random."""
    best = max(value(line) for line in lines)
    chosen, highest = 0, None
    for index, line in enumerate(lines):
        loss = best - value(line)
        if loss > min(spread, VISIBLE):
            continue
        wish = spread * rng.random() - loss
        if highest is None or wish > highest:
            chosen, highest = index, wish
    return chosen

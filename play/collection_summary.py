"""What a review of a collection says of its players."""

from play.verdicts import PHASES, SIDES, Totals


def is_wanted(name, only):
    """Is this the player that was asked for, by a part of the name?"""
    return only is None or only.casefold() in name.casefold()


class Player:
    def __init__(self, name):
        self.name = name
        self.games = 0
        self.totals = Totals()

    def as_json(self):
        return {"name": self.name, "games": self.games, **self.totals.as_json()}


class Summary:
    """The players' totals over all games, and how many games there were. `only` leaves other players out."""

    def __init__(self, only=None):
        self.only = only
        self.by_name = {}
        self.games = self.broken = self.moves = 0

    def add(self, record):
        if "broken" in record:
            self.broken += 1
            return
        self.games += 1
        self.moves += len(record["moves"])
        for side, sums in zip(SIDES, record["sides"], strict=True):
            name = record[side]
            if is_wanted(name, self.only):
                player = self.by_name.setdefault(name, Player(name))
                player.games += 1
                player.totals.add_sums(sums)

    def players(self):
        """Who played most comes first; then the names decide."""
        return sorted(self.by_name.values(), key=lambda player: (-player.games, player.name))

    def as_json(self):
        return {
            "games": self.games,
            "broken": self.broken,
            "moves": self.moves,
            "players": [player.as_json() for player in self.players()],
        }


HEADS = ("player", "games", "moves", "accuracy", "?!", "?", "??", *PHASES)


def row(player):
    """The cells of a player in a table; losses in hundredths of a point a move."""
    totals = player.totals
    return (
        player.name,
        str(player.games),
        str(totals.moves),
        number(totals.accuracy, 1),
        *(str(totals.grades[name]) for name in ("inaccuracy", "mistake", "blunder")),
        *(number(None if (loss := totals.phase_loss(phase)) is None else 100 * loss, 1) for phase in PHASES),
    )


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"

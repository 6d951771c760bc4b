"""Who may still play: an engine that cannot play is out, before it costs a night of games that mean nothing."""

import collections

TIMES = 2  # games lost in the same way, or positions of a suite
_AT_ONCE = ("start", "option", "crash", "disconnect")


def loser_of(record):
    return record["players"][0 if record["points"] == 0 else 1]


def failed_at_once(record):
    """Before or in its first move after the opening: it did not fail at chess."""
    return record["failure"] in _AT_ONCE and record["plies"] - record["book_plies"] <= 1


class Conduct:
    """Hears of every game of this session. Out is who fails at once in two games running, or stalls in two games.

    Games of earlier sessions do not count: whoever resumes a run may have repaired the engine.
    """

    def __init__(self, names):
        self.names = names
        self.at_once = collections.Counter()
        self.stalls = collections.Counter()
        self.out = {}  # player: why

    def hear(self, record):
        """What to say if an engine is out from now on, or None."""
        loser = loser_of(record) if record["failure"] not in (None, "out") else None
        for player in record["players"]:
            if player != loser or not failed_at_once(record):
                self.at_once[player] = 0
        if loser is None or loser in self.out:
            return None
        if failed_at_once(record):
            self.at_once[loser] += 1
        if record["failure"] == "stall":
            self.stalls[loser] += 1
        if max(self.at_once[loser], self.stalls[loser]) < TIMES:
            return None
        self.out[loser] = f"{self.names[loser]} is out: it lost {TIMES} games in the same way ({record['reason']})"
        return self.out[loser]

    def problem(self):
        """Why nothing is left to play, or None."""
        if len(self.names) - len(self.out) >= 2:
            return None
        return "; ".join(self.out.values())

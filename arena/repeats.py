"""Games that repeat earlier ones: played again with the same result, they are no further evidence."""

import hashlib


def moves_hash(record):
    """Equal for games with the same moves from the same position."""
    text = " ".join([record["fen"], *record["moves"]])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


class Repeats:
    """Hears of all games of a contest, as slim records, and tells which ones bring nothing new."""

    def __init__(self):
        self.seen = set()
        self.games = set()  # the numbers of those that repeat others

    def hear(self, record):
        """True if the same engines have played these moves before, with the same colours.

        A failure is never a repeat: each one counts against the engine, and says nothing about its moves.
        """
        if record["failure"] is not None:
            return False
        key = (*record["players"], record["moves_hash"])
        if key in self.seen:
            self.games.add(record["game"])
            return True
        self.seen.add(key)
        return False

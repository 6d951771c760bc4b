"""What a GUI's clock counts beyond the time that the engine knows of: a slow connection, a process that had to wait."""

import time


class Lag:
    """Compares the clock that a `go` shows with the one before it in the same game. Times are milliseconds."""

    def __init__(self):
        self.move = None  # the half-move of the game that is being thought about
        self.left = 0.0  # on its clock, the increment for it included
        self.arrived = 0.0  # when its `go` came, in seconds
        self.expected = None  # half-move and clock of the next `go`

    def started(self, move, limits, arrived):
        """A `go` came: returns what was lost unseen in the move before it, 0.0 where that cannot be known."""
        expected, self.expected, self.move = self.expected, None, None
        if limits.remaining is None or arrived is None:
            return 0.0
        if not limits.ponder:  # how much of the clock a ponderhit leaves is not known
            self.move = move
            self.left = limits.remaining + limits.increment
            self.arrived = arrived
        if expected is None or expected[0] != move:
            return 0.0
        return max(0.0, expected[1] - limits.remaining)

    def answered(self):
        """The `bestmove` is on its way."""
        if self.move is not None:
            self.expected = (self.move + 2, self.left - (time.monotonic() - self.arrived) * 1000)

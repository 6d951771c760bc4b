"""A chess clock for two, in milliseconds."""

import time


class Clock:
    """`base` for each side and `increment` after each move. `now` gives seconds, as time.monotonic does."""

    def __init__(self, base, increment, left=None, now=time.monotonic):
        self.base, self.increment = base, increment
        self._left = list(left or (base, base))
        self._now = now
        self.running = None  # the side whose time runs
        self._since = 0.0

    def left(self, side):
        """What a side still has; never less than nothing."""
        spent = (self._now() - self._since) * 1000 if side == self.running else 0
        return max(0, round(self._left[side] - spent))

    def both(self):
        return [self.left(0), self.left(1)]

    def start(self, side):
        self.stop()
        self.running, self._since = side, self._now()

    def stop(self):
        """Stops for whoever's time runs, without an increment."""
        if self.running is not None:
            self._left[self.running] = self.left(self.running)
            self.running = None

    def press(self, side):
        """A move was made: the side gets its increment and the other one's time runs."""
        self.stop()
        self._left[side] += self.increment
        self.start(1 - side)

    @property
    def has_fallen(self):
        return self.running is not None and self.left(self.running) == 0

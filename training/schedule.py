"""How the learning rate and the result's share of the target change from the beginning of a run to its end."""

import math
import re
from typing import NamedTuple

RATE_CURVES = ("cosine", "linear", "step:N")


class Ramp(NamedTuple):
    """A number that is `first` until the part `begin` of the run is done, and then goes straight to `last`."""

    first: float
    last: float
    begin: float = 0.0

    @classmethod
    def parse(cls, text):
        """`X`, `X:Y` or `X:Y@P`. Raises ValueError."""
        number = r"[0-9.]+(?:e-?[0-9]+)?"
        found = re.fullmatch(rf"({number})(?::({number})(?:@({number}))?)?", text)
        if not found:
            raise ValueError(f"{text}: neither a number X nor a ramp X:Y or X:Y@P")
        first, last, begin = found.groups()
        return cls(float(first), float(last or first), float(begin or 0))

    def __str__(self):
        if self.first == self.last:
            return f"{self.first:g}"
        return f"{self.first:g}:{self.last:g}" + (f"@{self.begin:g}" if self.begin else "")

    def is_share(self):
        """All of it from 0 to 1, and some of the run left to change in."""
        return 0 <= self.first <= 1 and 0 <= self.last <= 1 and 0 <= self.begin < 1

    def at(self, done):
        """`done` is the part of the run that is behind, from 0 to 1."""
        if done <= self.begin:
            return self.first
        return self.first + (self.last - self.first) * (done - self.begin) / (1 - self.begin)


def rate_steps(curve):
    """N of `step:N`, None for the other curves. Raises ValueError for what is no curve."""
    if curve in ("cosine", "linear"):
        return None
    found = re.fullmatch(r"step:([0-9]+)", curve)
    if not found or int(found[1]) < 2:
        raise ValueError(f"the learning rate falls along {', '.join(RATE_CURVES)} (N from 2), not {curve}")
    return int(found[1])


def rate_at(curve, first, last, done):
    """The learning rate once the part `done` of the way from `first` to `last` is behind.

    `step:N` stays at N rates for equal times, each smaller than the one before by the same factor.
    """
    steps = rate_steps(curve)
    if steps:
        return first * (last / first) ** (min(int(steps * done), steps - 1) / (steps - 1))
    left = (1 + math.cos(math.pi * done)) / 2 if curve == "cosine" else 1 - done
    return last + (first - last) * left

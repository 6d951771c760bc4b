"""What results mean: Elo with its error, likelihood of superiority, and the sequential test that says when to stop.

Games come in pairs: the same opening, colours changed. The two results of a pair depend on each other, so the pair is the
unit that everything is computed from. A pair yields 0, ½, 1, 1½ or 2 points; how often each happened is the pentanomial
that all functions here begin with, from the loser's end: [0, ½, 1, 1½, 2].
"""

import functools
import math
from typing import NamedTuple

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # points per game of the pair

# Normalised Elo is the advantage in standard deviations of one game, in a unit that makes it look like Elo.
NORMALIZED_UNIT = 800 / math.log(10)

CONFIDENT = 1.959963984540054  # standard deviations on either side that hold 95 %
_MANY = 200  # degrees of freedom from which on Student's distribution is the normal one, a little stretched


def expected_score(elo):
    """The score, between 0 and 1, that a difference of ratings promises."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_difference(score):
    """A score between 0 and 1 as a difference of ratings; infinite at the ends."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score))


def finite(number):
    """JSON has no infinity."""
    return None if number is None or math.isinf(number) else number


def normal_share(deviations):
    """The share of a normal distribution below so many standard deviations."""
    return 0.5 * math.erfc(-deviations / math.sqrt(2))


def student_share(deviations, degrees):
    """The share of Student's distribution below so many deviations: the spread itself is known from few pairs only.

    The sums are 26.7.3 and 26.7.4 of Abramowitz and Stegun, the approximation for many degrees of freedom is 26.7.8.
    """
    if degrees > _MANY:
        return normal_share(deviations * (1 - 1 / (4 * degrees)) / math.sqrt(1 + deviations**2 / (2 * degrees)))
    angle = math.atan(deviations / math.sqrt(degrees))
    square = math.cos(angle) ** 2
    odd = degrees % 2
    term, total = 1.0, 1.0 if degrees > 1 else 0.0
    for number in range(2 + odd, degrees - 1, 2):
        term *= square * (number - 1) / number
        total += term
    if odd:
        return 0.5 + (angle + math.sin(angle) * math.cos(angle) * total) / math.pi
    return 0.5 + math.sin(angle) * total / 2


@functools.lru_cache(1000)
def student_confident(degrees):
    """Deviations on either side that hold 95 % of Student's distribution, as `student_share` has it."""
    low, high = CONFIDENT, 13.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if student_share(middle, degrees) < 0.975 else (low, middle)
    return high


def moments(pentanomial):
    """Number of pairs, mean score per game, and variance of a pair's score per game."""
    pairs = sum(pentanomial)
    mean = sum(count * score for count, score in zip(pentanomial, PAIR_SCORES, strict=True)) / pairs
    square = sum(count * (score - mean) ** 2 for count, score in zip(pentanomial, PAIR_SCORES, strict=True))
    return pairs, mean, square / pairs


class Estimate(NamedTuple):
    """What a number of pairs says. Numbers that cannot be known yet are None."""

    pairs: int
    score: float | None
    elo: float | None
    elo_low: float | None  # ends of the 95 % interval
    elo_high: float | None
    normalized_elo: float | None
    normalized_error: float | None
    los: float | None  # the likelihood that the first is the stronger one

    @property
    def error(self):
        """Half the width of the interval, or None where one end is infinite."""
        if self.elo_low is None or math.isinf(self.elo_low) or math.isinf(self.elo_high):
            return None
        return (self.elo_high - self.elo_low) / 2


def estimate(pentanomial):
    """Elo, its error and the likelihood of superiority. The spread of the pairs themselves gives the error.

    All three come from one distribution: the likelihood is beyond 97.5 % exactly where the interval leaves out 0.
    """
    if not sum(pentanomial):
        return Estimate(0, None, None, None, None, None, None, None)
    pairs, mean, variance = moments(pentanomial)
    if variance == 0:
        # All pairs alike: nothing is known about the spread. Half a pair elsewhere keeps the error honest.
        _, _, variance = moments([count + 0.5 / len(pentanomial) for count in pentanomial])
    degrees = max(1, pairs - 1)
    error = math.sqrt(variance / degrees)
    margin = student_confident(degrees) * error
    deviation = math.sqrt(2 * variance * pairs / degrees)  # of one game, as if the two of a pair were independent
    return Estimate(
        pairs,
        mean,
        elo_difference(mean),
        elo_difference(mean - margin),
        elo_difference(mean + margin),
        (mean - 0.5) / deviation * NORMALIZED_UNIT,
        margin / deviation * NORMALIZED_UNIT,
        student_share((mean - 0.5) / error, degrees),
    )


# The generalised sequential probability ratio test. Under each hypothesis the five probabilities that fit the results
# best are found, with the hypothesis as a side condition; the ratio of their likelihoods is compared with two bounds.
# The mathematics is M. Van den Bergh's, written for Fishtest ("A practical introduction to the GSPRT", 2020).


def _root(shares):
    """The x that solves Σ share · value / (1 + x · value) = 0; the left side falls from pole to pole."""
    low = -1 / max(value for value, _ in shares)
    high = -1 / min(value for value, _ in shares)
    x = 0.0 if low < 0 < high else (low + high) / 2
    for _ in range(100):
        height = slope = 0.0
        for value, share in shares:
            part = value / (1 + x * value)
            height += share * part
            slope -= share * part * part
        if height > 0:
            low = x
        else:
            high = x
        # Newton's step, or the middle where that leaves the bracket.
        following = x - height / slope if slope else low
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - x) <= 1e-13 * max(1.0, abs(x)):
            return following
        x = following
    return x


def _fit_mean(shares, mean):
    """The likeliest probabilities whose mean is `mean`."""
    shifted = [(score - mean, share) for score, share in shares]
    x = _root(shifted)
    return [share / (1 + x * value) for value, share in shifted]


def _fit_advantage(shares, advantage):
    """The likeliest probabilities whose mean is `advantage` standard deviations above one half, by fixed point."""
    fitted = [1 / len(shares)] * len(shares)
    for _ in range(100):
        mean = sum(score * weight for (score, _), weight in zip(shares, fitted, strict=True))
        variance = sum((score - mean) ** 2 * weight for (score, _), weight in zip(shares, fitted, strict=True))
        deviation = math.sqrt(variance)
        # The side condition, linear in the probabilities around the present ones.
        bent = [
            (score - 0.5 - advantage * deviation * (1 + ((score - mean) / deviation) ** 2) / 2, share)
            for score, share in shares
        ]
        x = _root(bent)
        before, fitted = fitted, [share / (1 + x * value) for value, share in bent]
        if max(abs(old - new) for old, new in zip(before, fitted, strict=True)) < 1e-10:
            break
    return fitted


class Sprt(NamedTuple):
    """A sequential test of `elo1` against `elo0`, in logistic or normalised Elo."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    normalized: bool = False

    def check(self):
        """ValueError if it can decide nothing. Farther apart the model of normalised Elo has no solution."""
        most = 200 if self.normalized else 1000
        if not (-most <= self.elo0 <= most and -most <= self.elo1 <= most):
            raise ValueError(f"the differences of a sequential test are between -{most} and {most}")
        if not self.elo0 < self.elo1:
            raise ValueError("a sequential test has the smaller difference first")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError("alpha and beta are chances between 0 and 0.5")
        return self

    @property
    def lower(self):
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self):
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, pentanomial):
        """The logarithm of the likelihood ratio of the two hypotheses."""
        if not sum(pentanomial):
            return 0.0
        counts = [count or 1e-3 for count in pentanomial]  # what never happened is still possible
        total = sum(counts)
        shares = [(score, count / total) for score, count in zip(PAIR_SCORES, counts, strict=True)]
        if self.normalized:
            # A pair is two games: its advantage counts in deviations that are smaller by √2.
            fits = [_fit_advantage(shares, elo / NORMALIZED_UNIT * math.sqrt(2)) for elo in (self.elo0, self.elo1)]
        else:
            fits = [_fit_mean(shares, expected_score(elo)) for elo in (self.elo0, self.elo1)]
        return sum(count * math.log(one / zero) for count, zero, one in zip(counts, *fits, strict=True))

    def verdict(self, pentanomial):
        """'H1' when elo1 is accepted, 'H0' when elo0 is, None while it is open."""
        llr = self.llr(pentanomial)
        if llr >= self.upper:
            return "H1"
        return "H0" if llr <= self.lower else None

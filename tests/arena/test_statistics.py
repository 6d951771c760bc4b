"""Statistics against cases worked by hand, figures that others published, and simulated matches."""

import math
import random

import pytest
from support import scaled

from arena.figures import MINUS, elo_text, los_text
from arena.statistics import (
    PAIR_SCORES,
    Sprt,
    elo_difference,
    estimate,
    expected_score,
    moments,
    normal_share,
    student_confident,
    student_share,
)

# Results of Stockfish patches as their pull requests give them: bounds, counts of pairs, log-likelihood ratio. Until 2021
# the bounds were logistic, now they are normalised. Pull requests 3209, 3098, 2971, 2493 and 4194, 6019.
PUBLISHED = [
    (False, -0.25, 1.25, [253, 4282, 17604, 4431, 286], 2.94),
    (False, 0.25, 1.25, [58, 3302, 33130, 3518, 84], 2.97),
    (False, -0.25, 1.25, [491, 7345, 29693, 7670, 465], 2.96),
    (False, 0.25, 1.25, [53, 2220, 21459, 2445, 47], 2.97),
    (False, -0.50, 1.50, [17, 253, 1042, 337, 39], 2.96),
    (False, 0.25, 1.75, [11, 407, 3238, 513, 11], 2.93),
    (False, -1.00, 3.00, [424, 2948, 5832, 3045, 460], 2.94),
    (True, 0.00, 2.00, [371, 10263, 24989, 10642, 379], 2.95),
    (True, 0.50, 2.50, [47, 8181, 25234, 8575, 47], 2.94),
    (True, 0.00, 2.00, [320, 12431, 27275, 12858, 316], 2.95),
    (True, 0.50, 2.50, [197, 45541, 117722, 46579, 228], 2.96),
]


@pytest.mark.parametrize(("normalized", "elo0", "elo1", "pairs", "llr"), PUBLISHED)
def test_published_ratios(normalized, elo0, elo1, pairs, llr):
    """Half a unit of the last digit, and a little for the rounding of the bounds that were in use."""
    assert Sprt(elo0, elo1, normalized=normalized).llr(pairs) == pytest.approx(llr, abs=0.0055)


def test_elo_and_score():
    """By the definition: 400 · log10(odds)."""
    assert elo_difference(10 / 11) == pytest.approx(400)
    assert elo_difference(0.5) == 0
    assert expected_score(-400) == pytest.approx(1 / 11)
    assert elo_difference(0) == -math.inf
    assert elo_difference(1) == math.inf
    assert elo_difference(0.75) == pytest.approx(190.848502, abs=1e-6)  # 400 log10 3


def test_an_estimate_worked_by_hand():
    """Ten pairs 1-2-4-2-1: mean ½, variance (2 · 0.25 + 4 · 0.0625) / 10 = 0.075."""
    pairs, mean, variance = moments([1, 2, 4, 2, 1])
    assert (pairs, mean, variance) == (10, 0.5, pytest.approx(0.075))
    known = estimate([1, 2, 4, 2, 1])
    assert known.elo == 0
    assert known.los == pytest.approx(0.5)
    # The error of the mean is sqrt(0.075 / 9) = 0.0912871; 2.262157 of it, by the table for nine degrees of freedom, are
    # 0.206506, and 400 log10(0.706506 / 0.293494) = 152.60.
    assert known.error == pytest.approx(152.60, abs=0.01)
    # A game's deviation is sqrt(2 · 0.75 / 9) = 0.408248; 0.206506 / 0.408248 · 347.4356 = 175.74.
    assert known.normalized_error == pytest.approx(175.74, abs=0.01)


def test_superiority_by_the_normal_table():
    assert normal_share(0) == 0.5
    assert normal_share(1.6448536) == pytest.approx(0.95, abs=1e-6)
    assert normal_share(-1.9599640) == pytest.approx(0.025, abs=1e-6)
    # 0-10-20-20-0: mean 0.55, variance 0.035, error of the mean sqrt(0.035 / 49); 0.05 is 1.870829 of it.
    assert estimate([0, 10, 20, 20, 0]).los == pytest.approx(integrated_student(1.870829, 49), abs=1e-5)


def integrated_student(deviations, degrees):
    """The share below, by Simpson's rule over the density."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    steps = 2000
    width = deviations / steps
    heights = [scale * (1 + (number * width) ** 2 / degrees) ** (-(degrees + 1) / 2) for number in range(steps + 1)]
    return 0.5 + width / 3 * (heights[0] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]) + heights[-1])


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 10, 49, 199, 200, 201, 1000, 50_000])
def test_students_distribution(degrees):
    for deviations in (-3.5, -1.0, 0.0, 0.3, 1.96, 2.5):
        assert student_share(deviations, degrees) == pytest.approx(integrated_student(deviations, degrees), abs=5e-6)


# Two-sided 5 % points as printed in every table.
@pytest.mark.parametrize(
    ("degrees", "point"), [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (9, 2.262), (30, 2.042), (120, 1.980)]
)
def test_students_table(degrees, point):
    assert student_confident(degrees) == pytest.approx(point, abs=6e-4)


def test_figures_agree():
    """The likelihood of superiority is beyond 97.5 % exactly where the intervals leave out zero."""
    rng = random.Random(4)
    decided = 0
    for _ in range(400):
        pairs = [rng.choice((0, 0, 1, 2, 5, 9)) for _ in range(5)]
        if not any(pairs):
            continue
        known = estimate(pairs)
        beyond = abs(known.los - 0.5) > 0.475
        assert beyond == (not known.elo_low <= 0 <= known.elo_high)
        assert beyond == (abs(known.normalized_elo) > known.normalized_error)
        decided += beyond
    assert 20 < decided < 380


def test_texts_agree():
    """Nothing is certain after few games, and an infinite end is said as such."""
    assert elo_text(estimate([0] * 5)) == "not known yet"
    assert elo_text(estimate([1, 0, 0, 0, 0])) == f"{MINUS}∞, 95 % from {MINUS}∞ to +∞"
    lost = estimate([10, 0, 0, 0, 0])
    assert elo_text(lost) == f"{MINUS}∞, 95 % from {MINUS}∞ to {MINUS}{-lost.elo_high:.0f}"
    assert los_text(lost) == "below 0.1 %"
    assert los_text(estimate([0, 0, 0, 0, 10])) == "above 99.9 %"
    assert elo_text(estimate([1, 2, 4, 2, 1])) == "0.0 ± 152.6 (95 %)"
    assert los_text(estimate([1, 2, 4, 2, 1])) == "50.0 %"


def test_colours_changed():
    """What is good for one is bad for the other."""
    there, back = estimate([3, 10, 25, 17, 7]), estimate([7, 17, 25, 10, 3])
    assert there.elo == pytest.approx(-back.elo)
    assert there.los == pytest.approx(1 - back.los)
    assert Sprt(-5, 5).llr([3, 10, 25, 17, 7]) == pytest.approx(-Sprt(-5, 5).llr([7, 17, 25, 10, 3]))


def test_little_is_known_at_first():
    assert estimate([0] * 5).elo is None
    assert Sprt(0, 5).llr([0] * 5) == 0
    only_wins = estimate([0, 0, 0, 0, 5])
    assert only_wins.elo == math.inf
    assert only_wins.error is None
    assert 0 < only_wins.elo_low < 1000
    assert estimate([0, 0, 0, 0, 1]).elo_low == -math.inf
    for normalized in (False, True):
        for pairs in ([0, 0, 0, 0, 1], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 5000], [0, 5000, 0, 0, 0]):
            assert math.isfinite(Sprt(0, 5, normalized=normalized).llr(pairs))


def test_bounds_are_walds():
    """log(0.95 / 0.05) = 2.9444."""
    assert Sprt(0, 5).upper == pytest.approx(2.94444, abs=1e-5)
    assert Sprt(0, 5).lower == pytest.approx(-2.94444, abs=1e-5)
    assert Sprt(0, 5, alpha=0.1, beta=0.2).upper == pytest.approx(math.log(0.8 / 0.1))


def test_the_two_ways_agree_for_many_games():
    """For small differences the ratio is N · (μ1 - μ0) · (2 x - μ0 - μ1) / (2 σ²), by Taylor's theorem."""
    pairs = [500, 2000, 5000, 2100, 510]
    total, mean, variance = moments(pairs)
    low, high = expected_score(0), expected_score(3)
    expected = total * (high - low) * (2 * mean - low - high) / (2 * variance)
    assert Sprt(0, 3).llr(pairs) == pytest.approx(expected, rel=0.01)


def simulate(sprt, elo, runs, rng, normalized=False):
    """The share of simulated matches in which H1 was accepted, between engines `elo` apart with many draws."""
    chances = [0.04, 0.2, 0.52, 0.2, 0.04]
    # Tilting towards the winner's end by exp(t · score) until the mean fits.
    low, high = -10.0, 10.0
    for _ in range(60):
        tilt = (low + high) / 2
        tilted = [chance * math.exp(tilt * score) for chance, score in zip(chances, PAIR_SCORES, strict=True)]
        tilted = [chance / sum(tilted) for chance in tilted]
        _, mean, variance = moments(tilted)
        value = (mean - 0.5) / math.sqrt(2 * variance) * 800 / math.log(10) if normalized else elo_difference(mean)
        low, high = (tilt, high) if value < elo else (low, tilt)
    accepted = 0
    for _ in range(runs):
        pairs = [0] * 5
        verdict = None
        while verdict is None:
            for outcome in rng.choices(range(5), tilted, k=4):
                pairs[outcome] += 1
            verdict = sprt.verdict(pairs)
        accepted += verdict == "H1"
    return accepted / runs


@pytest.mark.parametrize(("elo", "wrong"), [(0, "H1"), (40, "H0")])
def test_error_rates_of_the_sequential_test(elo, wrong):
    """2,000 simulated runs under each hypothesis. Wald's bounds are upper limits; passing them by a step makes it less."""
    runs = scaled(2000)
    accepted = simulate(Sprt(0, 40), elo, runs, random.Random(elo + 1))
    error = accepted if wrong == "H1" else 1 - accepted
    spread = math.sqrt(0.05 * 0.95 / runs)
    assert 0.035 - 4 * spread < error < 0.05 + 4 * spread


def test_error_rates_with_normalised_elo():
    runs = scaled(300)
    error = simulate(Sprt(0, 60, normalized=True), 0, runs, random.Random(5), normalized=True)
    assert error < 0.05 + 4 * math.sqrt(0.05 * 0.95 / runs)

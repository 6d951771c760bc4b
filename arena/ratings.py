"""Ratings from all games of a tournament at once, by maximum likelihood.

The likeliest ratings are those under which every player was expected to score exactly what it scored. Draws count as half
a win. The error takes draws and the dependence of a pair's two games from the results themselves: the spread of the pairs
around their expectation, in units of what independent games without draws would show, widens or narrows all errors.
"""

import math
from typing import NamedTuple

from arena.statistics import CONFIDENT, expected_score

_SLOPE = math.log(10) / 400
_GUESS = 0.25  # games won and lost that every pair of opponents is given where results alone know no end


class Rating(NamedTuple):
    """A player's rating and its 95 % error; `is_bounded` when without a guess it would be infinite."""

    elo: float
    error: float
    is_bounded: bool
    is_anchor: bool = False


def solve(matrix, columns):
    """Linear equations for several right sides at once, by elimination."""
    size = len(matrix)
    rows = [[*row, *(column[index] for column in columns)] for index, row in enumerate(matrix)]
    for place in range(size):
        pivot = max(range(place, size), key=lambda index: abs(rows[index][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        lead = rows[place][place]
        rows[place] = [value / lead for value in rows[place]]
        for index in range(size):
            factor = rows[index][place]
            if index != place and factor:
                rows[index] = [own - factor * other for own, other in zip(rows[index], rows[place], strict=True)]
    return [[rows[index][size + number] for index in range(size)] for number in range(len(columns))]


def inverse(matrix):
    size = len(matrix)
    return solve(matrix, [[float(row == column) for row in range(size)] for column in range(size)])


def _reach(start, steps):
    """Everything that can be reached from a player."""
    seen, waiting = {start}, [start]
    while waiting:
        for following in steps[waiting.pop()]:
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return seen


def _components(count, scores, anchors):
    """Players that are tied together by games or by anchors, which all stand on one scale."""
    steps = [set() for _ in range(count)]
    for one, other in scores:
        steps[one].add(other)
        steps[other].add(one)
    for one in anchors:
        steps[one] |= set(anchors) - {one}
    left = set(range(count))
    while left:
        component = _reach(min(left), steps)
        left -= component
        yield sorted(component)


def _has_limit(component, scores, anchors):
    """Ratings are finite when nobody, and no group, has won or lost everything against the rest."""
    above = {player: set() for player in component}
    below = {player: set() for player in component}
    for (one, other), (points, games) in scores.items():
        for winner, loser, won in ((one, other, points), (other, one, games - points)):
            if winner in above and won > 0:
                below[winner].add(loser)
                above[loser].add(winner)
    for player in set(anchors) & set(component):
        below[player] |= set(anchors) & set(component)
        above[player] |= set(anchors) & set(component)
    everyone = set(component)
    return _reach(component[0], above) == everyone and _reach(component[0], below) == everyone


def fit(count, games, anchors=None):
    """Ratings of `count` players from games (first, second, points of the first, pair).

    `anchors` gives known ratings, {player: Elo}. Without one the mean of all who met is 0.
    """
    anchors = anchors or {}
    scores = {}
    pairs = {}
    for one, other, points, pair in games:
        if one > other:
            one, other, points = other, one, 1 - points
        total = scores.setdefault((one, other), [0.0, 0])
        total[0] += points
        total[1] += 1
        held = pairs.setdefault((one, other, pair), [0.0, 0])
        held[0] += points
        held[1] += 1
    ratings = [anchors.get(player, 0.0) for player in range(count)]
    results = [None] * count
    for component in _components(count, scores, anchors):
        inside = {key: value for key, value in scores.items() if key[0] in set(component)}
        bounded = bool(inside) and not _has_limit(component, inside, anchors)
        if bounded:
            inside = {key: (points + _GUESS, total + 2 * _GUESS) for key, (points, total) in inside.items()}
        _climb(component, inside, anchors, ratings)
        for player, error in _errors(component, inside, pairs, anchors, ratings).items():
            results[player] = Rating(ratings[player], error, bounded, player in anchors)
    return results


def _information(free, scores, ratings, floating):
    """Minus the second derivative of the log-likelihood; with a floor for the common level, if nothing else holds it."""
    place = {player: index for index, player in enumerate(free)}
    matrix = [[1.0 * floating * _SLOPE**2] * len(free) for _ in free]
    for (one, other), (_, total) in scores.items():
        expected = expected_score(ratings[one] - ratings[other])
        weight = _SLOPE**2 * total * expected * (1 - expected)
        for a, b in ((one, other), (other, one)):
            if a in place:
                matrix[place[a]][place[a]] += weight
                if b in place:
                    matrix[place[a]][place[b]] -= weight
    return matrix


def _climb(component, scores, anchors, ratings):
    """Newton's method on the log-likelihood, which is concave; steps are kept short enough to trust."""
    free = [player for player in component if player not in anchors]
    if not free or not scores:
        return
    floating = len(free) == len(component)
    for _ in range(200):
        gradient = dict.fromkeys(free, 0.0)
        for (one, other), (points, total) in scores.items():
            surplus = _SLOPE * (points - total * expected_score(ratings[one] - ratings[other]))
            if one in gradient:
                gradient[one] += surplus
            if other in gradient:
                gradient[other] -= surplus
        matrix = _information(free, scores, ratings, floating)
        (step,) = solve(matrix, [[gradient[player] for player in free]])
        longest = max(abs(each) for each in step)
        factor = min(1.0, 300.0 / longest) if longest else 1.0
        for player, each in zip(free, step, strict=True):
            ratings[player] += factor * each
        if floating:
            mean = sum(ratings[player] for player in free) / len(free)
            for player in free:
                ratings[player] -= mean
        if longest < 1e-9:
            return


def _dispersion(component, pairs, ratings):
    """How much pairs vary around their expectation, against independent games without draws; one pair more as expected."""
    inside = set(component)
    seen = expected = 0.0
    number = 0
    for (one, other, _), (points, total) in pairs.items():
        if one in inside:
            chance = expected_score(ratings[one] - ratings[other])
            seen += (points - total * chance) ** 2
            expected += total * chance * (1 - chance)
            number += 1
    if not number:
        return 1.0
    usual = expected / number
    return (seen + usual) / (expected + usual)


def _errors(component, scores, pairs, anchors, ratings):
    free = [player for player in component if player not in anchors]
    errors = dict.fromkeys(component, 0.0)
    if not free:
        return errors
    if not scores:
        return dict.fromkeys(component, math.inf)
    floating = len(free) == len(component)
    covariance = inverse(_information(free, scores, ratings, floating))
    level = 1 / (_SLOPE**2 * len(free) ** 2) if floating else 0.0  # what the floor has added
    dispersion = _dispersion(component, pairs, ratings)
    for index, player in enumerate(free):
        errors[player] = CONFIDENT * math.sqrt(max(0.0, dispersion * (covariance[index][index] - level)))
    return errors

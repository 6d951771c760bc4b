"""Who meets whom: round robin, gauntlet, Swiss system, knockout. A round is a list of pairs of players, None for a bye."""

import math


def round_robin(count, cycles):
    """Everyone meets everyone once in each cycle, by the circle method: one player stays, the others go round."""
    players = list(range(count)) + ([None] if count % 2 else [])
    size = len(players)
    for cycle in range(cycles):
        circle = players[:]
        for _ in range(size - 1):
            pairs = [(circle[index], circle[size - 1 - index]) for index in range(size // 2)]
            pairs = [pair for pair in pairs if None not in pair]
            yield [pair if cycle % 2 == 0 else pair[::-1] for pair in pairs]
            circle = [circle[0], circle[-1], *circle[1:-1]]


def gauntlet(count, cycles, challengers):
    """The first few players meet all others, and not each other."""
    for _ in range(cycles):
        for challenger in range(challengers):
            yield [(challenger, other) for other in range(challengers, count)]


def swiss_round(order, points, met, byes):
    """Pairs of one round. `order` lists the players from the top; nobody meets anyone twice while that can be avoided.

    Within a score group the upper half meets the lower half. With an odd number the lowest who had no bye yet gets one.
    """
    left = list(order)
    pairs = []
    if len(left) % 2:
        idle = min(reversed(left), key=lambda player: byes.get(player, 0))
        left.remove(idle)
        pairs.append((idle, None))
    steps = 0

    def candidates(first, others):
        group = [player for player in others if points[player] == points[first]]
        middle = (len(group) + 1) // 2 - 1
        nearest = sorted(range(len(group)), key=lambda index: (abs(index - middle), index))
        return [group[index] for index in nearest] + [player for player in others if points[player] != points[first]]

    def pair_up(players, rematches):
        nonlocal steps
        if not players:
            return []
        steps += 1
        if steps > 50_000:
            return None
        first, others = players[0], players[1:]
        for second in candidates(first, others):
            if not rematches and frozenset((first, second)) in met:
                continue
            rest = pair_up([player for player in others if player != second], rematches)
            if rest is not None:
                return [(first, second), *rest]
        return None

    found = pair_up(left, False)
    if found is None:
        steps = 0
        found = pair_up(left, True)
    return found + pairs


def bracket(count):
    """The first round of a knockout by seed: 1 can meet 2 only in the final. The strongest have byes."""
    size = 1 << max(1, math.ceil(math.log2(count)))
    places = [0]
    while len(places) < size:
        double = 2 * len(places)
        places = [seat for place in places for seat in (place, double - 1 - place)]
    seats = [place if place < count else None for place in places]
    return [(seats[index], seats[index + 1]) for index in range(0, size, 2)]

"""The trainer's arithmetic: right gradients, right steps, weights that integers can hold."""

import math
import random
from array import array

import pytest
from games import random_game
from learning import positions_of
from trainer import (
    BIASES,
    LEVELS,
    NEURONS,
    OUTPUT_BIAS,
    OUTPUTS,
    floats,
    known_positions,
    lively_buckets,
    lively_weights,
    merged,
    python_loss,
    python_output,
    short_weights,
)

from eval import network_file
from eval.king_buckets import bucket_table
from training.network_run import random_weights
from training.network_trainer import DECAY, LEVEL_NAMES, MOST_WEIGHT, NetworkTrainer
from training.quantiser import RoundedNetwork


@pytest.fixture(scope="module")
def positions():
    return known_positions()


@pytest.mark.parametrize("level", LEVELS, ids=LEVEL_NAMES[: len(LEVELS)])
@pytest.mark.parametrize(("share", "neurons", "outputs"), [(0.0, 32, 1), (0.4, 64, 1), (0.2, 32, 8), (0.1, 64, 3)])
def test_gradient_equals_numerical_differentiation(positions, level, share, neurons, outputs):
    found, known = positions
    trainer = NetworkTrainer(neurons, level=level, outputs=outputs)
    assert trainer.level == level
    trainer.set_weights(lively_weights(neurons=neurons, outputs=outputs).tobytes())
    loss = trainer.gradient(found, 0, 1, 0, len(found), share, 0)
    weights = list(lively_weights(neurons=neurons, outputs=outputs))
    assert loss == pytest.approx(python_loss(weights, known, share, outputs), rel=1e-5)
    assert trainer.loss(found, 0, len(found), share) == pytest.approx(loss, rel=1e-5)
    assert trainer.outputs(found)[7] == pytest.approx(python_output(weights, known[7][0], outputs), abs=1e-5)
    gradient = floats(trainer.get_gradient(0))
    dice = random.Random(level)
    features = sorted({feature for seen, _ in known for side in seen for feature in side})
    biases, output_weights, output_biases, _ = trainer.parts
    heard = sorted({(len(seen[0]) - 2) * outputs // 31 for seen, _ in known})
    assert outputs == 1 or len(heard) > 1
    chosen = [dice.choice(features) * neurons + dice.randrange(neurons) for _ in range(14)]
    chosen += [biases + dice.randrange(neurons) for _ in range(4)]
    chosen += [output_weights + 2 * dice.choice(heard) * neurons + dice.randrange(2 * neurons) for _ in range(6)] + [
        output_biases + which for which in heard
    ]
    step = 1e-4
    for index in chosen:
        kept = weights[index]
        weights[index] = kept + step
        above = python_loss(weights, known, share, outputs)
        weights[index] = kept - step
        below = python_loss(weights, known, share, outputs)
        weights[index] = kept
        assert gradient[index] == pytest.approx((above - below) / (2 * step), rel=2e-3, abs=2e-5)
    assert sum(abs(gradient[index]) > 1e-3 for index in chosen) > 8
    untouched = next(feature for feature in range(768) if feature not in features)
    assert not any(gradient[untouched * neurons : (untouched + 1) * neurons])
    for which in set(range(outputs)) - set(heard):
        at = output_weights + 2 * which * neurons
        assert not any(gradient[at : at + 2 * neurons])
        assert gradient[output_biases + which] == 0


def known_in_buckets(found, king_buckets):
    table = bucket_table(king_buckets)
    return [(found.features(index, table), found[index]) for index in range(len(found))]


@pytest.mark.parametrize("level", LEVELS, ids=LEVEL_NAMES[: len(LEVELS)])
@pytest.mark.parametrize(("king_buckets", "outputs"), [(2, 1), (6, 8), (8, 1)])
def test_gradient_of_shared_and_own_rows_equals_numerical_differentiation(level, king_buckets, outputs):
    """Of the loss as a function of both. A bucket's own row has the gradient of its row in the network; that of the shared
    one is their sum, which is seen in the first step's moments."""
    found = positions_of(random_game(seed, 150) for seed in (3, 4))
    known = known_in_buckets(found, king_buckets)
    trainer = NetworkTrainer(NEURONS, threads=2, level=level, outputs=outputs, king_buckets=king_buckets)
    weights = lively_buckets(king_buckets, outputs=outputs)
    trainer.set_weights(weights.tobytes())
    network = merged(weights, king_buckets)
    assert max(abs(a - b) for a, b in zip(floats(trainer.get_network()), network, strict=True)) < 1e-6
    half = len(found) // 2
    loss = trainer.gradient(found, 0, 1, 0, half, 0.2, 0) + trainer.gradient(found, 0, 1, half, len(found), 0.2, 1)
    assert loss == pytest.approx(python_loss(network, known, 0.2, outputs, king_buckets), rel=1e-5)
    assert trainer.loss(found, 0, len(found), 0.2) == pytest.approx(loss, rel=1e-5)
    gradient = [sum(pair) for pair in zip(*(floats(trainer.get_gradient(thread)) for thread in range(2)), strict=True)]
    for part in range(2):
        trainer.step(part, len(found), 1e-3, 1)
    first, second = (floats(block) for block in trainer.get_moments())
    size, step, dice = BIASES, 1e-4, random.Random(level)
    rows = sorted({row for seen, _ in known for side in seen for row in side})
    assert len({row // 768 for row in rows}) > 1
    large = 0
    for row in dice.sample(rows, 10):
        neuron = dice.randrange(NEURONS)
        at, shared_at = row * NEURONS + neuron, row % 768 * NEURONS + neuron
        for place, changed in (
            (size + at, [at]),
            (shared_at, [shared_at + bucket * size for bucket in range(king_buckets)]),
        ):
            losses = []
            for change in (step, -step):
                moved = list(network)
                for index in changed:
                    moved[index] += change
                losses.append(python_loss(moved, known, 0.2, outputs, king_buckets))
            slope = (losses[0] - losses[1]) / (2 * step)
            assert sum(gradient[index] for index in changed) == pytest.approx(slope, rel=2e-3, abs=4e-5)
            assert first[place] == pytest.approx(0.1 * slope / len(found), rel=2e-3, abs=1e-7)
            assert second[place] == pytest.approx(0.001 * (slope / len(found)) ** 2, rel=1e-2, abs=1e-10)
            large += abs(slope) > 1e-3
    assert large > 8


def test_rows_of_king_buckets_never_leave_what_integers_can_hold(positions):
    """Each alone may be as large as the sum of both, which is what counts."""
    found, _ = positions
    trainer = NetworkTrainer(NEURONS, king_buckets=3)
    trainer.set_weights(lively_buckets(3).tobytes())
    for number in range(1, 40):
        trainer.gradient(found, 0, 1, 0, len(found), 1.0, 0)
        trainer.step(0, len(found), 0.5, number)
    weights, network = floats(trainer.get_weights()), floats(trainer.get_network())
    assert max(map(abs, network[: 3 * BIASES])) == pytest.approx(MOST_WEIGHT)
    assert max(abs(a - b) for a, b in zip(network, merged(weights, 3), strict=True)) < 1e-6
    features = array("h", RoundedNetwork(trainer).numbers()[0])
    assert len(features) == 3 * BIASES
    assert max(map(abs, features)) <= network_file.MOST_FEATURE_WEIGHT
    # What is loaded again is the same network: checkpoints have the summands only.
    again = NetworkTrainer(NEURONS, king_buckets=3)
    again.set_weights(trainer.get_weights())
    assert again.get_network() == trainer.get_network()


def test_king_buckets_that_are_alike_say_what_one_says():
    found = positions_of([random_game(5, 200)])
    one, several = NetworkTrainer(NEURONS), NetworkTrainer(NEURONS, king_buckets=8)
    weights = lively_weights()
    one.set_weights(weights.tobytes())
    several.set_weights((weights[:BIASES] + array("f", bytes(4 * 8 * BIASES)) + weights[BIASES:]).tobytes())
    assert several.outputs(found) == one.outputs(found)
    losses = [trainer.gradient(found, 0, 1, 0, len(found), 0.3, 0) for trainer in (one, several)]
    assert losses[0] == pytest.approx(losses[1])
    with pytest.raises(ValueError, match="8 king buckets"):
        several.set_weights(weights.tobytes())
    for king_buckets in (0, 9):
        with pytest.raises(ValueError, match="1 to 8"):
            NetworkTrainer(NEURONS, king_buckets=king_buckets)


@pytest.mark.parametrize(("outputs", "king_buckets"), [(1, 1), (8, 1), (1, 8), (8, 6)])
@pytest.mark.parametrize("level", LEVELS, ids=LEVEL_NAMES[: len(LEVELS)])
def test_positions_learned_together_add_up(level, outputs, king_buckets):
    """Several groups and a part of one, more than one stripe of neurons, many men and few; kings all over the board."""
    found = positions_of(random_game(seed, 250) for seed in range(3))
    men = [len(found.features(index)[0]) for index in range(len(found))]
    assert min(men) <= 8 < 30 <= max(men) and len(found) > 300
    together, single = (
        NetworkTrainer(96, level=each, outputs=outputs, king_buckets=king_buckets) for each in (level, 0)
    )
    weights = lively_weights(neurons=96, outputs=outputs)
    if king_buckets > 1:
        weights = lively_buckets(king_buckets, 96, outputs)
    for trainer in (together, single):
        trainer.set_weights(weights.tobytes())
    whole = together.gradient(found, 0, 1, 0, len(found), 0.3, 0)
    parts = [single.gradient(found, 0, 1, index, index + 1, 0.3, 0) for index in range(len(found))]
    assert whole == pytest.approx(sum(parts))
    gradient, expected = floats(together.get_gradient(0)), floats(single.get_gradient(0))
    assert all(abs(a - b) <= 1e-5 + 1e-4 * abs(b) for a, b in zip(gradient, expected, strict=True))
    assert max(map(abs, gradient)) > 0.1


@pytest.mark.parametrize("level", LEVELS, ids=LEVEL_NAMES[: len(LEVELS)])
def test_learning_rounds_the_first_layer_to_16_bits(level):
    found = positions_of([random_game(2, 250)])
    known = [(found.features(index), found[index]) for index in range(len(found))]
    trainer = NetworkTrainer(NEURONS, level=level)
    weights = floats(random_weights(NEURONS, 3))
    trainer.set_weights(weights.tobytes())
    loss = trainer.gradient(found, 0, 1, 0, len(found), 0.3, 0)
    assert loss == pytest.approx(python_loss(short_weights(weights), known, 0.3), rel=1e-6)
    exact = python_loss(weights, known, 0.3)
    assert trainer.loss(found, 0, len(found), 0.3) == pytest.approx(exact, rel=1e-6)
    assert loss != pytest.approx(exact, rel=1e-6)
    # Sums beyond what 16 bits hold are still beyond what a neuron lets through, and others are exact.
    dice = random.Random(4)
    for largest in (
        [MOST_WEIGHT] * BIASES,
        [-MOST_WEIGHT] * BIASES,
        [dice.choice((-0.9, 0.9)) for _ in range(BIASES)],
    ):
        changed = array("f", largest + list(weights[BIASES:]))
        trainer.set_weights(changed.tobytes())
        loss = trainer.gradient(found, 0, 1, 0, len(found), 0.3, 0)
        assert loss == pytest.approx(python_loss(short_weights(changed), known, 0.3), rel=1e-5)


def test_a_walk_meets_every_position_once(positions):
    found, _ = positions
    stride = next(number for number in range(len(found) // 2, len(found)) if math.gcd(number, len(found)) == 1)
    in_order, walking = NetworkTrainer(NEURONS), NetworkTrainer(NEURONS, threads=3)
    for trainer in (in_order, walking):
        trainer.set_weights(lively_weights().tobytes())
    whole = in_order.gradient(found, 0, 1, 0, len(found), 0.3, 0)
    bounds = [len(found) * part // 3 for part in range(4)]
    parts = [walking.gradient(found, 5, stride, bounds[part], bounds[part + 1], 0.3, part) for part in range(3)]
    assert sum(parts) == pytest.approx(whole)
    gradients = [floats(walking.get_gradient(part)) for part in range(3)]
    summed = [sum(values) for values in zip(*gradients, strict=True)]
    assert summed == pytest.approx(list(floats(in_order.get_gradient(0))), abs=1e-5)
    with pytest.raises(ValueError, match="beyond"):
        walking.gradient(found, 0, 1, 0, len(found) + 1, 0.3, 0)
    with pytest.raises(ValueError, match="no thread 3"):
        walking.gradient(found, 0, 1, 0, 1, 0.3, 3)


@pytest.mark.parametrize("level", LEVELS, ids=LEVEL_NAMES[: len(LEVELS)])
def test_steps_are_those_of_adamw(positions, level):
    found, _ = positions
    trainer = NetworkTrainer(NEURONS, threads=2, level=level)
    trainer.set_weights(lively_weights().tobytes())
    weights = list(lively_weights())
    first, second = [0.0] * len(weights), [0.0] * len(weights)
    half = len(found) // 2
    for number in range(1, 4):
        rate = 0.02 / number
        trainer.gradient(found, 0, 1, 0, half, 0.3, 0)
        trainer.gradient(found, 0, 1, half, len(found), 0.3, 1)
        gradients = floats(trainer.get_gradient(0)), floats(trainer.get_gradient(1))
        for part in range(2):
            trainer.step(part, len(found), rate, number)
        for index in range(len(weights)):
            slope = (gradients[0][index] + gradients[1][index]) / len(found)
            first[index] += 0.1 * (slope - first[index])
            second[index] += 0.001 * (slope**2 - second[index])
            mean, spread = first[index] / (1 - 0.9**number), second[index] / (1 - 0.999**number)
            decays = not BIASES <= index < OUTPUTS and index != OUTPUT_BIAS
            weights[index] -= rate * (mean / (math.sqrt(spread) + 1e-8) + decays * DECAY * weights[index])
            if index != OUTPUT_BIAS:
                weights[index] = max(-MOST_WEIGHT, min(MOST_WEIGHT, weights[index]))
        assert not any(floats(trainer.get_gradient(0))) and not any(floats(trainer.get_gradient(1)))
    learned = floats(trainer.get_weights())
    # Slopes near 1e-8 are divided by something like themselves: single precision may stray there.
    strays = sum(abs(a - b) > 1e-4 for a, b in zip(learned, weights, strict=True))
    assert strays < len(weights) / 1000
    for place in (BIASES + 3, OUTPUTS + 5, OUTPUTS + NEURONS + 5, OUTPUT_BIAS):
        assert learned[place] == pytest.approx(weights[place], abs=1e-4)


def test_weights_never_leave_what_integers_can_hold(positions):
    found, _ = positions
    trainer = NetworkTrainer(NEURONS)
    trainer.set_weights(lively_weights().tobytes())
    for number in range(1, 40):
        trainer.gradient(found, 0, 1, 0, len(found), 1.0, 0)
        trainer.step(0, len(found), 0.5, number)
    learned = floats(trainer.get_weights())
    assert max(map(abs, learned[:OUTPUT_BIAS])) == pytest.approx(MOST_WEIGHT)
    features, biases, outputs = (array("h", block) for block in RoundedNetwork(trainer).numbers()[:3])
    assert max(map(abs, features)) <= network_file.MOST_FEATURE_WEIGHT
    assert max(map(abs, biases)) <= network_file.MOST_FEATURE_WEIGHT
    assert max(map(abs, outputs)) <= network_file.MOST_OUTPUT_WEIGHT

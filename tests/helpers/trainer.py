"""The network and its loss as their description says, in plain Python, and weights and positions to try the trainer with."""

import math
import random
from array import array

from games import random_game
from learning import positions_of

from training.network_run import random_weights
from training.network_trainer import NetworkTrainer

NEURONS = 32
BIASES = 768 * NEURONS
OUTPUTS = BIASES + NEURONS
OUTPUT_BIAS = OUTPUTS + 2 * NEURONS
LEVELS = range(NetworkTrainer(NEURONS).level + 1)


def floats(block):
    return array("f", block)


def short_weights(weights, neurons=NEURONS):
    """The weights as they are learned with: those of the first layer in 16 bits, multiples of 1/2040."""
    features = 768 * neurons
    return [round(2040 * weight) / 2040 for weight in weights[:features]] + list(weights[features:])


def lively_weights(seed=1, neurons=NEURONS, outputs=1):
    """Random weights so large that many neurons are cut off below and above. All of them have exact copies in 16 bits."""
    weights = [max(-1.9, min(1.9, 3 * weight)) for weight in floats(random_weights(neurons, seed, outputs))]
    if outputs > 1:  # which begin as copies of each other
        dice = random.Random(seed)
        weights[769 * neurons :] = [weight + dice.uniform(-0.2, 0.2) for weight in weights[769 * neurons :]]
    return array("f", short_weights(weights, neurons))


def lively_buckets(king_buckets, neurons=NEURONS, outputs=1):
    """The same with rows that all king buckets share and rows of their own, all in multiples of 1/2040."""
    dice = random.Random(king_buckets)
    weights = lively_weights(neurons=neurons, outputs=outputs)
    own = array("f", (dice.randrange(-600, 600) / 2040 for _ in range(king_buckets * 768 * neurons)))
    return weights[: 768 * neurons] + own + weights[768 * neurons :]


def merged(weights, king_buckets, neurons=NEURONS):
    """The network that is learned in two parts, and where its biases begin."""
    size = 768 * neurons
    shared, own = weights[:size], weights[size : (1 + king_buckets) * size]
    summed = [shared[index % size] + weight for index, weight in enumerate(own)]
    return summed + list(weights[(1 + king_buckets) * size :])


def known_positions():
    """A few dozen positions, and for each its features and the terms of its target."""
    found = positions_of(random_game(seed, 60) for seed in (3, 4))
    return found, [(found.features(index), found[index]) for index in range(len(found))]


def python_output(weights, features, outputs=1, king_buckets=1):
    """The network as its description says, in double precision."""
    rows = 768 * king_buckets
    neurons = (len(weights) - outputs) // (rows + 1 + 2 * outputs)
    which = (len(features[0]) - 2) * outputs // 31
    output = weights[(rows + 1 + 2 * outputs) * neurons + which]
    for side, seen in enumerate(features):
        for neuron in range(neurons):
            total = weights[rows * neurons + neuron] + sum(weights[feature * neurons + neuron] for feature in seen)
            output += weights[(rows + 1 + 2 * which + side) * neurons + neuron] * min(max(total, 0.0), 1.0) ** 2
    return output


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def python_loss(weights, known, share, outputs=1, king_buckets=1):
    total = 0.0
    for features, position in known:
        target = share * (position.result + 1) / 2 + (1 - share) * sigmoid(position.score / 180)
        total += (sigmoid(python_output(weights, features, outputs, king_buckets)) - target) ** 2
    return total

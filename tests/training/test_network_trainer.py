"""The trainer: right gradients, right steps, integers that say the same, a resumed run that equals a whole one."""

import math
import random
from array import array

import chess
import pytest
from games import random_game
from learning import positions_of, write_games
from networks import evaluating_with

import eval as evaluation
from board import Board
from eval import network_file
from eval.king_buckets import bucket_table
from eval.network_file import numbers_from, pack_network, unpack_network
from training.gather import Filters, gather
from training.network_run import Settings, TrainError, TrainingRun, random_weights, weights_of
from training.network_trainer import DECAY, LEVEL_NAMES, MOST_WEIGHT, NetworkTrainer
from training.quantiser import RoundedNetwork
from training.schedule import Ramp

NEURONS = 32
BIASES = 768 * NEURONS
OUTPUTS = BIASES + NEURONS
OUTPUT_BIAS = OUTPUTS + 2 * NEURONS
LEVELS = range(NetworkTrainer(NEURONS).level + 1)
QUICK = Settings(neurons=NEURONS, epochs=6, batch=256, rate=4e-3, filters=Filters(held_out=10))


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


@pytest.fixture(scope="module")
def positions():
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


def python_integer_score(network, features):
    """The engine's arithmetic, from the format's description."""

    def divided(a, b):
        return a // b if a >= 0 else -(-a // b)

    rows, biases, outputs = (
        numbers_from(block) for block in (network.feature_weights, network.biases, network.output_weights)
    )
    size, total = network.neurons, 0
    assert len(rows) == 768 * network.king_buckets * size
    which = (len(features[0]) - 2) * network.outputs // 31
    outputs = outputs[2 * which * size : 2 * (which + 1) * size]
    for side, seen in enumerate(features):
        for neuron in range(size):
            value = biases[neuron] + sum(rows[feature * size + neuron] for feature in seen)
            total += min(max(value, 0), 255) ** 2 * outputs[side * size + neuron]
    return divided((divided(total, 255) + network.output_biases[which]) * network.scale, 255 * 64)


def board_of(position):
    board = chess.Board(None)
    for square, piece in position.men.items():
        board.set_piece_at(square, chess.Piece((piece >> 1) + 1, piece & 1 == 0))
    board.turn = position.turn == 0
    return Board(board.fen())


@pytest.fixture(scope="module")
def games_file(tmp_path_factory):
    return write_games(tmp_path_factory.mktemp("games") / "games.qzg", 250)


@pytest.fixture(scope="module")
def data(games_file):
    return gather([games_file], QUICK.filters, 2)


@pytest.fixture(scope="module")
def learned(data):
    """A run that has seen all its epochs."""
    run = TrainingRun(data, QUICK, 2)
    before = run.held_out_loss()
    while not run.is_finished:
        run.learn_batch()
        if run.epoch_is_over:
            run.end_epoch()
    yield run, before
    run.close()


def test_material_is_learned_from_games(data, learned):
    """The made-up games' scores are the material, so that is what the network must see in the end."""
    run, before = learned
    assert len(run.history) == QUICK.epochs
    losses = [held_out for _, held_out in run.history]
    assert losses[-1] < losses[0] < before
    assert losses[-1] < before / 3
    assert run.history[-1][0] < run.history[0][0] / 2
    assert run.positions_done == QUICK.epochs * len(data.training)


def test_the_file_evaluates_like_the_trainer(learned, tmp_path):
    run, _ = learned
    held_out = run.data.held_out
    rounded, comparison = run.round_off()
    scores, outputs = rounded.scores(held_out), run.trainer.outputs(held_out)
    apart = [abs(score - 180 * output) for score, output in zip(scores, outputs, strict=True)]
    assert comparison.mean_difference == pytest.approx(sum(apart) / len(apart), abs=1e-3)
    assert comparison.largest_difference == pytest.approx(max(apart), abs=1e-2)
    assert comparison.mean_difference < 2
    assert comparison.mean_evaluation == pytest.approx(sum(map(abs, scores)) / len(scores))
    assert comparison.mean_search_score == pytest.approx(held_out.statistics()["mean_score"])
    blob = pack_network(run.export(rounded, {"made": "by a test"}))
    network = unpack_network(blob, "test")
    for index in range(0, len(held_out), 29):
        assert python_integer_score(network, held_out.features(index)) == scores[index]
    # And so does the engine.
    path = tmp_path / "test.qnn"
    path.write_bytes(blob)
    with evaluating_with(str(path)):
        assert evaluation.network_summary()["made"] == "by a test"
        for index in range(0, len(held_out), 7):
            assert evaluation.evaluate_network(board_of(held_out[index])) == scores[index]


def test_rounded_weights_are_judged_and_exact_ones_moved(positions):
    found, known = positions

    def rounded(weights):
        grid = [255] * OUTPUTS + [64] * (2 * NEURONS) + [255 * 64]
        return [round(weight * steps) / steps for weight, steps in zip(weights, grid, strict=True)]

    trainer = NetworkTrainer(NEURONS, threads=2)
    trainer.set_weights(lively_weights().tobytes())
    trainer.start_rounding()
    start = floats(trainer.get_weights())
    settled = rounded(lively_weights())[OUTPUTS:OUTPUT_BIAS]
    assert start[:OUTPUTS] == lively_weights()[:OUTPUTS]
    assert start[OUTPUTS:OUTPUT_BIAS] == array("f", settled)
    for number in range(1, 4):
        weights = rounded(floats(trainer.get_weights()))
        assert trainer.outputs(found)[3] == pytest.approx(python_output(weights, known[3][0]), abs=1e-5)
        loss = trainer.gradient(found, 0, 1, 0, len(found), 0.3, 0)
        assert loss == pytest.approx(python_loss(weights, known, 0.3), rel=1e-5)
        for part in range(2):
            trainer.step(part, len(found), 0.01, number)
    end = floats(trainer.get_weights())
    assert rounded(end) != weights
    assert end[OUTPUTS:OUTPUT_BIAS] == array("f", settled)
    assert end[OUTPUT_BIAS] != start[OUTPUT_BIAS]
    numbers = [round(255 * weight) for weight in floats(trainer.get_weights())[:BIASES]]
    assert list(array("h", RoundedNetwork(trainer).numbers()[0])) == numbers


def test_a_network_can_be_learned_on(learned):
    run, _ = learned
    rounded, comparison = run.round_off()
    network = run.export(rounded, {})
    again = NetworkTrainer(NEURONS)
    again.set_weights(weights_of(network))
    held_out = run.data.held_out
    loss = again.loss(held_out, 0, len(held_out), QUICK.result_share.last) / len(held_out)
    assert loss == pytest.approx(run.history[-1][1], rel=1e-4)
    assert comparison.exact_loss == pytest.approx(run.history[-1][1], rel=0.1)
    assert RoundedNetwork(again).numbers() == rounded.numbers()
    # From a file with another unit the same centipawns come out.
    outputs = again.outputs(held_out)
    again.set_weights(weights_of(network._replace(scale=3 * network.scale)))
    assert again.outputs(held_out) == pytest.approx([3 * output for output in outputs], rel=1e-4, abs=1e-5)


def test_a_network_can_grow(learned):
    """It says the same as before at first, and the new neurons do learn."""
    run, _ = learned
    network = run.export(run.round_off()[0], {})
    held_out, larger = run.data.held_out, 2 * NEURONS
    grown, before = NetworkTrainer(larger), NetworkTrainer(NEURONS)
    before.set_weights(weights_of(network))
    grown.set_weights(weights_of(network, larger))
    assert grown.outputs(held_out) == pytest.approx(before.outputs(held_out), rel=1e-5, abs=1e-6)
    for number in range(1, 4):
        grown.gradient(run.data.training, 0, 1, 0, 1000, QUICK.result_share.first, 0)
        grown.step(0, 1000, 0.001, number)
    learned_to_weigh = floats(grown.get_weights())[grown.parts[1] : grown.parts[2]]
    for side in (0, larger):
        assert all(learned_to_weigh[side + NEURONS : side + larger])


def test_a_network_gets_more_outputs(learned):
    """They say what the one said at first, and then learn from the positions with their number of men."""
    run, _ = learned
    network = run.export(run.round_off()[0], {})
    held_out = run.data.held_out
    grown, before = NetworkTrainer(NEURONS, outputs=8), NetworkTrainer(NEURONS)
    before.set_weights(weights_of(network))
    grown.set_weights(weights_of(network, outputs=8))
    assert grown.outputs(held_out) == pytest.approx(before.outputs(held_out), rel=1e-6)
    again = RoundedNetwork(grown)
    assert again.scores(held_out) == RoundedNetwork(before).scores(held_out)
    assert len(again.numbers()[3]) == 8


def test_a_network_with_several_outputs_is_learned_and_written(data, tmp_path):
    """The integers of its file say what the trainer says, by the formula in plain Python and by the engine."""
    settings = QUICK._replace(outputs=8, epochs=3)
    run = TrainingRun(data, settings, 2)
    while not run.is_finished:
        run.learn_batch()
        if run.epoch_is_over:
            run.end_epoch()
    assert run.history[-1][0] < run.history[0][0]
    rounded, comparison = run.round_off()
    assert comparison.mean_difference <= 2
    network = run.export(rounded, {})
    run.close()
    assert network.outputs == 8
    held_out = data.held_out
    scores = rounded.scores(held_out)
    for index in range(0, len(held_out), max(1, len(held_out) // 40)):
        assert scores[index] == python_integer_score(network, held_out.features(index))
    again = network_file.unpack_network(network_file.pack_network(network), "memory")
    assert again == network


IN_BUCKETS = QUICK._replace(king_buckets=4, outputs=2)


@pytest.fixture(scope="module")
def learned_in_buckets(data):
    run = TrainingRun(data, IN_BUCKETS, 2)
    before = run.held_out_loss()
    while not run.is_finished:
        run.learn_batch()
        if run.epoch_is_over:
            run.end_epoch()
    yield run, before
    run.close()


def test_a_network_with_king_buckets_is_learned_and_written(learned_in_buckets, tmp_path):
    """The integers of its file say what the trainer says, by the formula in plain Python and by the engine."""
    run, before = learned_in_buckets
    assert run.history[-1][1] < before / 3
    held_out, table = run.data.held_out, bucket_table(4)
    rounded, comparison = run.round_off()
    assert comparison.mean_difference <= 2
    assert comparison.mean_rounding <= 4
    scores, outputs = rounded.scores(held_out), run.trainer.outputs(held_out)
    apart = [abs(score - 180 * output) for score, output in zip(scores, outputs, strict=True)]
    assert sum(apart) / len(apart) == pytest.approx(comparison.mean_difference, abs=1e-3)
    network = run.export(rounded, {"made": "by a test"})
    assert network.bucket_table == table
    rows = numbers_from(network.feature_weights)
    assert all(rows[bucket * BIASES : (bucket + 1) * BIASES] != rows[:BIASES] for bucket in (1, 2, 3))
    path = tmp_path / "test.qnn"
    path.write_bytes(pack_network(network))
    assert unpack_network(path.read_bytes(), "test") == network
    kings = set()
    with evaluating_with(str(path)):
        for index in range(0, len(held_out), 7):
            features = held_out.features(index, table)
            kings.update(side[0] // 768 for side in features)
            assert python_integer_score(network, features) == scores[index]
            assert evaluation.evaluate_network(board_of(held_out[index])) == scores[index]
    assert kings == {0, 1, 2, 3}


@pytest.mark.parametrize("threads", [1, 3])
def test_king_buckets_are_learned_the_same_way_again(data, threads):
    runs = [TrainingRun(data, IN_BUCKETS._replace(epochs=1), threads) for _ in range(2)]
    for run in runs:
        while not run.epoch_is_over:
            run.learn_batch()
        run.end_epoch()
        run.close()
    assert runs[0].trainer.get_weights() == runs[1].trainer.get_weights()
    assert runs[0].trainer.get_moments() == runs[1].trainer.get_moments()
    assert runs[0].history == runs[1].history


@pytest.mark.parametrize("king_buckets", [2, 6])
def test_a_network_gets_king_buckets(learned, king_buckets):
    """They say what the one said at first, and what they learn of their own comes on top."""
    run, _ = learned
    network, held_out = run.export(run.round_off()[0], {}), run.data.held_out
    grown, before = NetworkTrainer(NEURONS, king_buckets=king_buckets), NetworkTrainer(NEURONS)
    before.set_weights(weights_of(network))
    grown.set_weights(weights_of(network, king_buckets=king_buckets))
    assert grown.outputs(held_out) == before.outputs(held_out)
    assert RoundedNetwork(grown).scores(held_out) == RoundedNetwork(before).scores(held_out)
    start = floats(grown.get_weights())
    assert start[:BIASES] == floats(before.get_weights())[:BIASES]
    assert not any(start[BIASES : (1 + king_buckets) * BIASES])
    grown.gradient(run.data.training, 0, 1, 0, 1000, QUICK.result_share.first, 0)
    grown.step(0, 1000, 0.001, 1)
    end = floats(grown.get_weights())
    for part in range(1 + king_buckets):
        assert end[part * BIASES : (part + 1) * BIASES] != start[part * BIASES : (part + 1) * BIASES]


@pytest.mark.parametrize(("king_buckets", "neurons"), [(4, NEURONS), (5, NEURONS), (8, 2 * NEURONS)])
def test_a_network_gets_more_king_buckets(learned_in_buckets, king_buckets, neurons):
    run, _ = learned_in_buckets
    rounded, held_out = run.round_off()[0], run.data.held_out
    network = run.export(rounded, {})
    grown = NetworkTrainer(neurons, outputs=2, king_buckets=king_buckets)
    grown.set_weights(weights_of(network, neurons, king_buckets=king_buckets))
    # What was learned is evaluated with rounded weights in the end, so these are the same outputs.
    assert grown.outputs(held_out) == pytest.approx(run.trainer.outputs(held_out), abs=1e-5)
    again = RoundedNetwork(grown)
    assert again.scores(held_out) == rounded.scores(held_out)
    if (king_buckets, neurons) == (4, NEURONS):
        assert again.numbers() == rounded.numbers()


@pytest.mark.parametrize("settings", [QUICK, IN_BUCKETS], ids=["plain", "king buckets"])
def test_interrupted_run_ends_like_a_whole_one(data, settings, request, tmp_path):
    whole, _ = request.getfixturevalue("learned" if settings is QUICK else "learned_in_buckets")
    first = TrainingRun(data, settings, 2)
    for _ in range(first.batches + 3):
        first.learn_batch()
        if first.epoch_is_over:
            first.end_epoch()
    assert (first.epoch, first.batch) == (1, 3)
    first.save(tmp_path / "checkpoint")
    first.close()
    second = TrainingRun(data, settings, 2)
    second.load(tmp_path / "checkpoint")
    assert second.positions_done == len(data.training) + 3 * settings.batch
    while not second.is_finished:
        second.learn_batch()
        if second.epoch_is_over:
            second.end_epoch()
        if second.step == second.rounded_from + 2:
            # Once more where weights are rounded already.
            second.save(tmp_path / "checkpoint")
            second.close()
            second = TrainingRun(data, settings, 2)
            second.load(tmp_path / "checkpoint")
    second.close()
    assert second.trainer.get_weights() == whole.trainer.get_weights()
    assert second.trainer.get_moments() == whole.trainer.get_moments()
    assert second.history == whole.history


def test_a_strange_checkpoint_is_refused(data, tmp_path):
    path = tmp_path / "checkpoint"
    run = TrainingRun(data, QUICK, 1)
    other = TrainingRun(data, QUICK._replace(result_share=Ramp(0.1, 0.5)), 1)
    run.save(path)
    with pytest.raises(TrainError, match="another run"):
        other.load(path)
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[:100] + b"?" + whole[101:], b"QZNN" + whole):
        path.write_bytes(damaged)
        with pytest.raises(TrainError, match="no checkpoint"):
            run.load(path)
    run.close()
    other.close()


@pytest.mark.parametrize("curve", ["cosine", "linear", "step:4"])
def test_the_rate_rises_and_falls(data, curve):
    run = TrainingRun(data, QUICK._replace(rate_curve=curve), 1)
    steps = QUICK.epochs * run.batches
    rates = []
    for run.step in range(steps):
        rates.append(run.rate())
    run.close()
    top = rates.index(max(rates))
    assert max(rates) == pytest.approx(QUICK.rate)
    assert 0 < top <= steps // 10
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert rates[-1] == pytest.approx(QUICK.last_rate)


def test_the_results_share_follows_its_ramp(data):
    """A step's targets have the share of that step."""
    run = TrainingRun(data, QUICK._replace(epochs=1, result_share=Ramp(0.0, 1.0, 0.5)), 1)
    shares = []
    while not run.epoch_is_over:
        shares.append(run.result_share())
        weights, loss = floats(run.trainer.get_weights()), run.loss
        walk, first = run.stretch, QUICK.batch * run.batch
        places = [(walk.begin + walk.stride * (first + index)) % walk.count for index in range(QUICK.batch)]
        run.learn_batch()
        if run.step in (1, run.rounded_from):
            known = [(data.training.features(place), data.training[place]) for place in places]
            assert run.loss - loss == pytest.approx(python_loss(short_weights(weights), known, shares[-1]), rel=1e-4)
    run.close()
    assert shares[0] == 0.0 < 0.5 < shares[run.rounded_from - 1] < shares[-1] == 1.0
    assert shares == sorted(shares)


def test_numbers_of_the_format_are_the_trainers():
    assert MOST_WEIGHT * network_file.ACTIVATION_ONE <= network_file.MOST_FEATURE_WEIGHT
    assert MOST_WEIGHT * network_file.OUTPUT_ONE <= network_file.MOST_OUTPUT_WEIGHT
    for neurons in (0, 33, 1056):
        with pytest.raises(ValueError, match="multiple of 32"):
            NetworkTrainer(neurons)

"""Training runs: integers that say the same, networks that grow, a resumed run that equals a whole one."""

from array import array

import chess
import pytest
from learning import write_games
from networks import evaluating_with
from trainer import (
    BIASES,
    NEURONS,
    OUTPUT_BIAS,
    OUTPUTS,
    floats,
    known_positions,
    lively_weights,
    python_loss,
    python_output,
    short_weights,
)

import eval as evaluation
from board import Board
from eval import network_file
from eval.king_buckets import bucket_table
from eval.network_file import numbers_from, pack_network, unpack_network
from training.gather import Filters, gather
from training.network_run import Settings, TrainError, TrainingRun, weights_of
from training.network_trainer import MOST_WEIGHT, NetworkTrainer
from training.quantiser import RoundedNetwork
from training.schedule import Ramp

QUICK = Settings(neurons=NEURONS, epochs=6, batch=256, rate=4e-3, filters=Filters(held_out=10))


@pytest.fixture(scope="module")
def positions():
    return known_positions()


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


def finished_run(data, settings):
    """A run that has seen all its epochs, and the loss before the first; closed when it is not wanted any more."""
    run = TrainingRun(data, settings, 2)
    before = run.held_out_loss()
    while not run.is_finished:
        run.learn_batch()
        if run.epoch_is_over:
            run.end_epoch()
    yield run, before
    run.close()


@pytest.fixture(scope="module")
def learned(data):
    yield from finished_run(data, QUICK)


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
    yield from finished_run(data, IN_BUCKETS)


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

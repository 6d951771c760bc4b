"""The tuner: right gradients, falling loss, the same outcome with and without an interruption."""

import json
import math
import os
import random
import signal
import subprocess
import sys
from array import array

import pytest
from games import random_game
from support import DATA, quetzal

import eval as evaluation
from board import Board
from eval.weights import LAYOUT, current_weights, set_weights
from eval.weights_file import read_weights
from training.dataset import WEIGHT_COUNT, Dataset, adam_step, shuffle
from training.files import GameWriter
from training.records import Game, encode_game
from training.tuner import Settings, TuneError, Tuner, flatten, read_games

SETTINGS = Settings(epochs=6, batch=512, rate=4.0, held_out=20)


@pytest.fixture(scope="module")
def games_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "games.qzg"
    with GameWriter(path) as writer:
        for seed in range(300):
            writer.write(random_game(seed, plies=80))
    return path


@pytest.fixture
def distorted():
    """All pieces worth a pawn and nothing else worth anything, in use until the test is over."""
    before = current_weights()
    distorted = [100] * 5 + [0] * (len(before[0]) - 5)
    set_weights(distorted, distorted)
    yield
    set_weights(*before)


def small_dataset():
    dataset = Dataset()
    for seed in range(12):
        dataset.add_game(encode_game(random_game(seed, plies=80)))
    return dataset


def test_coefficients_give_the_evaluation_back():
    """One position, no weight but one: loss and score agree with the evaluation."""
    weights = flatten(*current_weights())
    compared = 0
    for seed in range(200):
        game = random_game(seed, plies=40)
        board = Board()
        for move in game.moves:
            board.push(move)
        if board.is_check() or not board.quiet_moves():
            continue
        one = Game(board.fen(), False, 0, [board.quiet_moves()[0]], [0], 1)
        dataset = Dataset()
        if dataset.add_game(encode_game(one), settle=False) == 0:
            continue
        # The logistic loss of a won game is log(1 + exp(-k score)).
        score = -math.log(math.expm1(dataset.loss(weights, 0.002))) / 0.002
        truth = evaluation.evaluate_classical(board) * (-1 if board.turn else 1)
        assert abs(score - truth) < 2  # rounded twice
        compared += 1
    assert compared > 100


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_gradient_equals_numerical_differentiation(share):
    dataset = small_dataset()
    order = array("I", range(len(dataset)))
    weights = flatten(*current_weights())
    gradient = array("d", bytes(8 * WEIGHT_COUNT))
    loss = dataset.gradient(weights, 0.004, share, order, 0, len(order), gradient)
    assert loss == pytest.approx(dataset.loss(weights, 0.004, share))
    step = 0.01
    checked = 0
    for index in range(WEIGHT_COUNT):
        kept = weights[index]
        weights[index] = kept + step
        above = dataset.loss(weights, 0.004, share)
        weights[index] = kept - step
        below = dataset.loss(weights, 0.004, share)
        weights[index] = kept
        assert gradient[index] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-5)
        checked += abs(gradient[index]) > 1e-3
    assert checked > 300


def test_settling_ends_pending_captures():
    """A queen that hangs is taken before the position is judged."""
    hanging = "4k3/pp6/8/3q4/4P3/8/PP6/4K2R w - - 0 1"
    board = Board(hanging)
    game = encode_game(Game(hanging, False, 0, [board.parse_uci("h1h2")], [0], 1))
    weights = flatten(*current_weights())
    settled, raw = Dataset(), Dataset()
    assert settled.add_game(game) == raw.add_game(game, settle=False) == 1
    assert settled.loss(weights, 0.004) < raw.loss(weights, 0.004)


def test_noisy_positions_are_left_out():
    fen = "4k3/pp6/8/3q4/4P3/8/PP6/4K2R w - - 0 1"
    capture = Board(fen).parse_uci("e4d5")
    quiet = Board(fen).parse_uci("h1h2")
    in_check = "4k3/8/8/8/4q3/8/5P2/4K2R w - - 0 1"
    evasion = Board(in_check).parse_uci("e1f1")
    dataset = Dataset()
    assert dataset.add_game(encode_game(Game(fen, False, 0, [capture], [0], 1))) == 0
    assert dataset.add_game(encode_game(Game(fen, False, 0, [quiet], [1001], 1))) == 0
    assert dataset.add_game(encode_game(Game(fen, False, 1, [quiet], [], 1))) == 0
    assert dataset.add_game(encode_game(Game(in_check, False, 0, [evasion], [0], 1))) == 0
    assert dataset.add_game(encode_game(Game(fen, False, 0, [quiet], [1000], 1))) == 1


def test_damaged_game_adds_nothing():
    dataset = small_dataset()
    size, coefficients = len(dataset), dataset.coefficient_total
    payload = encode_game(random_game(1))
    with pytest.raises(ValueError, match="ply"):
        dataset.add_game(payload[:-20])
    assert (len(dataset), dataset.coefficient_total) == (size, coefficients)


def test_shuffle_is_a_permutation_fixed_by_its_seed():
    orders = [array("I", range(1000)) for _ in range(3)]
    for order, seed in zip(orders, (7, 7, 8), strict=True):
        shuffle(order, seed)
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(1000)) != list(orders[0])


def test_adam_finds_the_bottom_of_a_bowl():
    rng = random.Random(2)
    goal = [rng.uniform(-50, 50) for _ in range(6)]
    weights, start = array("d", [0.0] * 6), array("d", [0.0] * 6)
    moments = array("d", [0.0] * 6), array("d", [0.0] * 6)
    for step in range(1, 3001):
        gradients = [array("d", (weights[n] - goal[n] for n in range(6))), array("d", [0.0] * 6)]
        adam_step(weights, start, *moments, gradients, 1, 0.0, 1.0 if step < 2000 else 0.02, step)
    assert list(weights) == pytest.approx(goal, abs=0.5)


def test_loss_falls_and_pieces_get_their_worth(games_file, distorted):
    data = read_games([games_file], SETTINGS)
    assert data.damaged == []
    tuner = Tuner(data, SETTINGS)
    try:
        losses = [tuner.run_epoch() for _ in range(SETTINGS.epochs)]
    finally:
        tuner.close()
    # So few games are overfitted: only the loss of training must fall, and what is plain must be found.
    assert losses[-1][0] < losses[0][0] * 0.98
    middlegame, endgame = tuner.rounded()
    _, _, _, rook, queen = (middlegame[n] + endgame[n] for n in range(5))
    assert rook > 250
    assert queen > 250


def test_interrupted_run_ends_like_a_whole_one(games_file, distorted, tmp_path):
    data = read_games([games_file], SETTINGS)
    whole = Tuner(data, SETTINGS)
    first = Tuner(data, SETTINGS)
    second = Tuner(data, SETTINGS)
    try:
        for _ in range(4):
            whole.run_epoch()
        for _ in range(2):
            first.run_epoch()
        first.save(tmp_path / "checkpoint")
        second.load(tmp_path / "checkpoint")
        for _ in range(2):
            second.run_epoch()
        assert second.weights == whole.weights
        assert second.history == whole.history
        other = Tuner(data, SETTINGS._replace(seed=2))
        with pytest.raises(TuneError, match="another run"):
            other.load(tmp_path / "checkpoint")
        other.close()
    finally:
        for tuner in (whole, first, second):
            tuner.close()


def test_threads_and_held_out_games_do_not_change_the_data(games_file):
    one = read_games([games_file], SETTINGS._replace(threads=1))
    two = read_games([games_file], SETTINGS)
    weights = flatten(*current_weights())
    assert (len(one.training), len(one.held_out)) == (len(two.training), len(two.held_out))
    assert one.training.loss(weights, 0.004) == two.training.loss(weights, 0.004)
    assert 0.05 < len(one.held_out) / (len(one.training) + len(one.held_out)) < 0.4


def test_too_few_games_are_refused(tmp_path):
    with GameWriter(tmp_path / "none") as writer:
        writer.flush()
    with pytest.raises(TuneError, match="too few"):
        Tuner(read_games([tmp_path / "none"], SETTINGS), SETTINGS)


def test_command_writes_a_weights_file(games_file, tmp_path):
    output = tmp_path / "weights.json"
    arguments = [
        "tune",
        str(games_file),
        "--output",
        str(output),
        "--epochs",
        "2",
        "--batch",
        "2000",
        "--held-out",
        "20",
    ]
    done = quetzal(*arguments)
    assert done.returncode == 0, done.stderr
    assert "held-out loss" in done.stderr
    assert "positions/s" in done.stderr
    assert "textbook" in done.stdout
    features, middlegame, _ = read_weights(output.read_text(encoding="utf-8"), LAYOUT, "weights.json")
    assert len(features) == len(LAYOUT)
    assert middlegame != current_weights()[0]
    assert "quetzal tune" in json.loads(output.read_text(encoding="utf-8"))["origin"]
    assert not (tmp_path / "weights.json.checkpoint").exists()
    again = tmp_path / "again.json"
    quetzal(*["tune", str(games_file), "--output", str(again), *arguments[4:]])
    assert again.read_text(encoding="utf-8") == output.read_text(encoding="utf-8")


def test_a_damaged_checkpoint_is_refused_and_changes_nothing(games_file, tmp_path):
    tuner = Tuner(read_games([games_file], SETTINGS), SETTINGS)
    try:
        tuner.run_epoch()
        path = tmp_path / "checkpoint"
        tuner.save(path)
        whole = json.loads(path.read_text(encoding="utf-8"))
        before = list(tuner.weights), tuner.epoch
        for text, reason in (
            ("[" * 100_000, "brackets within brackets"),
            ("[1, 2]", "not an object"),
            (json.dumps({**whole, "history": [1]}), "history\\[0\\] is 1, not a list"),
            (json.dumps({**whole, "history": [[0.1]]}), "an epoch has not two losses"),
            (json.dumps({**whole, "weights": [1, "x"]}), "weights\\[1\\] is 'x', not a number"),
            (json.dumps({**whole, "weights": whole["weights"][1:]}), "weights or moments of another number"),
            (json.dumps({**whole, "moments": []}), "weights or moments of another number"),
            (json.dumps({**whole, "k": -1}), "k is -1"),
            *((json.dumps({**whole, name: None}), f"{name} is None") for name in whole),
        ):
            path.write_text(text, encoding="utf-8")
            with pytest.raises(TuneError, match=f"checkpoint is no checkpoint: .*{reason}"):
                tuner.load(path)
            assert (list(tuner.weights), tuner.epoch) == before
    finally:
        tuner.close()


def test_command_reports_damage_and_checkpoints(games_file, tmp_path):
    damaged = tmp_path / "damaged.qzg"
    damaged.write_bytes(games_file.read_bytes()[:-5])
    output = tmp_path / "weights.json"
    done = quetzal("tune", str(damaged), "--output", str(output), "--epochs", "1", "--held-out", "20")
    assert done.returncode == 0
    assert "a game is cut off" in done.stderr
    (tmp_path / "weights.json.checkpoint").write_text("{}", encoding="utf-8")
    refused = quetzal("tune", str(damaged), "--output", str(output))
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    wrong = quetzal("tune", str(damaged), "--output", str(output), "--held-out", "20", "--resume")
    assert wrong.returncode == 2
    assert "no checkpoint" in wrong.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_ctrl_c_keeps_the_finished_epochs(games_file, tmp_path):
    output = tmp_path / "weights.json"
    arguments = ["tune", str(games_file), "--output", str(output), "--batch", "200", "--held-out", "20", "--epochs"]
    command = [sys.executable, "-m", "uci_engine", *arguments, "100000"]
    process = subprocess.Popen(command, cwd=DATA, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("epoch 2/"):
            break
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    kept = json.loads((tmp_path / "weights.json.checkpoint").read_text(encoding="utf-8"))["epoch"]
    assert kept >= 2
    assert f"epoch {kept} is kept, go on with --resume" in told
    resumed = quetzal(*arguments, str(kept + 1), "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert f"going on after epoch {kept}" in resumed.stderr

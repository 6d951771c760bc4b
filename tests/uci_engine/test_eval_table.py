"""`quetzal eval`: readable in 80 columns, and the rows sum to the total."""

import pytest
from networks import evaluating_with, random_network, write_network
from support import ROOT, quetzal

from board import Board
from eval import CLASSICAL, GROUPS, evaluate_network, piece_values
from eval import evaluate_classical as evaluate
from training.ablation import write_weights
from uci_engine.eval_table import eval_table

FENS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R b KQ - 1 8",
    "8/5k2/3b4/8/8/3B4/3PPP2/4K3 w - - 0 1",
    "8/8/4k3/8/8/3KBN2/8/8 b - - 0 1",
    "8/4k3/4n3/8/8/3KR3/8/8 w - - 0 1",
]


@pytest.fixture
def network(tmp_path):
    path = str(write_network(tmp_path / "some.qnn", random_network(64)))
    with evaluating_with(path):
        yield path


def test_network_shows_each_piece_and_the_classical_table(network):
    board = Board(FENS[1])
    lines = list(eval_table(board))
    assert all(len(line) <= 80 for line in lines)
    values = piece_values(board)
    # Rank 8, then the line below it: the rook on a8 and the bishop on c8, from White's side.
    row = next(index for index, line in enumerate(lines) if line.startswith("8 |"))
    letters, numbers = (line[3:].split("|") for line in lines[row : row + 2])
    assert (letters[0].strip(), letters[2].strip()) == ("r", "b")
    assert (int(numbers[0]), int(numbers[2])) == (-values[56], -values[58])
    score = -evaluate_network(board)
    assert f"The network says {score:+d} centipawns (White's view)." in lines
    with evaluating_with(CLASSICAL):
        classical = list(eval_table(board))
    assert [line for line in lines if line in classical] and "\n".join(classical) in "\n".join(lines)


def test_uci_shows_the_network(network):
    lines = quetzal(stdin=f"setoption name EvalFile value {network}\nposition fen {FENS[1]}\neval\nquit\n").stdout
    assert lines.splitlines() == list(eval_table(Board(FENS[1])))


def test_beside_a_network_the_classical_terms_are_the_bundled_ones(network, tmp_path):
    """Also when a file of other weights was in use before."""
    weights = tmp_path / f"without-{GROUPS[0]}.json"
    write_weights(weights)
    command = "setoption name EvalFile value {}\n".format
    lines = quetzal(stdin=f"{command(weights)}{command(network)}position fen {FENS[1]}\neval\nquit\n").stdout
    assert lines.splitlines() == list(eval_table(Board(FENS[1])))


@pytest.mark.parametrize("fen", FENS)
def test_table_adds_up(fen):
    with evaluating_with(CLASSICAL):
        lines = list(eval_table(Board(fen)))
    assert all(len(line) <= 80 for line in lines)
    rule = next(index for index, line in enumerate(lines) if line.startswith("---"))
    rows = [line.split() for line in lines[2:rule]]
    total = lines[rule + 1].split()
    assert [row[0] for row in rows[: len(GROUPS)]] == list(GROUPS)
    assert sum(int(row[-1]) for row in rows) == int(total[-1])
    for column in range(1, 7):
        assert sum(int(row[column]) for row in rows[: len(GROUPS)]) == int(total[column])
    score = evaluate(Board(fen))
    assert int(total[-1]) == (-score if " b " in fen else score)


def test_command_prints_the_table():
    assert quetzal("eval", "--fen", FENS[1]).stdout.splitlines() == list(eval_table(Board(FENS[1])))


def test_command_evaluates_with_another_file(network):
    lines = quetzal("eval", "--fen", FENS[1], "--eval-file", network).stdout.splitlines()
    assert lines == list(eval_table(Board(FENS[1])))
    with evaluating_with(CLASSICAL):
        classical = list(eval_table(Board(FENS[1])))
    assert quetzal("eval", "--fen", FENS[1], "--eval-file", "").stdout.splitlines() == classical


@pytest.mark.parametrize("command", ["eval", "bench"])
def test_a_file_that_is_no_evaluation_is_refused(command, tmp_path):
    (tmp_path / "noise.qnn").write_bytes(b"noise")
    done = quetzal(command, "--eval-file", str(tmp_path / "noise.qnn"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "neither a network nor a file of weights" in done.stderr


def test_a_missing_file_is_named():
    done = quetzal("eval", "--eval-file", "nowhere.qnn")
    assert (done.returncode, done.stderr) == (2, "quetzal eval: nowhere.qnn: No such file or directory\n")


def test_bench_searches_with_another_evaluation():
    """The classical evaluation is the same by its empty name and by its file, and differs from the network."""
    arguments = (["--eval-file", ""], ["--eval-file", str(ROOT / "eval" / "weights.json")], [])
    closing = [quetzal("bench", "--depth", "5", *more).stdout.splitlines()[-1] for more in arguments]
    by_name, by_file, network = (line.split(" nodes ")[0] for line in closing)
    assert by_name == by_file != network


@pytest.mark.parametrize(
    "training, told",
    [
        ({"data": {"positions": 65000000, "games": 1000}}, ["It learned from 65,000,000 positions of 1,000 games."]),
        ({"data": {"positions": "many"}}, []),
        ({"data": None}, []),
        ({}, []),
    ],
)
def test_what_the_network_learned_from_is_told_if_its_file_says(tmp_path, training, told):
    path = write_network(tmp_path / "some.qnn", random_network(32)._replace(training=training))
    with evaluating_with(str(path)):
        lines = list(eval_table(Board(FENS[1])))
    assert [line for line in lines if line.startswith("It learned")] == told


def test_command_refuses_a_bad_fen():
    done = quetzal("eval", "--fen", "nonsense")
    assert done.returncode == 2
    assert "quetzal eval:" in done.stderr


def test_uci_has_it_too():
    lines = quetzal(stdin=f"position fen {FENS[1]}\neval\nquit\n").stdout.splitlines()
    assert lines == list(eval_table(Board(FENS[1])))

"""`quetzal train` as a user runs it: what it writes, says and refuses, and how it goes on after Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import pytest
from learning import write_games
from support import DATA, quetzal

from eval.king_buckets import bucket_table
from eval.network_file import unpack_network


@pytest.fixture(scope="module")
def games_file(tmp_path_factory):
    return write_games(tmp_path_factory.mktemp("games") / "games.qzg", 250)


def arguments_of(games, output, *more):
    quick = ("--neurons", "32", "--epochs", "3", "--batch", "512", "--held-out", "10", "--threads", "2")
    return ["train", str(games), "-o", str(output), *quick, *more]


def weights_in(path):
    return unpack_network(path.read_bytes(), "test")._replace(training={})


def test_the_command_trains_reports_and_writes(games_file, tmp_path):
    output = tmp_path / "small.qnn"
    done = quetzal(*arguments_of(games_file, output))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("held out") == 3
    for words in ("in integers", "mean |score| on held-out positions", "positions/s", "to learn from"):
        assert words in done.stdout
    network = unpack_network(output.read_bytes(), "test")
    assert network.neurons == 32
    told = network.training
    assert told["data"]["files"] == [games_file.name]
    assert told["data"]["games"] == 250
    assert len(told["losses"]) == 3
    assert told["losses"][told["best_epoch"] - 1][1] == min(held_out for _, held_out in told["losses"])
    assert told["settings"]["filters"]["held_out"] == 10
    assert str(tmp_path) not in str(told)
    drawing = ElementTree.parse(tmp_path / "small.svg").getroot()
    assert sum(element.tag.endswith("circle") for element in drawing.iter()) == 6
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.qnn", "small.svg"]
    # The same again is the same network; going on from it is another.
    again = tmp_path / "again.qnn"
    assert quetzal(*arguments_of(games_file, again)).returncode == 0
    assert weights_in(again) == weights_in(output)
    further = quetzal(*arguments_of(games_file, tmp_path / "further.qnn", "--start", str(output)))
    assert further.returncode == 0
    assert weights_in(tmp_path / "further.qnn") != weights_in(output)
    assert unpack_network((tmp_path / "further.qnn").read_bytes(), "test").training["start"] == "small.qnn"


def test_the_command_trains_king_buckets(games_file, tmp_path):
    one, two, five = (tmp_path / f"{name}.qnn" for name in ("one", "two", "five"))
    assert quetzal(*arguments_of(games_file, one, "--epochs", "1")).returncode == 0
    for output, start, buckets in ((two, one, "2"), (five, two, "5")):
        done = quetzal(*arguments_of(games_file, output, "--king-buckets", buckets, "--start", str(start)))
        assert done.returncode == 0, done.stderr
        assert f"king buckets: {buckets}" in done.stderr
    network = unpack_network(five.read_bytes(), "test")
    assert network.bucket_table == bucket_table(5)
    assert network.training["settings"]["king_buckets"] == 5
    # Buckets stay if nobody asks for others; there is no way back to fewer.
    further = tmp_path / "further.qnn"
    assert quetzal(*arguments_of(games_file, further, "--start", str(five))).returncode == 0
    assert unpack_network(further.read_bytes(), "test").king_buckets == 5
    refused = quetzal(*arguments_of(games_file, tmp_path / "four.qnn", "--start", str(five), "--king-buckets", "4"))
    assert (refused.returncode, "cannot become 4" in refused.stderr) == (2, True)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise there")
def test_ctrl_c_keeps_what_was_learned(games_file, tmp_path):
    longer = ("--epochs", "40")
    whole, broken = tmp_path / "whole.qnn", tmp_path / "broken.qnn"
    assert quetzal(*arguments_of(games_file, whole, *longer)).returncode == 0
    command = [sys.executable, "-m", "uci_engine", *arguments_of(games_file, broken, *longer)]
    process = subprocess.Popen(command, cwd=DATA, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("epoch 2/"):
            break
    time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in told
    assert not broken.exists()
    assert (tmp_path / "broken.qnn.checkpoint").exists()
    refused = quetzal(*arguments_of(games_file, broken, *longer))
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    resumed = quetzal(*arguments_of(games_file, broken, *longer, "--resume"))
    assert resumed.returncode == 0, resumed.stderr
    assert "going on after" in resumed.stderr
    assert weights_in(broken) == weights_in(whole)
    assert not (tmp_path / "broken.qnn.checkpoint").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--neurons", "33"), "multiple of 32"),
        (("--neurons", "2048"), "at most 1024"),
        (("--king-buckets", "9"), "1 to 8"),
        (("--result-share", "1.5"), "from 0 to 1"),
        (("--rate", "0.001", "--last-rate", "0.01"), "not rise"),
        (("--rate", "nan"), "learning rate"),
        (("--rate-curve", "step:1"), "N from 2"),
        (("--result-share", "0.1:0.2:0.3"), "--result-share"),
        (("--result-share", "0.1:0.3@1"), "from 0 to 1"),
        (("--held-out", "90"), "--held-out 90"),
        (("--from-ply", "4000"), "too few"),
        (("--threads", "9999"), "threads"),
        (("-o", "network.bin"), ".qnn"),
        (("-o", "nowhere/network.qnn"), "no such directory"),
        (("--checkpoint", "nowhere/state"), "no such directory"),
        (("--start", "nowhere.qnn"), "nowhere.qnn"),
        (("--start", "perft_standard.epd"), "no network"),
    ],
)
def test_bad_requests_are_explained(games_file, tmp_path, change, message):
    done = quetzal(*arguments_of(games_file, tmp_path / "network.qnn", *change))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_without_games_are_refused(tmp_path):
    empty = write_games(tmp_path / "empty.qzg", 0)
    done = quetzal(*arguments_of(empty, tmp_path / "network.qnn"))
    assert (done.returncode, "0 games give" in done.stderr) == (2, True)
    foreign = quetzal(*arguments_of(DATA / "perft_standard.epd", tmp_path / "network.qnn"))
    assert (foreign.returncode, "no file of Quetzal's games" in foreign.stderr) == (2, True)

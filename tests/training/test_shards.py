"""Positions in shards on disk: the same ones as in memory, each met once per epoch, resumable, damage told."""

import json
from collections import Counter
from itertools import pairwise

import pytest
from games import random_game
from learning import write_games
from support import quetzal

from eval.network_file import unpack_network
from training.files import GameWriter
from training.gather import Filters, gather, gather_shards
from training.network_run import Settings, TrainingRun
from training.positions import MAXIMUM_SHARDS, KeySet, PositionSet
from training.shards import ShardError, ShardWriter

FILTERS = Filters(held_out=10, later_share=0.5)
QUICK = Settings(neurons=32, epochs=3, batch=256, rate=4e-3, filters=FILTERS, shards_at_once=3)


@pytest.fixture(scope="module")
def games_file(tmp_path_factory):
    return write_games(tmp_path_factory.mktemp("games") / "games.qzg", 150)


@pytest.fixture(scope="module")
def sharded(games_file, tmp_path_factory):
    return gather_shards([games_file], FILTERS, 2, tmp_path_factory.mktemp("shards") / "shards", 8)


def contents(positions):
    """Every position as bytes, with how often it is there."""
    return Counter(positions.get_bytes(index, index + 1) for index in range(len(positions)))


def test_shards_have_what_memory_would_have(games_file, sharded):
    data = gather([games_file], FILTERS, 1)
    shards = sharded.training
    assert len(shards) == len(data.training)
    whole = shards.load(range(8))
    assert contents(whole) == contents(data.training)
    assert contents(sharded.held_out) == contents(data.held_out)
    assert (sharded.games, sharded.held_out_games, sharded.fates) == (data.games, data.held_out_games, data.fates)
    assert sharded.duplicates == data.duplicates > 0
    assert list(sharded.report()) == list(data.report())
    # Each gets its part, and no traces of the making are left.
    assert min(shards.counts) > len(shards) / 8 * 0.7
    names = [f"shard-{number:03}.positions" for number in range(8)]
    assert sorted(path.name for path in shards.directory.iterdir()) == ["held-out.positions", *names, "shards.json"]


def test_equal_positions_meet_in_one_shard(tmp_path):
    """The same game over and over: some of the copies are held out, but all of their positions are known."""
    with GameWriter(tmp_path / "copies.qzg") as writer:
        for _ in range(60):
            writer.write(random_game(1))
    data = gather_shards([tmp_path / "copies.qzg"], Filters(held_out=20), 2, tmp_path / "shards", 16)
    assert data.held_out_games > 0
    assert len(data.training) > 20
    assert len(data.held_out) == 0
    assert data.duplicates == data.fates[0] - len(data.training)
    assert max(contents(data.training.load(range(16))).values()) == 1


def test_shards_are_in_no_order_of_games(sharded):
    """Neighbours in a shard come from anywhere: a game's plies are not in a row."""
    positions = sharded.training.load([0])
    plies = [positions[index].ply for index in range(len(positions))]
    in_row = sum(0 < later - ply <= 16 for ply, later in pairwise(plies))
    assert in_row < len(plies) / 2


def met(run):
    """The positions of an epoch in the order in which they are learned, and the shards that were read together."""
    found, together = [], []
    while not run.epoch_is_over:
        stretch, positions = run.stretch, run.positions()
        assert len(positions) == stretch.count
        first = (run.batch - stretch.first_batch) * run.settings.batch
        size = min(run.settings.batch, stretch.count - first)
        places = [(stretch.begin + stretch.stride * (first + index)) % stretch.count for index in range(size)]
        found += [positions.get_bytes(place, place + 1) for place in places]
        if first == 0:
            together.append(stretch.shards)
        done = run.positions_done
        assert run.learn_batch() == size
        assert run.positions_done == done + size
    run.end_epoch()
    return found, together


def test_every_position_is_met_once_per_epoch(sharded):
    everything = contents(sharded.training.load(range(8)))
    assert set(everything.values()) == {1}
    run = TrainingRun(sharded, QUICK, 2)
    epochs = [met(run) for _ in range(QUICK.epochs)]
    run.close()
    assert run.is_finished
    assert run.step == run.steps
    for found, together in epochs:
        assert Counter(found) == everything
        assert [len(numbers) for numbers in together] == [3, 3, 2]
        assert sorted(number for numbers in together for number in numbers) == list(range(8))
    assert epochs[0][1] != epochs[1][1]
    assert epochs[0][0] != epochs[1][0]


def test_interrupted_run_ends_like_a_whole_one(sharded, tmp_path):
    whole = TrainingRun(sharded, QUICK, 2)
    while not whole.is_finished:
        whole.learn_batch()
        if whole.epoch_is_over:
            whole.end_epoch()
    whole.close()
    run = TrainingRun(sharded, QUICK, 2)
    steps = run.stretches[0].batches
    while not run.is_finished:
        run.learn_batch()
        if run.epoch_is_over:
            run.end_epoch()
        # Within a stretch, at its end, and at the end of an epoch.
        if run.step in (2, steps, run.steps // QUICK.epochs, run.steps):
            run.save(tmp_path / "checkpoint")
            run.close()
            run = TrainingRun(sharded, QUICK, 2)
            run.load(tmp_path / "checkpoint")
    run.close()
    assert run.trainer.get_weights() == whole.trainer.get_weights()
    assert run.history == whole.history
    assert whole.history[-1][1] < whole.history[0][1]


def test_shards_are_used_again(games_file, sharded, monkeypatch):
    directory = sharded.training.directory
    monkeypatch.setattr("training.gather.gather", None)
    again = gather_shards([games_file], FILTERS, 1, directory, 8)
    assert again.training.checksum() == sharded.training.checksum()
    assert again.held_out.checksum() == sharded.held_out.checksum()
    assert again[2:] == sharded[2:]
    for filters, count in ((FILTERS._replace(seed=2), 8), (FILTERS, 9)):
        with pytest.raises(ShardError, match="other games or settings"):
            gather_shards([games_file], filters, 1, directory, count)


def test_half_made_shards_are_made_again(games_file, sharded, tmp_path):
    directory = tmp_path / "shards"
    writer = ShardWriter(directory, 8)
    writer._files[0][3].write(b"rubbish of a killed process")
    writer.close()
    data = gather_shards([games_file], FILTERS, 2, directory, 8)
    assert data.training.checksum() == sharded.training.checksum()


def test_damaged_shards_are_refused(games_file, tmp_path):
    directory = tmp_path / "shards"
    shards = gather_shards([games_file], FILTERS, 1, directory, 4).training
    path = directory / "shard-002.positions"
    good = path.read_bytes()
    for bad in (good[:-32], good[:-1], good + good[:32], bytes([good[0] ^ 1]) + good[1:], b""):
        path.write_bytes(bad)
        assert len(shards.load([1])) == shards.counts[1]
        with pytest.raises(ShardError, match=r"shard-002\.positions is damaged"):
            shards.load([1, 2])
    (directory / "held-out.positions").write_bytes(b"")
    with pytest.raises(ShardError, match="is damaged"):
        gather_shards([games_file], FILTERS, 1, directory, 4)
    index = json.loads((directory / "shards.json").read_text(encoding="ascii"))
    without = [{each: index[each] for each in index if each != name} for name in index]
    others = ([], {**index, "counts": None}, {**index, "counts": [1, 2]}, {**index, "held_out": [1, "x"]})
    for text in ("{", "[" * 100_000, *map(json.dumps, (*without, *others))):
        (directory / "shards.json").write_text(text, encoding="ascii")
        with pytest.raises(ShardError, match=r"shards\.json is damaged"):
            gather_shards([games_file], FILTERS, 1, directory, 4)


def test_records_are_whole():
    plain, keyed = PositionSet(), PositionSet(keyed=True)
    with pytest.raises(ValueError, match="with keys"):
        plain.split(4)
    for count in (0, MAXIMUM_SHARDS + 1):
        with pytest.raises(ValueError, match="1 to 256"):
            keyed.split(count)
    assert keyed.split(3) == [b"", b"", b""]
    for add in (lambda data: plain.take_records(data, KeySet()), plain.add_bytes):
        with pytest.raises(ValueError, match="whole"):
            add(b"?")
    with pytest.raises(ValueError, match="not in the set"):
        plain.get_bytes(0, 1)


def test_the_command_trains_from_shards(games_file, tmp_path):
    output = tmp_path / "small.qnn"
    quick = ("--neurons", "32", "--epochs", "2", "--batch", "512", "--held-out", "10", "--threads", "2")
    command = ("train", str(games_file), "-o", str(output), *quick, "--shards", "4", "--shards-at-once", "2")
    done = quetzal(*command)
    assert done.returncode == 0, done.stderr
    directory = tmp_path / "small.qnn.shards"
    assert str(directory) in done.stdout
    index = json.loads((directory / "shards.json").read_text(encoding="utf-8"))
    assert len(index["counts"]) == 4
    first = unpack_network(output.read_bytes(), "test")
    assert first.training["data"]["positions"] == sum(index["counts"])
    # The same again from the same shards is the same network.
    again = quetzal(*command)
    assert again.returncode == 0, again.stderr
    assert unpack_network(output.read_bytes(), "test")._replace(training={}) == first._replace(training={})
    other = quetzal(*command, "--seed", "2")
    assert (other.returncode, "other games or settings" in other.stderr) == (2, True)
    assert "Traceback" not in other.stderr

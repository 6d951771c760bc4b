"""Positions to learn from on disk, for more of them than memory holds: split into shards, each without duplicates, shuffled.

A position's key decides its shard, so equal positions meet in the same one. Keys are as good as random numbers: every
shard is a fair sample of all positions, and several of them, read together, are mixed as well as the whole would be.
"""

import hashlib
import json
from pathlib import Path

from arena.formats import demand
from board.files import open_regular, parse_json, read_text, replace_file
from training.positions import BYTES_PER_POSITION, BYTES_PER_RECORD, MAXIMUM_SHARDS, KeySet, PositionSet

INDEX = "shards.json"
_AT_ONCE = 1 << 16  # positions read or written


class ShardError(ValueError):
    """The shards cannot be used. The message says why."""


def _read(path, size):
    """The file's bytes, a few megabytes at a time."""
    with open(path, "rb", opener=open_regular) as file:
        while data := file.read(_AT_ONCE * size):
            yield data


def _write(path, positions):
    with open(path, "wb", opener=open_regular) as file:
        for first in range(0, len(positions), _AT_ONCE):
            file.write(positions.get_bytes(first, min(first + _AT_ONCE, len(positions))))


def _add_file(path, positions, count, checksum):
    """Reads so many positions, and makes sure that they are what was written."""
    before = len(positions)
    for data in _read(path, BYTES_PER_POSITION):
        if len(data) % BYTES_PER_POSITION:
            break
        positions.add_bytes(data)
    if len(positions) - before != count or positions.checksum(before) != checksum:
        raise ShardError(f"{path} is damaged: remove its directory, so that the shards are made again")


class Shards:
    """The positions to learn from: as many as all shards have, of which some can be in memory."""

    def __init__(self, directory, counts, checksums):
        self.directory, self.counts, self.checksums = Path(directory), counts, checksums

    def __len__(self):
        return sum(self.counts)

    def checksum(self):
        """A number that tells other positions apart."""
        return int.from_bytes(hashlib.sha256(repr((self.counts, self.checksums)).encode()).digest()[:8], "little")

    def load(self, numbers):
        """The positions of these shards, one shard after the other."""
        positions = PositionSet()
        positions.reserve(sum(self.counts[number] for number in numbers))
        for number in numbers:
            path = _shard_path(self.directory, number)
            _add_file(path, positions, self.counts[number], self.checksums[number])
        return positions


def _shard_path(directory, number):
    return directory / f"shard-{number:03}.positions"


class ShardWriter:
    """Takes in positions while games are read. `finish` makes the shards of them."""

    def __init__(self, directory, count):
        if not 0 < count <= MAXIMUM_SHARDS:
            raise ShardError(f"{count} shards: there must be 1 to {MAXIMUM_SHARDS}")
        self.directory, self.count = Path(directory), count
        self.directory.mkdir(exist_ok=True)
        for path in self.directory.glob("*.records"):  # of a killed process
            path.unlink()
        self._files = [[self._new_file(kind, number) for number in range(count)] for kind in range(2)]

    def _new_file(self, kind, number):
        return open(self._raw_path(kind, number), "wb", opener=open_regular)

    def _raw_path(self, kind, number):
        return self.directory / f"{('training', 'held-out')[kind]}-{number:03}.records"

    def add(self, training, held_out):
        """Two sets with keys."""
        for kind, positions in enumerate((training, held_out)):
            for file, data in zip(self._files[kind], positions.split(self.count), strict=True):
                file.write(data)

    def close(self):
        for file in (*self._files[0], *self._files[1]):
            file.close()

    def finish(self, seed, pool):
        """The shards, and the positions held out, which stay in memory."""
        self.close()
        counts, checksums, held_out = [], [], PositionSet()
        for count, checksum, apart in pool.map(lambda number: self._finish_shard(number, seed), range(self.count)):
            counts.append(count)
            checksums.append(checksum)
            held_out.append(apart)
        return Shards(self.directory, counts, checksums), held_out

    def _finish_shard(self, number, seed):
        known, sets = KeySet(), (PositionSet(), PositionSet())
        # Those held out last, when every position of the training games is known.
        for kind, positions in enumerate(sets):
            path = self._raw_path(kind, number)
            for records in _read(path, BYTES_PER_RECORD):
                positions.take_records(records, known)
            path.unlink()
        training, held_out = sets
        digest = hashlib.sha256(f"shard {seed} {number}".encode()).digest()
        training.shuffle(int.from_bytes(digest[:8], "little"))
        _write(_shard_path(self.directory, number), training)
        return len(training), training.checksum(), held_out


# What is in a directory of shards, so that another run, or the same one after an interruption, need not read the games.


def describe_source(paths, filters, count):
    """What decides the content of the shards."""
    files = [[Path(path).name, Path(path).stat().st_size] for path in paths]
    return json.loads(json.dumps({"files": files, "filters": filters._asdict(), "shards": count}))


def save_index(directory, source, shards, held_out, told):
    """Last of all: a directory without this file is one that was not finished. `told` is kept for `load_index`."""
    _write(directory / "held-out.positions", held_out)
    index = {
        "source": source,
        "counts": shards.counts,
        "checksums": shards.checksums,
        "held_out": [len(held_out), held_out.checksum()],
        "told": told,
    }
    replace_file(directory / INDEX, json.dumps(index))


def read_index(path):
    """What `save_index` wrote; ValueError if that is damaged."""
    index = parse_json(read_text(path))
    demand(isinstance(index, dict), "no index")
    missing = [name for name in ("source", "counts", "checksums", "held_out", "told") if name not in index]
    demand(not missing, f"{', '.join(missing)} missing")
    for name in ("counts", "checksums", "held_out"):
        is_list = isinstance(index[name], list)
        demand(is_list and all(type(each) is int and each >= 0 for each in index[name]), f"{name} are no numbers")
    demand(len(index["counts"]) == len(index["checksums"]) and len(index["held_out"]) == 2, "a number is missing")
    return index


def load_index(directory, source):
    """Shards, held-out positions and what was told when they were saved; None when there is nothing to load."""
    try:
        index = read_index(directory / INDEX)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ShardError(f"{directory / INDEX} is damaged: {error}") from error
    if index["source"] != source:
        raise ShardError(
            f"{directory} has the shards of other games or settings: remove it, or choose another directory"
        )
    held_out = PositionSet()
    _add_file(directory / "held-out.positions", held_out, *index["held_out"])
    return Shards(directory, index["counts"], index["checksums"]), held_out, index["told"]

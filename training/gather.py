"""Gathers positions to learn from out of files of games: `quetzal data` counts them, `quetzal train` learns from them.

Threads turn chunks of games into positions; one thread reads the files and puts the results together in their order, so
that the outcome does not depend on how many there are.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from training.files import GameReader, is_held_out
from training.positions import FATE_NAMES, MOST_SCORE, KeySet, PositionSet, extract
from training.records import RecordError
from training.shards import Shards, ShardWriter, describe_source, load_index, save_index

GAMES_AT_ONCE = 500


class Filters(NamedTuple):
    """Which positions of a game are kept, what counts as their score, and which games are held out."""

    most_score: int = MOST_SCORE  # centipawns, either way
    from_ply: int = 16  # of the game, random moves included
    held_out: int = 2  # percent of the games
    seed: int = 1  # of the choice of games, and of the positions' order
    later_share: float = 0.0  # of a score: what it owes to the plies that followed


class Gathered(NamedTuple):
    """Positions to learn from and positions to judge by: none is in both, and none comes from the other's games."""

    training: PositionSet | Shards
    held_out: PositionSet
    files: list  # names without folders
    games: int
    held_out_games: int
    fates: list  # by FATE_NAMES, before duplicates were dropped
    damaged: list  # pairs of file and damage

    @property
    def seen(self):
        return sum(self.fates)

    @property
    def duplicates(self):
        """Positions that were dropped because they are there already."""
        return self.fates[0] - len(self.training) - len(self.held_out)

    def report(self):
        """Lines that say what became of everything."""
        files = f"{len(self.files)} file{'s' if len(self.files) > 1 else ''}"
        yield f"{self.games:,} games in {files}, {self.held_out_games:,} of them held out"
        yield f"{self.seen:>14,} positions"
        rows = [*zip(FATE_NAMES[1:], self.fates[1:], strict=True), ("duplicates", self.duplicates)]
        for name, count in rows:
            yield f"{-count:>14,} {name} ({100 * count / max(1, self.seen):.1f} %)"
        yield f"{len(self.training):>14,} to learn from"
        yield f"{len(self.held_out):>14,} held out"


def _chunks(paths, damaged):
    """Games a few hundred at a time: the file, the first one's number in it and in all files, and their bytes."""
    number = 0
    for path in paths:
        with GameReader(path) as reader:
            place = 1
            while payloads := list(islice(reader, GAMES_AT_ONCE)):
                yield path, place, number, payloads
                place += len(payloads)
                number += len(payloads)
            if reader.damage is not None:
                damaged.append((path, reader.damage))


class _InMemory:
    """Where positions go to when memory holds them all."""

    def __init__(self):
        self.training, self.held_out, self.known = PositionSet(), PositionSet(keyed=True), KeySet()

    def add(self, training, held_out):
        self.training.take(training, self.known)
        self.held_out.append(held_out)

    def finish(self, seed, _):
        # Those held out last, when every position of the training games is known.
        held_out = PositionSet()
        held_out.take(self.held_out, self.known)
        self.training.shuffle(seed % 2**64)
        return self.training, held_out


def gather(paths, filters, threads, progress=None, into=None):
    """All positions of these files that pass the filters, each once; those to learn from in a random order.

    They stay in memory, or go `into` a ShardWriter.
    """
    into = into or _InMemory()
    fates, damaged = [0] * len(FATE_NAMES), []
    games = held_out_games = 0

    def read(path, place, number, payloads):
        flags = bytes(is_held_out(number + index, filters.seed, filters.held_out) for index in range(len(payloads)))
        parts = PositionSet(keyed=True), PositionSet(keyed=True)
        try:
            found = extract(
                payloads,
                flags,
                *parts,
                most_score=filters.most_score,
                from_ply=filters.from_ply,
                later_share=filters.later_share,
                first=place,
            )
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from error
        return flags, parts, found

    def put_together(future):
        nonlocal games, held_out_games
        flags, parts, found = future.result()
        games += len(flags)
        held_out_games += sum(flags)
        for fate, count in enumerate(found):
            fates[fate] += count
        into.add(*parts)
        if progress:
            progress.advance(sum(found))

    with ThreadPoolExecutor(threads) as pool:
        waiting = deque()
        for chunk in _chunks(paths, damaged):
            waiting.append(pool.submit(read, *chunk))
            # A few chunks ahead keep all threads busy without piling results up.
            if len(waiting) > 3 * threads:
                put_together(waiting.popleft())
        while waiting:
            put_together(waiting.popleft())
        training, held_out = into.finish(filters.seed, pool)
    return Gathered(training, held_out, [Path(path).name for path in paths], games, held_out_games, fates, damaged)


def gather_shards(paths, filters, threads, directory, count, progress=None):
    """Like `gather`, with the positions to learn from on disk; what is there already is used again."""
    directory, source = Path(directory), describe_source(paths, filters, count)
    if found := load_index(directory, source):
        shards, held_out, told = found
        return Gathered(shards, held_out, **told)
    writer = ShardWriter(directory, count)
    try:
        data = gather(paths, filters, threads, progress, writer)
    finally:
        writer.close()
    data = data._replace(damaged=[(str(path), str(damage)) for path, damage in data.damaged])
    told = {name: getattr(data, name) for name in Gathered._fields[2:]}
    save_index(directory, source, data.training, data.held_out, told)
    return data

"""Games and positions for the tests of the network's trainer."""

from games import random_game

from training.files import GameWriter
from training.positions import KeySet, PositionSet, extract
from training.records import encode_game


def write_games(path, count, plies=80):
    """A file of made-up games; the search's scores follow the material."""
    with GameWriter(path) as writer:
        for seed in range(count):
            writer.write(random_game(seed, plies))
    return path


def positions_of(games, most_score=2000, from_ply=0):
    """The positions of these games, each once and in their order, as a set without keys."""
    keyed, none, plain = PositionSet(keyed=True), PositionSet(keyed=True), PositionSet()
    payloads = [encode_game(game) for game in games]
    extract(payloads, bytes(len(payloads)), keyed, none, most_score=most_score, from_ply=from_ply)
    plain.take(keyed, KeySet())
    assert len(none) == 0
    return plain

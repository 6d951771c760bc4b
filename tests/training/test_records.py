"""Games as bytes: what is written is read, small, and damage never passes for a game."""

import os
import random

import pytest
from games import random_game
from support import CHESS960, STANDARD, scaled

from board import Board
from training.files import FormatError, GameReader, GameWriter
from training.records import Game, RecordError, decode_game, encode_game


def test_games_come_back():
    for seed in range(scaled(300)):
        game = random_game(seed, plies=seed % 200)
        assert decode_game(encode_game(game)) == game


@pytest.mark.parametrize("variant", ["standard", "chess960"])
def test_games_from_other_positions_come_back(variant):
    """Castling, en passant and promotions of every kind among the moves."""
    is_960 = variant == "chess960"
    kinds = set()
    for number, (fen, _) in enumerate(CHESS960 if is_960 else STANDARD):
        board = Board(fen, chess960=is_960)
        game = random_game(number, 60, board.fen(shredder=is_960), is_960, opening=number % 3)
        assert decode_game(encode_game(game)) == game
        kinds |= {move >> 12 for move in game.moves}
    assert {0, 1, 2, 4} <= kinds
    assert any(kind >= 8 for kind in kinds)


def test_number_of_a_move_does_not_depend_on_the_generator():
    """Fixed by the format: origin, then target. The first byte after the head is 1. Na3's number, the first of all."""
    board = Board()
    names = sorted(
        (board.uci(move) for move in board.legal_moves()), key=lambda text: (text[1], text[0], text[3], text[2])
    )
    assert names[:2] == ["b1a3", "b1c3"]
    for number, name in enumerate(names):
        move = board.parse_uci(name)
        payload = encode_game(Game(board.fen(), False, 0, [move], [0], 0))
        assert payload == bytes((0, 1, 0, number, 0))


def test_many_legal_moves():
    fen = "KQ4Q1/4Q3/Q1Q4Q/Q4Q2/3Q4/QQ4Q1/pp2Q3/kbQ4Q w - - 0 1"
    moves = Board(fen).legal_moves()
    assert len(moves) == 241
    for move in moves:
        game = Game(fen, False, 0, [move], [9000], 1)
        assert decode_game(encode_game(game)) == game


def test_scores_of_any_size_come_back():
    board = Board()
    scores = [0, 1, -1, 63, -64, 64, 8191, -8192, 32000, -32000, 31000, 5]
    moves = []
    for name in ["g1f3", "g8f6", "f3g1", "f6g8"] * 3:
        moves.append(board.parse_uci(name))
        board.push(moves[-1])
    game = Game(Board().fen(), False, 0, moves, scores, -1)
    assert decode_game(encode_game(game)).scores == scores
    beyond = game._replace(scores=[99999, *scores[1:]])
    assert decode_game(encode_game(beyond)).scores == [32000, *scores[1:]]


def test_three_bytes_per_position_are_enough(tmp_path):
    path = tmp_path / "games"
    positions = 0
    with GameWriter(path) as writer:
        for seed in range(50):
            game = random_game(seed)
            positions += len(game.moves)
            writer.write(game)
    assert path.stat().st_size / positions < 3


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (Game(Board().fen(), False, 0, [1], [0], 0), "not legal"),
        (Game(Board().fen(), False, 2, [], [], 0), "-2 moves"),
        (Game(Board().fen(), False, 0, [], [5], 0), "1 scores for 0 moves"),
    ],
)
def test_what_is_no_game_is_not_written(game, message):
    with pytest.raises(RecordError, match=message):
        encode_game(game)


def test_damaged_payloads_are_refused_or_at_least_are_games():
    """The checksum guards files; the decoder by itself must survive any bytes."""
    rng = random.Random(1)
    payload = encode_game(random_game(3))
    refused = 0
    for _ in range(scaled(5000)):
        damaged = bytearray(payload)
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if rng.random() < 0.3:
            damaged = damaged[: rng.randrange(len(damaged))]
        try:
            assert isinstance(decode_game(bytes(damaged)), Game)
        except RecordError:
            refused += 1
    assert refused > scaled(5000) // 50


@pytest.fixture
def three_games(tmp_path):
    path = tmp_path / "games"
    games = [random_game(seed, plies=20) for seed in range(3)]
    ends = []
    with GameWriter(path, {"nodes": 500}) as writer:
        writer.flush()
        start = path.stat().st_size
        for game in games:
            writer.write(game)
            writer.flush()
            ends.append(path.stat().st_size)
    return path, games, start, ends


def test_file_comes_back(three_games):
    path, games, _, _ = three_games
    with GameReader(path) as reader:
        assert list(reader.games()) == games
        assert reader.damage is None
        assert reader.metadata == {"nodes": 500}


def test_every_truncation_is_noticed(three_games):
    path, games, start, ends = three_games
    whole = path.read_bytes()
    for size in range(start, len(whole)):
        path.write_bytes(whole[:size])
        complete = sum(end <= size for end in ends)
        good = ends[complete - 1] if complete else start
        with GameReader(path) as reader:
            assert list(reader.games()) == games[:complete]
            assert (reader.damage is None) == (size == good)
            if reader.damage:
                assert (reader.damage.offset, reader.damage.size) == (good, size - good)
    for size in range(start):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError):
            GameReader(path)


def test_every_flipped_bit_is_noticed(three_games):
    path, games, start, ends = three_games
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            if place < start:
                with pytest.raises(FormatError):
                    GameReader(path)
                continue
            complete = sum(end <= place for end in ends)
            with GameReader(path) as reader:
                assert list(reader.games()) == games[:complete]
                assert reader.damage is not None


def test_writer_cuts_a_damaged_tail_off_and_says_so(three_games):
    path, games, _, ends = three_games
    path.write_bytes(path.read_bytes()[:-3])
    with GameWriter(path) as writer:
        assert writer.games == 2
        assert writer.damage.offset == ends[1]
        assert str(writer.damage).startswith("a game is cut off")
        writer.write(games[0])
    with GameReader(path) as reader:
        assert list(reader.games()) == [games[0], games[1], games[0]]
        assert reader.damage is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_only_regular_files_are_opened(tmp_path):
    """A pipe would keep us waiting for its other end."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for kind in (GameReader, GameWriter):
        with pytest.raises(OSError, match="not a regular file"):
            kind(path)


def test_other_versions_are_refused(three_games):
    path = three_games[0]
    data = bytearray(path.read_bytes())
    data[4] = 9
    path.write_bytes(data)
    with pytest.raises(FormatError, match="version 9"):
        GameReader(path)

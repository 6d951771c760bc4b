"""Training positions: packed as they were, filtered as told, each once, seen from both sides as the network sees them."""

import math
import random
import xml.etree.ElementTree as ElementTree

import chess
import pytest
from games import random_game
from learning import positions_of, write_games
from support import quetzal, scaled

from board import Board
from board.chess960 import start_fen
from training.files import GameReader, GameWriter, is_held_out
from training.gather import Filters, gather
from training.plots import axis_steps
from training.positions import BYTES_PER_POSITION, KeySet, PositionSet, extract
from training.records import Game, RecordError, encode_game


def some_games(count=20, plies=100):
    """Standard chess and Chess960 by turns."""
    for seed in range(count):
        if seed % 2:
            yield random_game(seed, plies, start_fen(37 * seed % 960), chess960=True)
        else:
            yield random_game(seed, plies)


def kept_by_python_chess(game, most_score, from_ply):
    """The positions that should be kept, by another library's board: men by square, turn, score, result, ply."""
    board = Board(game.fen, chess960=game.chess960)
    oracle = chess.Board(game.fen, chess960=game.chess960)
    for ply, move in enumerate(game.moves):
        played = oracle.parse_uci(board.uci(move))
        quiet = not oracle.is_check() and not oracle.is_capture(played) and not played.promotion
        if ply >= max(game.opening, from_ply) and quiet and abs(game.scores[ply - game.opening]) <= most_score:
            men = {
                square: (piece.piece_type - 1) << 1 | (piece.color == chess.BLACK)
                for square, piece in oracle.piece_map().items()
            }
            sign = 1 if oracle.turn == chess.WHITE else -1
            yield oracle, (men, board.turn, sign * game.scores[ply - game.opening], sign * game.result, ply)
        oracle.push(played)
        board.push(move)


def keyed_positions(games, **filters):
    keyed = PositionSet(keyed=True)
    payloads = [encode_game(game) for game in games]
    fates = extract(payloads, bytes(len(payloads)), keyed, PositionSet(keyed=True), **filters)
    return keyed, fates


@pytest.mark.parametrize(("most_score", "from_ply"), [(2000, 16), (300, 0), (32000, 40)])
def test_positions_are_kept_and_packed_as_they_were(most_score, from_ply):
    games = list(some_games())
    packed, fates = keyed_positions(games, most_score=most_score, from_ply=from_ply)
    expected = [position for game in games for _, position in kept_by_python_chess(game, most_score, from_ply)]
    assert len(expected) > 10 * len(games)
    assert [tuple(packed[index]) for index in range(len(packed))] == expected
    assert fates[0] == len(packed)
    assert sum(fates) == sum(len(game.moves) for game in games)
    assert BYTES_PER_POSITION == 32


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_later_scores_count_less_the_later_they_are(share):
    """The weighted sum written out: (1 - share) * share^k for the k-th ply after, and what is left for the last one."""
    games = list(some_games())
    plain, _ = keyed_positions(games, most_score=2000, from_ply=16)
    ahead, _ = keyed_positions(games, most_score=2000, from_ply=16, later_share=share)
    place = changed = 0
    for game in games:
        chances = [1 / (1 + math.exp(-score / 180)) for score in game.scores]
        for _, (*_, ply) in kept_by_python_chess(game, 2000, 16):
            rest = chances[ply - game.opening :]
            expected = sum((1 - share) * share**k * chance for k, chance in enumerate(rest[:-1]))
            expected += share ** (len(rest) - 1) * rest[-1]
            before, after = plain[place], ahead[place]
            chance = 1 / (1 + math.exp(-after.score / 180))
            assert chance == pytest.approx(expected if after.turn == 0 else 1 - expected, abs=0.001)
            assert before._replace(score=0) == after._replace(score=0)
            changed += before.score != after.score
            place += 1
    assert place == len(ahead) and changed > place // 2


def test_features_are_what_each_player_sees():
    """By turning real boards instead of numbers: own men are White's, below, with the king on the left."""

    def seen_by_white(oracle):
        if chess.square_file(oracle.king(chess.WHITE)) > 3:
            oracle = oracle.transform(chess.flip_horizontal)
        return {
            (0 if piece.color == chess.WHITE else 384) + 64 * (piece.piece_type - 1) + square
            for square, piece in oracle.piece_map().items()
        }

    games = list(some_games(8))
    packed, _ = keyed_positions(games, most_score=2000, from_ply=0)
    index = 0
    halves = set()
    for game in games:
        for oracle, _ in kept_by_python_chess(game, 2000, 0):
            oracle = oracle.copy(stack=False)
            oracle.castling_rights = 0
            white, black = seen_by_white(oracle), seen_by_white(oracle.mirror())
            mine, theirs = packed.features(index)
            assert len(mine) == len(theirs) == len(oracle.piece_map())
            assert (set(mine), set(theirs)) == ((white, black) if oracle.turn == chess.WHITE else (black, white))
            halves.add(
                (chess.square_file(oracle.king(chess.WHITE)) > 3, chess.square_file(oracle.king(chess.BLACK)) > 3)
            )
            index += 1
    assert index == len(packed)
    assert len(halves) == 4


def test_a_key_is_new_only_once():
    dice = random.Random(5)
    known, oracle = KeySet(), set()
    for _ in range(scaled(200_000)):
        key = dice.getrandbits(64) if dice.random() < 0.7 or not oracle else dice.choice((7, 2**64 - 1, 12345))
        assert known.add(key) == (key not in oracle)
        oracle.add(key)
    assert len(known) == len(oracle)


def test_each_position_is_kept_once():
    games = list(some_games(6))
    keyed, _ = keyed_positions(games * 2, most_score=2000, from_ply=0)
    once, _ = keyed_positions(games, most_score=2000, from_ply=0)
    plain, known = PositionSet(), KeySet()
    came = plain.take(keyed, known)
    assert came == len(plain) == len(known) <= len(once)
    assert len(keyed) == 0
    again, _ = keyed_positions(games, most_score=2000, from_ply=0)
    assert plain.take(again, known) == 0
    # Random games meet again near their start only: hardly anything else is dropped.
    assert len(plain) > 0.9 * len(once)


def test_shuffle_is_a_permutation_fixed_by_its_seed():
    sets = [positions_of(some_games(6)) for _ in range(3)]
    before = [str(sets[0][index]) for index in range(len(sets[0]))]
    for positions, seed in zip(sets, (7, 7, 8), strict=True):
        positions.shuffle(seed)
    orders = [[str(positions[index]) for index in range(len(positions))] for positions in sets]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == sorted(before)
    assert orders[0] != before
    assert sets[0].checksum() == sets[1].checksum() != sets[2].checksum()


def test_statistics_count_every_position():
    positions = positions_of(some_games())
    statistics = positions.statistics()
    looked_at = [positions[index] for index in range(len(positions))]
    whites = [(1 if position.turn == 0 else -1, position) for position in looked_at]
    assert statistics["results"] == [
        sum(sign * position.result == result for sign, position in whites) for result in (1, 0, -1)
    ]
    assert statistics["men"] == [sum(len(position.men) == men for position in looked_at) for men in range(33)]
    assert sum(statistics["scores"]) == len(positions)
    # The bars are 100 wide and the 21st has 0 in its middle.
    assert statistics["scores"][20] == sum(-50 < sign * position.score <= 50 for sign, position in whites)
    assert statistics["scores"][23] == sum(250 < sign * position.score <= 350 for sign, position in whites)
    assert statistics["mean_score"] == pytest.approx(
        sum(abs(position.score) for position in looked_at) / len(looked_at)
    )


@pytest.fixture(scope="module")
def games_file(tmp_path_factory):
    return write_games(tmp_path_factory.mktemp("games") / "games.qzg", 120)


def test_threads_do_not_change_the_data_and_seeds_do(games_file, monkeypatch):
    monkeypatch.setattr("training.gather.GAMES_AT_ONCE", 7)
    filters = Filters(held_out=20)
    one, three, other = (
        gather([games_file], chosen, threads)
        for chosen, threads in ((filters, 1), (filters, 3), (filters._replace(seed=2), 3))
    )
    for part in ("training", "held_out"):
        assert getattr(one, part).checksum() == getattr(three, part).checksum() != getattr(other, part).checksum()
    assert one.fates == three.fates
    assert one.games == 120
    assert one.held_out_games == sum(is_held_out(number, 1, 20) for number in range(120))
    assert 10 < one.held_out_games < 40
    assert len(one.training) + len(one.held_out) + one.duplicates == one.fates[0]


def test_no_held_out_position_is_learned(tmp_path):
    """The same game over and over: some of the copies are held out, but all of their positions are known."""
    with GameWriter(tmp_path / "copies") as writer:
        for _ in range(60):
            writer.write(random_game(1))
    data = gather([tmp_path / "copies"], Filters(held_out=20), 2)
    assert data.held_out_games > 0
    assert len(data.training) > 20
    assert len(data.held_out) == 0
    assert data.duplicates == data.fates[0] - len(data.training)


def test_a_game_that_makes_no_sense_is_named(tmp_path):
    good = encode_game(random_game(1))
    with GameWriter(tmp_path / "games.qzg") as writer:
        writer.write_payload(good)
        writer.write_payload(good[:-9])
    with pytest.raises(RecordError, match=r"games\.qzg: game 2: ply \d+ cannot be read"):
        gather([tmp_path / "games.qzg"], Filters(), 1)
    with GameWriter(tmp_path / "flags.qzg") as writer:
        writer.write_payload(b"\x03\x00\x00")
    with pytest.raises(RecordError, match=r"flags\.qzg: game 1: unknown flags"):
        gather([tmp_path / "flags.qzg"], Filters(), 1)


def test_openings_and_noise_are_left_out():
    fen = "4k3/pp6/8/3q4/4P3/8/PP6/4K2R w - - 0 1"
    capture, quiet = Board(fen).parse_uci("e4d5"), Board(fen).parse_uci("h1h2")
    in_check = "4k3/8/8/8/4q3/8/5P2/4K2R w - - 0 1"
    evasion = Board(in_check).parse_uci("e1f1")
    cases = {
        "kept": Game(fen, False, 0, [quiet], [2000], 1),
        "opening": Game(fen, False, 1, [quiet], [], 1),
        "early": Game(fen, False, 0, [quiet], [0], 1),
        "check": Game(in_check, False, 0, [evasion], [0], 1),
        "capture": Game(fen, False, 0, [capture], [0], 1),
        "score": Game(fen, False, 0, [quiet], [-2001], 1),
    }
    for place, (name, game) in enumerate(cases.items()):
        _, fates = keyed_positions([game], most_score=2000, from_ply=1 if name == "early" else 0)
        assert fates == [int(fate == place) for fate in range(6)], name


def test_axis_steps_are_round():
    assert axis_steps(0, 10) == [0, 2, 4, 6, 8, 10]
    assert axis_steps(1, 20, 8) == [5, 10, 15, 20]
    assert axis_steps(0.011, 0.019) == pytest.approx([0.012, 0.014, 0.016, 0.018])


def test_the_command_counts_and_draws(games_file, tmp_path):
    plot = tmp_path / "data.svg"
    done = quetzal("data", str(games_file), "--plot", str(plot), "--threads", "2")
    assert done.returncode == 0, done.stderr
    data = gather([games_file], Filters(), 1)
    with GameReader(games_file) as reader:
        plies = sum(len(game.moves) for game in reader.games())
    assert data.seen == plies
    for number, meaning in (
        (plies, "positions"),
        (len(data.training), "to learn from"),
        (len(data.held_out), "held out"),
        (-data.fates[3], "in check"),
    ):
        assert f"{number:,} {meaning}" in done.stdout
    assert "positions/s" in done.stderr
    drawing = ElementTree.parse(plot).getroot()
    bars = [element for element in drawing.iter() if element.tag.endswith("rect")]
    assert len(bars) == 1 + 3 + 31 + 41


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.qzg",), "nowhere.qzg"),
        (("perft_standard.epd",), "no file of Quetzal's games"),
        (("GAMES", "--held-out", "0"), "--held-out 0"),
        (("GAMES", "--from-ply", "-3"), "--from-ply -3"),
        (("GAMES", "--from-ply", "4000"), "no position to learn from"),
        (("GAMES", "--plot", "nowhere/data.svg"), "no such directory"),
    ],
)
def test_bad_requests_are_explained(games_file, arguments, message):
    done = quetzal("data", *(str(games_file) if word == "GAMES" else word for word in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_damage_is_told_and_the_rest_used(games_file, tmp_path):
    damaged = tmp_path / "damaged.qzg"
    damaged.write_bytes(games_file.read_bytes()[:-5])
    done = quetzal("data", str(damaged))
    assert done.returncode == 0
    assert "a game is cut off" in done.stderr
    assert "119 games" in done.stdout

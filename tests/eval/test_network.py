"""The network's evaluation: the formula, by every way to it, at every size and on every CPU level."""

import hashlib
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys

import chess
import pytest
from networks import evaluating_with, random_network, reference_score, write_network
from positions import colours_swapped, files_mirrored, random_walk, without_castling
from support import ALL_FENS, ROOT, scaled

from board import STARTING_FEN, Board
from board.chess960 import start_fen
from eval import (
    CLASSICAL,
    Evaluator,
    NetworkError,
    available_levels,
    choose_level,
    evaluate,
    evaluate_classical,
    evaluate_network,
    king_buckets,
    load_evaluation,
    network_file,
    network_summary,
    piece_values,
)
from eval.network_file import pack_network, unpack_network

IS_X86 = platform.machine() in ("x86_64", "AMD64")  # by Linux' and by Windows' name
SIZES = (32, 64, 96, 128, 160, 256, 288, 384, 512, 768, 1024)
OUTPUTS = {96: 8, 160: 3, 384: 8, 512: 4, 768: 8, 1024: 2}  # of the others one
KING_BUCKETS = {96: 4, 128: 2, 160: 6, 288: 8, 384: 3, 512: 4, 768: 7, 1024: 5}  # likewise


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """A file for each size."""
    folder = tmp_path_factory.mktemp("networks")
    return {size: write_network(folder / f"{size}.qnn", made(size)) for size in SIZES}


def made(size):
    return random_network(size, size, outputs=OUTPUTS.get(size, 1), king_buckets=KING_BUCKETS.get(size, 1))


@pytest.fixture
def restored_level():
    yield
    choose_level(available_levels()[-1])


@pytest.mark.parametrize("size", SIZES)
def test_scores_are_those_of_the_formula(networks, size):
    with evaluating_with(str(networks[size])):
        for fen, chess960 in ALL_FENS[:: 40 if size <= 128 else 160]:
            board = Board(fen, chess960=chess960)
            assert evaluate_network(board) == reference_score(networks[size], board), fen


def test_the_number_of_men_chooses_the_output(tmp_path):
    """Nothing is heard of the neurons, so the score is the bias of the output: 2 to 32 men in eight parts."""
    data = random_network(32, outputs=8)
    biases = tuple(64 * 255 * (number + 1) for number in range(8))
    silent = data._replace(output_weights=bytes(len(data.output_weights)), output_biases=biases, scale=1)
    path = write_network(tmp_path / "silent.qnn", silent)
    board = chess.Board()
    squares = [square for square in chess.SQUARES if board.piece_type_at(square) != chess.KING]
    random.Random(2).shuffle(squares)
    with evaluating_with(str(path)):
        for square in [None, *(square for square in squares if board.piece_at(square))]:
            if square is not None:
                board.remove_piece_at(square)
            men = chess.popcount(board.occupied)
            placed = Board(f"{board.board_fen()} w - - 0 1")
            assert evaluate_network(placed) == (men - 2) // 4 + 1, men
    assert men == 2


@pytest.mark.parametrize(("size", "king_buckets"), [(32, 1), (64, 8), (256, 1), (1024, 1)])
def test_the_largest_weights_do_not_overflow(tmp_path, size, king_buckets):
    path = write_network(tmp_path / "extreme.qnn", random_network(size, 3, extreme=True, king_buckets=king_buckets))
    with evaluating_with(str(path)):
        for fen in (STARTING_FEN, ALL_FENS[1][0]):
            assert evaluate_network(Board(fen)) == reference_score(path, Board(fen))


def wandering_game(rng, number):
    """A board that is played on at random: captures, null moves, castling, kings on the march, moves taken back."""
    chess960 = number % 3 == 2
    fen = start_fen(rng.randrange(960), rng.randrange(960)) if chess960 else STARTING_FEN
    board = Board(fen, chess960=chess960)
    for _ in range(60):
        moves = board.legal_moves()
        if not moves or board.is_insufficient_material():
            return
        chance = rng.random()
        if chance < 0.04 and not board.is_check():
            board.push_null()
        elif chance < 0.12 and board.ply > 3:
            for _ in range(rng.randint(1, 3)):
                board.pop()
        else:
            likely = board.tactical_moves() if chance < 0.4 else []
            # Castling, where it is possible, and steps of the king happen too seldom by chance.
            kings = [move for move in moves if (board.piece_at(move & 63) or "").lower() == "k"]
            board.push(rng.choice(likely or (kings if kings and chance < 0.55 else moves)))
        yield board


def squares_of(board):
    """The board as 64 letters from a8 to h1, a dot for an empty square."""
    return "".join("." * int(mark) if mark.isdigit() else mark for mark in board.fen().split()[0] if mark != "/")


@pytest.mark.parametrize("size", (64, 96, 288))
def test_accumulators_equal_a_fresh_start_on_every_ply_of_1000_games(networks, size):
    """Each position is asked in its place in the line, now and then out of place, and some are skipped.

    One, four and eight king buckets. The evaluator goes on from game to game, so what it has kept for a king's half and
    bucket is of anything between the move before and another game.
    """
    rng = random.Random(11)
    evaluator = Evaluator()
    crossings = leaps = queens = 0
    with evaluating_with(str(networks[size])):
        for number in range(scaled(1000)):
            before = None
            for board in wandering_game(rng, number):
                if rng.random() < 0.15:
                    continue
                letters = squares_of(board)
                armies = [sum(map(test, letters)) for test in (str.isupper, str.islower)]
                # The others may be known endings, or score less because the pawns have gone.
                if min(armies) > 1 and sum(armies) > 4 and "P" in letters and "p" in letters:
                    ply = board.ply if rng.random() < 0.9 else rng.randrange(200)
                    fresh = max(-9999, min(9999, evaluate_network(board)))
                    assert evaluator.evaluate(board, ply) == fresh, board.fen()
                kings = [letters.index("K"), letters.index("k")]
                if before is not None:
                    crossings += any((old % 8 > 3) != (new % 8 > 3) for old, new in zip(before, kings, strict=True))
                    leaps += any(abs(old - new) in (2, 3, 4) for old, new in zip(before, kings, strict=True))
                before = kings
                queens += max(letters.count("Q"), letters.count("q")) > 1
    if scaled(1000) >= 1000:
        assert min(crossings, leaps, queens) > 20


@pytest.mark.parametrize("size", (64, 96, 160))
def test_mirrored_positions_have_mirrored_scores(networks, size):
    with evaluating_with(str(networks[size])):
        left = scaled(3000)
        for seed in range(1000):
            for board in random_walk(seed):
                fen = without_castling(board.fen())
                score = evaluate_network(board)
                assert evaluate_network(Board(colours_swapped(fen))) == score, fen
                assert evaluate_network(Board(files_mirrored(fen))) == score, fen
                left -= 1
            if left <= 0:
                break


@pytest.mark.parametrize("size", SIZES)
def test_all_cpu_levels_give_the_same_scores(networks, size, restored_level):
    boards = [board.copy() for seed in range(4) for board in random_walk(seed)]
    found = {}
    with evaluating_with(str(networks[size])):
        for level in available_levels():
            choose_level(level)
            evaluator = Evaluator()
            found[level] = [evaluator.evaluate(board, number % 200) for number, board in enumerate(boards)]
    assert len({tuple(scores) for scores in found.values()}) == 1
    with pytest.raises(ValueError, match="no CPU level"):
        choose_level("z80")


@pytest.mark.skipif(not os.path.exists("/proc/cpuinfo"), reason="the processor's abilities as Linux lists them")
@pytest.mark.skipif(not IS_X86, reason="only x86 has levels")
def test_the_processor_has_the_levels_that_the_system_lists():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = set(next(line for line in file if line.startswith("flags")).split())
    expected = ["x86-64-v2"]
    if {"avx", "avx2", "bmi1", "bmi2", "fma"} <= flags:
        expected.append("avx2")
        if {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= flags:
            expected.append("avx512")
    assert available_levels() == expected


ASK_ALL = """
import sys
from board import Board
from eval import available_levels, evaluate_network, load_evaluation
load_evaluation(sys.argv[1])
print(*available_levels())
for line in sys.stdin:
    print(evaluate_network(Board(line.strip())))
"""


@pytest.mark.skipif(not IS_X86, reason="only x86 has levels")
@pytest.mark.parametrize("size", (64, 160))
def test_an_old_processor_gives_the_same_scores(networks, size):
    """Nehalem is the first x86-64-v2 processor: it has no AVX."""
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        pytest.skip("qemu-x86_64 is not installed")
    if "LD_PRELOAD" in os.environ:
        pytest.skip("the sanitizers do not run in the emulator")
    fens = [fen for fen, chess960 in ALL_FENS if not chess960][::3]
    done = subprocess.run(
        [emulator, "-cpu", "Nehalem", sys.executable, "-c", ASK_ALL, str(networks[size])],
        input="\n".join(fens),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    levels, *scores = done.stdout.splitlines()
    assert levels == "x86-64-v2", done.stderr
    with evaluating_with(str(networks[size])):
        assert [int(score) for score in scores] == [evaluate_network(Board(fen)) for fen in fens]


def test_piece_values_are_scores_without_the_piece(networks):
    fen = "r1bq1rk1/pp3ppp/2n2n2/2bp4/8/2NBPN2/PP3PPP/R1BQ1RK1 b - - 0 9"
    with evaluating_with(str(networks[64])):
        board = Board(fen)
        values = piece_values(board)
        whole = evaluate_network(board)
        assert len(values) == 26
        for square, letter in ((0, "R"), (58, "b"), (42, "n")):
            assert board.piece_at(square) == letter
            rows = [[board.piece_at(8 * rank + file) or "." for file in range(8)] for rank in range(8)]
            rows[square >> 3][square & 7] = "."
            text = "/".join("".join(row) for row in reversed(rows))
            for run in range(8, 0, -1):
                text = text.replace("." * run, str(run))
            without = evaluate_network(Board(f"{text} b - - 0 9"))
            assert values[square] == (whole - without) * (1 if letter.islower() else -1)


def test_known_endings_keep_their_own_scores(networks):
    with evaluating_with(str(networks[64])):
        board = Board("8/8/8/4k3/8/8/2B5/3NK3 w - - 0 1")
        assert evaluate(board) == evaluate_classical(board) > 3000


@pytest.mark.parametrize(
    ("fen", "white", "black"),
    [
        ("8/8/1p2k3/8/2p5/8/2B5/4K3 w - - 0 1", 0, 64),  # a lone bishop against pawns
        ("8/2n5/4kr2/8/8/4R3/8/4K3 b - - 0 1", 8, 8),  # a knight more, for either side by then
        ("8/2q5/4k1p1/8/2r5/8/1RQ5/4K3 b - - 0 1", 8, 64),  # two of a kind each, one side has a pawn
    ],
)
def test_a_side_without_pawns_wins_little(networks, fen, white, black):
    """64ths of the network's score, by which side it prefers; a made-up network may prefer either."""
    for name in (32, 64, 128):
        with evaluating_with(str(networks[name])):
            board = Board(fen)
            score = evaluate_network(board)
            white_is_better = (score > 0) == (board.turn == 0)
            assert evaluate(board) == int(score * (white if white_is_better else black) / 64)


def test_the_file_and_the_loops_have_one_shape():
    """The header is for C and Cython, network_file.py for Python that is not compiled; the numbers are the same."""
    header = (ROOT / "eval" / "network_shape.h").read_text(encoding="utf-8")
    shape = {name: int(value) for name, value in re.findall(r"QZ_(\w+) = (\d+)", header)}
    assert shape == {
        "INPUTS": network_file.FEATURES,
        "MOST_NEURONS": network_file.MOST_NEURONS,
        "MOST_OUTPUTS": network_file.MOST_OUTPUTS,
        "MOST_KING_BUCKETS": king_buckets.MOST_BUCKETS,
        "ACTIVATION_ONE": network_file.ACTIVATION_ONE,
        "OUTPUT_ONE": network_file.OUTPUT_ONE,
        "CENTIPAWNS": network_file.SCALE,
    }


@pytest.mark.parametrize(
    ("outputs", "buckets", "version"), [(1, 1, 1), (2, 1, 2), (8, 1, 2), (1, 2, 2), (1, 8, 2), (8, 4, 2)]
)
def test_files_round_trip(outputs, buckets, version):
    """With one output and one king bucket in the form that older programs read."""
    data = random_network(64, outputs=outputs, king_buckets=buckets)
    assert data.king_buckets == buckets
    packed = pack_network(data)
    assert packed[4] == version
    described = described_in(packed)
    assert ("outputs" in described, "king_buckets" in described) == (version == 2, buckets > 1)
    assert unpack_network(packed, "memory") == data


# SHA-256 of random_network(64, outputs=...) as it was packed before there were king buckets.
OLDER_FILES = {
    1: "20d862d0f236536017983deacbf649dadd645330a04bc392abe5e75b58dd429f",
    8: "2b77c5dc2bd81ecd02cc3b14556b7b340d3d603cb5595998b3c22ce776d261f5",
}


@pytest.mark.parametrize("outputs", OLDER_FILES)
def test_files_without_king_buckets_are_what_they_were(outputs):
    assert hashlib.sha256(pack_network(random_network(64, outputs=outputs))).hexdigest() == OLDER_FILES[outputs]


def described_in(packed):
    return json.loads(packed[12 : 12 + int.from_bytes(packed[8:12], "little")])


def described_as(packed, **changes):
    """The file with another description, and the checksum for it."""
    length = int.from_bytes(packed[8:12], "little")
    text = json.dumps(described_in(packed) | changes).encode()
    body = packed[:8] + len(text).to_bytes(4, "little") + text + packed[12 + length : -32]
    return body + hashlib.sha256(body).digest()


@pytest.mark.parametrize("outputs", [0, 9, -1, True, 1.0, "2", None, 3])
def test_a_wrong_number_of_outputs_in_a_file(outputs):
    """Also one that does not fit the weights that follow."""
    packed = pack_network(random_network(32, outputs=2))
    with pytest.raises(NetworkError, match=r"outputs|bytes of weights"):
        unpack_network(described_as(packed, outputs=outputs), "memory")


@pytest.mark.parametrize(
    "table",
    [
        None,
        2,
        "01" * 16,
        [],
        [0, 1] * 15,
        [0, 1] * 17,
        [0, 2] * 16,  # no bucket 1
        [1, 2] * 16,
        [0, -1] * 16,
        [False, True] * 16,
        [0.0, 1.0] * 16,
        [[0], [1]] * 16,
        [*range(9), *[0] * 23],  # too many
        [0, 1, 2, 3] * 8,  # more than there are weights for
        [0] * 32,  # fewer
        {"0": 1},
    ],
)
def test_a_wrong_table_of_king_buckets_in_a_file(table):
    packed = pack_network(random_network(32, king_buckets=2))
    with pytest.raises(NetworkError, match=r"king buckets|bytes of weights") as refusal:
        unpack_network(described_as(packed, king_buckets=table), "memory")
    assert len(str(refusal.value)) < 300


def test_tables_of_king_buckets():
    """The squares that belong together in the maps of four and six; each map splits buckets of the one before."""

    def squares_in(count):
        table = king_buckets.bucket_table(count)
        names = [f"{file}{rank}" for rank in range(1, 9) for file in "abcd"]
        return [{name for name, each in zip(names, table, strict=True) if each == bucket} for bucket in range(count)]

    ranks = [{f"{file}{rank}" for file in "abcd"} for rank in range(1, 9)]
    corner, centre = {"a1", "b1"}, {"c1", "d1"}
    assert squares_in(4) == [corner, centre, ranks[1], set.union(*ranks[2:])]
    upper = [set.union(*ranks[2:5]), set.union(*ranks[5:])]
    assert squares_in(6) == [corner, centre, {"a2", "b2"}, {"c2", "d2"}, *upper]
    for count in range(1, king_buckets.MOST_BUCKETS + 1):
        table = king_buckets.bucket_table(count)
        assert king_buckets.is_bucket_table(table) and max(table) + 1 == count
        for fewer in range(1, count):
            origins = king_buckets.origins(table, king_buckets.bucket_table(fewer))
            assert len(origins) == count and set(origins) == set(range(fewer))
            assert king_buckets.origins(king_buckets.bucket_table(fewer), table) is None


def test_any_table_of_king_buckets_can_be_used(tmp_path):
    """One that no map of ours has: every square of a king by itself, as far as the numbers go."""
    table = tuple(square % 7 for square in range(32))
    path = write_network(tmp_path / "own.qnn", random_network(32, king_buckets=7)._replace(bucket_table=table))
    with evaluating_with(str(path)):
        assert network_summary()["king_buckets"] == 7
        for fen, chess960 in ALL_FENS[::40]:
            board = Board(fen, chess960=chess960)
            assert evaluate_network(board) == reference_score(path, board), fen


def test_damaged_and_foreign_files_are_refused_and_the_network_stays(networks, tmp_path):
    good = networks[64].read_bytes()
    rng = random.Random(5)
    flipped = bytearray(good)
    flipped[rng.randrange(len(good) // 2, len(good) - 40)] ^= 4
    newer = bytearray(good)
    newer[4] = 9
    cases = {
        "cut.qnn": (good[:-100], "bytes instead of"),
        "long.qnn": (good + b"x", "bytes instead of"),
        "flipped.qnn": (bytes(flipped), "checksum"),
        "newer.qnn": (bytes(newer), "version 9"),
        "head.qnn": (good[:7], "no network|damaged|bytes"),
        "empty.qnn": (b"", "neither"),
        "picture.png": (b"\x89PNG\r\n" + bytes(500), "neither"),
        "list.json": (b'{"format": 7}', "format 7"),
    }
    with evaluating_with(str(networks[64])):
        before = evaluate(Board())
        for name, (content, reason) in cases.items():
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ValueError, match=reason) as refusal:
                load_evaluation(str(tmp_path / name))
            assert name in str(refusal.value)
            assert evaluate(Board()) == before
        with pytest.raises(OSError):
            load_evaluation(str(tmp_path / "nowhere.qnn"))
        assert evaluate(Board()) == before
        assert network_summary()["neurons"] == 64


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"neurons": 48}, "multiple of 32"),
        ({"output_weights": b"\x80\x00" * 128}, "output weights beyond 127"),
        ({"biases": b"\x00\x00"}, "1 biases instead of 64"),
        ({"scale": 0}, "scale"),
        ({"output_biases": (1 << 25,)}, "output bias"),
        ({"output_biases": (1, 2)}, "128 output weights instead of 256"),
        ({"output_biases": ()}, "0 outputs"),
        ({"output_biases": (1,) * 9}, "9 outputs"),
        ({"bucket_table": (0, 1) * 16}, "49152 feature weights instead of 98304"),
        ({"bucket_table": (0, 2) * 16}, "none of them left out"),
    ],
)
def test_weights_that_would_overflow_are_not_written(change, reason):
    with pytest.raises(NetworkError, match=reason):
        pack_network(random_network(64)._replace(**change))


def test_the_classical_evaluation_can_be_chosen(networks):
    with evaluating_with(CLASSICAL):
        assert network_summary() is None
        assert evaluate(Board()) == evaluate_classical(Board())
        with pytest.raises(ValueError, match="no network"):
            evaluate_network(Board())

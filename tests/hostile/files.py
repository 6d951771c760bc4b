"""Damaged files of every kind that Quetzal reads, from a seed: used as far as they make sense, or refused with a reason.

python tests/hostile/files.py [--seed N] [--seconds S] [--keep DIR] | --replay FILE

Some damage is made by somebody who knows the format: a checksum that is right again says nothing about the rest.
"""

import bz2
import functools
import gzip
import hashlib
import itertools
import json
import lzma
import os
import random
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import chess.pgn
from fuzzing import KEEP, cases, command_line, damage_bytes, keep_failure, kept_failure
from journal import damage_json
from networks import reference_score
from support import ALL_FENS, DATA
from tables import SHIPPED, SMALL, random_ending

from arena.draft import Draft, describe_tournament
from arena.errors import InputError
from arena.openings import read_openings
from board import Board
from book.endgame.syzygy import Tables
from book.endgame.syzygy_file import MappedTable, TableError
from book.opening.builder import Report, Settings, build_book
from book.opening.pgn import PgnError
from book.opening.polyglot import Book, BookError
from book.opening.verify import verify
from eval import EMBEDDED, Evaluator, evaluate, evaluate_network, load_evaluation, piece_values, read_evaluation
from eval.king_buckets import bucket_table
from eval.network_file import FEATURES, NetworkData, NetworkError, bytes_from, pack_network, weights_size
from training.files import FormatError, GameReader, GameWriter
from training.records import Game, RecordError


class Damaged(bytes):
    """A sample that came damaged from its maker: it often stays as it is."""


# Networks


SMALL_NETWORKS = [*itertools.product((32, 64, 96), range(1, 9), range(1, 9))]  # neurons, outputs, king buckets
PLAIN_NETWORKS = [(neurons, 1, 1) for neurons in (32, 64, 96, 128)]  # what version 1 can have
LARGE_NETWORKS = [(256, 8, 4), (288, 3, 1), (1024, 1, 1), (1024, 8, 8)]


@functools.cache
def good_network(neurons, outputs, king_buckets):
    """Of this shape: version 1 of the format if there is one output and one king bucket, else version 2."""
    rng = random.Random(f"{neurons} {outputs} {king_buckets}")
    row = bytes_from([rng.randrange(-100, 101) for _ in range(397)])
    blocks = (cut_or_repeated(row, 2 * count * neurons) for count in (FEATURES * king_buckets, 1, 2 * outputs))
    biases = tuple(rng.randrange(-5000, 5000) for _ in range(outputs))
    return pack_network(NetworkData(neurons, 180, *blocks, biases, {"positions": 1}, bucket_table(king_buckets)))


def cut_or_repeated(data, size):
    return (data * (size // len(data) + 1))[:size]


def network(rng):
    """Of any shape, and often damaged by somebody who writes the right length and checksum after it.

    A second reads hundreds of small ones.
    """
    shapes = rng.choices((SMALL_NETWORKS, PLAIN_NETWORKS, LARGE_NETWORKS), (80, 18, 2))[0]
    good = good_network(*rng.choice(shapes))
    magic, version, neurons, length = struct.unpack_from("<4sHHI", good)
    text, weights = good[12 : 12 + length], good[12 + length : -32]
    how = rng.randrange(6)
    if how == 0:
        return good
    if how == 1:
        text = rng.choice((damage_bytes, damage_json))(text, rng)
    if how in (2, 4):
        version, neurons, text = other_shape(version, neurons, text, rng)
    if how in (3, 4):
        weights = extreme_weights(weights, rng)
    if how == 5:
        version, neurons, text, weights = fitting_weights(*other_shape(version, neurons, text, rng), weights)
    body = struct.pack("<4sHHI", magic, version, neurons, len(text)) + text + weights
    return Damaged(body + hashlib.sha256(body).digest())


def other_shape(version, neurons, text, rng):
    """Says something else than the weights are, in the head or in the description."""
    described = json.loads(text)
    for what in rng.choices(("version", "neurons", "outputs", "king_buckets", "scale"), k=rng.choice((1, 1, 2))):
        if what == "version":
            version = rng.choice((0, 1, 2, 3, 65535))
        elif what == "neurons":
            neurons = rng.choice((0, 1, 31, 32, 33, 48, 63, 64, 65, 128, 999, 1023, 1024, 1025, 1056, 65535))
        elif what == "outputs":
            described[what] = rng.choice((*range(10), -1, True, 2.0, "2", None, [2], 1 << 70))
        elif what == "king_buckets":
            described[what] = rng.choice(TABLES_OF_KINGS)(rng)
        else:
            described[what] = rng.choice((0, 1, 4000, 4001, 10_000, -180, True, 180.0, "180", None, 1 << 70))
    return version, neurons, json.dumps(described).encode()


TABLES_OF_KINGS = (
    lambda rng: bucket_table(rng.randint(1, 8)),
    lambda rng: [rng.randrange(8) for _ in range(32)],  # seldom without a gap
    lambda rng: [*(shuffled := rng.sample(range(8), 8)), *rng.choices(shuffled, k=24)],
    lambda rng: [square % rng.choice((8, 9)) for square in range(rng.choice((31, 32, 32, 33)))],
    lambda rng: [*range(8)] * 3 + [rng.choice((0, 7, 8, -1, True, 1.0, "1", None, [1], 255, 256, 1 << 70))] * 8,
    lambda rng: rng.choice((None, 3, "0" * 32, {}, [], [[0] * 32])),
)


def fitting_weights(version, neurons, text, weights):
    """As many as this shape has, should it be one."""
    described = json.loads(text)
    try:
        buckets = max(described.get("king_buckets", [0])) + 1 if version == 2 else 1
        outputs = described.get("outputs", 1) if version == 2 else 1
        size = min(weights_size(neurons, outputs, buckets), 1 << 24)
        return version, neurons, text, cut_or_repeated(weights, int(size)) if size > 0 else b""
    except (TypeError, ValueError):  # no shape at all
        return version, neurons, text, weights


def extreme_weights(weights, rng):
    """At the bounds of what the file may hold, just beyond, or far."""
    weights = bytearray(weights)
    for _ in range(rng.choice((1, 1, 10))):
        most = rng.choice((127, 127, 128, 505, 505, 506, 16_000, 16_001, 32_767))
        end = len(weights) if most <= 127 else len(weights) * 97 // 100  # weights of the first layer
        start = 2 * rng.randrange(end // 2) if rng.random() < 0.5 else 0
        size = min(rng.choice((2, 64, 1 << 30)), end - start)
        weights[start : start + size] = cut_or_repeated(struct.pack("<h", rng.choice((-most, most))), size)
    return bytes(weights)


def mend_network(data):
    """The checksum at the end, so that the damage itself is looked at."""
    return data[:-32] + hashlib.sha256(data[:-32]).digest() if len(data) > 44 else data


def use_evaluation(path, rng):
    """What is refused leaves the evaluation as it was."""
    before = evaluate(Board())
    try:
        load_evaluation(str(path))
    except ValueError:
        assert evaluate(Board()) == before, "a file that is refused has changed the evaluation"
        raise
    for fen, chess960 in rng.sample(ALL_FENS, 5):
        assert abs(evaluate(Board(fen, chess960=chess960))) <= 30_000, "a score beyond all bounds"


def use_network(path, rng):
    """What is accepted evaluates by the formula, in whatever order positions come."""
    use_evaluation(path, rng)
    if rng.random() < 0.2:
        board = Board(rng.choice(ALL_FENS)[0], chess960=True)
        assert evaluate_network(board) == reference_score(path, board), "not the formula's score"
    evaluator, board = Evaluator(), Board()
    for _ in range(10):
        board.push(rng.choice(board.legal_moves()))
        assert evaluator.evaluate(board, board.ply) == evaluate(board), "another score in a line than alone"
        if board.outcome() is not None:
            break
    assert len(piece_values(board)) <= 30, "more pieces than there are"


def weights(rng):
    text = read_evaluation("")
    return damage_json(text, rng) if rng.random() < 0.5 else text


# Books


def book(rng):
    entries = []
    for _ in range(rng.choice((1, 5, 100))):
        board = Board()
        for _ in range(rng.randrange(4)):  # too few for a mate
            board.push(rng.choice(board.legal_moves()))
        move = rng.choice(board.legal_moves())
        code = (move & 63) << 6 | move >> 6 & 63
        entries.append(struct.pack(">QHHI", board.polyglot_key, code, rng.randrange(65536), 0))
    return b"".join(sorted(entries))


def use_book(path, rng):
    with Book(path) as book:
        board = Board()
        for _ in range(6):
            moves = book.moves(board)
            assert all(board.is_legal(each.move) for each in moves), "an illegal move from a book"
            if not moves:
                break
            board.push(moves[0].move)
        if len(book) < 1000:
            verify(book)
    if rng.random() < 0.05:
        read_openings(path, plies=2)


# Endgame tables

TABLES = {suffix: [SHIPPED / f"{name}.{suffix}" for name in SMALL] for suffix in ("rtbw", "rtbz")}


def table(suffix):
    def sample(rng):
        return rng.choice(TABLES[suffix])

    return sample


def use_table(path, rng):
    for other in (*TABLES["rtbw"], *TABLES["rtbz"]):
        if not (path.parent / other.name).exists():
            os.symlink(other, path.parent / other.name)
    MappedTable(str(path)).check()
    tables = Tables([path.parent])
    for _ in range(5):
        board = Board(random_ending(rng, path.stem))
        assert tables.wdl(board) in (None, -2, -1, 0, 1, 2), "no result"
        dtz = tables.dtz(board)
        assert dtz is None or abs(dtz) < 1 << 18, "no distance"
    assert len(tables.problems) <= 1, "a file is reported twice"


# Games and positions


def games(rng):
    texts = []
    for _ in range(rng.randrange(1, 5)):
        game = chess.pgn.Game()
        node = game
        board = game.board()
        for _ in range(rng.randrange(30)):
            if board.is_game_over():
                break
            node = node.add_main_variation(rng.choice(list(board.legal_moves)))
            board.push(node.move)
            if rng.random() < 0.1:
                node.comment = "a comment (with brackets) [%clk 0:01:00]"
            if rng.random() < 0.1:
                node.nags.add(rng.randrange(10))
        game.headers["Result"] = rng.choice(("1-0", "0-1", "1/2-1/2", "*"))
        texts.append(str(game))
    return "\n\n".join(texts).encode() + b"\n\n"


PACKERS = (lambda data: data, gzip.compress, bz2.compress, lzma.compress)


def packed_games(rng):
    return rng.choice(PACKERS)(games(rng))


def use_games(path, rng):
    """A book from them, with every filter."""
    report = Report(lambda place, reason: check_message(f"{place}: {reason}"))
    settings = Settings(min_games=1, loss=1, min_rating=rng.choice((0, 0, 1500)), megabytes=1)
    try:
        build_book([str(path)], str(path.parent / "new.bin"), settings, report)
    finally:
        for damage in report.damaged:
            check_message(damage)


def use_game_openings(path, rng):
    check_openings(read_openings(path, plies=rng.choice((None, 8))))


def positions(rng):
    lines = rng.sample((DATA / rng.choice(EPD_FILES)).read_text("utf-8").splitlines(), 5)
    return "\n".join(lines).encode() + b"\n"


EPD_FILES = ("mates.epd", "endings.epd", "see.epd")


def use_positions(path, rng):
    check_openings(read_openings(path, chess960=rng.random() < 0.2))


def check_openings(openings):
    for opening in openings[:20]:
        board = Board(opening.fen, chess960=True)
        assert opening.name.isprintable(), "control characters in a name"
        for move in opening.moves[:20]:
            board.push_uci(board.uci(board.parse_uci(move)))


# Tournaments

TOURNAMENT = """name = "T"
format = "swiss"
rounds = 3
concurrency = 1
tc = "1+0.01"

[openings]
plies = 8
shuffle = true

[adjudication]
draw = "40,8,10"
resign = "600,4"

[[engine]]
name = "a"
command = "{python} -x 'b c'"
rating = 2500.5
[engine.options]
Hash = 1
Ponder = false

[[engine]]
command = "{python}"
tc = "nodes=100"
"""


def tournament(rng):
    return TOURNAMENT.replace("{python}", sys.executable).encode()


def use_tournament(path, rng):
    describe_tournament(Draft(path))


# Games of self-play


def selfplay(rng):
    with tempfile.TemporaryDirectory(prefix="quetzal-hostile-") as name:
        path = os.path.join(name, "x.qzg")
        with GameWriter(path, {"made": "for a test"}) as writer:
            for _ in range(rng.randrange(1, 4)):
                board, moves = Board(), []
                for _ in range(rng.randrange(40)):
                    if board.outcome() is not None:
                        break
                    moves.append(rng.choice(board.legal_moves()))
                    board.push(moves[-1])
                opening = min(len(moves), 4)
                scores = [rng.randrange(-500, 500) for _ in moves[opening:]]
                writer.write(Game(Board().fen(), False, opening, moves, scores, rng.choice((-1, 0, 1))))
        return Path(path).read_bytes()


def mend_selfplay(data):
    """Checksums of the header and of all frames that can be found."""
    if len(data) < 12:
        return data
    length = struct.unpack_from("<H", data, 6)[0]
    at = 8 + length
    mended = data[:at] + struct.pack("<I", zlib.crc32(data[:at]))
    at += 4
    while at + 8 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        if at + 8 + length > len(data):
            break
        frame = data[at : at + 4 + length]
        mended += frame + struct.pack("<I", zlib.crc32(frame))
        at += 8 + length
    return mended + data[at:]


def use_selfplay(path, rng):
    with GameReader(path) as reader:
        for game in reader.games():
            board = Board(game.fen, chess960=game.chess960)
            for move in game.moves:
                board.push(move)
    with GameWriter(path) as writer:  # appends behind what is good
        count = writer.games
    with GameReader(path) as reader:
        assert sum(1 for _ in reader) == count and reader.damage is None, "the damage was not cut off"


# Name of a kind: ending of the file, how a good one is made, how checksums are mended, how it is used, what may be raised
KINDS = {
    "network": ("qnn", network, mend_network, use_network, (NetworkError, ValueError)),
    "weights": ("json", weights, None, use_evaluation, (ValueError,)),
    "book": ("bin", book, None, use_book, (BookError, InputError)),
    "wdl": ("rtbw", table("rtbw"), None, use_table, (TableError,)),
    "dtz": ("rtbz", table("rtbz"), None, use_table, (TableError,)),
    "pgn": ("pgn", packed_games, None, use_games, (PgnError, BookError)),
    "openings-pgn": ("pgn", games, None, use_game_openings, (InputError,)),
    "epd": ("epd", positions, None, use_positions, (InputError,)),
    "toml": ("toml", tournament, None, use_tournament, (InputError,)),
    "selfplay": ("qzg", selfplay, mend_selfplay, use_selfplay, (FormatError, RecordError)),
}


def check_message(text):
    assert text and len(text) < 5000, f"a message of {len(text)} letters"
    assert text.isprintable(), f"control characters in a message: {text!r}"


def case_of(kind, case):
    """The name of a file and its damaged bytes."""
    rng = random.Random(f"{kind} {case}")
    suffix, make, mend, _, _ = KINDS[kind]
    sample = make(rng)
    name, data = (sample.name, sample.read_bytes()) if isinstance(sample, Path) else (f"x.{suffix}", sample)
    for _ in range(rng.choice((0, 0, 0, 1) if isinstance(data, Damaged) else (0, 1, 1, 1, 2, 5))):
        data = flip(data, rng) if rng.random() < 0.5 else damage_bytes(data, rng)
    if mend is not None and rng.random() < 0.7:
        data = mend(data)
    return name, data


def flip(data, rng):
    """A few bytes become others, often near the beginning, where lengths stand, or words of the same file."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 40))):
        if data:
            place = rng.randrange(min(len(data), rng.choice((64, 4096, 1 << 30))))
            if rng.random() < 0.3:
                start = rng.randrange(len(data))
                piece = data[start : start + rng.randrange(1, 12)]
                data[place : place + len(piece)] = piece
            else:
                data[place] = rng.choice((0, 255, data[place] ^ 1 << rng.randrange(8), rng.randrange(256)))
    return bytes(data)


def problem_with(kind, name, data, case):
    """What is wrong with how a file is read, or None; and whether it was accepted."""
    _, _, _, use, errors = KINDS[kind]
    with tempfile.TemporaryDirectory(prefix="quetzal-hostile-") as directory:
        path = Path(directory) / name
        path.write_bytes(data)
        try:
            use(path, random.Random(case))
        except errors as error:
            try:
                check_message(str(error))
            except AssertionError as problem:
                return f"{type(error).__name__}: {problem}", False
            return None, False
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:2000], False
    return None, True


def replay(path):
    """Reads a kept file again; what is still wrong, or None."""
    kept = kept_failure(path)
    if "data" not in kept:
        kind, _, case = kept["case"].partition(" ")
        kept.update(zip(("kind", "file", "data", "case"), (kind, *case_of(kind, case), case), strict=True))
    try:
        return problem_with(kept["kind"], kept["file"], kept["data"], kept["case"])[0]
    finally:
        load_evaluation(EMBEDDED)


def run(seed, seconds, keep=KEEP, most=None, kinds=tuple(KINDS)):
    """Reads damaged files until the time is over, or so many of each kind; counts of files, accepted ones and problems."""
    counts = {"files": 0, "problems": 0}
    try:
        return count(counts, kinds, seed, seconds, keep, most)
    finally:
        load_evaluation(EMBEDDED)


def count(counts, kinds, seed, seconds, keep, most):
    for kind in kinds:
        accepted = files = problems = 0
        for case in cases(f"file-{kind}", seed, seconds / len(kinds), keep, most, prefix=f"{kind} "):
            name, data = case_of(kind, case)
            problem, was_accepted = problem_with(kind, name, data, case)
            files += 1
            accepted += was_accepted
            if problem is not None:
                problems += 1
                keep_failure(keep, f"file-{kind}-{case}", problem, kind=kind, file=name, data=data, case=case)
        counts[kind] = files
        counts[f"{kind} accepted"] = accepted
        counts["files"] += files
        counts["problems"] += problems
    return counts


if __name__ == "__main__":
    sys.exit(command_line(__doc__.splitlines()[0], run, replay))

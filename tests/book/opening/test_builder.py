"""Books from games: counted by hand, by Polyglot's own maker, from every kind of file, and from broken ones."""

import bz2
import gzip
import io
import lzma
import os
import random
import shutil
import subprocess

import books
import chess
import chess.pgn
import chess.polyglot
import pytest
from support import quetzal, scaled

from board import Board
from book.opening.builder import MOST_WEIGHT, entries_of
from book.opening.builder import scaled as scaled_weights
from book.opening.move_counter import MoveCounter
from book.opening.pgn import split_games

# Under wine the programs of Linux can be seen, but not used.
IS_POSIX = os.name == "posix"
POLYGLOT = shutil.which("polyglot", path=os.environ.get("PATH", "") + os.pathsep + "/usr/games") if IS_POSIX else None
RESULTS = ("1-0", "0-1", "1/2-1/2")


def pgn(*moves, result="1-0", **tags):
    """A game as text; moves in one string."""
    head = {"Event": "test", "Result": result, **tags}
    lines = [f'[{name} "{value}"]' for name, value in head.items()]
    return "\n".join(lines) + "\n\n" + " ".join(moves) + f" {result}\n\n"


def random_collection(seed, count, plies=30):
    """PGN text of random games that often go the same ways, and the games themselves."""
    rng = random.Random(seed)
    texts, games = [], []
    for _ in range(count):
        board = books.random_game(random.Random(rng.randrange(count // 2 + 1)), plies)
        result = rng.choice(RESULTS)
        game = chess.pgn.Game.from_board(board)
        game.headers["Result"] = result
        texts.append(str(game))
        games.append((board, result))
    return "\n\n".join(texts) + "\n", games


def read(path):
    """The entries of a book as python-chess reads them: {(key, raw move): weight}."""
    with chess.polyglot.open_reader(path) as reader:
        return {(entry.key, entry.raw_move): entry.weight for entry in reader}


def build(tmp_path, text, *options, name="games.pgn", status=0):
    games = tmp_path / name
    games.write_bytes(text if isinstance(text, bytes) else text.encode())
    output = tmp_path / "book.bin"
    output.unlink(missing_ok=True)
    run = quetzal("book", "build", str(games), "-o", str(output), *options)
    assert run.returncode == status, run.stderr
    return (read(output) if output.exists() else None), run


def counted(games, plies, min_games, win=2, draw=1, loss=0):
    """The same book, counted the simple way."""
    counts = {}
    for board, result in games:
        replay = chess.Board()
        for move in board.move_stack[:plies]:
            place = chess.polyglot.zobrist_hash(replay), books.code(replay.uci(move, chess960=True))
            points = {"1-0": win, "0-1": loss, "1/2-1/2": draw}[result]
            if not replay.turn:
                points = {"1-0": loss, "0-1": win, "1/2-1/2": draw}[result]
            times, weight = counts.get(place, (0, 0))
            counts[place] = times + 1, weight + points
            replay.push(move)
    return {place: weight for place, (times, weight) in counts.items() if times >= min_games and weight > 0}


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ((), {"plies": 40, "min_games": 3}),
        (("--min-games", "1", "--depth", "12"), {"plies": 12, "min_games": 1}),
        (
            ("--win", "5", "--draw", "3", "--loss", "1", "--min-games", "2"),
            {"plies": 40, "min_games": 2, "win": 5, "draw": 3, "loss": 1},
        ),
    ],
)
def test_weights_are_the_results(tmp_path, options, settings):
    text, games = random_collection(1, scaled(200))
    found, run = build(tmp_path, text, *options)
    assert found == counted(games, **settings)
    assert f"{len(found):,} entries" in run.stdout


@pytest.mark.skipif(POLYGLOT is None, reason="polyglot is not installed")
def test_polyglot_makes_the_same_book(tmp_path):
    text, _ = random_collection(2, scaled(200))
    found, _ = build(tmp_path, text, "--min-games", "2", "--depth", "24")
    theirs = tmp_path / "theirs.bin"
    command = [POLYGLOT, "make-book", "-pgn", str(tmp_path / "games.pgn"), "-bin", str(theirs)]
    subprocess.run(
        [*command, "-min-game", "2", "-max-ply", "24"], cwd=tmp_path, check=True, capture_output=True, timeout=60
    )
    assert found == read(theirs)


def test_a_book_is_sorted_and_its_best_moves_come_first(tmp_path):
    text, _ = random_collection(3, scaled(200))
    build(tmp_path, text)
    with chess.polyglot.open_reader(tmp_path / "book.bin") as reader:
        entries = list(reader)
    assert entries == sorted(entries, key=lambda entry: (entry.key, -entry.weight, entry.raw_move))


def test_counts_that_do_not_fit_into_memory(tmp_path):
    """Written to a file in several stretches and merged again, the counts are the same."""
    games = [books.random_game(random.Random(seed), 30) for seed in range(60)] * 2
    small, large = MoveCounter(1, tmp_path), MoveCounter(64)
    for number, game in enumerate(games):
        text = chess.Board().variation_san(game.move_stack).encode()
        for counter in (small, large):
            counter.add_game(Board(), text, 40, number % 3 - 1)
        if number % 7 == 0:
            small.spill()
    assert len(small.runs) == 18 and large.runs == []
    counts = list(large.counts())
    assert list(small.counts()) == counts
    assert sum(sum(count[2:]) for count in counts) == sum(len(game.move_stack) for game in games)
    small.close()


def test_memory_is_bounded(tmp_path):
    """More different moves than a megabyte holds: they go to the temporary file by themselves."""
    counter = MoveCounter(1, tmp_path)
    rng = random.Random(5)
    plies = 0
    while not counter.runs:
        board = Board()
        words = []
        while len(words) < 200 and board.outcome() is None:
            move = rng.choice(board.legal_moves())
            words.append(board.san(move))
            board.push(move)
        plies += counter.add_game(Board(), " ".join(words).encode(), 200, 0)
        assert plies < 40000
    assert sum(sum(count[2:]) for count in counter.counts()) == plies
    counter.close()


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("games.pgn.gz", gzip.compress),
        ("games.pgn.bz2", bz2.compress),
        ("games.pgn.xz", lzma.compress),
        ("misnamed.pgn", gzip.compress),
        ("bom.pgn", lambda data: b"\xef\xbb\xbf" + data),
        ("dos.pgn", lambda data: data.replace(b"\n", b"\r\n")),
    ],
)
def test_packed_files(tmp_path, name, pack):
    text, games = random_collection(4, 20)
    found, _ = build(tmp_path, pack(text.encode()), "--min-games", "1", name=name)
    assert found == counted(games, 40, 1)


@pytest.mark.skipif(shutil.which("zstd") is None, reason="the zstd program is not installed")
def test_zstd(tmp_path):
    text, games = random_collection(4, 20)
    packed = subprocess.run(["zstd", "-c"], input=text.encode(), capture_output=True, check=True).stdout
    found, _ = build(tmp_path, packed, "--min-games", "1", name="games.pgn.zst")
    assert found == counted(games, 40, 1)
    found, run = build(tmp_path, packed[:-40], "--min-games", "1", name="cut.pgn.zst", status=2)
    assert found is None and "Traceback" not in run.stderr


def test_zstd_without_anything_to_unpack_it(tmp_path):
    games = tmp_path / "games.pgn.zst"
    games.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(50))
    code = (
        "import sys; sys.modules.update({'zstandard': None, 'compression': None})\n"
        "from uci_engine.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    run = subprocess.run(
        [shutil.sys.executable, "-c", code, "book", "build", str(games), "-o", str(tmp_path / "b.bin")],
        env={**os.environ, "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2 and "zstandard" in run.stderr and "Traceback" not in run.stderr


def test_standard_input_and_several_files(tmp_path):
    text, games = random_collection(5, 20)
    (tmp_path / "a.pgn").write_text(text)
    output = tmp_path / "b.bin"
    run = quetzal("book", "build", str(tmp_path / "a.pgn"), "-", "-o", str(output), "--min-games", "1", stdin=text)
    assert run.returncode == 0, run.stderr
    assert read(output) == counted(games + games, 40, 1)


# Broken input


GOOD = pgn("1. e4 e5 2. Nf3 Nc6")


def test_broken_games_are_counted_named_and_skipped(tmp_path):
    texts = [
        GOOD,
        pgn("1. e4 e5 2. Nf6 Nc6"),
        GOOD,
        pgn("1. e4 {never closed e5"),
        GOOD,
        pgn("1. d4 d5", FEN="8/8/8 w - -", SetUp="1"),
        pgn("nonsense"),
        GOOD,
    ]
    starts = [1 + "".join(texts[:index]).count("\n") for index in range(len(texts))]
    found, run = build(tmp_path, "".join(texts), "--min-games", "4")
    assert set(found.values()) == {8}  # four games, each won by White; Black's moves only lost
    assert len(found) == 2
    for index, reason in ((1, "'Nf6' is not a legal move"), (3, "comment"), (5, "FEN"), (6, "'nonsense' is no move")):
        assert any(f"games.pgn:{starts[index]}: " in line and reason in line for line in run.stderr.splitlines())
    assert "8 games read" in run.stderr and "4 used" in run.stderr and "4 broken" in run.stderr


def test_many_broken_games_do_not_flood(tmp_path):
    _, run = build(tmp_path, GOOD * 3 + pgn("x9") * 50, "--show-broken", "5")
    assert run.stderr.count("is no move") == 5 and "45 more broken games" in run.stderr


def test_a_packed_file_that_is_cut_off(tmp_path):
    """What could be read makes the book; the damage is said, and the status is not 0."""
    text, _ = random_collection(6, 300)
    packed = gzip.compress(text.encode())
    found, run = build(tmp_path, packed[: len(packed) // 2], "--min-games", "1", name="cut.pgn.gz", status=1)
    assert found and "cut.pgn.gz is damaged" in run.stderr


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "no games"),
        (b"\n\n\n", "no games"),
        (bytes(range(256)) * 40, "can be used"),
        (b"\x00" * 3_000_000, "can be used"),
        (b"x" * 20_000_000, "can be used"),
        (b"\x1f\x8bnot gzip", "is damaged"),
        (pgn("e4").encode(), "no move is left"),
    ],
    ids=["empty", "blank", "bytes", "zeros", "one endless line", "bad gzip", "too few"],
)
def test_files_without_games(tmp_path, contents, reason):
    found, run = build(tmp_path, contents, status=2)
    assert found is None and reason in run.stderr and "Traceback" not in run.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.pgn"]


# Files that are made to hurt


MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60))).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def bounded(tmp_path, name, contents, seconds, *options):
    """Builds in a process that may take so much processor time and 200 MB, as may the programs that it starts."""
    pytest.importorskip("resource")
    games = tmp_path / name
    games.write_bytes(contents)
    python = shutil.sys.executable
    command = [python, "-c", MEASURE, python, "-m", "uci_engine", "book", "build", str(games)]
    command += ["-o", str(tmp_path / "b.bin"), "--memory", "1", "--min-games", "1", *options]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    status, spent, kilobytes = run.stdout.splitlines()[-1].split()
    assert int(status) >= 0 and "Traceback" not in run.stderr, run.stderr
    assert len(run.stderr) < 2000 and all(line.isprintable() for line in run.stderr.splitlines())
    assert float(spent) < seconds and int(kilobytes) < 200_000
    return int(status), run.stderr


@pytest.mark.skipif(shutil.which("zstd") is None, reason="the zstd program is not installed")
def test_a_small_file_that_asks_for_much_memory(tmp_path):
    """Its window is 256 MB large, and all of it would be touched."""
    packed = tmp_path / "window.zst"
    command = f"head -c {300 << 20} /dev/zero | tr '\\0' '\\n' | zstd -q --long=28 --zstd=wlog=28 -1 -o {packed}"
    subprocess.run(command, shell=True, check=True)
    assert packed.stat().st_size < 50_000
    status, said = bounded(tmp_path, "games.pgn.zst", packed.read_bytes(), 20)
    assert status == 2 and "games.pgn.zst is damaged" in said


def test_an_xz_file_that_asks_for_much_memory(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    status, said = bounded(tmp_path, "games.pgn.xz", lzma.compress(GOOD.encode(), filters=filters), 60)
    assert status == 2 and "games.pgn.xz is damaged" in said


def test_xz_streams_one_after_the_other(tmp_path):
    packed = lzma.compress(GOOD.encode())
    found, _ = build(tmp_path, packed + bytes(8) + packed + packed, name="games.xz")
    assert set(found.values()) == {6}
    found, run = build(tmp_path, packed * 3 + packed[:-20], name="cut.xz", status=1)
    assert set(found.values()) == {6} and "cut.xz is damaged" in run.stderr


def test_blank_lines_are_skipped_as_fast_as_they_are_read(tmp_path):
    """Line by line this would take ten times as long as it may."""
    games = b"\n" * (48 << 20) + GOOD.encode() + b" \r\n" * (16 << 20) + pgn("e5").encode()
    status, said = bounded(tmp_path, "games.pgn", games, 5)
    assert status == 0 and f"games.pgn:{(64 << 20) + GOOD.count(chr(10)) + 1}: 'e5'" in said


def test_a_game_of_tags(tmp_path):
    games = b"".join(b'[A%d "b"]\n' % number for number in range(150_000)) + b"\ne4 1-0\n\n" + GOOD.encode()
    status, said = bounded(tmp_path, "games.pgn", games, 30)
    assert status == 0 and "games.pgn:1: too long for a game" in said
    assert "1 used" in said and "1 broken" in said
    status, said = bounded(tmp_path, "games.pgn", b'[Site "' + b"\\a" * 500_000 + b'"]\n' + GOOD.encode(), 30)
    assert status == 0 and "1 used" in said


@pytest.mark.parametrize(
    "line",
    ["[White x]", '[White Name "x"]', "[White]", "[]", '["x"]', "[White x", '[Pl\xe4tze "x"]', "[" + 99_999 * "x"],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_malformed_tag_splits_no_game(line, place):
    """It is missing among the tags, wherever it stands; the games around it are what they were."""
    head = ['[Event "a"]', '[Site "b"]']
    head.insert(place, line)
    text = "\n".join(["1. d4 1/2-1/2", "", *head, "", "1. e4 1-0", "", *head[::-1], "1. c4 {", "", line, "} *"])
    before, first, second = split_games(io.BytesIO(text.encode("latin-1")))
    assert (before.tags, before.text.split(), before.line) == ({}, b"1. d4 1/2-1/2".split(), 1)
    assert (first.tags, first.text.strip(), first.line) == ({b"Event": b"a", b"Site": b"b"}, b"1. e4 1-0", 3)
    assert (second.tags, second.line) == (first.tags, 9)
    assert second.text.endswith(line.encode("latin-1") + b"\n} *")
    assert not first.is_too_long and not second.is_too_long


def test_tag_names_are_those_of_python_chess():
    (game,) = split_games(io.BytesIO(b'[White-Elo:2 "1"]\n[A+#=_ "2"]\n\n*'))
    assert game.tags == {b"White-Elo:2": b"1", b"A+#=_": b"2"}


@pytest.mark.parametrize("quote", [b'"', b""])
def test_the_rest_of_a_very_long_tag_is_no_move(quote):
    tag = b"[Site " + quote + 3_000_000 * b"b" + quote + b"]\n"
    text = b'[Event "a"]\n' + tag + b'[Round "1"]\n\n1. e4 1-0\n\n[Event "c"]\n\n*'
    first, second = split_games(io.BytesIO(text))
    assert first.is_too_long and first.text.strip() == b"1. e4 1-0"
    assert (second.tags, second.line) == ({b"Event": b"c"}, 7)


def test_moves_that_look_like_a_tag_stay_in_their_game():
    (game,) = split_games(io.BytesIO(b'[Event "a"]\n\n1. e4\n[#]\ne5\n\n[#]\n2. Nf3 1-0'))
    assert game.text.split() == b"1. e4 [#] e5 [#] 2. Nf3 1-0".split()


def test_tags_that_are_no_numbers_and_steer_terminals(tmp_path):
    games = pgn("e4", WhiteElo="9" * 5000, BlackElo="2" * 5000) + pgn("e4", WhiteElo="2500", BlackElo="2400")
    games += pgn("d4", WhiteElo="2500", BlackElo="2400", FEN="\x1b[2J" + "x" * 5000, SetUp="1")
    games += pgn("\x1b[2J", WhiteElo="2500", BlackElo="2400")
    status, said = bounded(tmp_path, "games.pgn", games.encode(), 30, "--min-rating", "2000")
    assert status == 0 and "1 used, 1 filtered out, 2 broken" in said


def test_lines_of_every_length_are_told_apart():
    """Wherever the blocks end that are read, the games and their line numbers are the same as line by line."""
    rng = random.Random(7)
    pieces = [
        "\n",
        " \n",
        "\t\r\n",
        "\n\n\n",
        '[Event "x"]\n',
        '[White "y"]\n',
        "1. e4 {",
        "}",
        " e5\n",
        "% no\n",
        "; no\n",
        "[x]\n",
        "1-0\n",
    ]
    for _ in range(scaled(300)):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(60))).encode()
        whole = list(split_games(io.BytesIO(text)))
        for step in (1, 2, 3, 7):
            assert list(split_games(Dribble(text, step))) == whole
        lines = text.split(b"\n")
        for game in whole:
            first = lines[game.line - 1]
            assert first.strip() and (not game.tags or first.startswith(b"["))


class Dribble:
    """A stream that gives a few bytes at a time, as pipes may."""

    def __init__(self, data, step):
        self.data, self.step = data, step

    def read1(self, size):
        piece, self.data = self.data[: self.step], self.data[self.step :]
        return piece


def test_a_failure_leaves_the_old_book(tmp_path):
    build(tmp_path, GOOD * 3)
    old = (tmp_path / "book.bin").read_bytes()
    (tmp_path / "bad.pgn").write_text("nothing")
    for games in ("bad.pgn", "none.pgn", "book.bin", ""):
        run = quetzal("book", "build", str(tmp_path / games), "-o", str(tmp_path / "book.bin"))
        assert run.returncode == 2 and run.stderr.startswith(("quetzal book: ", str(tmp_path)))
        assert "Traceback" not in run.stderr
        assert (tmp_path / "book.bin").read_bytes() == old
    assert {path.name for path in tmp_path.iterdir()} == {"games.pgn", "bad.pgn", "book.bin"}


def test_outputs_that_cannot_be(tmp_path):
    (tmp_path / "g.pgn").write_text(GOOD * 3)
    for output in (tmp_path / "none" / "b.bin", tmp_path, tmp_path / "g.pgn"):
        run = quetzal("book", "build", str(tmp_path / "g.pgn"), "-o", str(output))
        assert run.returncode == 2 and "Traceback" not in run.stderr
    assert (tmp_path / "g.pgn").read_text() == GOOD * 3


# Filters


def test_filters(tmp_path):
    games = (
        pgn("e4 e5", White="Anand, V", Black="Carlsen, M", WhiteElo="2780", BlackElo="2860")
        + pgn("d4 d5", White="Carlsen, M", Black="Nobody", WhiteElo="2860", BlackElo="2100")
        + pgn("c4 c5", White="Somebody", Black="Nobody")
        + pgn("Nf3 Nf6", Variant="Atomic")
    )
    start = chess.polyglot.zobrist_hash(chess.Board())

    def first_moves(*options, status=0):
        found, _ = build(tmp_path, games, "--min-games", "1", "--loss", "1", *options, status=status)
        return {"".join(move) for move in self_moves(found)} if found else None

    def self_moves(found):
        names = {books.code(text): text for text in ("e2e4", "d2d4", "c2c4", "g1f3", "e7e5", "d7d5", "c7c5")}
        return [names[code] for _, code in found]

    assert first_moves() == {"e2e4", "d2d4", "c2c4", "e7e5", "d7d5", "c7c5"}
    assert first_moves("--min-rating", "2000") == {"e2e4", "d2d4", "e7e5", "d7d5"}
    assert first_moves("--min-rating", "2700") == {"e2e4", "e7e5"}
    assert first_moves("--colour", "white") == {"e2e4", "d2d4", "c2c4"}
    assert first_moves("--colour", "black") == {"e7e5", "d7d5", "c7c5"}
    assert first_moves("--player", "carlsen") == {"e7e5", "d2d4"}
    assert first_moves("--player", "Carlsen", "--colour", "white") == {"d2d4"}
    assert first_moves("--player", "Kasparov", status=2) is None
    assert start == 0x463B96181691FC9C


def test_a_game_without_a_result_counts_as_a_draw(tmp_path):
    found, _ = build(tmp_path, pgn("e4 e5", result="*") * 3)
    assert set(found.values()) == {3}


def test_the_result_behind_the_moves_counts_if_there_is_no_tag(tmp_path):
    found, _ = build(tmp_path, "1. e4 e5 1-0\n", "--min-games", "1")
    assert list(found.values()) == [2]


def test_games_from_positions(tmp_path):
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    found, _ = build(tmp_path, pgn("e4", FEN=fen, SetUp="1"), "--min-games", "1")
    assert found == {(chess.polyglot.zobrist_hash(chess.Board(fen)), books.code("e2e4")): 2}


def test_weights_are_scaled_into_16_bits():
    assert scaled_weights([70000, 35000, 1, 0]) == [MOST_WEIGHT, 32767, 1, 0]
    assert scaled_weights([65535, 2]) == [65535, 2]
    assert [(entry.move, entry.weight) for entry in entries_of(1, [(5, 1), (6, 131070)])] == [(6, 65535), (5, 1)]

"""Openings, PGN and the directory of a run."""

import io
import json

import chess
import chess.pgn
import chess.polyglot
import pytest
from arena_playing import play, scripted
from positions import random_walk

from arena.errors import InputError
from arena.journal import Journal, read_records
from arena.openings import Supply, chess960_starts, read_openings
from arena.pgn import game_text
from arena.run import openings_description
from arena.settings import EngineSettings, Rules, as_dict
from board.fen import STARTING_FEN

DESCRIPTION = {
    "kind": "match",
    "name": "a test",
    "engines": [as_dict(EngineSettings(name, [name], "1+0")) for name in "ab"],
    "rules": as_dict(Rules()),
    "openings": openings_description(None),
    "games": 100,
    "sprt": None,
    "concurrency": 1,
    "pin": False,
}


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


# Openings


def test_epd(tmp_path):
    path = write(
        tmp_path / "o.epd",
        '# a comment\n\nrnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - id "King\'s Pawn"; hmvc 0;\n'
        "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\n",
    )
    first, second = read_openings(path)
    assert first.name == "King's Pawn"
    assert first.fen.endswith(" 0 1")
    assert second.fen.endswith(" 2 3")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNX w KQkq -", "o.epd:2: "),
        ("what is this", "o.epd:2: "),
        ("7k/5Q2/6K1/8/8/8/8/8 b - -", "o.epd:2: the game is over in this position (stalemate)"),
    ],
)
def test_bad_epd(tmp_path, line, message):
    path = write(tmp_path / "o.epd", f"{STARTING_FEN}\n{line}\n{STARTING_FEN}\n")
    with pytest.raises(InputError) as caught:
        read_openings(path)
    assert message in str(caught.value)


def test_files_without_openings(tmp_path):
    for name, content in (("o.epd", "\n# nothing\n"), ("o.pgn", ""), ("o.bin", "")):
        with pytest.raises(InputError, match=r"no opening|o.bin is empty"):
            read_openings(write(tmp_path / name, content))
    with pytest.raises(InputError, match="no such file"):
        read_openings(tmp_path / "absent.epd")
    with pytest.raises(InputError, match=r"not from '.doc'"):
        read_openings(tmp_path / "openings.doc")


PGN = """[Event "one"]
[ECO "C60"]
[Opening "Ruy Lopez"]

1. e4 e5 2. Nf3 {a comment} Nc6 (2... d6) 3. Bb5 *

[Event "two"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]
[SetUp "1"]

1. e4 *
"""


def test_pgn(tmp_path):
    first, second = read_openings(write(tmp_path / "o.pgn", PGN))
    assert first.moves == ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5")
    assert first.name == "C60 Ruy Lopez"
    assert first.fen == STARTING_FEN
    assert second.fen.startswith("4k3/8/8/8/8/8/4P3/4K3 w")
    assert second.moves == ("e2e4",)
    assert read_openings(tmp_path / "o.pgn", plies=3)[0].moves == ("e2e4", "e7e5", "g1f3")


def test_bad_pgn(tmp_path):
    path = write(tmp_path / "o.pgn", PGN.replace("3. Bb5", "\n3. Bb7"))
    with pytest.raises(InputError) as caught:
        read_openings(path)
    assert "o.pgn:6: " in str(caught.value)
    assert "Bb7" in str(caught.value)


def test_hostile_pgn(tmp_path):
    """Variations, comments and headers without end cost no more than reading them; the opening is the main line."""
    start = '[Event "x"]\n[Opening "a\x1b[2J\x07"]\n\n1. e4 '
    for text in (
        "(" * 100_000,
        "(" * 9 + ")" * 99 + " e5",
        "e5 (1... d5 " * 30_000,
        "{" + "x" * 2_000_000 + "}",
        "$1 " * 100_000,
        "{ " * 100_000,
    ):
        (opening,) = read_openings(write(tmp_path / "o.pgn", start + text))
        assert opening.moves[0] == "e2e4"
        assert len(opening.moves) <= 2
        assert opening.name == "a\\x1b[2J\\x07"
    with pytest.raises(InputError, match=r"o.pgn:4: "):
        read_openings(write(tmp_path / "o.pgn", start + "$" + "9" * 5000))


def test_messages_are_short_and_visible():
    text = str(InputError("what is \x1b[2J" + "x" * 10_000, "a.pgn", 3))
    assert text.startswith("a.pgn:3: what is \\x1b[2J")
    assert text.endswith("x ...")
    assert len(text) < 600


def test_books(tmp_path):
    """A book of three moves written by hand: every line once, frequent moves by their weight."""
    entries = []
    for line, weight in ((("e2e4",), 3), (("d2d4",), 1), (("e2e4", "e7e5"), 1)):
        board = chess.Board()
        for text in line[:-1]:
            board.push_uci(text)
        move = chess.Move.from_uci(line[-1])
        raw = move.from_square << 6 | move.to_square
        key = chess.polyglot.zobrist_hash(board)
        entries.append((key, raw, weight))
    data = b"".join(
        key.to_bytes(8, "big") + raw.to_bytes(2, "big") + weight.to_bytes(2, "big") + bytes(4)
        for key, raw, weight in sorted(entries)
    )
    (tmp_path / "o.bin").write_bytes(data)
    assert {opening.moves for opening in read_openings(tmp_path / "o.bin")} == {("e2e4", "e7e5"), ("d2d4",)}
    assert {opening.moves for opening in read_openings(tmp_path / "o.bin", plies=1)} == {("e2e4",), ("d2d4",)}


def test_chess960_openings(tmp_path):
    starts = chess960_starts(7)
    assert len({start.fen for start in starts}) == 960
    path = write(tmp_path / "o.epd", starts[0].fen + "\n")
    assert read_openings(path, chess960=True)[0].fen == starts[0].fen


def test_the_supply_goes_round():
    supply = Supply(["a", "b", "c"], first=1)
    assert [supply[number] for number in range(4)] == ["b", "c", "a", "b"]
    shuffled = Supply(list(range(100)), shuffle=True, seed=3)
    assert sorted(shuffled[number] for number in range(100)) == list(range(100))
    assert [shuffled[number] for number in range(100)] != list(range(100))


def test_a_large_file(tmp_path):
    """As large as those that matches are played from: every line once, in order."""
    walks = (board for seed in range(1300) for board in random_walk(seed, plies=16))
    fens = [board.fen() for board in walks if board.outcome() is None]
    assert len(fens) > 20_000
    path = write(tmp_path / "o.epd", "\n".join(fens))
    assert [opening.fen for opening in read_openings(path)] == fens


# Games as PGN


@pytest.mark.parametrize("control", ["60+1", "nodes=10"])
def test_others_read_our_pgn(control):
    ((record, _),) = play(scripted("good", control=control), scripted("fine", control=control), games=1, most_moves=12)
    game = chess.pgn.read_game(io.StringIO(game_text({**record, "white": 'a "b" \\ c'}, DESCRIPTION)))
    assert not game.errors
    assert game.headers["White"] == "a 'b' / c"
    assert game.headers["Result"] == record["result"]
    assert [move.uci() for move in game.mainline_moves()] == record["moves"]
    first, second = list(game.mainline())[:2]
    assert first.eval() == chess.engine.PovScore(chess.engine.Cp(37), chess.WHITE)
    assert second.eval() == chess.engine.PovScore(chess.engine.Cp(37), chess.BLACK)
    assert first.eval_depth() == 5
    assert first.emt() is not None
    assert (first.clock() is None) == (control == "nodes=10")
    assert "[%nodes 1234]" in first.comment


# The directory


def record_number(game):
    return {
        "game": game,
        "pair": game // 2,
        "round": game // 2 + 1,
        "players": [0, 1],
        "white": "a",
        "black": "b",
        "result": "1-0",
        "points": 1.0,
        "reason": "White mates",
        "termination": "normal",
        "failed": None,
        "failure": None,
        "fen": STARTING_FEN,
        "opening": "",
        "book_plies": 0,
        "moves": ["e2e4", "e7e5"],
        "thoughts": [{"time": 1.5, "left": 900, "depth": 7, "score": -3, "nodes": 12}, {"time": 0, "mate": 5}],
        "began": "2026-01-02T03:04:05+00:00",
        "seconds": 1.5,
        "overhead": [1, 0.5, 0.5],
        "controls": ["1+0", "1+0"],
    }


def test_a_journal_is_continued(tmp_path):
    journal = Journal.create(tmp_path / "run", DESCRIPTION)
    journal.add(record_number(0))
    kept = journal.add(record_number(1), "what was said \udcff")
    journal.close()
    assert (tmp_path / "run" / kept["log"]).read_text(encoding="utf-8").startswith("what was said")
    again = Journal.resume(tmp_path / "run")
    assert [record["game"] for record in again.records] == [0, 1]
    again.add(record_number(2))
    again.close()
    assert [record["game"] for _, record in read_records(tmp_path / "run" / "games.jsonl", "ab")] == [0, 1, 2]
    assert (tmp_path / "run" / "games.pgn").read_text(encoding="utf-8").count("[Event ") == 3


def test_logs_do_not_fill_the_disk(tmp_path, monkeypatch):
    """What comes after the limit keeps its beginning and its end."""
    monkeypatch.setattr("arena.journal.MOST_LOGGED", 100_000)
    journal = Journal.create(tmp_path / "run", DESCRIPTION)
    for game in range(5):
        journal.add(record_number(game), f"begin {game}\n" + "x" * 60_000 + f"\nend {game}\n")
    journal.close()
    logs = [(tmp_path / "run" / "failures" / f"game-{game + 1}.log").read_text("utf-8") for game in range(5)]
    for game, log in enumerate(logs):
        assert log.startswith(f"begin {game}\n")
        assert log.endswith(f"\nend {game}\n")
    assert "cut" not in logs[0]
    assert all("... cut: the logs of this run hold" in log and len(log) < 20_000 for log in logs[1:])


def test_every_cut_is_survived(tmp_path):
    """Whatever part of the last line reached the disk: the games before it stay, and it can be written again."""
    journal = Journal.create(tmp_path / "run", DESCRIPTION)
    journal.add(record_number(0))
    whole = (tmp_path / "run" / "games.jsonl").read_bytes()
    journal.add(record_number(1))
    journal.close()
    both = (tmp_path / "run" / "games.jsonl").read_bytes()
    for size in (len(whole), len(whole) + 1, *range(len(whole) + 2, len(both) - 1, 40), len(both) - 1):
        (tmp_path / "run" / "games.jsonl").write_bytes(both[:size])
        again = Journal.resume(tmp_path / "run")
        assert [record["game"] for record in again.records] == [0]
        again.add(record_number(1))
        again.close()
        assert (tmp_path / "run" / "games.jsonl").read_bytes() == both


def test_one_process_at_a_time(tmp_path):
    journal = Journal.create(tmp_path / "run", DESCRIPTION)
    with pytest.raises(InputError, match="another process"):
        Journal.resume(tmp_path / "run")
    journal.close()
    with pytest.raises(InputError, match="holds a run already"):
        Journal.create(tmp_path / "run", DESCRIPTION)


def test_damage_is_said(tmp_path):
    with pytest.raises(InputError, match="no run to resume"):
        Journal.resume(tmp_path)
    journal = Journal.create(tmp_path / "run", DESCRIPTION)
    journal.add(record_number(0))
    journal.add(record_number(1))
    journal.close()
    path = tmp_path / "run" / "games.jsonl"
    path.write_bytes(b"x" + path.read_bytes()[1:])
    with pytest.raises(InputError, match=r"games.jsonl:1: damaged"):
        Journal.resume(tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text(json.dumps({"version": 99}), encoding="utf-8")
    with pytest.raises(InputError, match="another version"):
        Journal.resume(tmp_path / "run")


def changed(**changes):
    """A line of a journal with changes; ... takes a key away."""
    record = {**record_number(1), **changes}
    return json.dumps({name: value for name, value in record.items() if value is not ...}).encode()


DAMAGED_LINES = [
    (b"1", "this is 1, not an object"),
    (b"null", "this is None, not an object"),
    (b"{}", "game is missing"),
    (b"[]", "not an object"),
    (b"", "Expecting value"),
    (b"\xff\xfe", "decode"),
    (b"\x00" * 100, "decode|Expecting value"),
    (b"[" * 100_000, "brackets within brackets"),
    (b'{"game":' * 50_000, "brackets within brackets"),
    (changed(game=True), "game is True, not a whole number"),
    (changed(game=-1, pair=-1), "game is -1"),
    (changed(game="1"), "game is '1', not a whole number"),
    (changed(game=7), "pair is 0, not half of game"),
    (changed(players=[0, 2]), r"players are \[0, 2\], not two of 2 engines"),
    (changed(players=[1]), "players are"),
    (changed(white="c"), r"white and black are \['c', 'b'\], not \['a', 'b'\]"),
    (changed(failure="crash", failed="a"), "failed is 'a', not 'b'"),
    (changed(failed="b"), "failed is 'b', not None"),
    (changed(failure="crash", points=0.5, result="1/2-1/2"), "lost by a failure is drawn"),
    (changed(points=7), "points is 7, not 0 or 0.5 or 1"),
    (changed(points=True), "points is True"),
    (changed(points=[]), r"points is \[\]"),
    (changed(points=0), "points are 0, and the result is 1-0"),
    (changed(result="2-0"), "result is '2-0'"),
    (changed(reason=...), "reason is missing"),
    (changed(reason=None), "reason is None, not text"),
    (changed(reason="a\x1b[2J"), "reason is 'a.*, not one line of text"),
    (changed(opening="\ud800"), "opening is .*, not one line of text"),
    (changed(failure=3), "failure is 3, not text"),
    (changed(moves=["e2e4", "e7e6", "e4e6"], thoughts=[{"time": 0}] * 3), "e4e6"),
    (changed(moves="e2e4"), "moves is 'e2e4', not a list"),
    (changed(moves=["e2e4", 5]), r"moves\[1\] is 5, not text"),
    (changed(thoughts=[{"time": 1}]), "1 thoughts for 2 moves"),
    (changed(thoughts=[{}, {"time": 1}]), r"thoughts\[0\].time is missing"),
    (changed(thoughts=[{"time": 1}, {"time": 1, "depth": 1.5}]), r"thoughts\[1\].depth is 1.5, not a whole number"),
    (changed(thoughts=[{"time": float("nan")}, {"time": 1}]), r"thoughts\[0\].time is nan"),
    (changed(thoughts=[{"time": -1}, {"time": 1}]), "less than no time"),
    (changed(fen="nonsense"), "games.jsonl:2: "),
    (changed(book_plies=3), "book_plies is 3, with 2 moves"),
    (changed(overhead=[1]), "overhead"),
    (changed(overhead=[1, float("inf"), 1]), r"overhead\[1\] is inf"),
    (changed(controls=["1+0"]), "controls are not two"),
    (changed(began=5), "began is 5, not text"),
    (changed(seconds=10**400), "seconds is 1000"),
    (changed(thoughts=[{"time": 1, "score": 10**400}, {"time": 1}]), r"thoughts\[0\].score is 1000"),
]


@pytest.mark.parametrize(("line", "reason"), DAMAGED_LINES)
@pytest.mark.parametrize("place", ["middle", "end"])
def test_damaged_lines(tmp_path, line, reason, place):
    """File, line and reason; and every byte of the run is still there."""
    run = tmp_path / "run"
    journal = Journal.create(run, DESCRIPTION)
    journal.add(record_number(0))
    journal.close()
    path = run / "games.jsonl"
    after = json.dumps(record_number(2)).encode() + b"\n" if place == "middle" else b""
    path.write_bytes(path.read_bytes() + line + b"\n" + after)
    before = {each.name: each.read_bytes() for each in run.iterdir()}
    with pytest.raises(InputError, match=reason) as caught:
        Journal.resume(run)
    assert "games.jsonl:2: damaged: " in str(caught.value)
    assert len(str(caught.value)) < 500
    assert {each.name: each.read_bytes() for each in run.iterdir()} == before


def described(**changes):
    description = {"version": 1, **DESCRIPTION, **changes}
    return {name: value for name, value in description.items() if value is not ...}


DAMAGED_RUNS = [
    (5, "not an object"),
    (None, "not an object"),
    ([], "not an object"),
    ({}, "another version"),
    (described(version=True), "another version"),
    (described(kind="war"), "kind is 'war'"),
    (described(kind=...), "kind is None"),
    (described(engines=[DESCRIPTION["engines"][0]] * 2), r"engines are called \['a', 'a'\]"),
    (described(name="a\nb"), "name is 'a.*, not one line of text"),
    (described(engines=...), "engines is missing"),
    (described(engines=[]), "there are 0 engines"),
    (described(engines={}), "engines is {}, not a list"),
    (described(engines=[1, 2]), r"engines\[0\] is 1, not an object"),
    (described(engines=[{**DESCRIPTION["engines"][0], "name": 3}] * 2), r"engines\[0\].name is 3, not text"),
    (described(engines=[{**DESCRIPTION["engines"][0], "name": "a\nb"}] * 2), r"engines\[0\].name is"),
    (described(engines=[{**DESCRIPTION["engines"][0], "command": []}] * 2), r"engines\[0\].command is empty"),
    (described(engines=[{**DESCRIPTION["engines"][0], "control": "x"}] * 2), "time control 'x'"),
    (described(engines=[{**DESCRIPTION["engines"][0], "options": {"Hash": 1}}] * 2), "options.Hash is 1, not text"),
    (described(engines=[{**DESCRIPTION["engines"][0], "rating": 1e300}] * 2), "rating is 1e"),
    (described(engines=[{**DESCRIPTION["engines"][0], "colour": 1}] * 2), r"engines\[0\].colour is unknown"),
    (described(rules=None), "rules is None"),
    (described(rules={**DESCRIPTION["rules"], "margin": "x"}), "rules.margin is 'x', not a number"),
    (described(rules={"chess960": False}), "rules.resign_score is missing"),
    (described(openings=...), "openings is missing"),
    (described(openings={**DESCRIPTION["openings"], "first": -1}), "openings.first"),
    (described(openings={**DESCRIPTION["openings"], "path": 5}), "openings.path is 5, not text"),
    (described(games="many"), "games is 'many', not a whole number"),
    (described(games=None), "neither games nor sprt"),
    (described(sprt={"elo0": 1}), "sprt.elo1 is missing"),
    (described(sprt={"elo0": 5, "elo1": 0, "alpha": 0.05, "beta": 0.05, "normalized": False}), "smaller difference"),
    (described(concurrency=0), "concurrency"),
    (described(kind="tournament"), "format is missing"),
    (described(kind="tournament", format="swiss", rounds=10**9, challengers=1, extra_pairs=1), "rounds are not"),
]


@pytest.mark.parametrize(("description", "reason"), DAMAGED_RUNS)
def test_damaged_descriptions(tmp_path, description, reason):
    run = tmp_path / "run"
    Journal.create(run, DESCRIPTION).close()
    (run / "run.json").write_text(json.dumps(description), encoding="utf-8")
    before = {each.name: each.read_bytes() for each in run.iterdir()}
    with pytest.raises(InputError, match=reason) as caught:
        Journal.resume(run)
    assert "run.json: " in str(caught.value)
    assert {each.name: each.read_bytes() for each in run.iterdir()} == before


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a":' * 50_000, "\x00"])
def test_descriptions_that_are_no_json(tmp_path, text):
    Journal.create(tmp_path / "run", DESCRIPTION).close()
    (tmp_path / "run" / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"run.json: damaged: "):
        Journal.resume(tmp_path / "run")


def test_games_without_a_description_are_not_mixed_with_others(tmp_path):
    Journal.create(tmp_path / "run", DESCRIPTION).close()
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(InputError, match=r"lost its run.json"):
        Journal.create(tmp_path / "run", DESCRIPTION)


def test_a_game_that_is_there_twice_counts_once_and_stays(tmp_path):
    journal = Journal.create(tmp_path / "run", DESCRIPTION)
    journal.add(record_number(0))
    journal.add(record_number(1))
    journal.add(record_number(0))
    journal.close()
    data = (tmp_path / "run" / "games.jsonl").read_bytes()
    again = Journal.resume(tmp_path / "run")
    again.close()
    assert [record["game"] for record in again.records] == [0, 1]
    assert (tmp_path / "run" / "games.jsonl").read_bytes() == data

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
from board.fen import STARTING_FEN

DESCRIPTION = {"name": "a test", "rules": {"chess960": False}}


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
        "round": 1,
        "white": "a",
        "black": "b",
        "result": "1-0",
        "points": 1.0,
        "reason": "White mates",
        "termination": "normal",
        "fen": STARTING_FEN,
        "opening": "",
        "book_plies": 0,
        "moves": [],
        "thoughts": [],
        "began": "2026-01-02T03:04:05+00:00",
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
    assert [record["game"] for record in read_records(tmp_path / "run" / "games.jsonl")] == [0, 1, 2]
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

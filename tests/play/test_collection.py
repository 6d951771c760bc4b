"""Collections are read game by game within bounds, and their reviews depend on neither threads nor interruptions."""

import bz2
import gzip
import io
import json
import time

import chess.pgn
import pytest

from arena.errors import InputError
from play.collection import MOST_NESTED, MOST_NODES, Entry, entries, parse
from play.collection_journal import Journal
from play.collection_output import json_parts, summarize, write_games
from play.collection_page import page
from play.collection_run import Runner
from play.collection_summary import Summary, row
from play.review import GameError
from search import Limits

SETTINGS = {"program": "Quetzal", "games": ["x.pgn"], "limits": {"nodes": 300}, "hash": 1, "only": None}

SOME = """[Event "One"]
[White "Anna \\"A\\" Alt"]
[Black "Bert"]
[Result "1-0"]

1. e4 { best by test } e5 ; by far } not
2. Qh5 Nc6 3. Bc4

Nf6 4. Qxf7# 1-0

[Event "Two"]
[White "Bert"]
[Black "Anna"]

1. e4 e5 2. Ke3 *

[Event "Three"]
[White "Carl"]
[Black "Anna"]
[Result "0-1"]

1. f3 e5 2. g4 (2. e4 {[%eval 0.1]
two lines} (2. d3)) 2... Qh4# 0-1
"""


def entry_of(text):
    return Entry("x.pgn", 1, 1, "?", "?", text)


@pytest.fixture
def some(tmp_path):
    path = tmp_path / "some.pgn"
    path.write_text(SOME, encoding="utf-8")
    return path


def test_games_have_their_places(some):
    found = list(entries(str(some)))
    assert [(entry.number, entry.line, entry.white) for entry in found] == [
        (1, 1, 'Anna "A" Alt'),
        (2, 11, "Bert"),
        (3, 17, "Carl"),
    ]
    assert found[1].place == f"{some}:11: game 2"


def test_nothing_is_lost_on_the_way(some):
    """Comments of both kinds, a stray blank line, variations within variations, a quote in a name."""
    first, broken, third = entries(str(some))
    game = parse(first)
    assert [node.san() for node in game.mainline()] == ["e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6", "Qxf7#"]
    assert [node.comment for node in game.mainline()][:2] == ["best by test", "by far  not"]
    assert game.headers["White"] == 'Anna \\"A\\" Alt'  # as python-chess reads it from the file
    assert game.headers["White"] == chess.pgn.read_game(io.StringIO(SOME)).headers["White"]
    with pytest.raises(GameError, match="Ke3"):
        parse(broken)
    game = parse(third)
    variation = game.next().next().variations[1]
    assert variation.comment == "[%eval 0.1]\ntwo lines"
    assert variation.parent.variations[1].san() == "e4"
    assert game.next().next().variations[2 - 1].parent is variation.parent


def test_games_without_tags(tmp_path):
    path = tmp_path / "bare.pgn"
    path.write_text("1. e4 e5 1/2-1/2\n\n\n1. d4 {x\n\n1-0\n\ny} d5\n\n2. c4 *\n\n1. c4 0-1\n", encoding="utf-8")
    games = [parse(entry) for entry in entries(str(path))]
    assert [[node.san() for node in game.mainline()] for game in games] == [["e4", "e5"], ["d4", "d5", "c4"], ["c4"]]
    assert [game.headers["Result"] for game in games] == ["1/2-1/2", "*", "0-1"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_packed_collections(tmp_path, pack):
    path = tmp_path / "some.pgn.packed"
    path.write_bytes(pack(SOME.encode()))
    assert [entry.number for entry in entries(str(path))] == [1, 2, 3]


def test_old_encodings(tmp_path):
    path = tmp_path / "old.pgn"
    path.write_bytes('[White "Müller"]\n\n1. e4 {schön} *\n'.encode("latin-1"))
    (entry,) = entries(str(path))
    assert (entry.white, parse(entry).next().comment) == ("Müller", "schön")


@pytest.mark.parametrize(
    "text, reason",
    [
        ("1. e4 { never closed *", "never closed"),
        ('[FEN "nonsense"]\n\n1. e4 *', "fen"),
        ("1. e4 " + "( 1. d4 " * 3 + ") ) ) e5 2. Kf8 *", "Kf8"),
        (f"1. e4 ${'9' * 5000} *", "digits"),
        ("1. Nf3 Nf6 " + "2. Ng1 Ng8 3. Nf3 Nf6 " * (MOST_NODES // 4 + 1) + "*", "moves"),
        ("1. e4 e5 " + "{a}" * 40_000 + "*", "comments"),
        (f"{'1. Nf3 Nf6 2. Ng1 Ng8 ' * 60} {'( Ng8 ' * (MOST_NESTED + 1)}", "variations"),
        ("", "nothing"),
    ],
)
def test_what_is_no_game(text, reason):
    began = time.process_time()
    with pytest.raises(GameError, match=reason):
        parse(entry_of(text))
    assert time.process_time() - began < 20


def test_a_long_line_of_comments_takes_linear_time():
    moves = "".join(
        f"{ply // 2 + 1}.{'' if ply % 2 == 0 else '..'} {san} {{x}} "
        for ply, san in enumerate(["Nf3", "Nf6", "Ng1", "Ng8"] * 4500)
    )
    began = time.process_time()
    assert parse(entry_of(moves + "*")).end().ply() == 18_000
    assert time.process_time() - began < 10


def test_braces_in_tags_are_no_comments():
    game = parse(entry_of('[Event "a } b"]\n[Site "{ c"]\n\n1. e4 {x} e5 *'))
    assert (game.headers["Event"], game.headers["Site"]) == ("a } b", "{ c")
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4", "e7e5"]


def run(path, threads, journal=None):
    runner = Runner(Limits(nodes=300), megabytes=1, threads=threads)
    return list(runner.records(entries(str(path)) if journal is None else journal.missing(entries(str(path)))))


def test_threads_change_nothing(some):
    one, two = run(some, 1), run(some, 2)
    assert one == two
    assert ["pgn" in record for record in one] == [True, False, True]
    assert "Ke3" in one[1]["broken"]


def test_a_runner_stops_when_it_is_asked(some):
    runner = Runner(Limits(movetime=600_000), megabytes=1, threads=2)
    began = time.monotonic()
    stopped = time.monotonic() + 0.5
    assert list(runner.records(entries(str(some)), lambda: time.monotonic() > stopped)) == []
    assert time.monotonic() - began < 10


def test_a_journal_goes_on(some, tmp_path):
    output = tmp_path / "out.pgn"
    whole = run(some, 2)
    journal = Journal(output, SETTINGS)
    journal.add(whole[0])
    journal.close()
    with open(journal.path, "ab") as file:
        file.write(b'{"digest": "cut sh')  # killed while it wrote
    journal = Journal(output, SETTINGS)
    assert journal.count == 1
    for record in run(some, 1, journal):
        journal.add(record)
    assert list(journal.records()) == whole
    write_games(journal, output)
    text = output.read_text(encoding="utf-8")
    assert text == whole[0]["pgn"] + "\n\n" + whole[2]["pgn"] + "\n\n"
    journal.remove()
    assert not journal.path.exists()


def test_a_journal_refuses_what_is_not_its_own(some, tmp_path):
    output = tmp_path / "out.pgn"
    journal = Journal(output, SETTINGS)
    journal.add(run(some, 1)[0])
    with pytest.raises(InputError, match="another process"):
        Journal(output, SETTINGS)
    journal.close()
    with pytest.raises(InputError, match=r"other settings \(hash\)"):
        Journal(output, {**SETTINGS, "hash": 2})
    journal = Journal(output, SETTINGS)
    some.write_text(SOME.replace("by test", "by chance"), encoding="utf-8")
    with pytest.raises(InputError, match="have changed"):
        run(some, 1, journal)
    journal.close()
    with open(journal.path, "ab") as file:
        file.write(b"[1, 2]\n")
    with pytest.raises(InputError, match=r"journal:3: damaged"):
        Journal(output, SETTINGS)


def without(record, name):
    return {each: value for each, value in record.items() if each != name}


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        (lambda game, broken: {"digest": "1", "pgn": "1. e4 *"}, "file is missing"),
        (lambda game, broken: {"digest": "1", "broken": "so"}, "file is missing"),
        (lambda game, broken: {**broken, "broken": 7}, "broken is 7, not text"),
        (lambda game, broken: without(broken, "number"), "number is missing"),
        (lambda game, broken: without(game, "sides"), "sides is missing"),
        (lambda game, broken: {**game, "sides": game["sides"][:1]}, "1 sides with 7 moves"),
        (lambda game, broken: {**game, "scores": game["scores"][1:]}, "7 scores with 7 moves"),
        (lambda game, broken: {**game, "moves": 7}, "moves is 7, not a list"),
        (lambda game, broken: {**game, "white": None}, "white is None, not text"),
        (lambda game, broken: {**game, "marks": [{**game["marks"][0], "grade": "x"}]}, "a grade is 'x'"),
        (
            lambda game, broken: {**game, "sides": 2 * [without(game["sides"][0], "grades")]},
            r"sides\[0\].grades is missing",
        ),
        (lambda game, broken: [[[]]], "no record of a game"),
    ],
)
def test_a_damaged_journal_is_refused_with_its_line(some, tmp_path, damaged, reason):
    """Before anything is made of it, and as it was it stays."""
    game, broken, _ = run(some, 1)
    assert game["marks"]
    journal = Journal(tmp_path / "out.pgn", SETTINGS)
    for record in (game, broken, damaged(game, broken), game):
        journal.write(record)
    journal.close()
    data = journal.path.read_bytes()
    with pytest.raises(InputError, match=rf"journal:4: damaged: {reason}"):
        Journal(tmp_path / "out.pgn", SETTINGS)
    assert journal.path.read_bytes() == data


def test_players_are_summed_up_over_games(some):
    summary = Summary()
    for record in run(some, 1):
        summary.add(record)
    assert (summary.games, summary.broken, summary.moves) == (2, 1, 11)
    assert [player.name for player in summary.players()] == ["Anna", 'Anna \\"A\\" Alt', "Bert", "Carl"]
    only = Summary("anna")
    for record in run(some, 1):
        only.add(record)
    assert [player.name for player in only.players()] == ["Anna", 'Anna \\"A\\" Alt']
    carl = summary.by_name["Carl"]
    assert row(carl)[:3] == ("Carl", "1", "2")
    assert carl.totals.grades["blunder"] == 1  # 2. g4
    assert summary.as_json()["players"][3]["phases"]["opening"]["moves"] == 2


def test_json_and_page_have_all_games(some, tmp_path):
    journal = Journal(tmp_path / "out.pgn", SETTINGS)
    for record in run(some, 1):
        journal.add(record)
    summary = summarize(journal)
    data = json.loads("".join(json_parts(journal, SETTINGS, summary)))
    assert [review.get("white") for review in data["reviews"]] == ['Anna \\"A\\" Alt', None, "Carl"]
    assert data["reviews"][1]["line"] == 11
    assert data["reviews"][2]["totals"]["white"]["grades"]["blunder"] == 1
    assert data["reviews"][2]["scores"][-1] == "#"
    text = page(journal.records(), SETTINGS, summary)
    (found,) = [part for part in text.split("<script") if 'type="application/json"' in part[:60]]
    games = json.loads(found.split(">", 1)[1].split("</script>")[0])["games"]
    assert [(game["g"], game["w"], game["r"]) for game in games] == [(1, 'Anna \\"A\\" Alt', "1-0"), (2, "Carl", "0-1")]
    assert games[1]["k"][-1][:2] == [2, "blunder"]
    journal.close()

"""Pairings, standings, ratings, and `quetzal tournament` as a user runs it."""

import itertools
import json
import math
import random
import re
import zlib

import pytest
from arena_playing import command, is_running, processes, run_quetzal
from support import ROOT

from arena.config import ADJUDICATION, OPENINGS, TIMEOUTS, TOP
from arena.draft import Draft, describe_tournament
from arena.openings import START, Supply
from arena.options import distinct_names
from arena.pairings import bracket, gauntlet, round_robin, swiss_round
from arena.ratings import fit, inverse
from arena.settings import EngineSettings, Rules, as_dict
from arena.standings import points_text, standings
from arena.statistics import estimate, expected_score
from arena.tournament import TournamentSchedule
from command.tournament import FLAGS

# Pairings


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 9])
def test_round_robin(count):
    """Everyone meets everyone once, and nobody twice in a round."""
    rounds = list(round_robin(count, 1))
    assert len(rounds) == count - 1 + count % 2
    met = [frozenset(pair) for pairs in rounds for pair in pairs]
    assert sorted(map(sorted, met)) == [list(pair) for pair in itertools.combinations(range(count), 2)]
    for pairs in rounds:
        players = [player for pair in pairs for player in pair]
        assert len(players) == len(set(players))


def test_gauntlet():
    assert list(gauntlet(4, 1, 1)) == [[(0, 1), (0, 2), (0, 3)]]
    assert list(gauntlet(4, 2, 2)) == 2 * [[(0, 2), (0, 3)], [(1, 2), (1, 3)]]


def test_swiss_first_round():
    """The upper half meets the lower half."""
    points = dict.fromkeys(range(8), 0)
    assert swiss_round(range(8), points, set(), {}) == [(0, 4), (1, 5), (2, 6), (3, 7)]


@pytest.mark.parametrize(("count", "rounds"), [(6, 5), (9, 5), (16, 7), (33, 9), (64, 8)])
def test_swiss(count, rounds):
    """Nobody meets anyone twice, at most one bye each, and scores of opponents stay close."""
    rng = random.Random(count)
    points = dict.fromkeys(range(count), 0.0)
    met, byes, gaps = set(), {}, []
    for number in range(rounds):
        order = sorted(range(count), key=lambda player: (-points[player], player))
        pairs = swiss_round(order, points, met, byes)
        assert sorted(player for pair in pairs for player in pair if player is not None) == list(range(count))
        for one, other in pairs:
            if other is None:
                byes[one] = byes.get(one, 0) + 1
                points[one] += 1
                continue
            assert frozenset((one, other)) not in met
            met.add(frozenset((one, other)))
            gaps.append(abs(points[one] - points[other]))
            won = rng.choice((0, 0.5, 1))
            points[one] += won
            points[other] += 1 - won
        assert number + 1 < rounds or max(byes.values(), default=0) <= 1
    if count >= 16:
        assert sum(gaps) / len(gaps) < 0.5


def test_swiss_with_more_rounds_than_opponents():
    """Rematches are better than no round at all."""
    met = {frozenset(pair) for pair in itertools.combinations(range(4), 2)}
    assert len(swiss_round(range(4), dict.fromkeys(range(4), 0), met, {})) == 2


def test_bracket():
    """1 and 2 meet in the final at the earliest, 1 and 3 in the semifinal; the strongest have byes."""
    assert bracket(8) == [(0, 7), (3, 4), (1, 6), (2, 5)]
    assert bracket(6) == [(0, None), (3, 4), (1, None), (2, 5)]
    assert bracket(2) == [(0, 1)]


# Standings


def game(number, white, black, points, failure=None):
    return {"game": number, "players": [white, black], "points": points, "pair": number // 2, "failure": failure}


def test_standings_worked_by_hand():
    """A beats B, B beats C, C beats A; A and B draw with D, C beats D: points A 1½, B 1½, C 2, D 1."""
    records = [
        game(0, 0, 1, 1.0),
        game(1, 1, 2, 1.0),
        game(2, 2, 0, 1.0),
        game(3, 0, 3, 0.5),
        game(4, 3, 1, 0.5),
        game(5, 2, 3, 1.0, "time"),
    ]
    rows = standings("ABCD", records)
    assert [row.name for row in rows] == ["C", "A", "B", "D"]  # A before B: it won their game
    c, a, b, d = rows
    assert (c.points, a.points, b.points, d.points) == (2, 1.5, 1.5, 1)
    assert (a.direct, b.direct) == (1, 0)
    assert c.sonneborn == 1.5 + 1  # beat A and D
    assert a.sonneborn == 1.5 + 0.5 * 1  # beat B, drew with D
    assert b.sonneborn == 2 + 0.5 * 1  # beat C, drew with D
    assert a.buchholz == 1.5 + 2 + 1
    assert d.failures == 1
    # In a Swiss Buchholz decides: A met 4.5, B met 4.5 as well; Sonneborn-Berger is 2 for A and 2½ for B.
    assert [row.name for row in standings("ABCD", records, "swiss")] == ["C", "B", "A", "D"]


def test_points_as_text():
    assert [points_text(points) for points in (0, 0.5, 1, 12.5)] == ["0", "½", "1", "12½"]


# Ratings


def series(one, other, wins, draws, losses, first_pair=0):
    scores = [1.0] * wins + [0.5] * draws + [0.0] * losses
    return [(one, other, score, first_pair + index // 2) for index, score in enumerate(scores)]


def test_two_players():
    """75 % is 400 · log10(3) = 190.85 Elo; each stands half of it from the mean."""
    first, second = fit(2, series(0, 1, 60, 30, 10))
    assert first.elo == pytest.approx(95.42425, abs=1e-4)
    assert second.elo == pytest.approx(-first.elo)
    assert first.error == pytest.approx(second.error)
    assert not first.is_bounded


def test_an_anchor():
    anchored, free = fit(2, series(0, 1, 60, 30, 10), {0: 2500})
    assert (anchored.elo, anchored.error, anchored.is_anchor) == (2500, 0, True)
    assert free.elo == pytest.approx(2500 - 190.8485, abs=1e-3)


def test_the_error_agrees_with_that_of_a_match():
    """Two players, many pairs: the error of their difference is what the pentanomial gives."""
    rng = random.Random(3)
    games, pentanomial = [], [0] * 5
    for pair in range(3000):
        points = rng.choices([(0, 0), (0, 0.5), (0.5, 0.5), (1, 0.5), (1, 1), (1, 0)], [5, 20, 30, 25, 8, 12])[0]
        games += [(0, 1, points[0], pair), (1, 0, 1 - points[1], pair)]
        pentanomial[round(2 * sum(points))] += 1
    known = estimate(pentanomial)
    anchored, free = fit(2, games, {1: 0})[::-1]
    assert anchored.elo == 0
    assert free.elo == pytest.approx(known.elo, abs=1e-6)
    assert free.error == pytest.approx(known.error, rel=0.01)


def test_the_likeliest_ratings_expect_what_happened():
    """The definition: under them everybody's expected score is the real one. Five players, uneven numbers of games."""
    rng = random.Random(9)
    true = [0, 80, -50, 200, -230]
    games = []
    for pair in range(600):
        one, other = rng.sample(range(5), 2)
        chance = expected_score(true[one] - true[other])
        games += [
            (
                one,
                other,
                rng.choices((1.0, 0.5, 0.0), (chance**2, 2 * chance * (1 - chance), (1 - chance) ** 2))[0],
                pair,
            )
        ]
    ratings = fit(5, games)
    assert sum(rating.elo for rating in ratings) == pytest.approx(0, abs=1e-6)
    for player in range(5):
        real = sum(points if one == player else 1 - points for one, other, points, _ in games if player in (one, other))
        expected = 0.0
        for one, other, _, _ in games:
            if player in (one, other):
                rival = other if one == player else one
                expected += expected_score(ratings[player].elo - ratings[rival].elo)
        assert real == pytest.approx(expected, abs=1e-6)
        # Twice the error holds 99.99 % of the cases.
        assert abs(ratings[player].elo - (true[player] - sum(true) / 5)) < 2 * ratings[player].error


def test_errors_hold_what_they_promise():
    """About 95 % of intervals contain the truth, in 200 simulated tournaments of pairs whose games depend on each other."""
    rng = random.Random(11)
    true = [60, 0, -60]
    inside = 0
    for _ in range(200):
        games = []
        for pair in range(120):
            one, other = rng.sample(range(3), 2)
            chance = expected_score(true[one] - true[other])
            # The opening favours White by a lot: both games of a pair are won by White in a third of the cases.
            if rng.random() < 1 / 3:
                points = (1.0, 0.0)
            else:
                chance = (chance - 1 / 6) * 1.5
                points = tuple(float(rng.random() < chance) for _ in range(2))
            games += [(one, other, points[0], pair), (one, other, points[1], pair)]
        ratings = fit(3, games)
        inside += sum(abs(rating.elo - truth) < rating.error for rating, truth in zip(ratings, true, strict=True))
    assert 0.91 < inside / 600 < 0.985


def test_shutouts_stay_finite():
    """All wins mean infinity; a guess bounds it, and is marked."""
    for games in (series(0, 1, 10, 0, 0), series(0, 1, 10, 0, 0) + series(1, 2, 5, 3, 5, 100)):
        ratings = fit(3, games)
        assert all(math.isfinite(rating.elo) for rating in ratings)
        assert ratings[0].elo > ratings[1].elo + 200
        assert ratings[0].is_bounded
    assert fit(2, [])[0].error == math.inf


def test_inverse():
    assert inverse([[2.0, 0.0], [0.0, 4.0]]) == [[0.5, 0.0], [0.0, 0.25]]
    product = inverse([[0.0, 2.0], [1.0, 1.0]])
    assert product == [[-0.5, 0.5], [1.0, 0.0]]


# The schedule


def describe(kind, count, **changes):
    engines = [as_dict(EngineSettings(f"e{index}", ["e"], "nodes=1")) for index in range(count)]
    description = {"format": kind, "rounds": 2, "games": 4, "challengers": 2, "extra_pairs": 3, **changes}
    return {**description, "engines": engines, "rules": as_dict(Rules()), "name": kind}


def made_up_result(plan):
    """A result that depends on nothing but who plays and which game it is; many ties."""
    return zlib.crc32(repr((plan["players"], plan["game"])).encode()) % 3 / 2


def finish(schedule, known, rng):
    """Plays a schedule with made-up results, games ending in random order; returns the records in that order."""
    running, records = [], list(known)
    numbers = {record["game"] for record in known}
    for record in known:
        schedule.record(record)
    while not schedule.is_over():
        while (task := schedule.next_encounter()) is not None:
            running += [plan for plan in task["games"] if plan["game"] not in numbers]
        plan = running.pop(rng.randrange(len(running)))
        record = {**plan, "points": made_up_result(plan), "failure": None, "overhead": [0, 0.0, 0.0]}
        record["moves_hash"] = str(plan["game"])
        records.append(record)
        schedule.record(record)
    assert not running
    return records


@pytest.mark.parametrize(
    ("kind", "count", "games"),
    [
        ("round-robin", 5, 2 * 10 * 4),
        ("gauntlet", 5, 2 * 6 * 4),
        ("swiss", 6, 2 * 3 * 4),
        ("swiss", 7, 2 * 3 * 4),
        ("knockout", 6, None),
        ("knockout", 8, None),
        ("knockout", 2, None),
    ],
)
def test_every_way_through_is_the_same(kind, count, games):
    """Whatever the order in which games end and wherever the run is cut: the same games, each once."""
    description = describe(kind, count)
    supply = Supply([START])
    whole = finish(TournamentSchedule(description, supply), [], random.Random(1))
    assert games is None or len(whole) == games
    numbers = sorted(record["game"] for record in whole)
    assert len(numbers) == len(set(numbers))
    for cut in range(0, len(whole), 3):
        schedule = TournamentSchedule(description, supply)
        again = finish(schedule, whole[:cut], random.Random(cut + 2))
        key = [(record["game"], record["players"]) for record in again]
        assert sorted(key) == sorted((record["game"], record["players"]) for record in whole)
        assert schedule.done == schedule.total
        assert len(schedule.summary()["standings"]) == count
    if kind == "knockout":
        assert schedule.rows()[0].stage == math.ceil(math.log2(count))


def test_openings_are_the_same_for_everyone():
    schedule = TournamentSchedule(describe("round-robin", 4), Supply([START._replace(name=str(n)) for n in range(9)]))
    seen = {}
    while (task := schedule.next_encounter()) is not None:
        players = frozenset(task["games"][0]["players"])
        seen.setdefault(players, []).append(task["opening"].name)
    assert all(sorted(names) == ["0", "1", "2", "3"] for names in seen.values())


def test_names_are_distinct():
    engines = [EngineSettings(name, ["e"], "nodes=1") for name in ("a", "a 1", "b", "a", "a")]
    distinct_names(engines)
    assert [engine.name for engine in engines] == ["a 2", "a 1", "b", "a 3", "a 4"]
    engines = [EngineSettings("a", ["e"], "nodes=1") for _ in range(2)]
    distinct_names(engines)
    assert [engine.name for engine in engines] == ["a 1", "a 2"]


# The command

FILE = """name = "Cup"            # line 1
tc = "nodes=10"
concurrency = 2
[openings]
file = "openings.epd"  # line 5
[adjudication]
max_moves = 12
resign = "800,2"
[timeouts]
startup = 60           # line 10
move = 60

[[engine]]
name = "Good"
command = '''GOOD'''    # line 15
options = { Hash = 2 }

[[engine]]
name = "Resigns"
command = '''RESIGNS'''  # line 20
rating = 1800

[[engine]]
name = "Crash"
command = '''CRASH'''    # line 25
[engine.options]
Hash = 4
"""


def write_file(tmp_path, text=FILE):
    pids = tmp_path / "pids"
    for mode in ("good", "resigns", "crash"):
        text = text.replace(mode.upper(), command(mode, pids))
    (tmp_path / "openings.epd").write_text(f"{START.fen}\n", encoding="utf-8")
    path = tmp_path / "cup.toml"
    path.write_text(text, encoding="utf-8")
    return path, pids


@pytest.mark.parametrize("kind", ["round-robin", "knockout"])
def test_a_tournament(tmp_path, kind):
    """The one that resigns and the one that crashes lose; the others' games are as if nothing had happened."""
    path, pids = write_file(tmp_path)
    run = tmp_path / "run"
    result = run_quetzal("tournament", str(path), "--format", kind, "--no-pin", "--dir", str(run))
    assert result.returncode == 0, result.stderr
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    table = results["summary"]["standings"]
    assert table[0]["engine"] == "Good"
    for line in results["games"]:
        assert line["failed"] in (None, "Crash")
        assert line["failure"] in (None, "crash")
    if kind == "round-robin":
        assert len(results["games"]) == 6
        assert {row["engine"]: row["games"] for row in table} == {"Good": 4, "Resigns": 4, "Crash": 4}
        assert next(row["rating"] for row in table if row["engine"] == "Resigns") == 1800
        for row in table:
            assert row["points"] == sum(sum(scores) for scores in row["against"].values())
    assert any(re.match(r" +1  Good ", line) for line in result.stdout.splitlines())
    page = (run / "report.html").read_text(encoding="utf-8")
    for row in table:  # in the same words on the terminal, in the file and on the page
        assert row["rating_text"]
        assert any(row["engine"] in line and line.endswith(row["rating_text"]) for line in result.stdout.splitlines())
        assert json.dumps(row["rating_text"]) in page
    assert not any(is_running(pid) for pid in processes(pids))
    assert run_quetzal("tournament", "--resume", str(run)).returncode == 0
    assert run_quetzal("match", "--resume", str(run)).returncode == 2


def test_an_engine_that_is_out_loses_its_other_games(tmp_path):
    """They are not played; the others' are, and the standings are complete."""
    run = tmp_path / "run"
    engines = (command("calm"), f"name=Stalls;command={command('never')}", command("calm"), command("calm"))
    flags = [word for engine in engines for word in ("--engine", engine)]
    arguments = ("--tc", "nodes=10", "--max-moves", "3", "--dir", str(run), "--games", "2", "--move-timeout", "0.7")
    result = run_quetzal("tournament", *flags, *arguments, "--startup-timeout", "60", "--no-pin")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("Stalls is out: it lost 2 games in the same way") == 1
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    lost = [game["failure"] for game in results["games"] if "Stalls" in (game["white"], game["black"])]
    assert lost == ["stall", "stall", "out", "out", "out", "out"]
    assert all(game["failure"] is None for game in results["games"] if "Stalls" not in (game["white"], game["black"]))
    table = results["summary"]["standings"]
    assert [row["games"] for row in table] == [6, 6, 6, 6]
    assert (table[-1]["engine"], table[-1]["points"], table[-1]["failures"]) == ("Stalls", 0, 6)
    assert (run / "games.pgn").read_text(encoding="utf-8").count(" is out}") == 4
    assert run_quetzal("tournament", "--resume", str(run)).returncode == 0


def test_everything_as_flags(tmp_path):
    run = tmp_path / "run"
    arguments = ("--format", "gauntlet", "--tc", "nodes=10", "--max-moves", "8", "--dir", str(run), "--games", "2")
    engines = (f"name=A;command={command('good')};option.Hash=2;rating=2000", command("fine"), command("level"))
    flags = [word for engine in engines for word in ("--engine", engine)]
    result = run_quetzal("tournament", *flags, *arguments, "--startup-timeout", "60", "-c", "2", "--no-pin")
    assert result.returncode == 0, result.stderr
    description = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert [engine["options"] for engine in description["engines"]] == [{"Hash": "2"}, {}, {}]
    assert description["engines"][0]["rating"] == 2000
    assert len((run / "games.jsonl").read_bytes().splitlines()) == 4


BAD_FILES = [
    ('name = "Cup"', 'nmae = "Cup"', "cup.toml:1: unknown key 'nmae'"),
    ('tc = "nodes=10"', 'tc = "nodes"', "cup.toml:2: time control 'nodes'"),
    ("concurrency = 2", "concurrency = true", "cup.toml:3: 'concurrency' must be a whole number"),
    ("concurrency = 2", "concurrency = 0", "cup.toml:3: concurrency is at least 1"),
    ("concurrency = 2", 'format = "league"', "cup.toml:3: unknown format 'league'"),
    ("concurrency = 2", "games = 3", "cup.toml:3: a meeting has an even number of games"),
    ("concurrency = 2", "concurrency = = 2", "cup.toml:3: "),
    ('"openings.epd"', '"absent.epd"', "cup.toml:5: there is no file"),
    ("max_moves = 12", "most_moves = 12", "cup.toml:7: unknown key 'most_moves' in [adjudication]"),
    ('"800,2"', '"800"', "cup.toml:8: resign takes CP,MOVES[,both]"),
    ("startup = 60", "startup = 0", "cup.toml:10: a timeout of 0 s is too short"),
    ("startup = 60", 'startup = "x"', "cup.toml:10: 'startup' must be a number"),
    ("'''RESIGNS'''", "'/no/such/engine'", "cup.toml:20: there is no program '/no/such/engine'"),
    ("rating = 1800", 'rating = "high"', "cup.toml:21: 'rating' must be a number"),
    ("rating = 1800", 'tc = "x"', "cup.toml:21: time control 'x'"),
    ("command = '''CRASH'''", 'tc = "1+1"', "cup.toml:23: this engine has no command"),
    ("concurrency = 2", "options = { a = " + "[" * 20_000 + " }", "cup.toml:3: brackets within brackets"),
    ("concurrency = 2", "x = " + "{a=" * 20_000, "cup.toml:3: brackets within brackets"),
    ("concurrency = 2", "concurrency = 1_000_000", "cup.toml:3: concurrency is at most 1024"),
    ("concurrency = 2", "rounds = 1_000_000_000_000", "cup.toml:3: at most 100000 rounds"),
    ("concurrency = 2", "games = 1_000_000_000_000", "cup.toml:3: a meeting has at most 100000 games"),
    ("concurrency = 2", "[" + " " * 50_000, "cup.toml:3: "),
    ("concurrency = 2", "a." + " " * 50_000, "cup.toml:3: "),
    ("startup = 60", "startup = inf", "cup.toml:10: a timeout of inf s is more than 1000000 s"),
    ("startup = 60", "margin_ms = nan", "cup.toml:10: a margin of nan ms is not between"),
    ("rating = 1800", "rating = nan", "cup.toml:21: a rating is between"),
    ("rating = 1800", 'tc = "movetime=1e999"', "cup.toml:21: time control 'movetime=1e999'"),
    ("max_moves = 12", "max_moves = 0x" + "f" * 5000, "cup.toml:7: a whole number has at most 64 bits"),
    ("max_moves = 12", "max_moves = " + "9" * 5000, "cup.toml:7: a whole number has at most 64 bits"),
    ("[engine.options]", "[engine.opinions]", "cup.toml:26: unknown key 'opinions' in [engine]"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD_FILES)
def test_bad_files(tmp_path, old, new, message):
    """Message with file and line, exit status 2, nothing started."""
    assert old in FILE
    path, pids = write_file(tmp_path, FILE.replace(old, new))
    result = run_quetzal("tournament", str(path), "--dir", str(tmp_path / "run"))
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "run").exists()
    assert not pids.exists()


def test_a_file_of_a_windows_editor(tmp_path):
    """With a byte order mark before the text and CR LF at the ends of its lines."""
    path, _ = write_file(tmp_path)
    expected = describe_tournament(Draft(path))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert describe_tournament(Draft(path)) == expected


def test_bad_openings_of_a_tournament(tmp_path):
    path, pids = write_file(tmp_path)
    (tmp_path / "openings.epd").write_text(f"{START.fen}\n{START.fen.replace('K', 'X')}\n", encoding="utf-8")
    result = run_quetzal("tournament", str(path), "--dir", str(tmp_path / "run"))
    assert result.returncode == 2
    assert "openings.epd:2: " in result.stderr
    assert not pids.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("absent.toml",), "absent.toml: there is no such file"),
        ((), "at least two engines, not 0"),
        (("--engine", "name=x"), "has no command"),
        (("--engine", "command=x;speed=3"), "unknown key 'speed'"),
    ],
)
def test_bad_flags(tmp_path, arguments, message):
    result = run_quetzal("tournament", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr


def test_help_and_documentation_name_the_same_flags():
    """Every flag of the two commands stands in docs/arena.md, and no other but those of other programs."""
    documented = set(re.findall(r"--[a-z][a-z0-9-]+", (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")))
    helped = set()
    for name in ("match", "tournament"):
        helped |= set(re.findall(r"--[a-z][a-z0-9-]+", run_quetzal(name, "--help").stdout))
    assert documented - {"--judge"} == helped


def test_every_key_of_the_file_is_a_flag():
    tables = {None: TOP, "openings": OPENINGS, "adjudication": ADJUDICATION, "timeouts": TIMEOUTS}
    keys = {(table, key) for table, known in tables.items() for key in known}
    by_themselves = {(None, key) for key in ("pin", "options", "engine", "openings", "adjudication", "timeouts")}
    assert {(table, key) for _, table, key in FLAGS} == keys - by_themselves

"""Suites: what EPD operations ask, when an answer is right and since when, and engines side by side."""

import contextlib
import json
import subprocess
import sys
import time

import chess
import pytest
from support import TESTS

from arena.errors import InputError
from play.searching import Cancelled
from play.suite import Attempt, Course, Score, read_points, read_problem, read_suites
from play.suite_engines import OwnEngine, OwnWork, solvers
from play.suite_journal import Journal
from play.suite_run import Solving
from pool.containment import end_orphans

OPERA = "4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k -"  # Morphy's mate in two, Paris 1858
BACK_RANK = "6k1/5ppp/8/8/8/8/8/R3K3 w - -"
STALEMATE = "8/5P1k/5K2/8/8/8/8/8 w - -"  # promoting to a queen stalemates
RETI = "7K/8/k1P5/7p/8/8/8/8 w - -"  # Kg7 draws


def problem_of(position, operations):
    return read_problem("x.epd", 1, f"{position} {operations}")


def move(problem, san):
    return problem.board.parse_san(san)


def test_moves_to_find_and_to_avoid():
    problem = problem_of(BACK_RANK, 'bm Ra8# Ra7; am Kd1; id "x.1";')
    assert problem.name == "x.1"
    assert problem.is_right(move(problem, "Ra7"))
    assert not problem.is_right(move(problem, "Kd1"))
    assert not problem.is_right(move(problem, "Rb1"))
    avoid = problem_of(STALEMATE, "am f8=Q;")
    assert [avoid.is_right(move(avoid, san)) for san in ("f8=Q", "f8=R")] == [False, True]
    assert avoid.wanted() == "anything but f8=Q"


def test_mates_have_to_be_announced():
    problem = problem_of(OPERA, "dm 2;")
    best = move(problem, "Qb8+")
    assert [problem.is_right(best, mate) for mate in (None, 3, 2, 1, -1)] == [False, False, True, True, False]
    assert problem.wanted() == "mate in 2"


def test_points():
    problem = problem_of(RETI, 'c0 "Kg7=10, Kh7=1, c7=2";')
    assert {problem.board.san(each): points for each, points in problem.points.items()} == {
        "Kg7": 10,
        "Kh7": 1,
        "c7": 2,
    }
    assert [problem.is_right(move(problem, san)) for san in ("Kg7", "c7", "Kg8")] == [True, False, False]
    promotion = chess.Board(f"{STALEMATE} 0 1")
    assert read_points(promotion, "f8=R=10, f8=N+=3") == {
        promotion.parse_san("f8=R"): 10,
        promotion.parse_san("f8=N+"): 3,
    }
    assert read_points(promotion, "a comment, nothing else") == {}


def test_the_score_of_an_engine():
    score = Score("x")
    reti = problem_of(RETI, 'ce 20; c0 "Kg7=10, c7=2";')
    score.add(reti, Attempt(move(reti, "c7"), score=-30, time=5))
    mate = problem_of(OPERA, "dm 2;")
    score.add(mate, Attempt(move(mate, "Qb8+"), mate=2, time=9, solved_at=4.0))
    assert (score.asked, score.solved, score.points, score.most_points) == (2, 1, 2, 10)
    assert score.score_error == 50
    assert score.solution_time == 4.0
    assert [problem for problem, _ in score.misses()] == [reti]


def test_the_time_to_solution_is_where_the_answer_stayed():
    problem = problem_of(BACK_RANK, "bm Ra8#;")
    right, wrong = move(problem, "Ra8#"), move(problem, "Rb1")
    course = Course(problem)
    for milliseconds, each in ((1, right), (2, wrong), (5, right), (7, right)):
        course.note(milliseconds, each, None)
    assert course.solved_at(9, right, None) == 5
    assert course.solved_at(9, wrong, None) is None


@pytest.mark.parametrize(
    "line",
    [
        "this is no position",
        f"{BACK_RANK} bm Ra9;",
        f"{BACK_RANK} bm Rh8;",
        f'{BACK_RANK} id "asks nothing";',
        f"{BACK_RANK} dm soon;",
        "8/8/8/8/8/8/8/8 w - - bm Ra1;",
        "x" * 70_000,
        "\x1b" * 60_000,
        f"{'9' * 60_000} w - - bm Ra1;",
    ],
)
def test_bad_lines_are_named(tmp_path, line):
    path = tmp_path / "bad.epd"
    path.write_text(f"# a remark\n\n{BACK_RANK} bm Ra8#;\n{line}\n{OPERA} bm Qb8+;\n", encoding="utf-8")
    said = []
    problems = read_suites([path], said.append)
    assert [problem.line for problem in problems] == [3, 5]
    assert len(said) == 1
    assert said[0].startswith(f"{path}:4: ")
    assert len(said[0]) < len(str(path)) + 300 and said[0].isprintable()


@pytest.mark.parametrize(
    "position, san, uci",
    [("k7/8/8/8/8/8/8/4K2R w H -", "O-O", "e1h1"), ("k7/8/8/8/8/8/8/1R3KR1 w B -", "O-O-O", "f1b1")],
)
def test_castling_in_chess960_is_a_solution(position, san, uci):
    """Once it was another move than the one that engines played, or none at all."""
    problem = read_problem("x.epd", 1, f'{position} bm {san}; am {san}; c0 "{san}=5";', chess960=True)
    castling = problem.board.parse_uci(uci)
    assert problem.best == problem.avoid == (castling,)
    assert problem.points == {castling: 5}
    assert problem._replace(avoid=()).is_right(castling)
    assert problem.wanted() == f"{san}, anything but {san}"


def suite_of(*lines):
    return [read_problem("x.epd", number, line) for number, line in enumerate(lines, 1)]


def test_this_engine_solves():
    problems = suite_of(
        f"{BACK_RANK} bm Ra8#;", f"{OPERA} bm Qb8+; dm 2;", f"{STALEMATE} am f8=Q;", f"{RETI} bm Kg7; ce 0;"
    )
    solving = Solving(OwnWork("Quetzal", {"nodes": 30_000}, 4), 2)
    answers = list(solving.attempts(problems))
    assert [problem for problem, _ in answers] == problems
    for problem, attempt in answers:
        assert attempt.solved_at is not None, problem.name
        assert 0 <= attempt.solved_at <= attempt.time + 1
        assert attempt.failure is None
    assert answers[1][1].mate == 2


def test_solving_is_cancelled_within_a_moment():
    engine = OwnEngine("Quetzal", {"movetime": 3_600_000}, 1)
    with pytest.raises(Cancelled):
        engine.solve(problem_of(RETI, "bm Kg7;"), lambda: True)
    engine.close()


FAKE = """
import sys, time
games = 0
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    if word == "uci": print("id name Fake\\nuciok", flush=True)
    elif word == "isready": print("readyok", flush=True)
    elif word == "go":
        if "{mode}" == "crash": sys.exit(3)
        if "{mode}" == "sleep": time.sleep(600)
        games += 1
        if "{mode}" == "endless" or ("{mode}" == "once" and games == 1): continue
        print("info depth 1 multipv 1 score cp 5 pv a1b1", flush=True)
        print("info depth 2 multipv 2 score cp 5 pv a1c1", flush=True)
        print("info depth 2 multipv 1 score mate 1 nodes 7 pv a1a8", flush=True)
        print("bestmove {move}", flush=True)
    elif word == "stop": print("bestmove {move}", flush=True)
    elif word == "quit": break
"""


def fake(tmp_path, mode="play", answer="a1a8"):
    path = tmp_path / f"{mode}_{answer}.py"
    path.write_text(FAKE.replace("{mode}", mode).replace("{move}", answer), encoding="utf-8")
    return f"{sys.executable} {path}"


def attempts_of(command, problems):
    (work,) = solvers([command], {"nodes": 100}, megabytes=1, options={}, chess960=False)
    return [attempt for _, attempt in Solving(work, 1).attempts(problems)]


def test_other_engines_solve(tmp_path):
    problems = suite_of(f"{BACK_RANK} bm Ra8#; dm 1;", f"{BACK_RANK} bm Rb1;")
    first, second = attempts_of(fake(tmp_path), problems)
    assert first.solved_at is not None
    assert (first.mate, first.depth, first.nodes, first.failure) == (1, 2, 7, None)
    assert second.solved_at is None


@pytest.mark.parametrize(
    "mode, answer, said", [("crash", "a1a8", "status 3"), ("play", "a1a1", "illegal"), ("play", "0000", "no move")]
)
def test_engines_that_fail(tmp_path, mode, answer, said):
    problems = suite_of(f"{BACK_RANK} bm Ra8#;", f"{BACK_RANK} am Rb1;")
    answers = attempts_of(fake(tmp_path, mode, answer), problems)
    assert len(answers) == 2  # it is started again
    assert all(said in attempt.failure for attempt in answers)
    assert all(attempt.solved_at is None and attempt.move is None for attempt in answers)


def late_attempts(command, count, seconds, slots=1, **limits):
    """Attempts at so many positions with an engine that has so many seconds for each, and what is said meanwhile."""
    problems = suite_of(*count * [f"{BACK_RANK} bm Ra8#;"])
    options = {"megabytes": 1, "options": {}, "chess960": False, "move_seconds": seconds}
    (work,) = solvers([command], limits or {"nodes": 100}, **options)
    said = []
    return [attempt for _, attempt in Solving(work, slots, on_warning=said.append).attempts(problems)], said


@pytest.mark.parametrize(("mode", "slots"), [("endless", 1), ("endless", 3), ("sleep", 1)])
def test_an_engine_that_ignores_its_limit_is_out(tmp_path, mode, slots):
    """Once it had a day for each position. The last one does not hear `stop` either."""
    attempts, said = late_attempts(fake(tmp_path, mode), 5, 0.3, slots)
    stalled, out = ("no move in 0.3 s", "stall"), ("not asked, the engine is out", "out")
    assert [(attempt.failure, attempt.kind) for attempt in attempts] == [stalled, stalled, out, out, out]
    assert all(attempt.move is None and attempt.solved_at is None for attempt in attempts)
    (text,) = said
    assert text.endswith(" is out: it stalled at 2 positions (no move in 0.3 s)")


def test_an_engine_that_hears_stop_goes_on(tmp_path):
    """In the same process: a new one would ignore its first limit again."""
    attempts, said = late_attempts(fake(tmp_path, "once"), 3, 3.0)
    assert [attempt.kind for attempt in attempts] == ["stall", None, None]
    assert [attempt.solved_at is not None for attempt in attempts] == [False, True, True]
    assert said == []


def test_a_limit_of_time_has_its_own_patience(tmp_path):
    options = {"megabytes": 1, "options": {}, "chess960": False, "move_seconds": 7.0}
    for limits, seconds in (({"depth": 5}, 7.0), ({"movetime": 2000}, 32.0), ({"movetime": 2000, "nodes": 5}, 32.0)):
        (work,) = solvers([fake(tmp_path)], limits, **options)
        assert work.rules.move_seconds == seconds


def test_an_engine_that_thinks_for_ever_is_given_up(tmp_path):
    (work,) = solvers([fake(tmp_path, "sleep")], {"depth": 9}, megabytes=1, options={}, chess960=False)
    began = time.monotonic()
    stopped = began + 1.0
    problems = suite_of(f"{BACK_RANK} bm Ra8#;", f"{BACK_RANK} am Rb1;")
    assert list(Solving(work, 2).attempts(problems, lambda: time.monotonic() > stopped)) == []
    assert time.monotonic() - began < 30


@pytest.mark.skipif(sys.platform != "linux", reason="the reaper of all descendants is Linux's")
def test_other_children_of_the_process_are_left_alone(tmp_path):
    """Once this process became the reaper of all its descendants by solving, and ended what others had started in it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        attempts_of(fake(tmp_path), suite_of(f"{BACK_RANK} bm Ra8#;"))
        end_orphans()
        other.stdin.write(b"\n")
        other.stdin.close()
        assert other.wait(60) == 0


def test_an_engine_that_does_not_exist():
    with pytest.raises(ValueError, match="no program"):
        solvers([str(TESTS / "nobody")], {"nodes": 1}, megabytes=1, options={}, chess960=False)


SETTINGS = {"program": "Quetzal", "suites": ["x.epd"], "hash": 4}
ATTEMPT = {"score": 5, "mate": None, "depth": 2, "nodes": 7, "time": 9.25, "solved_at": 4.5}


def journal_of(folder, problems, *attempts):
    """A closed journal that has these attempts at the first problems."""
    with contextlib.closing(Journal(folder / "out.json", SETTINGS)) as journal:
        for problem, attempt in zip(problems, attempts, strict=False):
            journal.note("Quetzal", problem, attempt)
    return journal.path


def answered(folder, problems):
    with contextlib.closing(Journal(folder / "out.json", SETTINGS)) as journal:
        return journal.answered(("Quetzal", problem) for problem in problems)


def test_a_journal_has_what_was_answered(tmp_path):
    problems = suite_of(f"{BACK_RANK} bm Ra8#;", f"{STALEMATE} am f8=Q;", f"{RETI} ce 0;")
    attempts = [
        Attempt(move(problems[0], "Ra8#"), **ATTEMPT),
        Attempt(None, time=3.0, failure="played the illegal move \udcff"),
    ]
    path = journal_of(tmp_path, problems, *attempts)
    with open(path, "ab") as file:
        file.write(b'{"digest": "cut sh')  # killed while it wrote
    assert answered(tmp_path, problems) == attempts
    (tmp_path / "late").mkdir()
    late = Attempt(None, failure="no move in 5 s", kind="stall")
    journal_of(tmp_path / "late", problems, late)
    assert answered(tmp_path / "late", problems) == [late._replace(kind=None)]  # another session does not count it
    castling = [read_problem("y.epd", 1, "k7/8/8/8/8/8/8/4K2R w H - bm O-O;", chess960=True)]
    (tmp_path / "chess960").mkdir()
    attempt = Attempt(castling[0].best[0], **ATTEMPT)
    journal_of(tmp_path / "chess960", castling, attempt)
    assert answered(tmp_path / "chess960", castling) == [attempt]


def test_a_journal_refuses_other_positions(tmp_path):
    """Also one that asks something else, and fewer of them than were answered."""
    problems = suite_of(f"{BACK_RANK} bm Ra8#;", f"{STALEMATE} am f8=Q;")
    attempts = [Attempt(move(problems[0], "Ra8#"), **ATTEMPT), Attempt(None, failure="so")]
    path = journal_of(tmp_path, problems, *attempts)
    kept = path.read_bytes()
    for changed in (
        suite_of(f"{BACK_RANK} bm Ra8#;", f"{STALEMATE} am f8=R;"),
        suite_of(f"{BACK_RANK} bm Ra8#;", f"{RETI} bm Kg7;"),
        problems[:1],
    ):
        with pytest.raises(InputError, match="the positions have changed since"):
            answered(tmp_path, changed)
    with (
        contextlib.closing(Journal(tmp_path / "out.json", SETTINGS)) as journal,
        pytest.raises(InputError, match="the positions have changed since"),
    ):
        journal.answered(("Another", problem) for problem in problems)
    assert path.read_bytes() == kept


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"move": 7}, "move is 7, not text"),
        ({"move": "a1a9"}, "expected uci string|invalid uci"),
        ({"move": "0000"}, "there is no move"),
        ({"move": "a1b2"}, "illegal uci"),
        ({"move": None}, "neither a move nor a failure"),
        ({"failure": "so"}, "neither a move nor a failure"),
        ({"nodes": "many"}, "nodes is 'many'"),
        ({"time": -1}, "time is -1"),
        ({"time": float("nan")}, "time is nan"),
        ({"solved_at": -1}, "solved_at is -1"),
        ({"solved_at": 1.0}, "it solves what asks nothing"),
        ({"digest": None}, "digest is None"),
    ],
)
def test_a_damaged_journal_is_refused_with_its_line(tmp_path, changes, reason):
    problems = suite_of(f"{BACK_RANK} bm Ra8#;", f"{BACK_RANK} ce 500;")
    attempts = [Attempt(move(problem, "Ra8#"), **{**ATTEMPT, "solved_at": None}) for problem in problems]
    path = journal_of(tmp_path, problems, *attempts)
    *first, last = path.read_text(encoding="utf-8").splitlines()
    damaged = "\n".join([*first, json.dumps(json.loads(last) | changes), ""])
    path.write_text(damaged, encoding="utf-8")
    with pytest.raises(InputError, match=rf"journal:3: damaged: .*({reason})"):
        answered(tmp_path, problems)
    assert path.read_text(encoding="utf-8") == damaged


@pytest.mark.parametrize("line", [b"[1]", b"{", b"\xff", b"{}", b"[" * 100_000])
def test_a_journal_of_something_else_is_refused(tmp_path, line):
    path = journal_of(tmp_path, [])
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(InputError, match="journal:2: damaged: "):
        answered(tmp_path, suite_of(f"{BACK_RANK} bm Ra8#;"))


@pytest.mark.parametrize(
    "content", [b"notes of somebody", b"notes\nand more", b'{"version": 1}\n{"cut', b'{"version":2']
)
def test_a_file_of_something_else_stays_as_it_is(tmp_path, content):
    """Once its last line was cut off before anybody looked at the first."""
    path = tmp_path / "out.json.journal"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"journal:1: damaged: |other settings"):
        Journal(tmp_path / "out.json", SETTINGS)
    assert path.read_bytes() == content


def test_a_journal_that_was_killed_at_once(tmp_path):
    path = journal_of(tmp_path, [])
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    assert answered(tmp_path, suite_of(f"{BACK_RANK} bm Ra8#;")) == []
    assert path.read_bytes() == whole

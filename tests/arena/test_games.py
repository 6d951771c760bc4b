"""Single games: clocks, openings, adjudication, and engines that do everything wrong."""

import chess
import pytest
from arena_playing import is_running, play, processes, scripted, wait_until
from tables import DIRECTORY

from arena.adjudication import Adjudicator, open_tables
from arena.control import Clock, Control, go_words, parse_control
from arena.engine import centipawns, parse_info
from arena.game import read_move
from arena.openings import START, Opening
from arena.pgn import game_text
from arena.settings import Rules
from board import Board

CLOCK = "60+1"


def test_two_good_engines():
    heard = play(scripted("good"), scripted("fine"), most_moves=30)
    assert len(heard) == 2
    for record, log in heard:
        assert log is None
        assert record["failure"] is None
        board = chess.Board()
        for move in record["moves"]:
            board.push_uci(move)
        assert record["result"] == "1/2-1/2" or board.is_game_over()
        assert record["thoughts"][0]["depth"] == 5
        assert record["thoughts"][0]["score"] == 37  # not that of the second line
    assert [record["white"] for record, _ in heard] == ["good", "fine"]


# mode, kind of failure, part of the reason
FAILURES = [
    ("silent", "start", "did not start: no uciok in 1 s"),
    ("crash", "crash", "ended with status 3"),
    ("abort", "crash", "crashed with signal 6"),
    ("illegal", "illegal move", "plays e2e5, which is illegal"),
    ("mute", "illegal move", "bestmove without a move"),
    ("garbage", "illegal move", "which is illegal"),
    ("close", "disconnect", "closed its output"),
    ("slow", "time", "loses on time (no move in 0.200 s)"),
    ("never", "time", "loses on time (no move in 0.200 s)"),
]


@pytest.mark.parametrize(("mode", "kind", "reason"), FAILURES)
def test_a_failure_loses_the_game(mode, kind, reason, tmp_path):
    """With either colour, with the reason and the dialogue, and the next game is played all the same."""
    control = "0.2+0" if kind == "time" else CLOCK
    pids = tmp_path / "pids"
    first, second = scripted(mode, pids, control=control), scripted("good", pids)
    if kind == "start":
        # Only with White: as Black it would wait for a good engine that may be slow on a busy machine.
        heard = play(first, second, games=1, startup_seconds=1.0)
    else:
        heard = play(first, second, most_moves=20)
        assert heard[1][0]["result"] == "1-0"
    assert heard[0][0]["result"] == "0-1"
    for (record, log), colour in zip(heard, ("White", "Black"), strict=False):
        assert record["failed"] == mode
        assert record["failure"] == kind
        assert record["reason"].startswith(colour)
        assert reason in record["reason"]
        assert "< uci" in log
        if kind != "start":
            assert f"{mode} < go" in log
            assert f"position fen {record['fen']}" in log
        game_text(record, {"name": "test", "rules": {"chess960": False}}).encode()  # can be written to any file
    if mode == "crash":
        assert "assertion failed: too many moves" in heard[0][1]
    assert len(processes(pids)) >= (1 if kind == "start" else 3)
    assert wait_until(lambda: not any(is_running(pid) for pid in processes(pids)))


def test_two_silent_engines():
    """White is asked first, so White loses."""
    ((record, _),) = play(scripted("silent"), scripted("silent"), games=1, startup_seconds=0.5)
    assert record["result"] == "0-1"
    assert record["reason"].startswith("White did not start")


def test_wrong_case_is_forgiven():
    for record, _ in play(scripted("case"), scripted("good"), most_moves=10):
        assert record["failure"] is None


def test_a_flood_is_survived():
    """Megabytes of thoughts and a line of three million letters before every move; the opponent does not suffer."""
    for record, _ in play(scripted("flood", control=CLOCK), scripted("good", control=CLOCK), most_moves=6):
        assert record["failure"] is None
        assert len(record["moves"]) == 12


def test_an_engine_that_is_not_there():
    gone = scripted("good")
    gone.command = ["/no/such/engine"]
    ((record, _),) = play(gone, scripted("good"), games=1)
    assert (record["result"], record["failure"]) == ("0-1", "start")
    assert "No such file" in record["reason"]


def test_pondering():
    """Hits and misses; the dialogue stays in order either way."""
    ponders = scripted("ponders", control=CLOCK, ponder=True)
    for record, _ in play(ponders, scripted("good", control=CLOCK), most_moves=15):
        assert record["failure"] is None
        assert len(record["moves"]) == 30 or record["termination"] == "normal"


def test_chess960():
    """Castling is written as king takes rook, and the engine is told."""
    opening = Opening("4k3/8/8/8/8/8/8/RKR5 w CA - 0 1", ("b1c1",), "")
    for record, _ in play(scripted("good"), scripted("fine"), opening=opening, chess960=True, most_moves=10):
        assert record["failure"] is None
        assert record["moves"][0] == "b1c1"


def test_a_position_that_is_nearly_over():
    opening = Opening("7k/5Q2/6K1/8/8/8/8/8 b - - 99 80", (), "")
    ((record, _),) = play(scripted("good"), scripted("fine"), games=1, opening=opening)
    assert record["result"] == "1/2-1/2"
    assert record["reason"] == "draw by stalemate"
    assert record["moves"] == []


# Clocks


def test_controls_are_read():
    assert parse_control("10+0.1") == Control(base=10_000, increment=100)
    assert parse_control("40/60+0.5") == Control(base=60_000, increment=500, moves=40)
    assert parse_control("2:30") == Control(base=150_000)
    assert parse_control("movetime=0.2") == Control(movetime=200)
    assert parse_control("nodes=5000") == Control(nodes=5000)
    assert parse_control("1+0.01,depth=8") == Control(base=1000, increment=10, depth=8)
    assert not parse_control("nodes=5").is_timed
    assert parse_control("1+0.5").scaled(2) == Control(base=2000, increment=1000)


ABSURD_CONTROLS = [
    "movetime=1e999",
    "movetime=nan",
    "movetime=1e9",
    "nodes=1" + "0" * 19,
    "nodes=" + "9" * 5000,
    "depth=9999999",
    "9" * 5000,
    "1+" + "9" * 5000,
    "9" * 5000 + "/60",
    "9999999/60",
    "99999999:00",
    "1+99999999",
    "\u0661+\u0662",
]


@pytest.mark.parametrize(
    "text", ["", "x", "0+0", "1+", "0/60", "nodes=0", "nodes=x", "plies=3", "depth=-1", "1:2:3", *ABSURD_CONTROLS]
)
def test_bad_controls_are_refused(text):
    with pytest.raises(ValueError, match="time") as caught:
        parse_control(text)
    assert len(str(caught.value)) < 300


def test_a_clock_keeps_the_books():
    """Two moves for ten seconds: 10 - 4 + 1 = 7; 7 - 3 + 1 + 10 = 15."""
    clock = Clock(parse_control("2/10+1"))
    clock.charge(4000)
    assert (clock.left, clock.moves_to_go) == (7000, 1)
    clock.charge(3000)
    assert (clock.left, clock.moves_to_go) == (15_000, 2)
    assert clock.allowance() == 15_000
    assert Clock(parse_control("10"), margin=50).allowance() == 10_050
    assert Clock(parse_control("depth=3")).allowance() is None


def test_words_of_go():
    clocks = [Clock(parse_control("10+0.1")), Clock(parse_control("40/5+0"))]
    assert go_words(clocks, 0) == "wtime 10000 btime 5000 winc 100 binc 0"
    assert go_words(clocks, 1) == "wtime 10000 btime 5000 winc 100 binc 0 movestogo 40"
    assert go_words([Clock(parse_control("nodes=7")), clocks[1]], 0) == "nodes 7"
    assert go_words([Clock(parse_control("nodes=7")), clocks[1]], 1) == "wtime 5000 btime 5000 movestogo 40"
    assert go_words([Clock(parse_control("movetime=0.25"))] * 2, 0) == "movetime 250"


# What engines say


def test_thoughts():
    line = "info depth 12 seldepth 20 multipv 1 score cp -35 nodes 12345 nps 99 pv e2e4"
    assert parse_info(line) == {"depth": 12, "score": -35, "nodes": 12345, "pv": "e2e4"}
    assert parse_info("info multipv 1 pv  a7a8q  e8c8 0000 e1e2")["pv"] == "a7a8q e8c8"
    assert len(parse_info("info pv" + " e2e4 e7e5" * 100)["pv"].split()) == 8
    for none in ("info multipv e2e4", "info pv", "info pv <b> e2e4", "info pv e2e4x"):
        assert "pv" not in parse_info(none)
    assert parse_info("info depth 3 score mate -2") == {"depth": 3, "mate": -2}
    assert parse_info("info  depth x score cp") == {}
    assert parse_info(None) == {}
    assert centipawns({"mate": 3}) > 90_000
    assert centipawns({"mate": -3}) < -90_000
    assert centipawns({}) is None


def test_moves_in_other_clothes():
    board = Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert board.uci(read_move(board, "E1G1")) == "e1g1"
    assert board.uci(read_move(board, "e1h1")) == "e1g1"  # king takes rook is the same thing
    board = Board("r3k2r/8/8/8/8/8/6p1/R3K2R b KQkq - 0 1", chess960=True)
    assert board.uci(read_move(board, "e8c8")) == "e8a8"
    assert board.uci(read_move(board, "g2h1Q")) == "g2h1q"
    for text in ("0000", "(none)", "e8e1", "", "e9e8"):
        with pytest.raises(ValueError):
            read_move(board, text)


# Adjudication


def verdict(rules, scores, fen=None):
    """What the adjudicator says after moves with these scores, which the sides see by turns, on a quiet board."""
    board = Board(fen or "4k3/8/8/8/8/8/4P3/4K3 w - - 10 60")
    judge = Adjudicator(Rules(**rules))
    for ply, score in enumerate(scores):
        found = judge.judge(board, ply % 2, {} if score is None else {"score": score}, 60 + ply // 2)
        if found is not None:
            return ply, *found
    return None


def test_resigning():
    rules = {"resign_score": 500, "resign_moves": 2}
    assert verdict(rules, [-600, 0, -600]) == (2, 0.0, "White resigns")
    assert verdict(rules, [0, -600, 0, -500]) == (3, 1.0, "Black resigns")
    assert verdict(rules, [-600, 0, -400, 0, -600, 0, None, 0]) is None
    assert verdict({**rules, "resign_both": True}, [-600, 0, -600, 0]) is None
    assert verdict({**rules, "resign_both": True}, [-600, 700, -600, 700]) == (3, 0.0, "White resigns")


def test_drawing():
    rules = {"draw_score": 10, "draw_moves": 2, "draw_from": 61}
    assert verdict(rules, [0] * 8) == (3, 0.5, "draw by adjudication")
    assert verdict({**rules, "draw_from": 62}, [0] * 8) == (4, 0.5, "draw by adjudication")
    assert verdict(rules, [0, 0, 11, 0, 0, 0, 0]) == (6, 0.5, "draw by adjudication")
    assert verdict(rules, [0, 0, 11, 0, 0, 0]) is None
    assert verdict(rules, [0] * 8, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 60") is None  # a pawn has just moved
    assert verdict({"most_moves": 62}, [50] * 8) == (5, 0.5, "draw after 62 moves")


def test_resigning_in_a_game():
    for record, _ in play(scripted("resigns"), scripted("good"), resign_score=800, resign_moves=3):
        assert record["failure"] is None
        assert record["termination"] == "adjudication"
        assert "resigns" in record["reason"]
        assert record["points"] == float(record["white"] == "good")


def test_tables_decide():
    tables = open_tables(str(DIRECTORY))
    judge = Adjudicator(Rules(), tables)
    assert judge.look_up(Board("8/8/8/8/8/2k5/8/K6q w - - 0 60")) == (0.0, "Black wins by endgame tables")
    assert judge.look_up(Board("8/8/8/8/8/2k5/8/K6q w - - 3 60")) is None  # the count of fifty might save White
    assert judge.look_up(Board("8/8/8/8/8/2k5/8/K6b w - - 3 60")) == (0.5, "draw by endgame tables")
    assert judge.look_up(Board()) is None
    assert judge.look_up(Board("8/8/8/8/8/8/8/R3K2k w Q - 0 60")) is None  # tables know no castling
    tables.close()


def test_the_start_is_standard():
    assert Board(START.fen) == Board()

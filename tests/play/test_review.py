"""Reviews find the errors that games are known for, judge by the documented formulas, and keep what annotators wrote."""

import io
import json
import threading
from pathlib import Path
from types import SimpleNamespace

import chess
import chess.pgn
import pytest

from board import Board
from play.annotation import annotate
from play.review import GameError, Judging, Reviewer
from play.verdicts import Evaluation, error_of, move_accuracy, phase_of, white_evaluation
from search import Info, Limits, Searcher
from uci_engine.wdl import expectation, wdl

KNOWN_GAMES = Path(__file__).parent / "known_games.pgn"

# Which moves the books call the decisive errors of these games.
KNOWN_ERRORS = {
    "Fool's mate": ["2. g4"],
    "Legal's mate": ["5... Bxd1"],
    "World championship, game 23": ["32. Bb4"],  # Chigorin lets Steinitz mate in two
    "Man against machine, game 2": ["34... Qe3"],  # Kramnik overlooks mate in one
    "World championship, game 6": ["26. Kd2", "26... a4"],  # Carlsen and Anand overlook Nxe5
}


@pytest.fixture(scope="module")
def searcher():
    searcher = Searcher(megabytes=4)
    yield searcher
    searcher.close()


def game_of(text):
    return chess.pgn.read_game(io.StringIO(text))


def games_of(path):
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            yield game


def after(board, move):
    board = board.copy()
    board.push(board.parse_uci(move))
    return board


def called(verdict):
    return f"{verdict.number}{'...' if verdict.turn else '.'} {verdict.san}"


@pytest.mark.parametrize("game", list(games_of(KNOWN_GAMES)), ids=lambda game: game.headers["Event"])
def test_known_errors_are_found(searcher, game):
    review = Reviewer(searcher, Limits(nodes=10_000)).review(game)
    assert [verdict.uci for verdict in review.verdicts] == [move.uci() for move in game.mainline_moves()]
    errors = {called(verdict): verdict for verdict in review.verdicts if verdict.grade in ("mistake", "blunder")}
    assert set(KNOWN_ERRORS[game.headers["Event"]]) <= set(errors)
    for verdict in errors.values():
        assert verdict.best[0] != verdict.san


def test_the_refutation_of_a_known_error(searcher):
    game = list(games_of(KNOWN_GAMES))[4]
    review = Reviewer(searcher, Limits(nodes=20_000)).review(game)
    missed = next(verdict for verdict in review.verdicts if called(verdict) == "26... a4")
    assert missed.best[0] == "Nxe5"


@pytest.mark.parametrize(("behind", "grade"), [(0, None), (-400, "blunder")])
def test_a_better_move_is_looked_behind(behind, grade):
    """Four pawns were promised for 1.e4 and are lost by 1.f3, unless behind 1.e4 they are not there either."""
    start = Board()
    best = start.parse_uci("e2e4")

    class Promising:
        limits = Limits(nodes=100)

        def search(self, board, limits, cancelled=None):
            score = {start.key: 400, after(start, "e2e4").key: behind}.get(board.key, 0)
            info = SimpleNamespace(score=score, is_mate=False, depth=1, nodes=1, pv=board.legal_moves()[:1])
            return SimpleNamespace(best=best if board.key == start.key else info.pv[0], info=info)

    board = after(start, "f2f3")
    found = Judging(Promising(), board, [start.parse_uci("f2f3")], None, None).review()
    assert [verdict.grade for verdict in found.verdicts] == [grade]


def test_the_same_game_gets_the_same_review(searcher):
    game = next(games_of(KNOWN_GAMES))
    other = list(games_of(KNOWN_GAMES))[1]
    reviewer = Reviewer(searcher, Limits(nodes=2000))
    first = reviewer.review(game)
    reviewer.review(other)
    assert reviewer.review(game) == first


def test_a_side_is_summed_up(searcher):
    review = Reviewer(searcher, Limits(nodes=3000)).review(next(games_of(KNOWN_GAMES)))  # 1. f3 e5 2. g4 Qh4#
    white, black = review.sides
    losses = [verdict.loss for verdict in review.verdicts if verdict.turn == 0]
    assert white.moves == 2
    assert white.loss == pytest.approx(sum(losses) / 2)
    assert white.accuracy == pytest.approx(sum(100 * (1 - loss) ** 2 for loss in losses) / 2)
    assert white.grades["blunder"] == 1
    assert black.accuracy == 100 or black.grades["blunder"] == 0
    data = json.loads(json.dumps(review.as_json(), allow_nan=False))
    assert data["white"]["phases"]["opening"]["moves"] == 2
    assert data["white"]["phases"]["endgame"] == {"moves": 0, "loss": None}
    assert data["moves"][2]["nag"] == 4
    assert data["moves"][2]["side"] == "white"
    assert data["moves"][3]["after"]["mate"] == 0
    assert data["moves"][3]["after"]["points"] == 0


@pytest.mark.parametrize(
    "loss, grade", [(0, None), (0.099, None), (0.1, "inaccuracy"), (0.2, "mistake"), (0.3, "blunder")]
)
def test_errors_begin_where_the_table_says(loss, grade):
    assert error_of(loss) == grade


@pytest.mark.parametrize("loss, accuracy", [(0, 100), (0.1, 81), (0.2, 64), (0.3, 49), (1, 0)])
def test_the_accuracy_of_a_move(loss, accuracy):
    assert move_accuracy(loss) == pytest.approx(accuracy)


def test_expected_points_are_those_of_the_wdl_model():
    for score in (-900, -120, 0, 35, 120, 900):
        for weight in (0, 9, 24):
            win, draw, _ = wdl(score, weight)
            assert expectation(False, score, weight) == pytest.approx((win + draw / 2) / 1000, abs=0.001)
            assert expectation(False, -score, weight) == pytest.approx(1 - expectation(False, score, weight))
    assert (expectation(True, 3, 9), expectation(True, -3, 9)) == (1, 0)


@pytest.mark.parametrize(
    "fen, phase",
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "opening"),
        ("r2qkb1r/pp3ppp/2n1pn2/3p4/3P4/2N1PN2/PP3PPP/R2QKB1R w KQkq - 0 13", "middlegame"),
        ("8/5pk1/8/8/8/8/R4PK1/R6r w - - 0 9", "endgame"),
    ],
)
def test_phases(fen, phase):
    assert phase_of(Board(fen)) == phase


def test_evaluations_are_white_s():
    info = Info(9, 9, 1, 150, False, "exact", 1000, 1, 1, 0, 1, ())
    white = white_evaluation(Board(), info)
    board = Board()
    board.push_san("e4")
    black = white_evaluation(board, info)
    assert (white.score, black.score) == (150, -150)
    assert white.points == pytest.approx(1 - black.points)
    assert black.points < 0.5


def test_stalemate_and_mate_end_a_review(searcher):
    reviewer = Reviewer(searcher, Limits(nodes=2000))
    # White has KQ against K and stalemates at once.
    stalemate = game_of('[SetUp "1"]\n[FEN "7k/8/8/6Q1/8/8/8/K7 w - - 0 1"]\n\n1. Qg6 1/2-1/2\n')
    (verdict,) = reviewer.review(stalemate).verdicts
    assert (verdict.after.score, verdict.after.is_mate) == (0, False)
    assert verdict.after.points == 0.5
    assert verdict.grade == "blunder"
    mate = game_of('[SetUp "1"]\n[FEN "7k/8/6K1/8/8/8/8/R7 w - - 0 1"]\n\n1. Ra8# 1-0\n')
    (verdict,) = reviewer.review(mate).verdicts
    assert verdict.after == Evaluation(0, True, 1.0, 0, 0)
    assert verdict.grade is None  # mate in one deserves no exclamation mark
    annotate(mate, reviewer.review(mate))
    assert mate.end().comment == ""


def test_an_only_move_is_praised(searcher):
    """Réti's study of 1921: the king catches the pawn only by way of the long diagonal."""
    game = game_of('[SetUp "1"]\n[FEN "7K/8/k1P5/7p/8/8/8/8 w - - 0 1"]\n\n1. Kg7 h4 2. Kf6 *\n')
    review = Reviewer(searcher, Limits(nodes=40_000)).review(game)
    assert [verdict.grade for verdict in review.verdicts] == ["only move", None, "only move"]


def test_a_game_without_moves(searcher):
    review = Reviewer(searcher, Limits(nodes=500)).review(game_of("*"))
    assert review.verdicts == ()
    assert review.sides[0].accuracy is None
    assert review.as_json()["white"]["loss"] is None


def test_chess960_castling(searcher):
    text = (
        '[Variant "Chess960"]\n[SetUp "1"]\n[FEN "bnrkrqnb/pppppppp/8/8/8/8/PPPPPPPP/BNRKRQNB w ECec - 0 1"]\n\n'
        "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. Qg1 Qg8 *\n"
    )
    game = game_of(text)
    assert not game.errors
    review = Reviewer(searcher, Limits(nodes=1000)).review(game)
    assert [verdict.san for verdict in review.verdicts] == [node.san() for node in game.mainline()]
    annotate(game, review)
    again = game_of(str(game))
    assert not again.errors
    castling = game_of('[Variant "Chess960"]\n[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/5PPP/4KR2 w F - 0 1"]\n\n1. O-O *\n')
    (verdict,) = Reviewer(searcher, Limits(nodes=1000)).review(castling).verdicts
    assert verdict.san == "O-O"


@pytest.mark.parametrize(
    "text",
    [
        "1. e4 e5 2. Ke3 *",
        '[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n[SetUp "1"]\n\n*',
        "1. e4 -- 2. d4 *",
        '[Variant "Atomic"]\n\n1. e4 e5 *',
    ],
)
def test_games_that_cannot_be_judged(searcher, text):
    with pytest.raises(GameError):
        Reviewer(searcher, Limits(nodes=500)).review(game_of(text))


def test_a_review_is_cancelled_within_a_moment(searcher):
    wanted = threading.Event()
    seen = []

    def progress(done, total):
        seen.append((done, total))
        wanted.set()

    game = list(games_of(KNOWN_GAMES))[1]
    reviewer = Reviewer(searcher, Limits(movetime=300))
    assert reviewer.review(game, progress, wanted.is_set) is None
    assert seen == [(1, 2 * 13 + 1)]
    assert not searcher.is_running
    # A search of an hour as well.
    wanted.clear()
    timer = threading.Timer(0.3, wanted.set)
    timer.start()
    assert Reviewer(searcher, Limits(movetime=3_600_000)).review(game_of("1. e4 *"), cancelled=wanted.is_set) is None
    timer.join()


def test_what_an_annotator_wrote_stays(searcher):
    text = (
        '[White "A"]\n[Black "B"]\n[Result "0-1"]\n\n{ A short game. } 1. f3 $5 { [%clk 0:05:00] Odd. } '
        "( 1. e4 { King's pawn. } 1... e5 ( 1... c5 $1 ) ) ( 1. d4 ) 1... e5 { [%eval 9.99] [%emt 0:00:03] } "
        "2. g4 $22 ( { Rather } 2. e4 ) 2... Qh4# $3 { End. } 0-1\n"
    )
    game = game_of(text)
    review = Reviewer(searcher, Limits(nodes=3000)).review(game)
    annotate(game, review)
    once = str(game)
    annotate(game, review)
    assert str(game) == once
    again = game_of(once)
    assert not again.errors
    first, second, third, last = again.mainline()
    assert again.comment == "A short game."
    assert first.nags == {5}
    assert "[%clk 0:05:00] Odd." in first.comment
    assert [str(node.move) for node in again.variations[1:3]] == ["e2e4", "d2d4"]
    assert again.variations[1].comment == "King's pawn."
    assert again.variations[1].variations[1].nags == {1}
    assert second.comment.count("[%eval") == 1
    assert second.emt() == 3
    assert second.eval() != chess.engine.PovScore(chess.engine.Cp(999), chess.WHITE)
    assert third.nags == {22, 4}
    assert second.variations[1].starting_comment == "Rather"
    assert last.nags == {3}
    assert last.comment == "End."
    for node in (first, second, third):
        assert node.eval() is not None

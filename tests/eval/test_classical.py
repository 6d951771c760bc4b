"""The classical evaluation: symmetric, bounded, and the same by every way to it."""

import random

import pytest
from positions import colours_swapped, files_mirrored, random_men, random_walk, without_castling
from support import scaled

from board import Board
from eval import Evaluator, explain, trace
from eval import evaluate_classical as evaluate
from eval.weights import FEATURES, current_weights

CHUNKS = 8
POSITIONS = 100_000


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mirrored_positions_have_mirrored_scores(chunk):
    left = scaled(POSITIONS) // CHUNKS
    seed = chunk * 100_000
    while left > 0:
        for board in random_walk(seed):
            fen = without_castling(board.fen())
            score = evaluate(board)
            assert evaluate(Board(colours_swapped(fen))) == score, fen
            assert evaluate(Board(files_mirrored(fen))) == score, fen
            left -= 1
        seed += 1


def test_mirrored_endings_have_mirrored_scores():
    rng = random.Random(4)
    armies = ("KkP", "KkQ", "KkBN", "KkBB", "KQkr", "KBPkb", "KBPPk", "KRPkr", "KNNk", "KPPkp", "KQkp", "KBPkn")
    compared = 0
    while compared < scaled(6000):
        fen = random_men(rng, rng.choice(armies))
        if fen is None:
            continue
        score = evaluate(Board(fen))
        assert evaluate(Board(colours_swapped(fen))) == score, fen
        assert evaluate(Board(files_mirrored(fen))) == score, fen
        compared += 1


@pytest.mark.usefixtures("classical")
def test_cached_trace_and_explained_scores_agree():
    """The search's path with a warm cache, the path without one, the traced path and the sum over the file's weights."""
    evaluator = Evaluator()
    middlegame, endgame = current_weights()
    starts = {feature.name: feature.start for feature in FEATURES}
    for seed in range(scaled(40)):
        for board in random_walk(seed):
            score = evaluate(board)
            white_view = -score if board.turn else score
            assert evaluator.evaluate(board) == score
            assert evaluator.evaluate(board) == score
            explanation = explain(board)
            assert explanation.total == white_view
            sums = [0, 0]
            for (name, place), (white, black) in trace(board).items():
                sums[0] += (white - black) * middlegame[starts[name] + place]
                sums[1] += (white - black) * endgame[starts[name] + place]
            assert sums == [
                sum(row.middlegame for row in explanation.rows),
                sum(row.endgame for row in explanation.rows),
            ]
            if not explanation.is_known_ending:
                blend = int((sums[0] * explanation.phase + sums[1] * (24 - explanation.phase)) / 24)
                assert int(blend * explanation.scale / 64) == white_view


def test_rows_sum_to_the_total():
    for seed in range(scaled(40)):
        for board in random_walk(seed):
            explanation = explain(board)
            assert sum(row.tapered for row in explanation.rows) == explanation.total
            for row in explanation.rows:
                assert row.middlegame == row.white_middlegame - row.black_middlegame
                assert row.endgame == row.white_endgame - row.black_endgame
            named = [row for row in explanation.rows if row.group != "known ending" and "scaled" not in row.group]
            for row in named:
                exact = (row.middlegame * explanation.phase + row.endgame * (24 - explanation.phase)) / 24
                assert abs(row.tapered - exact) <= 1


@pytest.mark.parametrize(
    "fen",
    [
        "QQQQQQQQ/QQQQQQQ1/8/8/8/8/3k4/K7 b - - 0 1",
        "k7/8/8/8/8/p7/PQQQQQQQ/KQQQQQQ1 b - - 0 1",
        "rrrrrrrk/qqqqqqqp/8/8/8/8/P7/K7 w - - 0 1",
        "knnnnnnn/nnnnnnn1/8/8/8/8/QQQQQQ2/KRRRRRRR b - - 0 1",
    ],
)
def test_wild_positions_stay_in_range(fen):
    score = evaluate(Board(fen))
    assert abs(score) < 10_000
    assert evaluate(Board(colours_swapped(fen))) == score
    assert abs(score) > 1000


def test_more_material_is_better():
    complete = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1"
    scores = [evaluate(Board(complete))]
    for missing in ("p", "n", "r", "q"):
        scores.append(evaluate(Board(complete.replace(missing, "1", 1).replace("11", "2"))))
    assert scores == sorted(scores)
    assert scores[1] > 50
    assert scores[-1] > 600


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        # a passed pawn further on
        ("6k1/5pn1/1P6/8/8/8/5PN1/6K1 b - - 0 1", "6k1/5pn1/8/8/1P6/8/5PN1/6K1 b - - 0 1"),
        # healthy pawns against doubled isolated ones
        ("4k3/ppp5/8/8/8/8/PPP5/4K3 w - - 0 1", "4k3/ppp5/8/8/8/P7/P1P5/4K3 w - - 0 1"),
        # the pawn shield in place
        ("r4rk1/pppq1ppp/8/3n4/3N4/8/PPPQ1PPP/R4RK1 w - - 0 1", "r4rk1/pppq1ppp/8/3n4/3N2PP/5P2/PPPQ4/R4RK1 w - - 0 1"),
        # a knight in the centre
        ("4k3/pppp4/8/8/4N3/8/PPPP4/4K3 w - - 0 1", "4k3/pppp4/8/8/8/8/PPPP4/N3K3 w - - 0 1"),
        # a rook on the open file
        ("4k3/ppp2ppp/8/8/8/8/PPP2PPP/3RK3 w - - 0 1", "4k3/ppp2ppp/8/8/8/8/PPP2PPP/R3K3 w - - 0 1"),
        # both bishops
        ("4k3/pppp4/2nn4/8/8/2BB4/PPPP4/4K3 w - - 0 1", "4k3/pppp4/2nn4/8/8/2BN4/PPPP4/4K3 w - - 0 1"),
    ],
)
def test_textbook_preferences(better, worse):
    sides = [Board(fen).turn for fen in (better, worse)]
    assert sides[0] == sides[1]
    sign = -1 if sides[0] else 1
    assert sign * evaluate(Board(better)) > sign * evaluate(Board(worse))

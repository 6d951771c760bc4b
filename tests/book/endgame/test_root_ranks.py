"""Ranking root moves: wins stay wins under the fifty-move rule, losses are defended; endings played to their result."""

import random

import pytest
from support import scaled
from tables import DIRECTORY, random_ending

from board import Board, Termination
from book.endgame.root_ranks import CURSED, WON, has_repeated, rank_by_distance, rank_moves, rank_without_rule
from book.endgame.syzygy import Tables
from search import Limits, Searcher


@pytest.fixture(scope="module")
def tables():
    return Tables([DIRECTORY])


def test_order_of_ranks():
    """From the best to the worst that can happen, clock at 20."""
    distances = (10, 50, 79, 80, 120, 0, -120, -81, -60, -10)
    ranks = [rank_by_distance(dtz, 20)[0] for dtz in distances]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] == WON and ranks[-1] == -WON
    results = [rank_by_distance(dtz, 20)[1] for dtz in distances]
    assert results == [2, 2, 2, 1, 1, 0, -1, -1, -2, -2]


def test_the_clock_decides():
    assert rank_by_distance(40, 59)[1] == 2
    assert rank_by_distance(40, 60)[1] == 1
    assert rank_by_distance(-40, 59)[1] == -2
    assert rank_by_distance(-40, 60)[1] == -1
    assert rank_by_distance(101, 0) == (CURSED - 101, 1)
    assert rank_by_distance(-101, 0) == (-CURSED + 101, -1)


def test_without_the_rule_a_cursed_win_is_a_win():
    assert [rank_without_rule(dtz)[1] for dtz in (101, 1, 0, -1, -150)] == [2, 2, 0, -2, -2]
    ranks = [rank_without_rule(dtz)[0] for dtz in (10, 110, 150, 0, -150, -110, -10)]
    assert ranks == sorted(ranks, reverse=True)


def test_after_a_repetition_the_shortest_way_is_taken():
    assert rank_by_distance(10, 4)[0] == rank_by_distance(12, 4)[0] == WON
    assert rank_by_distance(10, 4, has_repeated=True)[0] > rank_by_distance(12, 4, has_repeated=True)[0]


def test_repetitions_are_seen():
    board = Board("8/8/8/4k3/8/8/8/KQ6 w - - 0 1")
    for move in ("b1b2", "e5e6", "b2b1"):
        board.push_uci(move)
        assert not has_repeated(board)
    board.push_uci("e6e5")
    assert has_repeated(board)
    board.push_uci("b1b3")
    assert has_repeated(board)  # not now, but since the clock began


def test_winning_moves_come_first(tables):
    board = Board("8/8/8/4k3/8/2r5/8/KQ6 w - - 0 1")
    ranking = rank_moves(tables, board)
    assert ranking.by_distance and ranking.best_result == 2
    lost = {board.san(move) for move, result in ranking.results.items() if result == -2}
    assert lost == {"Qb3", "Qc1", "Qc2", "Qd3", "Qe4+", "Qf5+"}  # all leave the queen to rook or king
    assert max(ranking.ranks[board.parse_san(move)] for move in lost) < 0


def test_a_third_repetition_is_a_draw(tables):
    board = Board("8/8/8/4k3/8/8/8/KQ6 w - - 0 1")
    for move in ("b1b2", "e5e6", "b2b1", "e6e5") * 2:
        board.push_uci(move)
    board = board.copy()
    board.pop()  # Black may now repeat for the third time
    ranking = rank_moves(tables, board)
    assert ranking.results[board.parse_uci("e6e5")] == 0
    assert ranking.best_result == 0


def test_without_distances_results_rank(tmp_path):
    for name in ("KQvKR", "KQvK", "KRvK"):
        (tmp_path / f"{name}.rtbw").write_bytes((DIRECTORY / f"{name}.rtbw").read_bytes())
    ranking = rank_moves(Tables([tmp_path]), Board("8/8/8/4k3/8/2r5/8/KQ6 w - - 0 1"))
    assert not ranking.by_distance
    assert set(ranking.ranks.values()) == {2, -2}


def test_no_ranking_where_nothing_is_known(tables):
    assert rank_moves(tables, Board()) is None
    assert rank_moves(tables, Board("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1")) is None
    assert rank_moves(tables, Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")) is None  # mate


def longest_defence(tables, board):
    """The move that keeps the result for the weaker side, and puts off the end as long as possible."""
    ranking = rank_moves(tables, board)
    best = max(ranking.results.values())

    def delay(move):
        board.push(move)
        dtz = tables.dtz(board)
        board.pop()
        return abs(dtz)

    return max((move for move, result in ranking.results.items() if result == best), key=delay)


def play_out(tables, searcher, board, engine_side):
    """Plays to the end; the engine thinks 300 nodes a move, the other side defends or attacks by the tables."""
    while True:
        outcome = board.outcome()
        if outcome is not None:
            return outcome
        if board.turn == engine_side:
            ranking = rank_moves(tables, board)
            limits = Limits(nodes=300, ranks=ranking.ranks, results=ranking.results, probe=False)
            move = searcher.think(board, limits).best
        else:
            move = longest_defence(tables, board)
        board.push(move)


@pytest.mark.parametrize("name", ["KBNvK", "KQvKR", "KRvKB", "KPvK"])
def test_endings_are_played_to_their_result(tables, name):
    """QUETZAL_TEST_SCALE=50 plays 200 of each. The engine takes either side; wins must come before fifty moves."""
    rng = random.Random(name)
    searcher = Searcher(megabytes=1)
    results = set()
    for game in range(scaled(4)):
        board = Board(random_ending(rng, name))
        while board.outcome() is not None:
            board = Board(random_ending(rng, name))
        wdl = tables.wdl(board)
        winner = None if wdl == 0 else board.turn if wdl > 0 else 1 - board.turn
        # Who wins has to show it, who loses is not the question; draws are held by either side in turn.
        engine_side = game % 2 if winner is None else winner
        fen = board.fen()
        outcome = play_out(tables, searcher, board, engine_side)
        assert outcome.winner == winner, (fen, outcome)
        assert winner is None or outcome.termination is Termination.CHECKMATE
        results.add(winner is None)
    assert results

"""Limits: every one alone and together, exact where it can be; and the same search gives the same answer."""

import threading
import time

import pytest
from positions import random_walk
from searching import assert_mates, play, think
from support import scaled

from board import STARTING_FEN, Board
from search import Limits, Listener, Searcher
from search.clock import time_limits

MIDDLEGAME = "r2q1rk1/1p2bppp/p1n1bn2/3pp3/4P3/1NN1BP2/PPPQ2PP/2KR1B1R w - - 0 12"
ENDING = "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 0 1"


class Notes(Listener):
    """Writes down what it hears."""

    def __init__(self):
        self.infos = []
        self.results = []
        self.done = threading.Event()

    def on_info(self, info):
        self.infos.append(info)

    def on_result(self, result):
        self.results.append(result)
        self.done.set()


@pytest.fixture
def searcher():
    searcher = Searcher(megabytes=8)
    yield searcher
    searcher.close()


def test_the_same_search_visits_the_same_nodes(searcher):
    """One thread, a fresh mind: nothing depends on addresses, time or what was searched before."""
    positions = [Board(fen) for fen in (STARTING_FEN, MIDDLEGAME, ENDING)]
    positions += [board.copy() for board in random_walk(5, plies=60) if board.ply % 20 == 0]
    for board in positions:
        first = think(board, searcher, depth=9)
        think(Board(MIDDLEGAME), searcher, nodes=5_000)
        second = think(board, searcher, depth=9)
        other = think(board, Searcher(megabytes=8), depth=9)
        for again in (second, other):
            assert again.info.nodes == first.info.nodes
            assert (again.best, again.info.score, again.info.pv) == (first.best, first.info.score, first.info.pv)


def test_started_or_called_the_search_is_the_same(searcher):
    """`think` runs in the caller's thread and `start` in one of the searcher's."""
    called = think(MIDDLEGAME, searcher, depth=9)
    notes = Notes()
    searcher.clear()
    searcher.start(Board(MIDDLEGAME), Limits(depth=9), notes)
    assert searcher.wait(60)
    assert notes.done.wait(60)
    assert notes.results[0].info.nodes == called.info.nodes
    assert notes.results[0].info.pv == called.info.pv


@pytest.mark.parametrize("fen", [STARTING_FEN, MIDDLEGAME, ENDING])
def test_node_limits_are_exact(searcher, fen):
    searcher.clear()
    first = think(fen, searcher, depth=1).info.nodes
    for nodes in [*range(1, 60), 100, 999, 1000, 1023, 1024, 1025, 2048, 4097, 10_000, 33_333]:
        searcher.clear()
        result = think(fen, searcher, nodes=nodes)
        assert result.info.nodes == max(first, nodes)  # one ply is always searched
        assert Board(fen).is_legal(result.best)


@pytest.mark.parametrize("limits", [{"nodes": 1}, {"movetime": 1}, {"remaining": 1}, {"movetime": 50, "spent": 5000.0}])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_ply_is_always_searched(limits, threads):
    """However little time there is, the answer is a move that was looked at."""
    searcher = Searcher(megabytes=1, threads=threads)
    result = think(MIDDLEGAME, searcher, **limits)
    assert result.info.depth >= 1
    assert result.info.nodes > 1
    full = Searcher(megabytes=1)
    if result.info.depth == 1 and threads == 1:
        assert result.best == think(MIDDLEGAME, full, depth=1).best
    searcher.close()
    full.close()


def test_more_threads_than_processors_keep_a_limit():
    """Every thread looks at the limits: the first one may have to wait long for its turn."""
    searcher = Searcher(megabytes=1, threads=64)
    started = time.monotonic()
    think(MIDDLEGAME, searcher, nodes=1)
    think(MIDDLEGAME, searcher, movetime=20)
    assert time.monotonic() - started < 20
    searcher.close()


def test_games_with_node_limits_repeat(searcher):
    """Two short games around a new mind at several limits: identical, move by move and node by node."""
    for nodes in (50, 500, 3_000):
        games = []
        for _ in range(2):
            searcher.clear()
            board = Board()
            game = []
            for _ in range(scaled(12)):
                result = searcher.think(board, Limits(nodes=nodes))
                game.append((result.best, result.info.nodes, result.info.score))
                board.push(result.best)
            games.append(game)
        assert games[0] == games[1]


def test_a_soft_node_limit_ends_after_the_iteration_that_crosses_it(searcher):
    notes = Notes()
    result = think(MIDDLEGAME, searcher, notes, soft_nodes=20_000)
    exact = [info for info in notes.infos if info.bound == "exact"]
    assert result.info.nodes >= 20_000 > exact[-2].nodes
    assert result.info.depth == exact[-1].depth


@pytest.mark.parametrize("depth", [1, 2, 5, 10])
def test_depth(searcher, depth):
    notes = Notes()
    result = think(MIDDLEGAME, searcher, notes, depth=depth)
    assert result.info.depth == depth
    assert sorted({info.depth for info in notes.infos}) == list(range(1, depth + 1))
    play(Board(MIDDLEGAME), result.info.pv)
    assert result.info.seldepth >= depth


def test_reports_make_sense(searcher):
    """Nodes and time never go back, every line is legal, and the last line is the result."""
    notes = Notes()
    result = think(MIDDLEGAME, searcher, notes, depth=10)
    for before, after in zip(notes.infos, notes.infos[1:], strict=False):
        assert after.nodes >= before.nodes
        assert after.milliseconds >= before.milliseconds
        assert after.depth >= before.depth
    for info in notes.infos:
        play(Board(MIDDLEGAME), info.pv)
        assert info.multipv == 1
        assert 0 <= info.hashfull <= 1000
        uniform = sum(info.branching**ply for ply in range(1, info.depth + 1))
        assert abs(uniform - info.nodes) <= 1 + info.nodes * 1e-6
    assert (result.best, result.ponder) == result.info.pv[:2]
    assert notes.infos[-1].pv == result.info.pv


def test_only_some_moves(searcher):
    board = Board(MIDDLEGAME)
    for move in board.legal_moves()[::6]:
        result = think(board, searcher, depth=4, moves=(move,))
        assert (result.best, result.info.pv[0]) == (move, move)
    pair = tuple(board.legal_moves()[:2])
    assert think(board, searcher, depth=4, moves=pair).best in pair


def test_ranked_moves_come_before_better_ones(searcher):
    """Endgame tables may say that only some moves keep the result; the search then chooses among those."""
    board = Board("4k3/8/8/8/8/8/4q3/R3K2R w KQ - 0 1")
    assert board.legal_moves() == [board.parse_san("Kxe2")]
    board = Board(MIDDLEGAME)
    modest = board.parse_san("h3")
    assert think(board, searcher, depth=5, ranks={modest: 1}).best == modest


@pytest.mark.parametrize("lines", [1, 2, 5, 40, 256])
def test_multipv(searcher, lines):
    """As many lines as asked for (or as there are moves), each with its own move, the best first."""
    board = Board(MIDDLEGAME)
    searcher.multipv = lines
    notes = Notes()
    result = think(board, searcher, notes, depth=6)
    wanted = min(lines, len(board.legal_moves()))
    last = [info for info in notes.infos if info.depth == 6 and info.bound == "exact"][-wanted:]
    assert [info.multipv for info in last] == list(range(1, wanted + 1))
    assert len({info.pv[0] for info in last}) == wanted
    scores = [(info.is_mate, info.score) for info in last]
    assert all(mate is False for mate, _ in scores)
    assert [score for _, score in scores] == sorted((score for _, score in scores), reverse=True)
    assert result.best == last[0].pv[0]


def test_multipv_with_one_legal_move(searcher):
    searcher.multipv = 4
    result = think("4k3/8/8/8/8/8/4q3/R3K2R w KQ - 0 1", searcher, depth=5)
    assert result.info.multipv == 1


def test_the_first_limit_ends_the_search(searcher):
    assert think(MIDDLEGAME, searcher, depth=3, nodes=1_000_000).info.depth == 3
    assert think(MIDDLEGAME, searcher, depth=100, nodes=5_000).info.nodes == 5_000
    assert think(MIDDLEGAME, searcher, depth=3, movetime=60_000, remaining=600_000, increment=1000).info.depth == 3
    started = time.perf_counter()
    think(MIDDLEGAME, searcher, depth=200, nodes=10**12, movetime=50)
    think(MIDDLEGAME, searcher, remaining=10**7, movetime=50)
    think(MIDDLEGAME, searcher, remaining=100, increment=0, movetime=60_000)
    assert time.perf_counter() - started < 10
    board = Board("4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 16")
    assert_mates(board, think(board, searcher, mate=2, movetime=60_000, nodes=10**9).info, 2)


def test_a_search_without_limits_ends_at_the_greatest_depth(searcher):
    """Two kings and a blocked pair of pawns: the tree is so small that all depths can be searched."""
    result = think("8/8/4k3/4p3/4P3/4K3/8/8 w - - 0 1", searcher, depth=10_000, nodes=500_000)
    assert result.info.depth <= 239
    assert result.info.nodes <= 500_000


@pytest.mark.parametrize("milliseconds", [20, 100, 300])
def test_movetime(searcher, milliseconds):
    """Not a millisecond more by our own clock; the margin is for a machine that does other things."""
    searcher.overhead = 0
    info = think(MIDDLEGAME, searcher, movetime=milliseconds).info
    assert milliseconds * 0.5 <= info.milliseconds <= milliseconds + 1500


@pytest.mark.parametrize("remaining", [1, 10, 50, 200, 1000])
def test_a_short_clock(searcher, remaining):
    started = time.perf_counter()
    result = think(MIDDLEGAME, searcher, remaining=remaining)
    assert Board(MIDDLEGAME).is_legal(result.best)
    assert time.perf_counter() - started < remaining / 1000 + 1.5


def test_time_that_is_spent_already_counts(searcher):
    """A minute for the move, and nearly all of it went by before the search heard of it."""
    started = time.perf_counter()
    info = think(MIDDLEGAME, searcher, movetime=60_000, spent=59_900).info
    assert time.perf_counter() - started < 10
    assert 59_900 <= info.milliseconds <= 70_000


def test_an_only_move_is_played_at_once(searcher):
    """With an hour on the clock; but a fixed time or depth is an order."""
    fen = "4k3/8/8/8/8/8/4q3/R3K2R w KQ - 0 1"
    started = time.perf_counter()
    result = think(fen, searcher, remaining=3_600_000)
    assert time.perf_counter() - started < 5
    assert result.info.depth == 1
    assert think(fen, searcher, depth=4).info.depth == 4


def test_stop(searcher):
    notes = Notes()
    searcher.start(Board(MIDDLEGAME), Limits(infinite=True), notes)
    assert searcher.is_running
    assert not searcher.wait(0.1)
    with pytest.raises(RuntimeError, match="a search is running"):
        searcher.start(Board(), Limits(depth=1))
    searcher.stop()
    assert searcher.wait(30)
    assert notes.done.wait(30)
    assert not searcher.is_running
    assert Board(MIDDLEGAME).is_legal(notes.results[0].best)
    searcher.stop()  # nothing runs: nothing happens


def test_stop_right_after_start(searcher):
    """Even a search that had no time at all has a legal move."""
    for _ in range(30):
        notes = Notes()
        searcher.start(Board(MIDDLEGAME), Limits(infinite=True), notes)
        searcher.stop()
        assert searcher.wait(30)
        assert notes.done.wait(30)
        assert Board(MIDDLEGAME).is_legal(notes.results[0].best)


@pytest.mark.parametrize("limits", [Limits(infinite=True, depth=3), Limits(ponder=True, depth=3)])
def test_a_finished_search_keeps_its_move_until_it_is_asked_for(searcher, limits):
    notes = Notes()
    searcher.start(Board(MIDDLEGAME), limits, notes)
    assert not searcher.wait(0.3)
    assert notes.results == []
    searcher.stop()
    assert searcher.wait(30)
    assert notes.done.wait(30)
    assert notes.results[0].info.depth == 3


def test_ponderhit_starts_the_clock(searcher):
    """While pondering the clock does not count; after the hit the move comes within the time."""
    notes = Notes()
    searcher.start(Board(MIDDLEGAME), Limits(ponder=True, remaining=300, increment=0), notes)
    assert not searcher.wait(0.5)
    searcher.ponderhit()
    assert searcher.wait(30)
    assert notes.done.wait(30)
    assert notes.results[0].best


def test_ponderhit_after_the_search_has_ended_itself(searcher):
    notes = Notes()
    searcher.start(Board(MIDDLEGAME), Limits(ponder=True, depth=2), notes)
    assert not searcher.wait(0.3)
    searcher.ponderhit()
    assert searcher.wait(30)
    assert notes.done.wait(30)


@pytest.mark.parametrize("fen", ["7k/8/8/8/8/8/q7/1r5K w - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"])
def test_nothing_to_play(searcher, fen):
    """Mated or stalemated: no move, no crash, at once, even when asked to think for ever and stop."""
    assert think(fen, searcher, depth=5).best == 0
    notes = Notes()
    searcher.start(Board(fen), Limits(infinite=True), notes)
    searcher.stop()
    assert searcher.wait(30)
    assert notes.done.wait(30)
    assert notes.results[0].best == 0


def test_a_listener_that_fails_does_not_end_the_search(searcher, capsys):
    class Broken(Listener):
        def on_info(self, info):
            raise ValueError("broken on purpose")

    assert think(MIDDLEGAME, searcher, Broken(), depth=3).info.depth == 3
    assert "broken on purpose" in capsys.readouterr().err


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_threads_search_and_end(threads):
    """Several searches one after the other, then all threads are gone."""
    before = threading.active_count()
    searcher = Searcher(megabytes=8, threads=threads)
    assert searcher.threads == threads
    for limits in (Limits(depth=8), Limits(nodes=30_000), Limits(movetime=100), Limits(depth=1)):
        result = searcher.think(Board(MIDDLEGAME), limits)
        assert Board(MIDDLEGAME).is_legal(result.best)
        play(Board(MIDDLEGAME), result.info.pv)
    # Several threads take different ways through the tree, so nothing deep is promised. A mate in one is on all of them.
    board = Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1")
    assert_mates(board, searcher.think(board, Limits(depth=10)).info, 1)
    searcher.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_most_threads_end_a_search_on_a_clock(threads):
    """A recapture that every thread plays is thought about for less than its share of the clock."""
    board = Board("r1bqkb1r/ppp2ppp/2n2n2/3P4/8/5N2/PPP2PPP/RNBQKB1R b KQkq - 0 5")
    limits = Limits(remaining=20_000, increment=0)
    soft, hard = time_limits(limits, 30, 10)
    searcher = Searcher(megabytes=8, threads=threads)
    began = time.monotonic()
    searcher.think(board, limits)
    spent = (time.monotonic() - began) * 1000
    searcher.close()
    assert 0.2 * soft < spent < 0.95 * hard


def test_the_number_of_threads_can_change():
    searcher = Searcher(megabytes=4)
    for count in (2, 4, 1, 3, 1):
        searcher.set_threads(count)
        assert searcher.threads == count
        assert searcher.think(Board(), Limits(depth=5)).best
    for count in (0, 257):
        with pytest.raises(ValueError, match="between 1 and 256"):
            searcher.set_threads(count)
    searcher.close()


def test_two_threads_visit_more_nodes_than_one():
    """At the same depth the second thread's nodes come on top: it does work of its own. On a machine whose cores are all
    taken it may come too late once or twice."""
    alone = think(MIDDLEGAME, Searcher(megabytes=8), depth=15).info.nodes
    pair = Searcher(megabytes=8, threads=2)
    for _ in range(25):
        pair.clear()
        together = think(MIDDLEGAME, pair, depth=15).info.nodes
        if together > 1.1 * alone:
            break
    pair.close()
    assert together > 1.1 * alone


def test_idle_threads_cost_nothing():
    searcher = Searcher(megabytes=4, threads=4)
    searcher.think(Board(), Limits(depth=6))
    started = time.process_time()
    time.sleep(0.4)
    assert time.process_time() - started < 0.1
    searcher.close()

"""Inside the search: the recorded engine is the engine, the textbook's searches are minimax, and every node of a tree
that is opened says the truth about its window, its score and its end.
"""

import itertools
import json
import threading
import time
from functools import cache

import chess
import pytest
from searching import MATE, think
from support import scaled

from board import STARTING_FEN, Board
from eval import evaluate
from play.tree import (
    MOST_DEPTH,
    TECHNIQUES,
    CancelledError,
    TooLargeError,
    TreeFullError,
    iterations,
    minimax_leaves,
    record,
    score_text,
)
from play.tree_words import ENDS, PURPOSES, SKIPS
from search import Limits, Searcher
from search.recorded import WORDS
from uci_engine.bench import positions

TEXTBOOK = [name for name in TECHNIQUES if name != "engine"]
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
TOO_LITTLE_TO_MATE = "8/8/4k3/8/3p4/3K4/8/5B2 w - - 0 1"  # after the capture
FENS = [
    STARTING_FEN,
    KIWIPETE,
    "r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",  # mate in one
    "7k/5Q2/8/8/8/8/r7/7K b - - 0 1",  # stalemates and mates
    TOO_LITTLE_TO_MATE,
    "k7/8/2K5/8/8/8/8/7R w - - 98 80",  # the fifty-move rule
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 0 1",
]


@pytest.fixture
def estimated(monkeypatch):
    """For tests that do not care how many leaves minimax would have."""
    monkeypatch.setattr("play.tree.COUNTED_LEAVES", 1_000)


@cache
def minimax_value(fen, depth):
    return minimax(chess.Board(fen), depth)


def minimax(board, depth, ply=0):
    """With python-chess for the rules; only the static evaluation is ours."""
    if not any(board.legal_moves):
        return ply - MATE if board.is_check() else 0
    if ply and (board.is_insufficient_material() or board.halfmove_clock >= 100):
        return 0
    if depth == 0:
        return evaluate(Board(board.fen(), chess960=board.chess960))
    best = -MATE
    for move in list(board.legal_moves):
        board.push(move)
        best = max(best, -minimax(board, depth - 1, ply + 1))
        board.pop()
    return best


def walk(tree, node_id=None, most=10**9):
    """All nodes that can be opened, with the parent's dict: (parent, node)."""
    waiting = [(None, node) for node in tree.children()]
    seen = 0
    while waiting and seen < most:
        parent, node = waiting.pop()
        seen += 1
        yield parent, node
        if node["n_children"] and node["is_open"]:
            waiting += [(node, child) for child in reversed(tree.children(node["id"]))]


# The textbook's searches


@pytest.mark.parametrize("technique", TEXTBOOK)
def test_the_textbook_returns_the_value_of_minimax(technique):
    for fen in FENS:
        for depth in (1, 2, 3):
            if Board(fen).perft(depth) <= scaled(3_000):
                value = record(Board(fen), depth, technique).summary()["value"]
                assert value == minimax_value(fen, depth), (fen, depth)


def test_chess960():
    fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
    wanted = minimax(chess.Board(fen, chess960=True), 2)
    for technique in TEXTBOOK:
        tree = record(Board(fen, chess960=True), 2, technique)
        assert tree.summary()["value"] == wanted
    assert record(Board(fen, chess960=True), 3).summary()["nodes"] > 0


@pytest.mark.parametrize("fen", FENS)
def test_a_good_order_cuts_more_than_a_bad_one(fen):
    """All agree on the value. Alpha-beta never has more leaves than minimax, whatever the order; where a capture draws at
    once, no order is better than another.
    """
    depth = 4 if Board(fen).perft(4) <= scaled(250_000) else 3
    sums = {name: record(Board(fen), depth, name).summary() for name in TEXTBOOK}
    assert len({each["value"] for each in sums.values()}) == 1
    good, bad, plain = (sums[name]["leaves"] for name in ("alphabeta-good", "alphabeta-bad", "minimax"))
    assert good < plain and bad <= plain
    assert good < bad or fen == TOO_LITTLE_TO_MATE


def test_the_start_position_in_figures():
    """Minimax has as many leaves as perft counts, where no game ends before. Of the fewest leaves that alpha-beta can
    have, twice the square root (Knuth and Moore), a good order comes within a few times.
    """
    board = Board()
    minimax_tree = record(board, 4, "minimax").summary()
    assert minimax_tree["leaves"] == minimax_tree["minimax_leaves"] == 197281 and minimax_tree["minimax_exact"]
    assert minimax_tree["nodes"] == 1 + 20 + 400 + 8902 + 197281
    good, bad = (record(board, 4, f"alphabeta-{order}").summary()["leaves"] for order in ("good", "bad"))
    assert 2 * 20**2 - 1 <= good < 197281 / 20
    assert 4 * good < bad < 197281


def test_the_textbook_is_quick_enough_for_a_page():
    started = time.process_time()
    record(Board(), 4, "minimax")
    assert time.process_time() - started < 3 / min(1, scaled(100) / 100)


@pytest.mark.parametrize("technique", TEXTBOOK)
@pytest.mark.parametrize("fen", FENS[2:])
def test_every_node_of_a_textbook_tree_follows_from_its_children(fen, technique):
    """Nodes are searched again when they are opened: windows, scores and cut-offs must be those of one whole search."""
    depth = 3 if Board(fen).perft(3) <= scaled(1_500) else 2
    tree = record(Board(fen), depth, technique, most_nodes=10**6)
    count = leaves = 0
    for _, node in walk(tree):
        if node["kind"] == "skipped":
            assert node["reason"] == "not needed"
            continue
        count += 1
        children = [child for child in tree.children(node["id"]) if child["kind"] != "skipped"]
        if not children:
            leaves += 1
            assert node["reason"] in ("static evaluation", "checkmate", "stalemate", "fifty-move rule") or (
                node["reason"] == "insufficient material"
            )
            continue
        alpha = node["alpha"] if node["alpha"] is not None else -MATE - 1
        beta = node["beta"] if node["beta"] is not None else MATE + 1
        best = -MATE - 1
        for child in children:
            assert best < beta  # otherwise this child was not needed
            assert (child["depth"], child["ply"]) == (node["depth"] - 1, node["ply"] + 1)
            if technique == "minimax":
                assert child["alpha"] is child["beta"] is None
            else:
                assert child["alpha"] == (None if beta == MATE + 1 else -beta)
                assert child["beta"] == (None if max(alpha, best) == -MATE - 1 else -max(alpha, best))
            best = max(best, -child["score"])
        assert node["score"] == best
        is_cut = technique != "minimax" and best >= beta
        assert (node["reason"] == "cut-off") == is_cut == bool(node["cut_by"])
        if is_cut:
            assert node["cut_by"] == children[-1]["san"]
        listed = len(tree.children(node["id"]))
        board = Board(fen)
        for text in tree.line_to(node["id"]):
            board.push_uci(text)
        assert listed == len(board.legal_moves())
    summary = tree.summary()
    assert (count, leaves) == (summary["nodes"], summary["leaves"])


def test_the_line_of_a_textbook_search_has_its_value():
    for technique in TEXTBOOK:
        summary = record(Board(KIWIPETE), 3, technique).summary()
        board = chess.Board(KIWIPETE)
        for san in summary["line"]:
            board.push_san(san)
        assert len(summary["line"]) == 3 and summary["best"] == summary["line"][0]
        assert -evaluate(Board(board.fen())) == summary["value"]


# The engine's own search


@pytest.mark.parametrize("depth", [1, 4, 6])
def test_the_recorded_engine_is_the_engine(depth, estimated):
    """Score, line and number of nodes are those of the search that records nothing."""
    for fen in [*FENS, *positions()][: scaled(len(FENS) + 52)]:
        summary = record(Board(fen), depth, most_nodes=100).summary()
        info = think(fen, Searcher(megabytes=16), depth=depth).info
        assert summary["nodes"] == info.nodes, fen
        assert summary["value_text"] == (score_text(info.score) if not info.is_mate else mate_text(info.score)), fen
        assert len(summary["line"]) == len(info.pv), fen


def mate_text(moves):
    return f"#{moves}" if moves > 0 else f"-#{-moves}"


def test_the_whole_tree_is_there():
    """Every node that was entered, each once; subtree sizes add up; what is not kept is said."""
    for fen in FENS:
        tree = record(Board(fen), 5, most_nodes=200_000)
        summary = tree.summary()
        assert not summary["cut"] and summary["cut_text"] == ""
        entered = [(parent, node) for parent, node in walk(tree) if node["kind"] != "skipped"]
        assert len(entered) == summary["nodes"]
        assert len({node["id"] for _, node in entered}) == len(entered)
        below = {}
        for parent, node in entered:
            if parent is not None:
                below[parent["id"]] = below.get(parent["id"], 0) + node["nodes"]
        for _, node in entered:
            assert node["nodes"] == 1 + below.get(node["id"], 0)
        assert sum(node["id"] not in below for _, node in entered) == summary["leaves"]
        assert sum(node["nodes"] for node in tree.children()) == summary["nodes"]


@pytest.mark.parametrize("fen", FENS)
def test_every_move_is_legal_and_every_window_makes_sense(fen):
    tree = record(Board(fen), 6)
    boards = {}  # by node, with python-chess
    for parent, node in itertools.islice(walk(tree), scaled(4_000)):
        board = chess.Board(fen) if parent is None else boards[parent["id"]].copy(stack=False)
        assert node["turn"] == ("white" if board.turn else "black") or node["uci"] or node["san"] == "null move"
        if node["uci"]:
            move = board.parse_uci(node["uci"])  # raises if it is not legal
            assert board.san(move) == node["san"]
            board.push(move)
        elif node["san"] == "null move":
            board.push(chess.Move.null())
        if node["id"] is not None:
            boards[node["id"]] = board
        if node["kind"] == "skipped":
            assert node["why"] == SKIPS[node["reason"]] and node["score"] is None and node["n_children"] == 0
            continue
        assert node["turn"] == ("white" if board.turn else "black")
        assert node["why"] == ENDS[node["reason"]] and node["what_for"] == PURPOSES[node["purpose"]]
        alpha = -MATE - 1 if node["alpha"] is None else node["alpha"]
        beta = MATE + 1 if node["beta"] is None else node["beta"]
        assert alpha < beta
        if node["reason"] in ("cut-off", "quiet cut-off"):
            # A mate with the next move cannot be beaten: there the window is narrower than the node was asked for.
            assert node["score"] >= min(beta, MATE - node["ply"] - 1)
            assert node["cut_by"] in {child["san"] for child in tree.children(node["id"])} or not node["is_open"]
        elif node["reason"] == "all":
            assert node["score"] <= alpha
        elif node["reason"] in ("reverse futility", "null move", "ProbCut", "stand pat"):
            assert node["score"] >= beta
        elif node["reason"] == "razoring":
            assert node["score"] <= alpha
        elif node["reason"] == "checkmate":
            assert board.is_checkmate() and node["score"] == node["ply"] - MATE
        elif node["reason"] == "stalemate":
            assert board.is_stalemate() and node["score"] == 0
        elif node["reason"] == "insufficient material":
            assert board.is_insufficient_material()
        if node["kind"] in ("PV", "cut", "all"):
            assert node["kind"] == ("cut" if node["score"] >= beta else "all" if node["score"] <= alpha else "PV")


def test_searches_again_are_marked():
    """A reduced search that fails high is repeated: the same move again, at least as deep or with a wider window."""
    found = 0
    for fen in FENS[:3]:
        tree = record(Board(fen), 6)
        for parent, node in walk(tree, most=scaled(5_000)):
            if parent is not None and node["is_research"]:
                found += 1
                earlier = [child for child in tree.children(parent["id"]) if child["uci"] == node["uci"]]
                assert earlier[0]["id"] < node["id"]
    assert found


def test_every_technique_is_seen_at_work(estimated):
    """Over the bench positions nodes end, and moves are left out, for every reason that a shallow search can have."""
    ends, skips, purposes = set(), set(), set()
    for fen in [*FENS, *positions()][: scaled(61)]:
        tree = record(Board(fen), 8)
        summary = tree.summary()
        ends |= set(summary["ends"])
        skips |= set(summary["skips"])
        purposes |= {node["purpose"] for _, node in walk(tree, most=300)}
    if scaled(61) == 61:
        assert ends >= {
            "moves searched", "captures searched", "stand pat", "transposition table", "reverse futility", "null move",
            "razoring", "ProbCut", "multi-cut", "draw", "repetition in reach", "no legal move", "mate distance",
        }  # fmt: skip
        assert skips == set(SKIPS) - {"not needed"}
        assert purposes >= {"search", "reduced", "null window", "full window", "null move", "razoring"}


def test_every_recorded_word_is_explained():
    """Kinds and raw ends besides: these become other words before people see them."""
    inner = {"node", "quiescence", "cut-off", "moves searched", "captures searched", "no legal move", "draw"}
    assert set(WORDS) <= inner | set(PURPOSES) | set(ENDS) | set(SKIPS)
    assert set(TECHNIQUES) == set(MOST_DEPTH)


def test_a_tree_that_is_too_large_loses_its_lowest_levels():
    whole = record(Board(KIWIPETE), 5, most_nodes=10**6)
    small = record(Board(KIWIPETE), 5, most_nodes=300)
    summary = small.summary()
    assert summary["cut"] and "300" not in summary["cut_text"] and summary["kept"] <= 300
    assert f"{whole.summary()['kept']:,}" in summary["cut_text"]
    for field in ("value", "nodes", "leaves", "ends", "skips", "line"):
        assert summary[field] == whole.summary()[field]
    assert [node["score"] for node in small.children()] == [node["score"] for node in whole.children()]
    closed = [node for _, node in walk(small) if not node["is_open"]]
    assert closed and all(node["n_children"] for node in closed)
    assert small.children(closed[0]["id"]) == [] or all(
        child["id"] is None for child in small.children(closed[0]["id"])
    )


def test_a_finished_game_has_no_tree():
    mated = record(Board("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"), 3)
    assert mated.children() == []
    assert mated.summary()["value_text"] == "-#0" and mated.summary()["minimax_leaves"] == 0
    (root,) = record(Board("R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1"), 3, "minimax").children()
    assert (root["reason"], root["score"]) == ("checkmate", -MATE)


def test_two_at_once_do_not_mix(estimated):
    alone = {fen: record(Board(fen), 6).summary() for fen in FENS[:2]}
    together = {fen: [] for fen in alone}

    def work(fen):
        for _ in range(scaled(20)):
            together[fen].append(record(Board(fen), 6).summary())

    threads = [threading.Thread(target=work, args=(fen,)) for fen in alone]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for fen, summaries in together.items():
        assert len(summaries) == scaled(20)
        for summary in summaries:
            assert {**summary, "milliseconds": 0} == {**alone[fen], "milliseconds": 0}


# Around it


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_everything_is_json(technique):
    tree = record(Board(KIWIPETE), 2, technique)
    json.dumps(tree.summary(), allow_nan=False)
    for _, node in walk(tree):
        json.dumps(node, allow_nan=False)
        if node["id"] is not None:
            assert tree.node(node["id"])["score"] == node["score"]
            board = Board(KIWIPETE)
            for text in tree.line_to(node["id"]):
                board.push_uci(text) if text != "0000" else board.push_null()
            assert tree.fen(node["id"]) == board.fen()


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_it_can_be_cancelled(technique):
    with pytest.raises(CancelledError):
        record(Board(KIWIPETE), 4, technique, cancelled=lambda: True)
    questions = []

    def after_three():
        questions.append(time.monotonic())
        return len(questions) > 3

    with pytest.raises(CancelledError):
        record(Board(KIWIPETE), MOST_DEPTH[technique], technique, cancelled=after_three)
    assert len(questions) <= 6


def test_what_cannot_be_recorded_is_refused():
    with pytest.raises(ValueError, match="no technique 'negascout'"):
        record(Board(), 3, "negascout")
    for depth in (0, 6):
        with pytest.raises(ValueError, match="1 to 5"):
            record(Board(), depth, "minimax")
    tree = record(Board(), 2)
    for wrong in (-1, 10**6, "0", 1.5):
        with pytest.raises(KeyError):
            tree.children(wrong)


def test_a_search_that_is_too_large_is_given_up(monkeypatch):
    monkeypatch.setattr("play.tree.MOST_SEARCHED", 100_000)
    with pytest.raises(TooLargeError, match="more than 100,000 nodes at depth 4"):
        record(Board(), 4, "minimax")
    assert record(Board(), 3, "minimax").summary()["nodes"] == 9323


def test_a_textbook_tree_is_opened_only_so_far():
    tree = record(Board(), 4, "minimax", most_nodes=100)
    (root,) = tree.children()
    with pytest.raises(TreeFullError, match="100 nodes"):
        for child in tree.children(root["id"]):
            tree.children(child["id"])


def test_leaves_of_minimax_are_counted_or_estimated():
    assert minimax_leaves(Board(), 4) == (197281, True)
    estimate, is_exact = minimax_leaves(Board(), 6, most=1_000_000)
    assert not is_exact
    assert 0.3 < estimate / 119060324 < 3  # the known perft of six plies


# Depth by depth


def test_iterations_of_a_search():
    searcher = Searcher(megabytes=16)
    rows = list(iterations(searcher, Board(KIWIPETE), Limits(depth=9)))
    assert [row["depth"] for row in rows] == list(range(1, 10))
    assert sum(row["own_nodes"] for row in rows) == rows[-1]["nodes"]
    info = think(KIWIPETE, Searcher(megabytes=16), depth=9).info
    assert (rows[-1]["nodes"], rows[-1]["score"]) == (info.nodes, info.score)
    score = None
    for row in rows:
        json.dumps(row, allow_nan=False)
        board = chess.Board(KIWIPETE)
        for san in row["line"]:
            board.push_san(san)
        assert row["best"] == row["line"][0]
        b = row["branching"]
        assert sum(b**ply for ply in range(1, row["depth"] + 1)) == pytest.approx(row["nodes"], rel=0.02)
        assert row["change"] == (None if score is None else row["score"] - score)
        score = row["score"]


class Deaf:
    """A search that reports nothing before it is stopped, as in the middle of a long depth."""

    stopped = False

    def start(self, board, limits, reports):
        pass

    def stop(self):
        self.stopped = True

    def wait(self):
        assert self.stopped


def test_iterations_are_cancelled_between_two_depths():
    searcher = Deaf()
    with pytest.raises(CancelledError):
        list(iterations(searcher, Board(), Limits(infinite=True), iter([False, True]).__next__))
    assert searcher.stopped


def test_iterations_end_when_nobody_listens():
    searcher = Searcher(megabytes=16)
    rows = iterations(searcher, Board(), Limits(infinite=True))
    assert next(rows)["depth"] == 1
    assert searcher.is_running
    rows.close()
    assert not searcher.is_running
    searcher.close()


def test_a_mate_is_told_in_moves():
    *_, last = iterations(Searcher(megabytes=1), Board("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"), Limits(depth=4))
    assert (last["score_text"], last["best"]) == ("#1", "Rd8#")

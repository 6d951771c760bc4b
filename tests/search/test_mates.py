"""Mates: the right distance, and a line that shows it to the end."""

import random

import chess
import pytest
from searching import GUESSES, assert_mates, switched_off, think
from support import read_epd, scaled

from board import Board
from search import Searcher

# Distances of the long ones were checked with Stockfish 15.1 (`go mate N`).
KNOWN = [
    (1, "back rank", "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"),
    (1, "fool's mate", "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2"),
    (1, "scholar's mate", "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"),
    (1, "smothered", "r5rk/6pp/8/6N1/8/8/8/6K1 w - - 0 1"),
    (2, "Morphy at the opera", "4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 16"),
    (2, "Legal", "r2qkbnr/ppp2p1p/2np2p1/4N3/2B1P3/2N5/PPPP1PPP/R1BbK2R w KQkq - 0 6"),
    (2, "Boden", "2kr1b1r/pp1npppp/2p1bn2/7q/5B2/2NB1Q1P/PPP1N1P1/2KR3R w - - 0 1"),
    (2, "underpromotion", "8/5P1k/5K2/8/8/8/8/8 w - - 0 1"),
    (3, "Reti - Tartakower", "rnb1kb1r/pp3ppp/2p5/4q3/4n3/3Q4/PPPB1PPP/2KR1BNR w kq - 0 9"),
    (4, "Philidor's legacy", "5r1k/6pp/8/6N1/8/1Q6/8/6K1 w - - 0 1"),
    (4, "bishop and knight", "7k/8/5K2/5N2/5B2/8/8/8 w - - 0 1"),
    (5, "queen sacrifice", "1r2kb1r/1P2pp1p/p3q1p1/Q2pN2n/3P4/4P3/PP3PPP/R3K2R w - - 0 1"),
    (5, "knight and queen", "1k6/pbp4p/1p1n2p1/PP6/1N4n1/6Pq/6QP/5R1K w - - 0 1"),
    (6, "queen and rooks", "2b1r1k1/5Rp1/1Q5p/3pp3/6PP/8/PPq5/K4R2 w - - 0 1"),
    (6, "king hunt", "1r2nk2/1b2Rppp/p7/1p3N2/3Q4/5P2/PP4PP/2q2BK1 w - - 0 1"),
    (7, "Lasker - Thomas", "rn3rk1/pbppq1pp/1p2pb2/4N2Q/3PN3/3B4/PPP2PPP/R3K2R w KQ - 7 11"),
    (7, "two knights", "2N4k/3p1r1r/2p3p1/7p/1pB4Q/1PnP1N1P/2q3P1/K3R3 w - - 0 1"),
    (8, "two rooks", "2r2rk1/5pn1/2q1p3/p7/3p1P2/1Q6/PPP5/2K1R1R1 w - - 0 1"),
    (8, "queen hunts alone", "1k6/1bpQN3/1p6/p7/6p1/2NP1n2/5PK1/4q3 w - - 0 1"),
]


@pytest.mark.parametrize(("moves", "fen"), [pytest.param(n, fen, id=f"{n}-{name}") for n, name, fen in KNOWN])
def test_known_mates(moves, fen):
    board = Board(fen)
    result = think(board, mate=moves, nodes=3_000_000)
    assert_mates(board, result.info, moves)
    assert result.best == result.info.pv[0]
    # From the other side: after the key move the opponent is mated in one move less.
    board.push(result.best)
    if moves > 1:
        assert_mates(board, think(board, mate=moves - 1, nodes=3_000_000).info, 1 - moves)


def test_a_mate_at_a_leaf_has_its_whole_line():
    """A leaf on the principal variation once took the mate from the table, and the line ended there."""
    board = Board("8/8/8/6pN/6Nb/8/5p2/5K1k w - - 0 1")
    assert_mates(board, think(board, mate=8, nodes=1_000_000).info, 8)


@pytest.mark.parametrize(
    ("moves", "fen"),
    [
        # A quiet key move, and a queen for a pawn: pruning would not look at either for a long time.
        (3, "8/8/8/8/1p1N4/1Bk1K3/3N4/b7 w - - 0 1"),
        (4, "r3r1k1/pp1q1pp1/4b1p1/3p2B1/3Q1R2/8/PPP3PP/4R1K1 w - - 0 1"),
    ],
)
def test_go_mate_does_not_guess(moves, fen):
    """Distances by Stockfish 15.1 (`go mate N`)."""
    assert_mates(Board(fen), think(fen, mate=moves, nodes=500_000).info, moves)


COLLECTION = read_epd("mates.epd")


def sample(moves, count, seed, ending=("",)):
    """Some of the collection's mates in so many moves, by how the key move ends: `+` or `#` for a check."""
    mates = [fen for fen, mate in COLLECTION if int(mate["dm"]) == moves and mate["bm"].endswith(ending)]
    return random.Random(seed).sample(mates, min(len(mates), scaled(count)))


def is_mate_in(board, moves):
    """By python-chess and brute force: can the side to move force mate in so many moves? For one or two."""
    for move in list(board.legal_moves):
        board.push(move)
        if moves == 1:
            found = board.is_checkmate()
        else:
            replies = list(board.legal_moves)
            found = bool(replies)
            for reply in replies:
                board.push(reply)
                found = is_mate_in(board, moves - 1)
                board.pop()
                if not found:
                    break
            found = found or board.is_checkmate()
        board.pop()
        if found:
            return True
    return False


@pytest.mark.parametrize("moves", [1, 2])
def test_the_collection_tells_the_truth(moves):
    """What the next test relies on, by an independent program: mate in so many moves, and no faster."""
    for fen in sample(moves, 12, seed=moves):
        board = chess.Board(fen)
        assert is_mate_in(board, moves), fen
        assert moves == 1 or not is_mate_in(board, moves - 1), fen


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_short_mates_without_guessing(moves):
    """Alpha-beta that does not prune by guessing finds the mate at the very depth where it lies, and never a longer one."""
    searcher = Searcher(megabytes=8)
    with switched_off(*GUESSES):
        for fen in sample(moves, {1: 40, 2: 20, 3: 5}[moves], seed=moves):
            board = Board(fen)
            assert_mates(board, think(board, searcher, depth=2 * moves).info, moves)


@pytest.mark.parametrize("moves", range(1, 9))
def test_collection(moves):
    """The search as it plays: pruning hides some mates for a while, but most are found, and none is found wrong.

    Problems with quiet key moves are what pruning is bad at; these begin with a check, as mates in games do.
    """
    searcher = Searcher(megabytes=8)
    chosen = sample(moves, 10, seed=10 + moves, ending=("+", "#"))
    found = 0
    for fen in chosen:
        board = Board(fen)
        info = think(board, searcher, mate=moves, nodes=150_000).info
        if info.is_mate and info.bound == "exact":
            assert info.score >= moves, f"{fen}: the collection says mate in {moves}"
            assert_mates(board, info, info.score)
            found += info.score == moves
    least = {1: 1, 2: 0.8, 3: 0.7, 4: 0.7, 5: 0.4, 6: 0.4, 7: 0.1, 8: 0.1}[moves]
    if len(chosen) >= 10:  # of the few positions that a checked build looks at, too few may be found
        assert found >= len(chosen) * least


def test_no_way_out():
    assert think("7k/8/8/8/8/8/q7/1r5K w - - 0 1", depth=2).best == 0  # mated already: nothing to play
    board = Board("k7/8/1K6/8/8/8/8/7R b - - 0 1")  # the only move is Kb8, and Rh8 is mate
    assert_mates(board, think(board, depth=3).info, -1)


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_go_mate_ends_with_the_first_mate_that_is_short_enough(moves):
    """Morphy's mate in two satisfies `mate 2` and more, but `mate 1` searches on until another limit ends it."""
    info = think("4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 16", mate=moves, depth=20).info
    assert (info.is_mate, info.score) == (True, 2)
    assert (info.depth < 20) == (moves >= 2)

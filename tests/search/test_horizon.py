"""What lies behind the horizon: the two classic lessons of textbooks, and zugzwang.

Russell and Norvig's chapter on adversarial search teaches with three chess diagrams. Two of them differ only by a
rook and show that a position must be quiet before it is evaluated; the third shows the horizon effect. They are rebuilt
here from their description, and what the chapter says about them is checked.
"""

import pytest
from networks import evaluating_with
from searching import EVERYTHING, GUESSES, assert_mates, play, san_line, switched_off, think
from support import read_epd

from board import Board
from eval import CLASSICAL, evaluate
from search import Searcher

# White to move. Black is a knight and two pawns up. In the first position that decides the game; in the second the
# rook stands on h1 instead of g1 and simply takes the queen.
QUEEN_IS_SAFE = "1k2r3/ppp2p2/2n1p1p1/8/7q/5P2/PPPQ4/1K4R1 w - - 0 1"
QUEEN_HANGS = "1k2r3/ppp2p2/2n1p1p1/8/7q/5P2/PPPQ4/1K5R w - - 0 1"


def test_a_queen_en_prise():
    """The static evaluation counts what stands on the board, and that is the same in both positions. One ply of search
    with quiescence behind it tells them apart, and deeper search agrees with the verdict."""
    safe, hangs = evaluate(Board(QUEEN_IS_SAFE)), evaluate(Board(QUEEN_HANGS))
    assert safe < -200 and hangs < -200
    assert abs(safe - hangs) < 150
    for depth in (1, 8):
        safe, hangs = think(QUEEN_IS_SAFE, depth=depth), think(QUEEN_HANGS, depth=depth)
        assert Board(QUEEN_HANGS).san(hangs.best) == "Rxh4"
        assert safe.info.score < -200
        assert hangs.info.score > 0
        assert hangs.info.score - safe.info.score > 500


def test_why_quiescence_search_exists():
    """Black to move, one ply deep. Without quiescence search the horizon lies right behind Qxh4, and the pawn that it
    wins is all that the classical evaluation sees: better than a quiet move. With it, Rxh4 is seen too. (The network has an
    idea of what a rook and a queen on one file mean.)"""
    board = Board("1k1qr3/ppp2p2/2n1p1p1/8/7P/5P2/PPP5/1KQ4R b - - 0 1")
    greedy, quiet = (board.parse_san("Qxh4"),), (board.parse_san("a6"),)
    with switched_off(*EVERYTHING), evaluating_with(CLASSICAL):
        assert think(board, depth=1, moves=greedy).info.score > think(board, depth=1, moves=quiet).info.score
    with switched_off(*(name for name in EVERYTHING if name != "quiescence")):
        assert think(board, depth=1, moves=greedy).info.score < think(board, depth=1, moves=quiet).info.score - 300


# Black to move. The bishop on a8 is walled in by its own pawn on b7: Rd8 and Rxa8 cannot be prevented. But the pawns
# on f5, g6 and h7 can give one check after another, and each check with its answer takes two plies.
HORIZON = "b7/1p4kp/1P4p1/5p2/8/4K3/6PP/3R4 b - - 0 1"


def is_pawn_check(board, move):
    return board.gives_check(move) and board.piece_at(move & 63).lower() == "p"


def pawn_checks(board, line):
    """Those moves of a line with which the side that begins it gives check with a pawn."""
    return [san for ply, san in enumerate(san_line(board, line)) if ply % 2 == 0 and san[0] in "fgh" and "+" in san]


@pytest.mark.usefixtures("classical")
def test_the_horizon_effect():
    """Six plies without any extension: the pawns are thrown in until the loss of the bishop falls off the end of the
    line. The score looks better; the pawns are gone and the bishop is lost all the same."""
    board = Board(HORIZON)
    with switched_off(*EVERYTHING):
        shallow = think(board, depth=6).info
    assert pawn_checks(board, shallow.pv)
    assert play(board, shallow.pv).piece_at(56) == "b"  # still alive at the horizon

    # The search as it plays sees behind the pawns. It lets the bishop go, keeps the pawns, and brings the king.
    deep = think(board, depth=14)
    line = san_line(board, deep.info.pv)
    assert "Rxa8" in line
    assert not is_pawn_check(board, deep.best)
    assert deep.info.score < shallow.score  # it knows more, so it hopes for less


# Zugzwang: the side to move would be fine if it could pass. Null-move pruning asks just that question, and gets the
# wrong answer, unless it is not asked (no pieces) or the answer is verified (deep nodes).


@pytest.mark.parametrize("turn", "wb")
def test_both_sides_are_in_zugzwang(turn):
    """Whoever moves must give up the pawn. A pass would keep it, so a null move would prove that all is well; with
    nothing but king and pawns none is made."""
    fen = f"8/8/8/4pK2/3kP3/8/8/8 {turn} - - 0 1"
    assert abs(evaluate(Board(fen))) < 150
    assert think(fen, depth=16).info.score < -400


def test_zugzwang_with_pieces_on_the_board():
    """A public test position: Kh6 leaves queen and rook without a good move. Null moves are made here, and are wrong in
    places; verification and depth must get over it."""
    board = Board("1q1k4/2Rr4/8/2Q3K1/8/8/8/8 w - - 0 1")
    assert board.san(think(board, Searcher(megabytes=32), nodes=2_000_000).best) == "Kh6"


def test_without_guessing_zugzwang_is_nothing_special():
    """Another one: Qg7 waits, every black move lets the queen in, mate in four. Eight plies of alpha-beta that neither
    passes nor prunes see it; with null moves it takes much longer, and that is their price."""
    board = Board("6Q1/8/8/7k/8/8/3p1pp1/3Kbrrb w - - 0 1")
    with switched_off(*GUESSES):
        result = think(board, Searcher(megabytes=16), depth=8)
    assert board.san(result.best) == "Qg7"
    assert_mates(board, result.info, 4)


def test_the_public_zugzwang_collection():
    """A third of it within 150,000 nodes each, without null moves."""
    searcher = Searcher(megabytes=16)
    collection = read_epd("zugzwang.epd")
    assert len(collection) == 12
    solved = 0
    with switched_off("null_move"):
        for fen, problem in collection:
            board = Board(fen)
            best = {board.parse_san(text) for text in problem["bm"].split()}
            solved += think(board, searcher, nodes=150_000).best in best
    assert solved >= 4

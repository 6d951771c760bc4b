"""What the tests of the search share: a search from a fresh state, techniques switched off, and checking a line."""

from contextlib import contextmanager

from board import Board, Termination
from search import Limits, Searcher
from search.parameters import reset
from search.techniques import TECHNIQUES, switch_off

MATE = 32000  # the score of being mated now, as search/score.pxd has it
EVERYTHING = tuple(each.name for each in TECHNIQUES)
# Whatever cuts, reduces or extends by guessing. Without these the tree is that of alpha-beta with quiescence search.
GUESSES = tuple(each.name for each in TECHNIQUES if each.guesses)


@contextmanager
def switched_off(*names):
    """The search without some of its techniques, for as long as the block lasts."""
    try:
        switch_off(*names)
        yield
    finally:
        reset()


def think(board, searcher=None, listener=None, **limits):
    """A search by a mind that knows nothing yet. `board` may be a FEN."""
    board = Board(board) if isinstance(board, str) else board
    searcher = searcher or Searcher(megabytes=8)
    searcher.clear()
    return searcher.think(board, Limits(**limits), listener)


def play(board, line):
    """A copy of the board after a line, every move of which must be legal."""
    board = board.copy()
    for move in line:
        board.push(move)
    return board


def san_line(board, line):
    board = board.copy()
    texts = []
    for move in line:
        texts.append(board.san(move))
        board.push(move)
    return texts


def assert_mates(board, info, moves):
    """The score is mate in so many moves (below zero: being mated), and the line goes there, neither longer nor shorter."""
    assert (info.is_mate, info.score) == (True, moves), board.fen()
    assert len(info.pv) == (2 * moves - 1 if moves > 0 else -2 * moves), board.fen()
    outcome = play(board, info.pv).outcome()
    assert outcome is not None and outcome.termination is Termination.CHECKMATE, board.fen()
    assert outcome.winner == (board.turn if moves > 0 else 1 - board.turn)

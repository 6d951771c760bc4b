"""What the tests of the search share: a search from a fresh state, switches, and checking a line."""

from contextlib import contextmanager

from board import Board, Termination
from search import Limits, Searcher
from search.parameters import TABLE, reset, set_parameter

MATE = 32000  # the score of being mated now, as search/score.pxd has it
SWITCHES = tuple(each.name for each in TABLE if each.name.startswith("use_"))
# Whatever cuts, reduces or extends by guessing. Without these the tree is that of alpha-beta with quiescence search.
GUESSES = (
    "use_aspiration",
    "use_null_move",
    "use_reverse_futility",
    "use_razoring",
    "use_probcut",
    "use_internal_reduction",
    "use_late_move_pruning",
    "use_futility",
    "use_see_pruning",
    "use_history_pruning",
    "use_late_move_reduction",
    "use_check_extension",
    "use_singular_extension",
)


@contextmanager
def switched_off(*names):
    """The search without some of its techniques, for as long as the block lasts."""
    try:
        for name in names:
            set_parameter(name, 0)
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

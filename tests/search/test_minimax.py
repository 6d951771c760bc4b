"""Alpha-beta is minimax, only faster: without the techniques that guess, both return the same score.

The minimax below is as plain as it can be: it looks at every line, knows nothing of windows, and takes the largest
score among the moves, each seen from the other side. It shares with the search the rules, the evaluation at the end of
a line, and what counts as a draw.
"""

import pytest
from positions import random_walk
from searching import EVERYTHING, MATE, switched_off, think
from support import scaled

from board import Board
from eval import evaluate
from search import Searcher


def is_draw(board, keys, root):
    """Below the root: fifty moves (mate goes first), bare kings and the like, and repetition.

    One repetition is enough when both times lie inside the tree; a position of the game must come a third time.
    `keys` are those of the whole line, the position on the board last; the root's is at index `root`.
    """
    if board.halfmove_clock >= 100:
        return not board.is_check() or bool(board.legal_moves())
    if board.is_insufficient_material():
        return True
    before = [index for index in range(len(keys) - 1) if keys[index] == keys[-1]]
    return any(index > root for index in before) or len(before) >= 2


def minimax(board, depth, keys, root):
    """The score of the position for the side to move, after every line of `depth` plies."""
    ply = len(keys) - 1 - root
    if ply > 0:
        if is_draw(board, keys, root):
            return 0
        if depth == 0:
            return evaluate(board)
    scores = []
    for move in board.legal_moves():
        board.push(move)
        keys.append(board.key)
        scores.append(-minimax(board, depth - 1, keys, root))
        keys.pop()
        board.pop()
    if not scores:
        return ply - MATE if board.is_check() else 0
    return max(scores)


def minimax_score(board, depth):
    """As `Info` writes it: (mate in sight, moves or centipawns)."""
    game = board.copy()
    keys = [game.key]
    while game.ply:
        game.pop()
        keys.insert(0, game.key)
    score = minimax(board.copy(), depth, keys, len(keys) - 1)
    if abs(score) > MATE - 300:
        return True, (MATE - score + 1) // 2 if score > 0 else -((MATE + score) // 2)
    return False, score


def search_score(board, depth, with_table):
    with switched_off(*(name for name in EVERYTHING if name != "transposition_table" or not with_table)):
        info = think(board, Searcher(megabytes=4), depth=depth).info
    assert info.depth == depth
    return info.is_mate, info.score


FEW_MOVES = [
    # pawn endings, blocked and open
    "8/8/4k3/3p4/3P4/4K3/8/8 w - - 0 1",
    "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 0 1",
    "8/8/1p6/p1p2k2/P1P2p2/1P3P1K/8/8 w - - 0 1",
    "8/k1P5/8/1K6/8/8/p7/8 w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    # en passant and promotion
    "8/8/8/8/1Pp5/8/K5k1/8 b - b3 0 1",
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 0 1",
    # mates and stalemates within reach
    "7k/5Q2/8/8/8/8/r7/7K b - - 0 1",
    "8/5P1k/5K2/8/8/8/8/8 w - - 0 1",
    "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
    "k7/8/2K5/8/8/8/8/7R w - - 0 1",
    "8/8/8/8/8/5k2/5p2/5K2 b - - 0 1",
    # a capture that leaves too little to mate
    "8/8/4k3/8/3p4/3K4/8/5B2 w - - 0 1",
    "8/8/8/3kn3/4N3/3K4/8/8 w - - 0 1",
    # castling
    "4k3/8/8/8/8/8/7p/R3K2R w KQ - 0 1",
    "r3k3/p7/8/8/8/8/P7/4K2R b Kq - 0 1",
]


@pytest.mark.parametrize("with_table", [False, True], ids=["no table", "table"])
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_few_moves(depth, with_table):
    """With at most four plies no repetition lies inside the tree, and no position comes back at another depth: the
    table must not change a thing."""
    for fen in FEW_MOVES:
        board = Board(fen)
        if board.perft(depth) <= scaled(30_000):
            assert search_score(board, depth, with_table) == minimax_score(board, depth), fen


@pytest.mark.parametrize("with_table", [False, True], ids=["no table", "table"])
def test_random_games(with_table):
    compared = 0
    for seed in range(scaled(12)):
        for board in random_walk(seed, plies=120):
            fresh = Board(board.fen().rsplit(" ", 2)[0] + " 0 1")
            if board.ply % 17 == 0 and board.legal_moves():
                depth = 3 if board.perft(3) <= 3_000 else 2
                assert search_score(fresh, depth, with_table) == minimax_score(fresh, depth), fresh.fen()
                compared += 1
    assert compared >= scaled(40)


@pytest.mark.parametrize("depth", [5, 6])
@pytest.mark.parametrize(
    "fen",
    [
        "8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 0 1",  # nothing but king moves
        "8/8/8/4pK2/3kP3/8/8/8 w - - 0 1",
        "k7/p7/P7/8/8/8/8/K7 w - - 94 80",  # the fifty-move rule ends every line
        "k7/8/2K5/8/8/8/8/7R w - - 97 80",  # mate comes with the hundredth half-move
        "k7/8/2K5/8/8/8/8/7R w - - 98 80",  # a half-move too late
    ],
)
def test_repetitions_and_fifty_moves(fen, depth):
    """Deep enough for lines that come back. What a draw is depends on the way there, so the table stays off."""
    board = Board(fen)
    if board.perft(depth) > 60_000:
        depth = 4
    assert search_score(board, depth, False) == minimax_score(board, depth)


def test_positions_from_the_game_count():
    """A king has walked to and fro: for some moves the third repetition is near, for others not."""
    board = Board("8/5k2/3p4/1p1Pp2p/pP2Pp1P/P4P1K/8/8 b - - 0 1")
    for text in ("f7f6", "h3g2", "f6f7", "g2h3", "f7f6", "h3g2", "f6f7"):
        board.push_uci(text)
        assert search_score(board, 5, False) == minimax_score(board, 5), board.fen()

"""The move picker hands out every legal move once, whatever hash move, killers and histories say."""

import pytest
from positions import random_walk
from support import CHESS960, STANDARD, scaled

from board import STARTING_FEN, Board
from search.workbench import picked_moves, picked_tactical, picker_perft

SEEDS = (1, 20240607)


def shallow(known, chess960, most):
    for fen, totals in known:
        depth = max((depth for depth, leaves in totals.items() if leaves <= most), default=None)
        if depth:
            yield fen, depth, totals[depth], chess960


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("chess960", [False, True], ids=["standard", "chess960"])
def test_perft_through_the_picker(chess960, seed):
    """The totals are those that other programs counted."""
    positions = list(shallow(CHESS960 if chess960 else STANDARD, chess960, scaled(100_000)))
    assert len(positions) >= 100
    for fen, depth, leaves, is_960 in positions:
        assert picker_perft(Board(fen, chess960=is_960), depth, seed) == leaves, fen


def positions(count):
    for seed in range(count):
        for board in random_walk(seed, plies=90):
            if board.ply % 9 == 0 and board.legal_moves():
                yield board


def test_the_order_of_the_stages():
    """Hash move, good captures, killers, quiet moves, bad captures."""
    for seed, board in enumerate(positions(scaled(10)), 1):
        quiets, tactical = board.quiet_moves(), board.tactical_moves()
        killers = (quiets[0], quiets[-1]) if len(quiets) >= 2 else (0, 0)
        hash_move = board.legal_moves()[seed % len(board.legal_moves())]
        picked = picked_moves(board, hash_move, killers, seed)
        assert sorted(picked) == sorted(board.legal_moves())
        assert picked[0] == hash_move
        good = [move for move in tactical if board.see(move) and move != hash_move]
        bad = [move for move in tactical if not board.see(move) and move != hash_move]
        assert set(picked[1 : 1 + len(good)]) == set(good)
        assert set(picked[len(picked) - len(bad) :]) == set(bad)
        expected = [move for move in killers if move and move != hash_move]
        assert picked[1 + len(good) : 1 + len(good) + len(expected)] == expected


def test_moves_from_elsewhere_are_not_believed():
    """A hash move or a killer of another position must not be played here unless it is legal."""
    board = Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    legal = sorted(board.legal_moves())
    for move in range(0, 65536, 7):
        assert sorted(picked_moves(board, move)) == legal
        if not board.is_legal(move):
            assert sorted(picked_moves(board, 0, (move, move))) == legal


def test_quiet_moves_can_be_left_out():
    """Once the caller wants no more quiet moves, only captures follow, and all of them."""
    for board in positions(scaled(6)):
        tactical = board.tactical_moves()
        for wanted in (0, 1, 3):
            picked = picked_moves(board, quiets=wanted)
            assert sorted(move for move in picked if move in tactical) == sorted(tactical)
            assert len(picked) - len(tactical) <= max(1, wanted)


@pytest.mark.parametrize("threshold", [-300, 0, 1, 200])
def test_tactical_moves_that_win_enough(threshold):
    seen = 0
    for board in positions(scaled(10)):
        wanted = sorted(move for move in board.tactical_moves() if board.see(move, threshold))
        for hash_move in (0, board.legal_moves()[0], wanted[0] if wanted else 0):
            assert sorted(picked_tactical(board, hash_move, threshold)) == wanted
        seen += len(wanted)
    assert seen > 0


def test_a_valuable_victim_comes_first():
    """The pawn may take a queen or a rook, the king a knight."""
    board = Board("4k3/8/8/2q1r3/3P4/8/3n4/3K4 w - - 0 1")
    assert [board.san(move) for move in picked_moves(board)[:3]] == ["dxc5", "dxe5", "Kxd2"]


def test_histories_alone_never_lose_a_move():
    board = Board(STARTING_FEN)
    for seed in range(1, scaled(200)):
        assert len(set(picked_moves(board, seed=seed))) == 20

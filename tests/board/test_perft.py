"""Exact leaf counts: the move generator against totals that other programs counted."""

import pytest
from support import CHESS960, DATA, STANDARD, read_perft, scaled

from board import Board

CHUNKS = 8


def positions(known, chess960):
    name = "chess960" if chess960 else "standard"
    return [pytest.param(fen, totals, chess960, id=f"{name}-{number}") for number, (fen, totals) in enumerate(known, 1)]


def check(fen, totals, chess960, most):
    board = Board(fen, chess960=chess960)
    for depth, leaves in sorted(totals.items()):
        if depth <= 2 or leaves <= most:
            assert board.perft(depth) == leaves, f"{fen} at depth {depth}"


def test_the_files_are_large_enough():
    assert len({fen for fen, _ in STANDARD}) >= 120
    assert len({fen for fen, _ in CHESS960}) >= 100
    assert all(len(totals) >= 3 for _, totals in STANDARD + CHESS960)


@pytest.mark.parametrize(("fen", "totals", "chess960"), positions(STANDARD, False) + positions(CHESS960, True))
def test_own_positions(fen, totals, chess960):
    check(fen, totals, chess960, scaled(20_000_000))


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", ["standard", "chess960"])
def test_public_positions(name, chunk):
    positions = read_perft(DATA / f"perft_public_{name}.epd")
    assert len(positions) >= 150
    for fen, totals in positions[chunk::CHUNKS]:
        check(fen, totals, name == "chess960", scaled(3_000_000))


def test_depth_zero_is_the_position_itself():
    assert Board().perft(0) == 1


@pytest.mark.parametrize("depth", [-1, 31])
def test_depths_out_of_range(depth):
    with pytest.raises(ValueError, match="depth from 0 to 30"):
        Board().perft(depth)


def test_perft_leaves_the_board_alone():
    board = Board()
    before = board.position_bytes()
    board.perft(3)
    assert board.position_bytes() == before
    assert board.ply == 0

"""Perft: the number of move sequences of a given length. Known totals prove the generator right."""

import cython
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import Position, make_move
from cython.cimports.board.types import MAX_MOVES, Move, u64


def count_leaves(position, depth):
    """The last ply is counted, not played: all generated moves are legal."""
    moves: Move[MAX_MOVES]
    after: Position
    leaves: u64 = 0
    index: cython.int
    if depth <= 0:
        return 1
    count: cython.int = generate(position, moves, ALL_MOVES)
    if depth == 1:
        return count
    for index in range(count):
        make_move(position, cython.address(after), moves[index])
        leaves += count_leaves(cython.address(after), depth - 1)
    return leaves

"""Moves along the line that is being searched: from one frame to the next."""

import cython
from cython.cimports.board.position import Position, attacked_squares, make_move, make_null_move
from cython.cimports.board.types import NO_MOVE
from cython.cimports.search.history import NO_ROW, piece_to
from cython.cimports.search.parameters import tune


def set_move(worker, frame, move):
    """Notes the move that is about to be searched, and prepares the child's place in the line."""
    child: cython.pointer(Frame) = frame + 1
    frame.move = move
    frame.row = cython.address(worker.histories.continuation[piece_to(cython.address(frame.position), move)][0])
    make_move(cython.address(frame.position), cython.address(child.position), move)
    child.plies_since_null = frame.plies_since_null + 1
    worker.keys[worker.root_key + frame.ply + 1] = child.position.key


def set_null_move(worker, frame):
    child: cython.pointer(Frame) = frame + 1
    frame.move = NO_MOVE
    frame.row = cython.address(worker.histories.continuation[NO_ROW][0])
    make_null_move(cython.address(frame.position), cython.address(child.position))
    child.plies_since_null = 0
    worker.keys[worker.root_key + frame.ply + 1] = child.position.key


def set_move_context(frame):
    """Notes what the history of this node's quiet moves depends on: earlier moves, and what the other side attacks."""
    position: cython.pointer(Position) = cython.address(frame.position)
    frame.context.rows[0] = (frame - 1).row
    frame.context.rows[1] = (frame - 2).row
    frame.context.rows[2] = (frame - 4).row
    frame.context.threats = attacked_squares(position, position.turn ^ 1) if tune.use_threats else 0

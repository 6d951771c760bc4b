"""`quetzal d`."""

import json
import sys

from command.arguments import add_chess960, add_fen, add_json, board_of
from uci_engine.text import board_lines


def add_arguments(parser):
    add_fen(parser)
    add_chess960(parser)
    add_json(parser)


def run(options):
    show(board_of(options), options.json)


def show(board, as_json):
    """The position in the form that the reader likes: for programs, for people, or as the UCI dialogue does."""
    if as_json:
        print(json.dumps(facts(board)))
    elif sys.stdout.isatty():
        from command.board_view import print_board

        print_board(board)
    else:
        for line in board_lines(board):
            print(line)


def facts(board):
    outcome = board.outcome()
    return {
        "fen": board.fen(),
        "key": f"{board.key:016X}",
        "turn": "black" if board.turn else "white",
        "check": board.is_check(),
        "moves": [board.uci(move) for move in board.legal_moves()],
        "san": [board.san(move) for move in board.legal_moves()],
        "outcome": None if outcome is None else {"result": outcome.result, "reason": outcome.termination.name.lower()},
    }

"""`quetzal flip`: the same position with colours changed; a good evaluation does not care."""

from board import STARTING_FEN, Board
from command.d import add_arguments, show

__all__ = ("add_arguments", "run")


def run(options):
    show(Board(options.fen or STARTING_FEN, chess960=options.chess960).mirrored(), options.json)

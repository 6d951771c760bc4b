"""`quetzal flip`: the same position with colours changed; a good evaluation does not care."""

from command.arguments import board_of
from command.d import add_arguments, show

__all__ = ("add_arguments", "run")


def run(options):
    show(board_of(options).mirrored(), options.json)

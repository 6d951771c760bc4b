"""The repertoire behind Quetzal's own book: main lines with their codes and names, and what an opening is called."""

import functools
import itertools
from importlib import resources
from typing import NamedTuple

from board import Board

FILE = "repertoire.txt"


class Line(NamedTuple):
    code: str
    name: str
    moves: list  # in algebraic notation

    @property
    def title(self):
        return f"{self.code} {self.name}"


def read_repertoire(path=None):
    """The lines of a file, or of the repertoire that comes with the package, every move checked.

    ValueError names the place where something is wrong.
    """
    source = resources.files("book.opening").joinpath(FILE) if path is None else path
    lines = []
    for number, text in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        title, colon, moves = text.partition(":")
        code, _, name = title.strip().partition(" ")
        if not colon or not name:
            raise ValueError(f"{source}:{number}: a line is 'CODE NAME: MOVES'")
        board = Board()
        try:
            for move in moves.split():
                board.push_san(move)
        except ValueError as error:
            raise ValueError(f"{source}:{number}: {error}") from None
        lines.append(Line(code, name, moves.split()))
    return lines


def same_position(board):
    """What makes two positions the same: everything but the counters."""
    return board.fen().rsplit(" ", 2)[0]


class OpeningNames:
    """Names of positions. Where lines part only later, a position has the part of the name that they share."""

    def __init__(self, lines):
        self._names = {}
        for line in lines:
            board = Board()
            parts = [part.strip() for part in line.name.split(",")]
            for text in line.moves:
                board.push_san(text)
                position = same_position(board)
                known = self._names.get(position)
                self._names[position] = parts if known is None else _shared(known, parts)

    def of(self, board):
        """The name of this position, empty if it has none."""
        return ", ".join(self._names.get(same_position(board), ()))

    def of_game(self, moves):
        """The name of the last position with a name, in a game from the usual start; moves in UCI's notation."""
        board, found = Board(), ""
        for text in moves[:40]:  # no line of the repertoire is longer
            board.push_uci(text)
            found = self.of(board) or found
        return found


def _shared(one, other):
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return [part for part, _ in pairs]


@functools.cache
def opening_names():
    """The names of the repertoire. Reading it takes a tenth of a second, so it is read once."""
    return OpeningNames(read_repertoire())

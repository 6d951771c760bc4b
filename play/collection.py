"""Collections of games as python-chess sees them, game by game and within bounds, whatever the file holds.

`book/opening/pgn.py` splits the file, packed or not; here each piece becomes the tree of one game, with its variations,
comments and glyphs.
"""

import io
import re
from typing import NamedTuple

import chess.pgn

from book.opening.pgn import MOST_GAME, Source
from play.review import GameError

MOST_NODES = 50_000  # moves of one game, variations included; the longest possible game has about 12,000
MOST_NESTED = 100  # variations within variations
COMMENTS_BY_NODE = 4  # on average, which would be much
MOST_COPIED = 1 << 19  # plies: each variation gets a copy of the board with all moves before it
BOARD_PLIES = 10  # what a board costs beside them
MOST_JOINED = 1 << 26  # characters that are copied to join the comments behind one move

_COMMENT = re.compile(r"\{[^}]*\}?|;[^\n]*")
# Tags, and what stands between them.
_HEAD = re.compile(r"\ufeff?(?:[\[%;][^\n]*(?:\n|\Z)|[ \t\r]*\n)*")
_AFTER_COMMENT = re.compile(r"(\{[^}]*\})[ \t]*(?=\S)|\{[^}]*\}?|;[^\n]*|^%[^\n]*", re.MULTILINE)
_RESULT = re.compile(r"(?:1-0|0-1|1/2-1/2|\*)\s*\Z")


class Entry(NamedTuple):
    """One game of a collection as text, and its place: the file, its number there, the line where it begins."""

    path: str
    number: int
    line: int
    white: str
    black: str
    text: str
    problem: str | None = None  # why the text is no game

    @property
    def place(self):
        return f"{self.path}:{self.line}: game {self.number}"


def entries(path):
    """Yields the games of a file, or of standard input for "-". PgnError where it cannot be read."""
    number = 0
    with Source(path) as source:
        for game in source.games():
            tags = "".join(f'[{decoded(name)} "{tag_text(value)}"]\n' for name, value in game.tags.items())
            names = [decoded(game.tags.get(side, b"?")) for side in (b"White", b"Black")]
            if game.is_too_long:
                number += 1
                yield Entry(source.name, number, game.line, *names, tags, f"longer than {MOST_GAME >> 20} MB")
                continue
            for text in games_in(braced(decoded(game.text))):
                number += 1
                yield Entry(source.name, number, game.line, *names, tags + "\n" + text)
                tags, names = "", ["?", "?"]  # what follows without tags is another game


def decoded(data):
    """Text as the standard's successors write it, or else in the standard's own Latin-1."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def tag_text(value):
    return decoded(value).strip("\r\n").replace('"', '\\"')


def braced(text):
    """Comments to the end of a line become comments in braces: python-chess would drop them."""
    if ";" not in text:
        return text

    def replace(match):
        comment = match[0]
        return comment if comment[0] == "{" else "{ " + comment[1:].replace("}", "").strip() + " }"

    return _COMMENT.sub(replace, text)


def games_in(text):
    """Splits move text where a result and a blank line follow each other; other blank lines end no game."""
    if "\n\n" not in text.strip():
        return [text]
    outside = _COMMENT.sub(lambda match: "x" * len(match[0]), text)  # as long, without what comments say
    found, start, joined = [], 0, []
    for match in re.finditer(r"\n[ \t\r]*\n", outside):
        joined.append(text[start : match.start() + 1])
        if _RESULT.search(outside, start, match.start() + 1):
            found.append("".join(joined))
            joined = []
        start = match.end()
    joined.append(text[start:])
    last = "".join(joined)
    return [*found, last] if last.strip() or not found else found


class Builder(chess.pgn.GameBuilder):
    """Builds the tree of one game within bounds, and keeps errors to itself."""

    most_nodes = MOST_NODES

    def begin_game(self):
        super().begin_game()
        self.nodes = 0
        self.plies = [0]  # of the line and of those around it
        self.copied = 0
        self.comments = 0
        self.joined = 0

    def visit_comment(self, comment):
        # Comments behind the same move become one, each time by a copy of all before it.
        self.joined += len(self.variation_stack[-1].comment) + len(self.starting_comment)
        self.comments += 1
        if self.joined > MOST_JOINED or self.comments > COMMENTS_BY_NODE * self.most_nodes:
            raise GameError("too many comments")
        super().visit_comment(comment)

    def visit_move(self, board, move):
        self.nodes += 1
        if self.nodes > self.most_nodes:
            raise GameError(f"more than {self.most_nodes:,} moves")
        self.plies[-1] += 1
        super().visit_move(board, move)

    def begin_variation(self):
        if len(self.variation_stack) > MOST_NESTED:
            raise GameError(f"more than {MOST_NESTED} variations within each other")
        self.copied += self.plies[-1] + BOARD_PLIES  # also if it is empty
        if self.copied > MOST_COPIED:
            raise GameError("too many variations")
        self.plies.append(self.plies[-1] - 1)
        return super().begin_variation()

    def end_variation(self):
        self.plies.pop()
        super().end_variation()

    def handle_error(self, error):
        self.game.errors.append(error)


def read(text, builder):
    """What a visitor of python-chess makes of the first game of a text, None if there is none. GameError beyond bounds."""
    start = _HEAD.match(text).end()
    # python-chess copies the rest of a line behind each comment in it: short lines keep that linear.
    moves = _AFTER_COMMENT.sub(lambda match: f"{match[1]}\n " if match[1] else match[0], text[start:])
    try:
        return chess.pgn.read_game(io.StringIO(text[:start] + moves), Visitor=builder)
    except GameError:
        raise
    except ValueError as error:  # a glyph's number of thousands of digits
        raise GameError(str(error)) from None


def parse(entry):
    """The tree of a game. GameError if it is none."""
    if entry.problem is not None:
        raise GameError(entry.problem)
    comments = _COMMENT.findall(entry.text, _HEAD.match(entry.text).end()) if "{" in entry.text else ()
    if any(comment[0] == "{" and comment[-1] != "}" for comment in comments):
        raise GameError("a comment is never closed")
    game = read(entry.text, Builder)
    if game is None:
        raise GameError("there is nothing in it")
    if game.errors:
        raise GameError(str(game.errors[0]))
    return game

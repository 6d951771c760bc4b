"""Openings: our own, positions from EPD files, lines from PGN files and Polyglot books, or Chess960 starts."""

import hashlib
import math
import random
import re
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import chess.pgn

from arena.errors import InputError
from arena.text import visible
from board import Board
from board.chess960 import start_fen
from board.fen import STARTING_FEN
from board.files import NOT_REGULAR, open_regular, read_bytes
from book.opening.pgn import lines_of
from book.opening.polyglot import Book, BookError

DEFAULT = "default"  # stands for the bundled openings where a file could be named
NONE = "none"  # every game from the start position, or from the start positions of Chess960

KINDS = {".epd": "epd", ".fen": "epd", ".txt": "epd", ".pgn": "pgn", ".bin": "polyglot"}
_BOOK_LINES = 20_000  # most lines taken from a book
_BOOK_FAILURES = 1_000  # tries in a row that find nothing new: there is nothing more
_ID = re.compile(r'\bid\s+"([^"]*)"')


class Opening(NamedTuple):
    """Where a game begins: a position, and moves in UCI's notation that lead on from it."""

    fen: str
    moves: tuple[str, ...] = ()
    name: str = ""


START = Opening(STARTING_FEN, (), "")


def own_openings():
    """The bundled openings. A test has looked at every line of the file, so that no match has to."""
    found = []
    for line in _own_file().read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, moves = line.partition(": ")
            found.append(Opening(STARTING_FEN, tuple(moves.split()), name))
    return found


def _own_file():
    return resources.files("arena") / "openings.txt"


def chosen_openings(text, chess960, locate=Path):
    """What is meant by the name of a file, by DEFAULT, NONE or nothing: a path, DEFAULT, or None for start positions.

    `locate` makes a path of a file's name.
    """
    if text is None:
        return None if chess960 else DEFAULT
    if text == NONE:
        return None
    if text != DEFAULT:
        return locate(text)
    if chess960:
        raise InputError("the default openings are not for Chess960; without any, games begin from its start positions")
    return DEFAULT


def read_openings(path, *, plies=None, chess960=False, seed=1):
    """All openings of a file, or of DEFAULT. `plies` cuts lines, those of books by default after 12."""
    if path == DEFAULT:
        short = {opening.moves[:plies]: opening for opening in own_openings()}
        return [opening._replace(moves=moves) for moves, opening in short.items()]
    path = Path(path)
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"openings come from .epd, .pgn or .bin files, not from '{path.suffix}'", path)
    if not path.is_file():
        raise InputError(NOT_REGULAR if path.exists() else "there is no such file", path)
    if kind == "epd":
        found = _read_epd(path, chess960)
    elif kind == "pgn":
        found = _read_pgn(path, plies, chess960)
    else:
        found = _read_book(path, 12 if plies is None else plies, seed)
    if not found:
        raise InputError("there is no opening in it", path)
    return found


def fingerprint(path):
    """What tells whether a file has changed."""
    data = _own_file().read_bytes() if path == DEFAULT else read_bytes(path)
    return hashlib.sha256(data).hexdigest()


def chess960_starts(seed):
    """The 960 start positions in random order."""
    numbers = list(range(960))
    random.Random(seed).shuffle(numbers)
    return [Opening(start_fen(number), (), f"Chess960 start {number}") for number in numbers]


def _lines(path):
    """The lines of a text file with their numbers; blank ones that follow each other are one."""
    number = 1
    with open(path, "rb", opener=open_regular) as file:
        for piece in lines_of(file):
            if not piece.strip():
                yield number, "\n"
                number += piece.count(b"\n")
                continue
            try:
                text = piece.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                text = piece.decode("latin-1")
            for line in text.splitlines(keepends=True):
                yield number, line
                number += 1


def _read_epd(path, chess960):
    found = []
    for number, line in _lines(path):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        words = line.split()
        counters = (
            words[4:6] if len(words) >= 6 and words[4].isdigit() and words[5].rstrip(";").isdigit() else ["0", "1"]
        )
        fen = " ".join([*words[:4], *(counter.rstrip(";") for counter in counters)])
        try:
            board = Board(fen, chess960=chess960)
        except ValueError as error:
            raise InputError(str(error), path, number) from None
        if board.outcome() is not None:
            raise InputError(f"the game is over in this position ({board.outcome().termination.value})", path, number)
        name = _ID.search(line)
        found.append(Opening(board.fen(shredder=chess960), (), visible(name[1]) if name else ""))
    return found


class _CountingFile:
    """A text file that knows the number of the line last read; python-chess reads it."""

    def __init__(self, path):
        self.lines = _lines(path)
        self.number = 0

    def readline(self):
        self.number, line = next(self.lines, (self.number + 1, ""))
        return line


class _LineBuilder(chess.pgn.GameBuilder):
    """Reads the moves of a game and notes the line of the first mistake. Comments and variations cost no memory."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.mistake = None

    def begin_variation(self):
        return chess.pgn.SKIP

    def end_variation(self):
        pass

    def visit_comment(self, comment):
        pass

    def visit_nag(self, nag):
        pass

    def handle_error(self, error):
        if self.mistake is None:
            self.mistake = (str(error), self.file.number)


def _read_pgn(path, plies, chess960):
    file = _CountingFile(path)
    found = []
    while True:
        builder = _LineBuilder(file)
        begun = file.number + 1
        try:
            game = chess.pgn.read_game(file, Visitor=lambda builder=builder: builder)
        except ValueError as error:  # a number that is too long to be read
            raise InputError(str(error), path, file.number) from None
        if game is None:
            return found
        if builder.mistake is not None:
            raise InputError(builder.mistake[0], path, builder.mistake[1])
        try:
            start = game.board()
            board = Board(start.fen(shredder=chess960), chess960=chess960)
            for move in list(game.mainline_moves())[:plies]:
                uci = start.uci(move, chess960=chess960)
                board.push_uci(uci)
                start.push(move)
        except ValueError as error:
            raise InputError(str(error), path, begun) from None
        if board.outcome() is not None:
            raise InputError("the game is over at the end of this opening; --plies cuts it", path, begun)
        moves = tuple(start.uci(move, chess960=chess960) for move in start.move_stack)
        fen = start.root().fen(shredder=chess960)
        headers = game.headers
        name = " ".join(part for part in (headers.get("ECO", ""), headers.get("Opening", "")) if part and part != "?")
        found.append(Opening(fen, moves, visible(name)))


def _read_book(path, plies, seed):
    """Lines from the start of the game, each move drawn by its weight; every line once."""
    rng = random.Random(seed)
    found = {}
    try:
        with Book(path) as book:
            failures = 0
            while len(found) < _BOOK_LINES and failures < _BOOK_FAILURES:
                board = Board()
                line = []
                while len(line) < plies and (moves := [each for each in book.moves(board) if each.weight]):
                    move = rng.choices(moves, [each.weight for each in moves])[0].move
                    line.append(board.uci(move))
                    board.push(move)
                if not line:
                    raise InputError("the book does not know the start of the game", path)
                if tuple(line) in found or board.outcome() is not None:
                    failures += 1
                else:
                    failures = 0
                    found[tuple(line)] = Opening(STARTING_FEN, tuple(line), "")
    except BookError as error:
        raise InputError(str(error)) from None
    return list(found.values())


class Supply:
    """Openings by number, in the file's order or shuffled, from the beginning again when they run out."""

    def __init__(self, openings, *, shuffle=False, seed=1, first=0):
        self.openings = openings
        self.order = list(range(len(openings)))
        if shuffle:
            random.Random(seed).shuffle(self.order)
        self.first = first
        self.asked = 0  # as if they were taken one after the other

    def __len__(self):
        return len(self.openings)

    def __getitem__(self, number):
        self.asked = max(self.asked, number + 1)
        return self.openings[self.order[(self.first + number) % len(self.order)]]

    @property
    def rounds(self):
        """How often the openings have been begun with."""
        return math.ceil(self.asked / len(self.order))

    def shortage(self):
        """What is to be said when they have run out, or None."""
        if self.rounds < 2:
            return None
        if len(self.order) == 1:
            return "all games begin from the same position"
        return f"the {len(self.order)} openings have run out and are played for the {ordinal(self.rounds)} time"


def ordinal(number):
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"

"""Polyglot books: files of 16-byte entries, sorted by the key of the position they belong to.

An entry is key (8 bytes), move (2), weight (2) and a number for learning programs (4) that nobody reads, all with the
highest byte first. The file is searched by halving, so a large book costs no more than a small one. It is read and not
mapped: what another program cuts off is then an error of the book and not of the process. Books found in the wild are
not always as they should be; docs/books.md says what is made of them.
"""

import bisect
import contextlib
import os
import struct
import threading
from importlib import resources
from typing import NamedTuple

from board.files import open_regular
from book.opening.sorted_runs import ENTRY_BYTES, ascending_runs

MOST_RUNS = 64  # a book with more unsorted spots is no book
SAMPLE = 512  # entries looked at to tell a book from any other file
NEAR = 256  # entries that are read at once where a position's are
BLOCK_BYTES = 1 << 20  # read at once of what is read from end to end

_ENTRY = struct.Struct(">QHHI")
_KEY = struct.Struct(">Q")
_PROMOTION, _CASTLING = 8, 2  # flags in the upper four bits of our moves, see board/types.pxd


class BookError(ValueError):
    """The file is no book, or none that can be used. The message names it and says why."""


class Entry(NamedTuple):
    """An entry as the file has it; `move` in Polyglot's bits."""

    key: int
    move: int
    weight: int
    learn: int = 0

    def pack(self):
        return _ENTRY.pack(*self)


class BookMove(NamedTuple):
    """A legal move of the board that was asked about, and its weight: of all its entries together."""

    move: int
    weight: int


def encode_move(move):
    """One of our moves in Polyglot's bits: target (6), origin (6), promotion (3: 0 none, 1 knight … 4 queen).

    Both write castling as king takes rook, so that nothing needs to be known about the position.
    """
    flag = move >> 12
    promotion = (flag & 3) + 1 if flag & _PROMOTION else 0
    return move >> 6 & 63 | (move & 63) << 6 | promotion << 12


def legal_codes(board):
    """Polyglot's bits of every legal move, with the move. Castling also as the king's two steps: some books have that."""
    moves = {encode_move(move): move for move in board.legal_moves()}
    for move in list(moves.values()):
        if move >> 12 == _CASTLING:
            king, rook = move & 63, move >> 6 & 63
            moves.setdefault((king & 56 | (6 if rook > king else 2)) | king << 6, move)
    return moves


def code_text(code):
    """Polyglot's bits as text for messages, whether or not they are a move anywhere."""
    squares = "".join("abcdefgh"[square & 7] + "12345678"[square >> 3] for square in (code >> 6 & 63, code & 63))
    promotion = code >> 12
    return squares + ("", "n", "b", "r", "q")[promotion] if promotion <= 4 else f"{squares}?{promotion}"


def is_impossible(code):
    """Bits that are no move on any board: a promotion to nothing known, or a piece that stays where it is."""
    return code >> 12 > 4 or code >> 6 & 63 == code & 63


def shares(moves):
    """Each move's part of the whole weight, in the order of the moves."""
    total = sum(each.weight for each in moves)
    return [each.weight / total if total else 0.0 for each in moves]


def _key_in(block, index):
    return _KEY.unpack_from(block, ENTRY_BYTES * index)[0]


def _equal(block, start, key):
    """The fields of the entries from `start` on that have the key."""
    for index in range(start, len(block) // ENTRY_BYTES):
        fields = _ENTRY.unpack_from(block, ENTRY_BYTES * index)
        if fields[0] != key:
            return
        yield fields


class Book:
    """An open book. `warnings` says what is wrong with the file, if it can be used all the same."""

    def __init__(self, path, name=None):
        self.path = os.path.expanduser(os.fspath(path))
        self.name = name or os.path.basename(self.path)
        self.warnings = []
        try:
            self._file = open(self.path, "rb", 0, opener=open_regular)  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise BookError(f"the book {self.path} cannot be opened: {error.strerror or error}") from None
        self._lock = threading.Lock()
        try:
            self._look_through()
        except BaseException:
            self.close()
            raise

    def _look_through(self):
        self.size = os.fstat(self._file.fileno()).st_size
        self.count = self.size // ENTRY_BYTES
        if self.size == 0:
            raise BookError(f"the book {self.path} is empty")
        if self.count == 0 or self._looks_foreign():
            raise BookError(f"{self.path} is no Polyglot book")
        self.runs = self._ascending_runs()
        if len(self.runs) > MOST_RUNS:
            raise BookError(f"{self.path} is no Polyglot book, or one whose entries are not in order")
        if self.size % ENTRY_BYTES:
            self.warnings.append(f"its last entry is cut off, {self.size % ENTRY_BYTES} bytes are not used")
        if len(self.runs) > 1:
            spots = len(self.runs) - 1
            places = "spot" if spots == 1 else "spots"
            self.warnings.append(f"it is not sorted at {spots} {places}, the first behind entry {self.runs[0][1]}")

    def _ascending_runs(self):
        """The runs of all blocks; one that goes on in the next block is one."""
        runs = []
        last = None
        for first, block in self._blocks(0, self.count):
            found = [(first + start, first + behind) for start, behind in ascending_runs(block, MOST_RUNS)]
            if last is not None and last <= _KEY.unpack_from(block)[0]:
                found[0] = (runs.pop()[0], found[0][1])
            runs += found
            if len(runs) > MOST_RUNS:
                break
            last = _KEY.unpack_from(block, len(block) - ENTRY_BYTES)[0]
        return runs

    def _looks_foreign(self):
        """Text, pictures and the like: most of their bytes, read as moves, are none on any board."""
        step = max(1, self.count // SAMPLE)
        sample = range(0, self.count, step)
        return 2 * sum(is_impossible(self.entry(index).move) for index in sample) > len(sample)

    # Entries

    def _read(self, index, count=1):
        """The bytes of some entries."""
        try:
            data = self._read_at(ENTRY_BYTES * index, ENTRY_BYTES * count)
        except OSError as error:
            raise BookError(f"the book {self.path} cannot be read: {error.strerror or error}") from None
        if len(data) != ENTRY_BYTES * count:
            raise BookError(f"the book {self.path} has been cut short by another program")
        return data

    def _read_at(self, place, size):
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), size, place)
        # Two threads may ask at once, and the file has one place to read at.
        with self._lock:
            self._file.seek(place)
            return self._file.read(size)

    def _blocks(self, first, behind):
        """A range of entries, as pairs of a number and the bytes of the entries from there on."""
        step = BLOCK_BYTES // ENTRY_BYTES
        return ((index, self._read(index, min(step, behind - index))) for index in range(first, behind, step))

    def entry(self, index):
        return Entry(*_ENTRY.unpack(self._read(index)))

    def __len__(self):
        return self.count

    def __iter__(self):
        """All entries, in the file's order."""
        return self.between(0, self.count)

    def between(self, first, behind):
        """The entries of a range of numbers."""
        blocks = self._blocks(first, behind)
        return (Entry(*fields) for _, block in blocks for fields in _ENTRY.iter_unpack(block))

    def _key(self, index):
        return _key_in(self._read(index), 0)

    def entries(self, key):
        """The entries of a position, in the file's order."""
        found = []
        for first, behind in self.runs:
            # Halving costs a read each time; a few hundred entries are one.
            last = behind
            while last - first > NEAR:
                middle = (first + last) // 2
                first, last = (middle + 1, last) if self._key(middle) < key else (first, middle)
            while first < behind:
                block = self._read(first, min(NEAR, behind - first))
                count = len(block) // ENTRY_BYTES
                start = bisect.bisect_left(range(count), key, key=lambda index, block=block: _key_in(block, index))
                entries = [Entry(*fields) for fields in _equal(block, start, key)]
                found += entries
                if start + len(entries) < count:
                    break
                first += count
        return found

    # Moves

    def moves(self, board):
        """The legal moves that the book has here, the heaviest first; of equal ones the first in the file."""
        entries = self.entries(board.polyglot_key)
        if not entries:
            return []
        legal = legal_codes(board)
        weights = {}
        for entry in entries:
            if entry.move in legal:
                move = legal[entry.move]
                weights[move] = weights.get(move, 0) + entry.weight
        return sorted((BookMove(*pair) for pair in weights.items()), key=lambda each: -each.weight)

    def close(self):
        """The file may be deleted or replaced from now on. Closing twice does no harm."""
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def open_book(path=None):
    """The book in a file, or without one the bundled book."""
    return Book(path) if path else default_book()


def default_book():
    """The bundled book."""
    source = resources.files("book.opening") / "default.bin"
    with contextlib.ExitStack() as stack:
        # A package inside an archive has no files; then a copy lives as long as it takes to open it.
        path = stack.enter_context(resources.as_file(source))
        return Book(path, name="Quetzal's own book")


def choose(moves, variety, rng):
    """One of the book's moves, or None if none may be played: a weight of 0 means "known, but not to be played".

    `variety` 0 takes the heaviest, 100 follows the weights; between them the weights are raised to a power first, so
    that good moves come more often than their share. `rng` is a random.Random.
    """
    playable = [each for each in moves if each.weight > 0]
    if not playable:
        return None
    if variety <= 0:
        return max(playable, key=lambda each: each.weight)
    heaviest = max(each.weight for each in playable)
    chances = [(each.weight / heaviest) ** (100 / variety) for each in playable]
    return rng.choices(playable, chances)[0]

"""Is a book as it should be? Every entry is looked at, and played if the book leads to its position."""

from array import array
from bisect import bisect_left
from typing import NamedTuple

from board import Board
from book.opening.polyglot import code_text, is_impossible, legal_codes

MOST_EXAMPLES = 10


class Verdict(NamedTuple):
    """`faults` are sentences; a good book has none. `notes` say what is unusual but allowed."""

    entries: int
    positions: int
    reached: int  # positions that are reached from the start
    faults: list
    notes: list


def plural(count, noun, nouns=None):
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


class KeySet:
    """The different keys of a book, eight bytes each, and which of them were reached."""

    def __init__(self, keys):
        self.keys = array("Q", sorted(keys))
        self.reached = bytearray(len(self.keys))

    def place(self, key):
        """Where the key is, or None."""
        index = bisect_left(self.keys, key)
        return index if index < len(self.keys) and self.keys[index] == key else None


def reachable(book, keys):
    """Yields a board for every position of the book that is reached from the start, once.

    A book may hold the moves of one side only, and answers to moves that it would not play itself. So all moves are
    tried in its positions, and where it ends after one of its own, all answers.
    """
    waiting = [Board().fen()]
    while waiting:
        board = Board(waiting.pop())
        index = keys.place(board.polyglot_key)
        if index is None:
            # Only the start can be missing: a book for Black begins one ply later.
            waiting += answers_in_book(board, keys)
            continue
        if keys.reached[index]:
            continue
        keys.reached[index] = 1
        yield board
        waiting += answers_in_book(board, keys)
        for each in book.moves(board):
            board.push(each.move)
            if keys.place(board.polyglot_key) is None:
                waiting += answers_in_book(board, keys)
            board.pop()


def answers_in_book(board, keys):
    """FENs behind all moves that lead back into the book, to places that were not reached yet."""
    found = []
    for move in board.legal_moves():
        board.push(move)
        index = keys.place(board.polyglot_key)
        if index is not None and not keys.reached[index]:
            found.append(board.fen())
        board.pop()
    return found


def verify(book, on_progress=lambda positions: None):
    """Looks at everything; returns a Verdict."""
    faults = list(book.warnings)
    notes = []
    zeros = impossible = 0
    moves = {}
    duplicates = 0
    for entry in book:
        zeros += entry.weight == 0
        impossible += is_impossible(entry.move)
    # Duplicates stand together when the book is sorted, so one position at a time is enough.
    last = None
    for entry in book:
        if entry.key != last:
            moves, last = set(), entry.key
        duplicates += entry.move in moves
        moves.add(entry.move)

    different = {entry.key for entry in book}
    keys = KeySet(different)
    illegal, reached = [], 0
    for board in reachable(book, keys):
        reached += 1
        legal = legal_codes(board)
        for entry in book.entries(board.polyglot_key):
            if entry.move not in legal:
                illegal.append(f"{code_text(entry.move)} in {board.fen()}")
        if reached % 256 == 0:
            on_progress(reached)

    if illegal:
        faults.append(f"{plural(len(illegal), 'illegal move')}: {'; '.join(illegal[:MOST_EXAMPLES])}")
    if impossible:
        faults.append(f"{plural(impossible, 'entry', 'entries')} whose bits are no move on any board")
    if duplicates:
        faults.append(f"{plural(duplicates, 'duplicate')}: the same move twice in one position, weights are summed")
    if zeros == len(book):
        faults.append("all weights are 0: nothing would ever be played")
    elif zeros:
        notes.append(f"{plural(zeros, 'entry', 'entries')} with weight 0, known but not played")
    lost = len(different) - reached
    if lost:
        notes.append(
            f"{plural(lost, 'position')} that the book does not lead to from the start: legality not looked at"
        )
    return Verdict(len(book), len(different), reached, faults, notes)

"""Text that leaves the engine."""

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def one_line(text):
    """Foreign text may hold anything; what leaves the engine is a line."""
    return _CONTROL.sub(" ", str(text)).strip()


def nearest(word, known):
    """The word that was probably meant, or None."""
    import difflib  # not before `uciok`

    found = difflib.get_close_matches(word[:80].lower(), known, 1, cutoff=0.6)
    return found[0] if found else None


def board_lines(board):
    """A position for people: the board, its FEN and its key."""
    yield from str(board).splitlines()
    yield ""
    yield f"Fen: {board.fen()}"
    yield f"Key: {board.key:016X}"

"""Text that leaves the engine."""

import re

_BLANKS = re.compile(r" {2,}")
_LONGEST = 5_000  # characters; the longest path has 4,096


def one_line(text):
    """Foreign text may hold anything; what leaves the engine is a short line that can be printed, in UTF-8."""
    text = str(text)
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + " ..."
    if not text.isprintable():
        # Bytes of the input that are no UTF-8 are lone surrogates here.
        shown = (each if each.isprintable() else "\ufffd" if "\ud800" <= each <= "\udfff" else " " for each in text)
        text = _BLANKS.sub(" ", "".join(shown))
    return text.strip()


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

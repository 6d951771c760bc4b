"""Mistakes of the user, said with the place where they are."""

from arena.text import visible

_LONGEST = 500  # characters; a mistake may quote what it found


class InputError(ValueError):
    """Something in a file or on the command line is wrong. The text begins with the file and the line, if known."""

    def __init__(self, text, path=None, line=None):
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        text = visible(text)
        super().__init__(place + (text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."))

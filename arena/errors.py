"""Mistakes of the user, said with the place where they are."""


class InputError(ValueError):
    """Something in a file or on the command line is wrong. The text begins with the file and the line, if known."""

    def __init__(self, text, path=None, line=None):
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + text)

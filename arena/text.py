"""Text from outside, made safe to show: what an engine or a file says must not steer a terminal or a file of ours."""

_MOST_KNOWN = 4096  # characters that the table remembers


class _Table(dict):
    """For str.translate: blanks become spaces, and what cannot be printed becomes its escape, `\\x1b`."""

    def __missing__(self, code):
        character = chr(code)
        if character.isprintable():
            shown = character
        elif character.isspace():
            shown = " "
        else:
            shown = character.encode("ascii", "backslashreplace").decode() if code > 127 else f"\\x{code:02x}"
        if len(self) < _MOST_KNOWN:
            self[code] = shown
        return shown


_TABLE = _Table()


def plural(count, noun):
    """1 game, 2 games."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def visible(text):
    """One line without control characters, line breaks, invisible marks and broken Unicode. Most lines have none of them."""
    if text.isprintable():
        return text
    text = text.removesuffix("\r")
    return text if text.isprintable() else text.translate(_TABLE)

"""Reads TOML files. Every mistake is said with the file, and with its line where that is known."""

import re
import tomllib

from arena.errors import InputError
from board.files import open_regular

_DEEPEST = 100  # brackets within brackets; a tournament needs three
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1  # whole numbers of TOML
MOST_BYTES = 1 << 20
MOST_PARTS = 32  # of a dotted key; a tournament needs three, and tomllib's time is quadratic in them
# What tells dots between the parts of a key from others: strings and comments are skipped as wholes, and a key ends at
# a break. What closes a string may be missing, which is tomllib's to say: as no alternative fails late, the time is
# linear. (The possessive quantifiers of Python 3.11 would say so, but match wrongly before 3.11.5.)
_TOKEN = re.compile(
    r""""{3}(?:[^"\\]+|\\.|"(?!""))*(?:"{3,5})?|'{3}(?:[^']+|'(?!''))*(?:'{3,5})?"""
    r"""|"(?:[^"\\\n]+|\\[^\n])*"?|'[^'\n]*'?|#[^\n]*|(?P<dot>\.)|(?P<end>[\n=,\[\]{}])""",
    re.DOTALL,
)
_LARGE = re.compile(r"\b(?:0x[0-9a-fA-F_]{16,}|0o[0-7_]{21,}|0b[01_]{63,}|[0-9][0-9_]{18,})")


def read_toml(path):
    """The values of a file and its text. InputError if it is no TOML; OSError as from `open`."""
    with open(path, "rb", opener=open_regular) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"is larger than {MOST_BYTES >> 20} MB", path)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"is no text in UTF-8: {error}", path) from None
    line = long_key_line(text)
    if line is not None:
        raise InputError(f"a key of more than {MOST_PARTS} parts", path, line)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        if place is None:
            raise InputError(str(error), path, len(text.splitlines())) from None
        raise InputError(str(error)[: place.start()], path, int(place[1])) from None
    except RecursionError:
        raise InputError("brackets within brackets within brackets", path, deep_line(text)) from None
    except ValueError:  # of `int`, which refuses decimal numbers of thousands of digits
        raise _large_number(path, text) from None
    if not all(_LEAST <= number <= _MOST for number in whole_numbers(values)):
        raise _large_number(path, text)
    return values, text


def long_key_line(text):
    """The line of the first dotted key with too many parts, or None."""
    dots = 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "dot":
            dots += 1
            if dots >= MOST_PARTS:
                return text.count("\n", 0, token.start()) + 1
        elif token.lastgroup == "end":
            dots = 0
    return None


def whole_numbers(values):
    """All of them, however deep they are. Python reads hexadecimal ones of any length, and cannot print them then."""
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, int):
            yield value


def _large_number(path, text):
    """A number in a text or a comment counts, too, which is good enough for a message's line."""
    found = _LARGE.search(text)
    line = None if found is None else text.count("\n", 0, found.start()) + 1
    return InputError("a whole number has at most 64 bits", path, line)


def deep_line(text):
    """The line where brackets are too deep; a bracket in a text counts, too, which is good enough for a message."""
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        for character in line:
            depth += (character in "[{") - (character in "]}")
            if depth > _DEEPEST:
                return number
    return 1

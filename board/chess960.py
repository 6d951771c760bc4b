"""The 960 start positions, numbered as R. Scharnagl did (518 is the standard one)."""

from itertools import combinations

_KNIGHT_PLACES = tuple(combinations(range(5), 2))


def back_rank(number):
    """The pieces of start position `number` (0 to 959), from the a-file on, as capital letters."""
    if not 0 <= number < 960:
        raise ValueError(f"{number} is no number of a Chess960 start position (0 to 959)")
    files = [None] * 8
    number, light = divmod(number, 4)
    files[2 * light + 1] = "B"
    number, dark = divmod(number, 4)
    files[2 * dark] = "B"
    knights, queen = divmod(number, 6)
    empty = [file for file in range(8) if files[file] is None]
    files[empty.pop(queen)] = "Q"
    first, second = _KNIGHT_PLACES[knights]
    files[empty[first]] = files[empty[second]] = "N"
    for piece, file in zip("RKR", [file for file in range(8) if files[file] is None], strict=True):
        files[file] = piece
    return "".join(files)


def start_fen(white, black=None):
    """The FEN of a start position; with a second number the two sides start differently (double Chess960)."""
    own = back_rank(white)
    other = back_rank(white if black is None else black)
    rights = "".join("ABCDEFGH"[file] for file in range(7, -1, -1) if own[file] == "R")
    rights += "".join("abcdefgh"[file] for file in range(7, -1, -1) if other[file] == "R")
    return f"{other.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{own} w {rights} - 0 1"

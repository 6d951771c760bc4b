"""Names of endings, as table files carry them: `KQvKR`, the stronger side first."""

import itertools

STRENGTH = "KQRBNP"  # the order of the pieces in a name
MOST_MEN = 7  # of any table there is
WDL_SUFFIX = ".rtbw"
DTZ_SUFFIX = ".rtbz"


def sorted_side(letters):
    return "".join(sorted(letters, key=STRENGTH.index))


def split(name):
    """The two sides of an ending's name; ValueError if it is none."""
    first, middle, second = name.partition("v")
    for side in (first, second):
        if not middle or set(side) - set(STRENGTH) or side.count("K") != 1:
            raise ValueError(f"'{name}' is no ending: KQvKR is one")
    return first, second


def is_stronger(first, second):
    """Does `first` come before `second` in a name? The larger side does; among equals the first better piece decides."""
    return (-len(first), [STRENGTH.index(piece) for piece in first]) < (
        -len(second),
        [STRENGTH.index(piece) for piece in second],
    )


def normalised(name):
    """The name as files spell it: `KRvQK` becomes `KQvKR`."""
    first, second = (sorted_side(side) for side in split(name))
    return f"{second}v{first}" if is_stronger(second, first) else f"{first}v{second}"


def ending_of(fen):
    """The ending that a position belongs to, under the name of its file."""
    placement = fen.split()[0]
    white = sorted_side(letter for letter in placement if letter in STRENGTH)
    black = sorted_side(letter.upper() for letter in placement if letter in STRENGTH.lower())
    return normalised(f"{white}v{black}")


def men(name):
    return len(name) - 1


def pawns(name):
    return name.count("P")


def endings(count):
    """All endings with that many men, bare kings left out: 5 with three men, then 30, 110, 365, 1001.

    They come in the order in which they can be generated: captures and promotions lead to earlier ones.
    """
    names = []
    for weaker in range((count - 2) // 2 + 1):
        for black in itertools.combinations_with_replacement(STRENGTH[1:], weaker):
            for white in itertools.combinations_with_replacement(STRENGTH[1:], count - 2 - weaker):
                first, second = "K" + "".join(white), "K" + "".join(black)
                if not is_stronger(second, first):
                    names.append(f"{first}v{second}")
    return sorted(names, key=pawns)

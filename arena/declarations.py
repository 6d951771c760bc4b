"""Options as engines declare them, and whether a value fits: what is wrong is said before a game is lost by it."""

import re

_WHOLE = re.compile(r"[+-]?[0-9]+")
_WORDS = ("default", "min", "max", "var")


def whole(text):
    """A whole number, or None. Of one with thousands of digits only the size matters."""
    if not _WHOLE.fullmatch(text):
        return None
    return int(text) if len(text) <= 20 else int(text[0] + "9" * 20 if text[0] in "+-" else "9" * 20)


def parts_of(declaration):
    """The type, and the values after `default`, `min`, `max` and each `var`, as {word: [values]}."""
    kind, _, rest = declaration.partition(" ")
    parts = {word: [] for word in _WORDS}
    current = None
    for word in rest.split():
        if word in _WORDS:
            current = parts[word]
            current.append([])
        elif current is not None:
            current[-1].append(word)
    return kind.lower(), {name: [" ".join(words) for words in values] for name, values in parts.items()}


def fitting(declaration, value):
    """The value as the engine wants it, None for a button. ValueError says why it does not fit.

    What the engine itself declares in no known way is not held against the user.
    """
    if not value.isprintable():
        raise ValueError("a value is one line without control characters")
    kind, parts = parts_of(declaration)
    if kind == "button":
        return None
    if kind == "check":
        if value.lower() not in ("true", "false"):
            raise ValueError(f"'{value[:60]}' is neither true nor false")
        return value.lower()
    if kind == "spin":
        number = whole(value)
        if number is None:
            raise ValueError(f"'{value[:60]}' is no whole number")
        least = next((found for text in parts["min"] if (found := whole(text)) is not None), None)
        most = next((found for text in parts["max"] if (found := whole(text)) is not None), None)
        if (least is not None and number < least) or (most is not None and number > most):
            raise ValueError(f"{value[:60]} is not between {show(least)} and {show(most)}")
        return value
    if kind == "combo" and parts["var"]:
        for each in parts["var"]:
            if each.lower() == value.lower():
                return each
        some = ", ".join(parts["var"][:20])
        raise ValueError(f"'{value[:60]}' is none of {some[:400]}")
    return value


def show(limit):
    return "anything" if limit is None else limit

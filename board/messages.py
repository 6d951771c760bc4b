"""Text from outside in a message: what a file holds must neither steer a terminal nor fill it."""

MOST_REASON = 200  # characters


def brief_reason(reason):
    """An error as one short line. A reason may quote a game, which may hold anything, and much of it."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in str(reason)[: MOST_REASON + 1])
    return shown if len(shown) <= MOST_REASON else shown[:MOST_REASON] + "…"

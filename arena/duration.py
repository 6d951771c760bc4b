"""How long something took or will take, as text. The arena is the lowest room that shows it."""


def duration(seconds):
    """Hours, minutes and seconds, as short as they can be said."""
    seconds = max(0, round(seconds))
    if seconds >= 3600:
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{seconds // 60}:{seconds % 60:02}"

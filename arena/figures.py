"""Figures as text: the terminal, the page and the files say the same in the same words."""

import math

from arena.text import plural

MINUS = "\N{MINUS SIGN}"


def signed(number, digits=0):
    """With a sign and, if it is not finite, the sign of infinity; nothing but zeros have no sign."""
    if math.isinf(number):
        return "+∞" if number > 0 else f"{MINUS}∞"
    text = f"{abs(number):.{digits}f}"
    return text if not float(text) else ("+" if number > 0 else MINUS) + text


def elo_text(known):
    """A difference of ratings with its 95 % interval, as well as it is known."""
    if known.elo is None:
        return "not known yet"
    if known.error is not None:
        return f"{signed(known.elo, 1)} ± {known.error:.1f} (95 %)"
    return f"{signed(known.elo, 1)}, 95 % from {signed(known.elo_low)} to {signed(known.elo_high)}"


def normalized_text(known):
    if known.normalized_elo is None:
        return "not known yet"
    return f"{signed(known.normalized_elo, 1)} ± {known.normalized_error:.1f} (95 %)"


def los_text(known):
    """Never a certainty: the ends are out of reach, however many games there are."""
    if known.los is None:
        return "not known yet"
    if known.los < 0.0005:
        return "below 0.1 %"
    return "above 99.9 %" if known.los > 0.9995 else f"{100 * known.los:.1f} %"


def rating_text(rating, is_anchored=False):
    """A rating with its 95 % error. Differences have a sign; ratings on the scale of an anchor do not."""
    if rating.is_anchor:
        return f"{rating.elo:.0f} anchor"
    if math.isinf(rating.error):
        return ""
    text = signed(rating.elo).replace("+", "") if is_anchored else signed(rating.elo)
    return f"{text} ± {rating.error:.0f}{' (guess)' if rating.is_bounded else ''}"


def sample_notes(repeated, mirrored, supply):
    """What makes the sample smaller than the number of games, if anything does."""
    notes = []
    if repeated:
        notes.append(f"{plural(repeated, 'game')} with the moves of an earlier one, not in the statistics")
    if mirrored:
        notes.append(f"{plural(mirrored, 'pair')} with the same moves in both games, a point for each side")
    if supply.shortage() is not None:
        notes.append(supply.shortage())
    return notes

"""Text that leaves the engine."""

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def one_line(text):
    """Foreign text may hold anything; what leaves the engine is a line."""
    return _CONTROL.sub(" ", str(text)).strip()

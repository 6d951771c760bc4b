"""Reasons that quote what somebody else has written."""

import pytest

from board.messages import MOST_REASON, brief_reason


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("illegal san: 'Ke3'", "illegal san: 'Ke3'"),
        ("\x1b[2J\nnext\u202e", "?[2J?next?"),
        ("x" * MOST_REASON, "x" * MOST_REASON),
        ("x" * 1_000_000, "x" * MOST_REASON + "…"),
        (ValueError("is none"), "is none"),
    ],
)
def test_a_reason_is_one_short_line(reason, shown):
    assert brief_reason(reason) == shown
    assert brief_reason(shown) == shown

"""Durations as text."""

import pytest

from arena.duration import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00"),
        (-3, "0:00"),  # a clock that was set back
        (0.4, "0:00"),
        (5, "0:05"),
        (59.6, "1:00"),
        (65, "1:05"),
        (3599, "59:59"),
        (3599.7, "1:00:00"),
        (3700, "1:01:40"),
        (360000, "100:00:00"),
    ],
)
def test_text(seconds, text):
    assert duration(seconds) == text

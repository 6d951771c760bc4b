"""What has to be true before any test, and what many of them want."""

import signal
import threading

import pytest

# A job that a shell started in the background ignores interrupts, and so would every program that a test starts there.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def classical():
    """The classical evaluation, for tests that count pieces or want the same scores whichever network is shipped."""
    from networks import evaluating_with

    from eval import CLASSICAL

    with evaluating_with(CLASSICAL):
        yield

"""What has to be true before any test, and what many of them want."""

import signal
import threading

import pytest


@pytest.fixture(scope="session", autouse=True)
def _programs_hear_signals():
    """Programs that a test starts hear signals, also where this process was told to ignore them: nohup ignores hang-ups,
    a shell's background job interrupts, and an ignored signal is inherited. One with a handler is not, so that the tests
    themselves go on ignoring it.
    """
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, lambda *_: None)


@pytest.fixture(autouse=True)
def _this_process_reaps_nobody():
    """A command says of its process that it ends all orphans that fall to it. Run inside this one, it would end what other
    tests have started: once a module lost its Dask cluster so.
    """
    yield
    from pool import containment

    is_reaper, containment._OWN.adopts = containment._OWN.adopts, False
    assert not is_reaper, "patch adopt_descendants, or run the command in a process of its own"


@pytest.fixture
def classical():
    """The classical evaluation, for tests that count pieces or want the same scores whichever network is shipped."""
    from networks import evaluating_with

    from eval import CLASSICAL

    with evaluating_with(CLASSICAL):
        yield


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """A browser for the pages; tests that ask for it are skipped where there is none."""
    import browser

    if browser.MISSING is not None:
        pytest.skip(browser.MISSING)
    window = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield window
    window.close()

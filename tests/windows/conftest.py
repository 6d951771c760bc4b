"""What every test under wine wants."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _wine():
    import windows

    windows.prepare_wine()

"""Ctrl-C, and other requests to end a long job.

Every job of matches, learning and table making hears them here. This room is the lowest that runs such jobs: what
stands below it is the engine, which has its own way with signals (uci_engine/protocol.py).
"""

import contextlib
import signal

INTERRUPTED = 130  # exit status of a job that stopped when it was asked to, as the shell counts one ended by Ctrl-C


class Interrupt:
    """Notes the first request, and the job ends between two units of its work, with everything finished kept.

    An exception in the middle of a unit would leave a game in one file and not in another. Who asks twice does not want
    to wait: the second request is a KeyboardInterrupt wherever the job stands.
    """

    def __init__(self):
        self.signal = None  # the first one that came
        self._handlers = {}

    @property
    def is_requested(self):
        return self.signal is not None

    def check(self):
        """For work whose units only a callback sees: ends it here if that was asked for."""
        if self.is_requested:
            raise KeyboardInterrupt

    def __enter__(self):
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is None or signal.getsignal(number) is signal.SIG_IGN:
                continue
            with contextlib.suppress(ValueError):  # not in the main thread: nothing to do
                self._handlers[number] = signal.signal(number, self._request)
        return self

    def __exit__(self, *_):
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _request(self, number, _):
        if self.is_requested:
            raise KeyboardInterrupt
        self.signal = number

"""A GUI for tests: the raw client on this Quetzal, with the patience that a busy machine needs."""

import sys

from support import DATA

from arena.client import Client

# Nothing waits so long when all is well.
PATIENCE = 60.0


class Gui(Client):
    def __init__(self, *arguments, **popen):
        command = [sys.executable, "-m", "uci_engine", *arguments]
        super().__init__(command, patience=PATIENCE, **{"cwd": DATA, "stderr": None, **popen})

    def quit(self):
        """Ends the engine in an orderly way; its status has to be 0. Returns the rest of its output."""
        self.send("quit")
        status, rest = self.wait()
        assert status == 0
        return rest

"""`python -m uci_engine` is `quetzal`. This file is a door, not part of the room: nothing imports it."""

import sys

from command.__main__ import main

if __name__ == "__main__":
    sys.exit(main())

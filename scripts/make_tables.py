"""Makes the tables that come with the package: all endings of three and four men, into book/endgame/tables.

    python scripts/make_tables.py [--threads N] [-o DIR]

The result is always the same, bit by bit, so a second run changes nothing that git would notice.
"""

import argparse
import os
import sys
from pathlib import Path

from command.tables_generate import run

ROOT = Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N", help="(default: all cores)")
    parser.add_argument(
        "-o", "--output", default=ROOT / "book" / "endgame" / "tables", metavar="DIR", help="(default: the package)"
    )
    options = parser.parse_args()
    options.endings, options.men, options.memory, options.cluster = [], 4, 1000, None
    return run(options)


if __name__ == "__main__":
    sys.exit(main())

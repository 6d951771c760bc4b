"""Measures many small changes of the search in the same games: which of them help?

    python scripts/screen.py work/block changes.toml --games 84 -c 2 --openings openings.epd

A change is a table of options in the TOML file; the search's parameters are options here:

    [late_checks]
    late_checks = 1

    [more_time]
    time_share = 400
    time_increment = 100

For n changes there are at least n + 1 matches (4, 8, 12, 20, 24, 32 …), each between one half of the changes and the other
(training/screening.py says why). Every match is kept in the directory, and the same command goes on after Ctrl-C.
"""

import argparse
import sys

from arena.interrupts import INTERRUPTED, Interrupt
from command.arguments import positive
from training.programs import CommandError, InterruptedStepError, own_quetzal
from training.screening import Screening, Settings, read_changes, table_lines


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="where the matches are kept")
    parser.add_argument("changes", metavar="CHANGES.toml")
    parser.add_argument("--tc", default="1+0.01", metavar="CONTROL", help="(default: 1+0.01)")
    parser.add_argument("--games", type=positive, default=84, metavar="N", help="of each match (default: 84)")
    parser.add_argument("--openings", metavar="FILE", help=".epd, .pgn or .bin (default: 2,500 of our own)")
    parser.add_argument("--hash", type=positive, default=16, metavar="MB", help="(default: 16)")
    parser.add_argument("-c", "--concurrency", type=positive, default=1, metavar="N", help="games at once (default: 1)")
    return parser


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        changes = read_changes(options.changes)
        settings = Settings(
            own_quetzal(), options.tc, options.games, options.concurrency, options.openings, options.hash, []
        )
        screening = Screening(options.directory, changes, settings)
        with Interrupt() as interrupt:
            screening.play(interrupt)
    except (KeyboardInterrupt, InterruptedStepError) as error:
        print(f"{str(error) or 'interrupted'}; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    except CommandError as error:
        print(f"screen: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"screen: {error}", file=sys.stderr)
        return 2
    print("\n".join(table_lines(screening.effects())))
    return 0


if __name__ == "__main__":
    sys.exit(main())

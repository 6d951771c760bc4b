"""Makes one generation of the network: games, training, two matches, a verdict, and an entry in the history.

    python scripts/generations.py work/g2 --in-use work/g1/g1.qnn --openings openings.epd --games 50000
    python scripts/generations.py work/g2              goes on after an interruption, with the settings that it was begun with
    python scripts/generations.py work/g2 --dry-run    prints the commands that are left

1. generate    the network in use plays games against itself        quetzal selfplay
2. train       a new network learns from them                       quetzal train
3. nodes       it plays the one in use at fixed nodes               quetzal match
4. time        and, unless it has lost, with a clock                quetzal match
5. record      docs/networks.json gets an entry, docs/networks.md a row

Accepted is who is better with a clock: by a sequential test (--sprt), or by a fixed number of games whose 95 % interval lies
above zero. What is finished stands in the directory's state.json and is not done again; what was interrupted goes on.
"""

import argparse
import os
import shlex
import sys
from pathlib import Path

from arena.interrupts import INTERRUPTED
from command.arguments import positive
from command.table import build_parser as build_quetzal_parser
from training.generations import DEFAULTS, FREE, open_generation
from training.programs import CommandError, InterruptedStepError

ROOT = Path(__file__).resolve().parent.parent


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="where everything of this generation is kept")
    parser.add_argument("--dry-run", action="store_true", help="print the commands that are left, and do nothing")
    parser.add_argument("--name", help="what the history calls it (default: the directory's name)")
    parser.add_argument("--in-use", metavar="FILE", help="the network to beat (default: the one built in)")
    parser.add_argument("--history", default=ROOT / "docs" / "networks.json", metavar="FILE")
    parser.add_argument("--document", default=ROOT / "docs" / "networks.md", metavar="FILE")
    parser.add_argument("--quetzal", metavar="COMMAND", help="another Quetzal (default: this one)")

    games = parser.add_argument_group("games to learn from")
    games.add_argument("--games", type=int, metavar="N", help="to play (default: 20000); 0: only those of --data")
    games.add_argument("--nodes", type=positive, metavar="N", help="per move, about (default: 500)")
    games.add_argument("--teacher", metavar="FILE", help="the evaluation that plays them (default: as --in-use)")
    games.add_argument("--data", nargs="+", metavar="FILE", help="further games, of earlier generations")
    games.add_argument("--selfplay-arguments", metavar="TEXT", help="more for quetzal selfplay")

    training = parser.add_argument_group("training")
    training.add_argument("--neurons", type=positive, metavar="N", help="(default: that of quetzal train, as below)")
    training.add_argument("--outputs", type=positive, metavar="N", help="by the number of men")
    training.add_argument("--epochs", type=positive, metavar="N", help="passes over the data")
    training.add_argument("--result-share", metavar="X[:Y[@P]]", help="part of the target that is the result")
    training.add_argument("--seed", type=int, metavar="N", help="of games, training and openings (default: 1)")
    training.add_argument("--train-arguments", metavar="TEXT", help="more for quetzal train")
    training.add_argument("--threads", type=positive, metavar="N", help="for games and training (default: all cores)")

    matches = parser.add_argument_group("matches")
    matches.add_argument("--openings", metavar="FILE", help=".epd, .pgn, or .bin for a Polyglot book; needed")
    matches.add_argument("--match-nodes", type=positive, metavar="N", help="per move in the first (default: 5000)")
    matches.add_argument("--tc", metavar="CONTROL", help="of the second (default: 8+0.08)")
    matches.add_argument(
        "--match-games", type=positive, metavar="N", help="of each, with --sprt at most (default: 400)"
    )
    matches.add_argument("--sprt", metavar="ELO0,ELO1", help="stop when one of the two is refuted")
    matches.add_argument("--hash", type=positive, metavar="MB", help="(default: 16)")
    matches.add_argument("--match-arguments", metavar="TEXT", help="more for quetzal match (default: adjudication)")
    matches.add_argument("-c", "--concurrency", type=positive, metavar="N", help="games at once (default: 1)")
    return parser


def given(options, names):
    """Those of the options that were given."""
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        generation = open_generation(
            options.directory,
            given(options, DEFAULTS),
            given(options, FREE),
            options.quetzal and shlex.split(options.quetzal, posix=os.name != "nt"),
            (Path(options.history), Path(options.document)),
            lambda words: build_quetzal_parser().parse_args(words),
        )
        if options.dry_run:
            for step in generation.left():
                if step == "record":
                    print(f"# record: {generation.history} and {generation.document}")
                else:
                    print(shlex.join(generation.commands.of(step)))
            return 0
        generation.work.mkdir(parents=True, exist_ok=True)
        generation.save()
        generation.run(lambda text: print(text, flush=True))
        return 0
    except (KeyboardInterrupt, InterruptedStepError) as error:
        print(f"{str(error) or 'interrupted'}; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    except CommandError as error:
        print(f"generations: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"generations: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

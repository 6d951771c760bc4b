"""Tunes numbers of the search by games of the engine against itself.

    python scripts/spsa.py --openings openings.epd --nodes 5000 -c 2
    python scripts/spsa.py reduction futility_base --openings openings.epd --tc 2+0.02 --iterations 4000 -c 2

Simultaneous perturbation stochastic approximation (J. C. Spall, IEEE Transactions on Automatic Control 37, 1992): in
every iteration each parameter is moved a little up or down, at random, and the engine plays against its own mirror
image, in which every parameter is moved the other way. All parameters then go a part of the way towards the winner. One
match so says something about all of them at once.

Names are those of search/parameters.py; a beginning such as `reduction` or `null_move` means all that begin so.
Everything is kept in the state file after every game. The same command goes on after Ctrl-C, and with more --iterations
after the end. The result is a suggestion: a match at another time control has to confirm it.
"""

import argparse
import sys

from arena.interrupts import INTERRUPTED
from arena.options import check_rules, make_engine, named_values, parse_draw, parse_resign
from arena.settings import EngineSettings, Rules
from command.arguments import add_cluster, cluster_of, positive
from command.progress import Progress
from pool.tasks import PoolError
from training.spsa import USUAL, Gains, choose, table_lines
from training.spsa_run import describe, open_state, play_on


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to tune (default: {len(USUAL)} of them)")
    parser.add_argument("--state", default="spsa.json", metavar="FILE", help="continued if it exists (spsa.json)")
    parser.add_argument("--iterations", type=positive, default=1000, metavar="N", help="(default: 1000)")
    parser.add_argument("--pairs", type=positive, default=4, metavar="N", help="of games in an iteration (default: 4)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of directions and openings (default: 1)")

    games = parser.add_argument_group("games")
    games.add_argument("--openings", required=True, metavar="FILE", help=".epd, .pgn, or .bin for a Polyglot book")
    games.add_argument("--plies", type=positive, metavar="N", help="cut lines of PGN and book here (book: 12)")
    limits = games.add_mutually_exclusive_group()
    limits.add_argument("--nodes", type=positive, default=5000, metavar="N", help="for each move (default: 5000)")
    limits.add_argument("--tc", metavar="CONTROL", help="a clock instead, such as 5+0.05")
    games.add_argument("--engine", metavar="COMMAND", help="another Quetzal (default: this one)")
    games.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="such as EvalFile=NET.qnn")
    games.add_argument("--resign", default="600,4", metavar="CP,MOVES[,both]", help="(default: 600,4)")
    games.add_argument("--draw", default="10,8,40", metavar="CP,MOVES,FROM", help="(default: 10,8,40)")
    games.add_argument("--max-moves", type=positive, default=200, metavar="N", help="drawn then (default: 200)")
    games.add_argument("--startup-timeout", type=float, default=60.0, metavar="S", help="until uciok (default: 60)")
    games.add_argument("-c", "--concurrency", type=positive, default=1, metavar="N", help="games at once (default: 1)")
    games.add_argument("--no-pin", action="store_true", help="let the system choose the processors")

    gains = parser.add_argument_group("gains, in steps of each parameter")
    gains.add_argument("--a", type=float, metavar="X", help="how far to go (default: about one step astray by chance)")
    gains.add_argument("--A", type=float, metavar="X", help="slows the start down (default: a tenth of --iterations)")
    gains.add_argument("--alpha", type=float, metavar="X", help="how fast --a falls (default: 0.602)")
    gains.add_argument("--gamma", type=float, metavar="X", help="how fast --c falls (default: 0.101)")
    gains.add_argument("--c", type=float, metavar="X", help="how far to look (default: 1, the parameter's step)")
    add_cluster(parser, tables=True)
    return parser


def rules_from(options):
    rules = Rules(most_moves=options.max_moves, **parse_resign(options.resign), **parse_draw(options.draw))
    rules.startup_seconds = options.startup_timeout
    check_rules(rules)
    return rules


def engine_from(options):
    control = options.tc or f"nodes={options.nodes}"
    shared = {"Hash": "16", **named_values(options.option)}
    if options.engine is not None:
        return make_engine(options.engine, control=control, options=shared)
    engine = EngineSettings("quetzal", [sys.executable, "-m", "uci_engine"], control, shared)
    engine.parsed_control()
    return engine


def state_from(options):
    """The run that was asked for, new or begun before."""
    parameters = choose(options.names)
    description = describe(
        parameters,
        engine_from(options),
        rules_from(options),
        options.openings,
        plies=options.plies,
        pairs=options.pairs,
        seed=options.seed,
    )
    given = {name: getattr(options, name) for name in Gains._fields if getattr(options, name) is not None}
    return open_state(options.state, parameters, description, given, options.iterations)


def tune(options):
    """Plays and learns until all iterations are done; returns the exit status."""
    state = state_from(options)
    optimiser = state.optimiser
    complete = True
    if optimiser.iteration < options.iterations:
        progress = Progress("tuning", "games", 2 * options.pairs * options.iterations)
        with cluster_of(options) as cluster:
            complete = play_on(
                state,
                options.iterations,
                progress,
                concurrency=options.concurrency,
                pin=not options.no_pin,
                cluster=cluster,
            )
    for line in table_lines(optimiser.parameters, optimiser.values):
        print(line)
    if complete:
        return 0
    print(f"interrupted in iteration {optimiser.iteration + 1}; the same command goes on", file=sys.stderr)
    return INTERRUPTED


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        return tune(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except PoolError as error:
        print(f"spsa: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"spsa: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

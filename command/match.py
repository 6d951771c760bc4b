"""`quetzal match A B`."""

import argparse
from pathlib import Path

from arena.display import match_line, match_lines
from arena.errors import InputError
from arena.match import MatchSchedule
from arena.openings import chosen_openings, read_openings
from arena.options import distinct_names, make_engine, named_values, parse_sprt
from arena.run import openings_description
from arena.settings import as_dict
from command.arguments import positive
from command.contest import add_game_arguments, launch, rules_from_options

DEFAULT_GAMES = 100


def add_arguments(parser):
    parser.add_argument("engines", nargs="*", metavar="ENGINE", help="two commands, quoted if they have arguments")
    parser.add_argument("--games", type=positive, metavar="N", help="how many (default: 100; with --sprt, no limit)")
    parser.add_argument("--sprt", metavar="ELO0,ELO1", help="stop when one of the two is refuted")
    parser.add_argument("--alpha", type=float, metavar="P", help="chance to accept ELO1 wrongly (default: 0.05)")
    parser.add_argument("--beta", type=float, metavar="P", help="chance to accept ELO0 wrongly (default: 0.05)")
    parser.add_argument("--normalized", action="store_true", help="ELO0 and ELO1 are normalised Elo")
    parser.add_argument("--names", metavar="A,B", help="what to call them (default: by their programs)")
    for side, which in (("a", "first"), ("b", "second")):
        parser.add_argument(f"--tc-{side}", metavar="CONTROL", help=f"time control of the {which} engine only")
        parser.add_argument(
            f"--option-{side}", action="append", default=[], metavar="NAME=VALUE", help=f"for the {which} engine only"
        )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    add_game_arguments(parser)


def describe_match(options):
    """The whole match as it is written to run.json. Raises InputError before anything is written."""
    if len(options.engines) != 2:
        raise InputError(f"a match has two engines, not {len(options.engines)}")
    shared = named_values(options.option)
    names = options.names.split(",") if options.names else [None, None]
    if len(names) != 2:
        raise InputError(f"--names takes two names, not '{options.names}'")
    engines = [
        make_engine(
            command,
            name=name,
            control=control or options.tc,
            options={**shared, **named_values(own, flag)},
            ponder=options.ponder,
            restart=options.restart,
        )
        for command, name, control, own, flag in zip(
            options.engines,
            names,
            (options.tc_a, options.tc_b),
            (options.option_a, options.option_b),
            ("--option-a", "--option-b"),
            strict=True,
        )
    ]
    distinct_names(engines)
    rules = rules_from_options(options)
    seed = 1 if options.seed is None else options.seed
    path = chosen_openings(options.openings, rules.chess960, lambda text: Path(text).absolute())
    if path is not None:
        read_openings(path, plies=options.plies, chess960=rules.chess960, seed=seed)
    return {
        "kind": "match",
        "name": f"{engines[0].name} - {engines[1].name}",
        "engines": [as_dict(engine) for engine in engines],
        "rules": as_dict(rules),
        "openings": openings_description(
            path, plies=options.plies, shuffle=options.shuffle, seed=seed, first=(options.first_opening or 1) - 1
        ),
        "games": options.games or (None if options.sprt else DEFAULT_GAMES),
        "sprt": parse_sprt(options.sprt, options.alpha, options.beta, options.normalized),
        "concurrency": options.concurrency or 1,
        "pin": not options.no_pin,
    }


def run(options):
    if options.worker:
        from pool.child import main

        return main()
    if options.resume is not None and options.engines:
        raise InputError("--resume takes the engines and everything else from the run itself")
    return launch(options, describe_match, "match", MatchSchedule, match_lines, match_line)

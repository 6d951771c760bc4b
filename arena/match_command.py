"""`quetzal match A B`."""

from pathlib import Path

from arena.display import match_line, match_lines
from arena.errors import InputError
from arena.launch import launch
from arena.match import MatchSchedule
from arena.openings import read_openings
from arena.options import distinct_names, make_engine, named_values, rules_from_options
from arena.run import openings_description
from arena.settings import as_dict
from arena.statistics import Sprt

DEFAULT_GAMES = 100


def sprt_description(options):
    if options.sprt is None:
        for value, flag in ((options.alpha, "--alpha"), (options.beta, "--beta"), (options.normalized, "--normalized")):
            if value:
                raise InputError(f"{flag} needs --sprt")
        return None
    try:
        elo0, elo1 = (float(part) for part in options.sprt.split(","))
    except ValueError:
        raise InputError(f"--sprt wants ELO0,ELO1, not '{options.sprt}'") from None
    alpha = 0.05 if options.alpha is None else options.alpha
    beta = 0.05 if options.beta is None else options.beta
    if not elo0 < elo1:
        raise InputError("--sprt wants the smaller difference first")
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise InputError("--alpha and --beta are chances between 0 and 0.5")
    return Sprt(elo0, elo1, alpha, beta, options.normalized)._asdict()


def describe_match(options):
    """The whole match as it is written to run.json. Raises InputError before anything is written."""
    if len(options.engines) != 2:
        raise InputError(f"a match has two engines, not {len(options.engines)}")
    shared = named_values(options.option)
    names = options.names.split(",") if options.names else [None, None]
    if len(names) != 2:
        raise InputError(f"--names wants two names, not '{options.names}'")
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
    path = None if options.openings is None else Path(options.openings).absolute()
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
        "sprt": sprt_description(options),
        "concurrency": options.concurrency or 1,
        "pin": not options.no_pin,
    }


def run_match(options):
    if options.resume is not None and options.engines:
        raise InputError("--resume takes the engines and everything else from the run itself")
    return launch(options, describe_match, "match", MatchSchedule, match_lines, match_line)

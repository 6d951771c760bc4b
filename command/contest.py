"""What `match` and `tournament` share: arguments, and the way from the description to the exit status."""

import contextlib
import datetime
import os
import sys
from pathlib import Path

from arena.display import Display
from arena.encounters import Encounters
from arena.errors import InputError
from arena.formats import VERSION, check_description
from arena.interrupts import INTERRUPTED
from arena.journal import Journal
from arena.options import check_rules, parse_draw, parse_resign, plan_cores
from arena.preflight import check_engines
from arena.run import Run, supply_from
from arena.settings import Rules, engine_from, rules_from
from command.arguments import add_cluster, add_move_timeout, cluster_of, positive
from pool.containment import adopt_descendants
from pool.local import LocalPool
from uci_engine.options import TUNING, is_tuning

# What may be changed when a run goes on.
CHANGEABLE = ("games", "concurrency")


def add_game_arguments(parser):
    """What holds for all games, of whatever kind the contest is."""
    games = parser.add_argument_group("games")
    games.add_argument(
        "--tc", metavar="CONTROL", help="10+0.1, 40/60+0.5, movetime=0.2, nodes=5000, depth=8 (default: 10+0.1)"
    )
    games.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="for every engine")
    games.add_argument("--ponder", action="store_true", help="engines think on their opponent's time, too")
    games.add_argument("--restart", action="store_true", help="start engines anew for every game")
    games.add_argument(
        "--chess960", action="store_true", help="play Chess960; without openings from its start positions"
    )
    games.add_argument(
        "--margin", type=float, metavar="MS", help="forgiven beyond the clock (default: 0; movetime 100)"
    )
    games.add_argument("--startup-timeout", type=float, metavar="S", help="until uciok (default: 10)")
    games.add_argument("--ping-timeout", type=float, metavar="S", help="until readyok (default: 10)")
    add_move_timeout(games, "move")

    openings = parser.add_argument_group("openings")
    openings.add_argument(
        "--openings",
        metavar="FILE",
        help=".epd, .pgn, or .bin for a Polyglot book; none for the start position (default: 2,500 of our own)",
    )
    openings.add_argument("--plies", type=positive, metavar="N", help="cut lines here (default: books at 12)")
    openings.add_argument("--shuffle", action="store_true", help="a file's in random order")
    openings.add_argument("--first-opening", type=positive, metavar="N", help="begin with the N-th (default: 1)")
    openings.add_argument("--seed", type=int, metavar="N", help="of everything random (default: 1)")

    ends = parser.add_argument_group("adjudication")
    ends.add_argument("--resign", metavar="CP,MOVES[,both]", help="who is so far behind for so long has lost: 600,4")
    ends.add_argument("--draw", metavar="CP,MOVES,FROM", help="so close for so long, from a move on, is drawn: 10,8,40")
    ends.add_argument("--max-moves", type=positive, metavar="N", help="drawn after so many moves")
    ends.add_argument("--syzygy-path", metavar="DIRS", help="directories of endgame tables, which decide")

    running = parser.add_argument_group("running")
    running.add_argument("-c", "--concurrency", type=positive, metavar="N", help="games at once (default: 1)")
    running.add_argument("--no-pin", action="store_true", help="let the system choose the processors")
    running.add_argument("--dir", metavar="DIR", help="where the run is kept (default: a new one in ./runs)")
    running.add_argument("--live", type=int, metavar="PORT", help="serve the report page while games run (0: any port)")
    running.add_argument(
        "--host", metavar="ADDRESS", help="where --live listens (default: 127.0.0.1, this machine only)"
    )
    running.add_argument("--resume", metavar="DIR", help="go on with a run that was interrupted")
    add_cluster(parser, upload=True, tables=True)


def rules_from_options(options):
    rules = Rules(chess960=options.chess960, most_moves=options.max_moves, margin=options.margin)
    if options.resign is not None:
        rules = Rules(**{**vars(rules), **parse_resign(options.resign)})
    if options.draw is not None:
        rules = Rules(**{**vars(rules), **parse_draw(options.draw)})
    for name, value in (
        ("startup_seconds", options.startup_timeout),
        ("ping_seconds", options.ping_timeout),
        ("move_seconds", options.move_timeout),
    ):
        if value is not None:
            setattr(rules, name, value)
    if options.syzygy_path is not None:
        rules.syzygy = os.pathsep.join(str(Path(part).absolute()) for part in options.syzygy_path.split(os.pathsep))
    check_rules(rules)
    return rules


def new_directory(kind):
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    path = Path("runs") / f"{kind}-{stamp}"
    number = 1
    while path.exists():
        number += 1
        path = Path("runs") / f"{kind}-{stamp}-{number}"
    return path


def open_journal(options, description, kind):
    """A new run of this description, or one that goes on with what it was begun with."""
    if options.resume is None:
        return Journal.create(options.dir or new_directory(kind), description)
    if options.dir:
        raise InputError("--resume goes on in the run's own directory; --dir is for new ones")
    journal = Journal.resume(options.resume)
    try:
        if journal.description["kind"] != kind:
            other = journal.description["kind"]
            raise InputError(f"is a {other}; quetzal {other} --resume goes on with it", options.resume)
        check_rules(rules_from(journal.description["rules"]))  # tables may have gone since
        changes = {name: getattr(options, name) for name in CHANGEABLE if getattr(options, name) is not None}
        if kind != "match" and "games" in changes:
            raise InputError("the length of a tournament cannot be changed")
        if changes:
            journal.update_description(**changes)
    except BaseException:
        journal.close()
        raise
    return journal


def local_pool(description, options, display):
    """Workers on this machine; the display warns where its processors do not suffice."""
    adopt_descendants()
    engines = [engine_from(values) for values in description["engines"]]
    cores, warning = plan_cores(engines, description["concurrency"], description["pin"])
    if warning is not None:
        display.warning(warning)
    work = Encounters(cores=cores, live=options.live is not None)
    return LocalPool(work, description["concurrency"])


def check_players(description):
    """Starts every engine once, so that a wrong option is noticed before games are lost by it."""
    adopt_descendants()
    check_engines([engine_from(values) for values in description["engines"]], rules_from(description["rules"]))


def cluster_pool(description, cluster, options):
    """Workers of a cluster, each of which has started every engine once."""
    from arena.calibration import measure_speed
    from pool.cluster import ClusterPool

    # Kept with the run: when it is resumed elsewhere, time controls still mean what they meant.
    reference = description.get("reference_speed") or round(measure_speed())
    work = Encounters(
        description["engines"],
        description["rules"],
        upload=options.upload,
        reference=reference,
        environment=TUNING if is_tuning() else None,
    )
    pool = ClusterPool(cluster, work)
    pool.check()
    return pool


def check_flags(options):
    if options.host is not None and options.live is None:
        raise InputError("--host needs --live")


def launch(options, describe, kind, make_schedule, lines, line):
    """Plays or continues a run. Exit status 0 when it is complete, 130 when it was interrupted, 1 on trouble.

    Whatever can fail is tried before the run's directory is made.
    """
    check_flags(options)
    with contextlib.ExitStack() as stack:
        live = None
        if options.live is not None:
            from arena.live import LiveView  # brings the server along

            live = stack.enter_context(contextlib.closing(LiveView(options.live, options.host or "127.0.0.1")))
        description = None if options.resume is not None else describe(options)
        cluster = stack.enter_context(cluster_of(options))
        pool = None
        if description is not None:
            check_description({"version": VERSION, **description})
            if cluster is None:
                check_players(description)
            else:
                pool = stack.enter_context(contextlib.closing(cluster_pool(description, cluster, options)))
        journal = stack.enter_context(contextlib.closing(open_journal(options, description, kind)))
        schedule = make_schedule(journal.description, supply_from(journal.description))
        display = Display(lines, line, resume_hint=f"quetzal {kind} --resume {journal.directory}")
        stack.callback(display.clear)
        if cluster is None:
            pool = local_pool(journal.description, options, display)
        elif pool is None:
            pool = stack.enter_context(contextlib.closing(cluster_pool(journal.description, cluster, options)))
        if cluster is not None and "reference_speed" not in journal.description:
            journal.update_description(reference_speed=pool.work.reference)
        if live is not None:
            display.say(f"the games can be watched at {' and '.join(live.server.addresses)}")
        run = Run(journal, schedule, pool, [display] if live is None else [display, live])
        if options.resume is not None and cluster is None and not schedule.is_over():
            check_players(journal.description)
        complete = run.play()
        if run.conduct.problem() is not None:
            print(f"quetzal {kind}: {run.conduct.problem()}", file=sys.stderr)
            return 1
        return 0 if complete else INTERRUPTED

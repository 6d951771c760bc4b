"""What matches and tournaments share from the description to the exit status."""

import contextlib
import sys

from arena.display import Display
from arena.errors import InputError
from arena.journal import Journal
from arena.live import LiveView
from arena.options import new_directory, plan_cores
from arena.pool import LocalPool, PoolError
from arena.run import Run, supply_from
from arena.settings import engine_from

# What may be changed when a run goes on.
CHANGEABLE = ("games", "concurrency")


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
        changes = {name: getattr(options, name) for name in CHANGEABLE if getattr(options, name) is not None}
        if kind != "match" and "games" in changes:
            raise InputError("the length of a tournament cannot be changed")
        if changes:
            journal.update_description(**changes)
    except BaseException:
        journal.close()
        raise
    return journal


def connect(options):
    """The cluster, if one is to play."""
    if options.cluster is None:
        return None
    from arena.cluster import ClusterPool

    return ClusterPool(options.cluster)


def local_pool(description, options, display):
    """Workers on this machine; the display warns where its processors do not suffice."""
    engines = [engine_from(values) for values in description["engines"]]
    cores, warning = plan_cores(engines, description["concurrency"], description["pin"])
    if warning is not None:
        display.warning(warning)
    return LocalPool(description["concurrency"], cores=cores, live=options.live is not None)


def prepare_cluster(cluster, journal, options):
    from arena.calibration import measure_speed

    if "reference_speed" not in journal.description:
        # Kept with the run: when it is resumed elsewhere, time controls still mean what they meant.
        journal.update_description(reference_speed=round(measure_speed()))
    cluster.prepare(journal.description, upload=options.upload)
    return cluster


def check_flags(options):
    if options.host is not None and options.live is None:
        raise InputError("--host needs --live")
    if options.upload and options.cluster is None:
        raise InputError("--upload needs --cluster")


def launch(options, describe, kind, make_schedule, lines, line):
    """Plays or continues a run. Exit status 0 when it is complete, 130 when it was interrupted, 1 on trouble.

    Whatever can fail is tried before the run's directory is made.
    """
    check_flags(options)
    with contextlib.ExitStack() as stack:
        live = None
        if options.live is not None:
            live = stack.enter_context(contextlib.closing(LiveView(options.live, options.host or "127.0.0.1")))
        description = None if options.resume is not None else describe(options)
        cluster = connect(options)
        if cluster is not None:
            stack.callback(cluster.close)
        journal = stack.enter_context(contextlib.closing(open_journal(options, description, kind)))
        schedule = make_schedule(journal.description, supply_from(journal.description))
        display = Display(lines, line, resume_hint=f"quetzal {kind} --resume {journal.directory}")
        if cluster is None:
            pool = local_pool(journal.description, options, display)
        else:
            pool = prepare_cluster(cluster, journal, options)
        if live is not None:
            display.say(f"the games can be watched at {live.address}")
        try:
            complete = Run(journal, schedule, pool, [display] if live is None else [display, live]).play()
        except PoolError as error:
            print(f"quetzal {kind}: {error}", file=sys.stderr)
            return 1
        if schedule.problem() is not None:
            print(f"quetzal {kind}: {schedule.problem()}", file=sys.stderr)
            return 1
        return 0 if complete else 130

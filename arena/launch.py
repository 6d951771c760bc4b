"""What matches and tournaments share from the description to the exit status."""

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


def open_journal(options, describe, kind):
    """A new run, or one that goes on with what it was begun with."""
    if options.resume is None:
        description = describe(options)
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


def make_pool(description, *, live=False):
    """Workers on this machine, and a warning where its processors do not suffice."""
    engines = [engine_from(values) for values in description["engines"]]
    cores, warning = plan_cores(engines, description["concurrency"], description["pin"])
    return LocalPool(description["concurrency"], cores=cores, live=live), warning


def launch(options, describe, kind, make_schedule, lines, line):
    """Plays or continues a run. Exit status 0 when it is complete, 130 when it was interrupted, 1 on trouble."""
    if options.host is not None and options.live is None:
        raise InputError("--host needs --live")
    live = None if options.live is None else LiveView(options.live, options.host or "127.0.0.1")
    try:
        journal = open_journal(options, describe, kind)
    except BaseException:
        if live is not None:
            live.close()
        raise
    try:
        description = journal.description
        schedule = make_schedule(description, supply_from(description))
        views = [Display(lines, line, resume_hint=f"quetzal {kind} --resume {journal.directory}")]
        if live is not None:
            views.append(live)
            print(f"the games can be watched at {live.address}", flush=True)
        pool, warning = make_pool(description, live=live is not None)
        if warning is not None:
            views[0].warning(warning)
        complete = Run(journal, schedule, pool, views).play()
    except PoolError as error:
        print(f"quetzal {kind}: {error}", file=sys.stderr)
        return 1
    finally:
        journal.close()
        if live is not None:
            live.close()
    if schedule.problem() is not None:
        print(f"quetzal {kind}: {schedule.problem()}", file=sys.stderr)
        return 1
    return 0 if complete else 130

"""Every engine is started once before the first game: one that does not start or refuses an option ends nothing but the plan."""

import json
import os
import threading

from arena.engine import EngineFailure, EngineProcess
from arena.errors import InputError

_TRIES = 2  # a start may fail once on a busy machine


def problem_of(settings, rules):
    """Why games with this engine would mean nothing, or None."""
    problem = None
    for _ in range(_TRIES):
        try:
            engine = EngineProcess(settings, rules)
        except EngineFailure as failure:
            problem = failure
            continue
        try:
            engine.greet()
            return None
        except EngineFailure as failure:
            problem = failure
            if failure.kind == "option":
                break
        finally:
            engine.leave()
    return f"{settings.name} {problem}"


def problems_of(engines, rules):
    """The problems of several engines, each kind started once, as many at a time as there are processors."""
    different = {}
    for settings in engines:
        key = json.dumps([settings.command, settings.options, settings.directory, settings.ponder], sort_keys=True)
        different.setdefault(key, settings)
    found = {}
    room = threading.Semaphore(os.cpu_count() or 1)

    def check(key, settings):
        with room:
            found[key] = problem_of(settings, rules)

    # Not a pool: an interrupt must not wait for engines that do not answer, and on Linux they end with these threads.
    threads = [threading.Thread(target=check, args=item, daemon=True) for item in different.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[key] for key in different if found.get(key) is not None]


def check_engines(engines, rules):
    """InputError with all reasons, if an engine cannot play."""
    problems = problems_of(engines, rules)
    if problems:
        raise InputError("; ".join(problems))

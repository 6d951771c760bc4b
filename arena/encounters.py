"""Games as work for a pool: a task is one encounter, so that the two games of a pair are played on the same machine.

Each worker has its own interpreter, so that the games that run at once do not disturb each other's clocks. What it says
while it plays are the events of a run: {"kind": "game", …} for each finished game, {"kind": "move", …} where moves are
to be shown, {"kind": "warning", …}.
"""

import itertools
import os
import sys

from arena.players import Players
from arena.preflight import problems_of
from arena.processes import command_at, files_of, folders_of, options_at, tables_at
from arena.settings import engine_from, rules_from
from book.endgame.endings import WDL_SUFFIX
from book.endgame.table_paths import table_files
from pool.processes import Children
from pool.tasks import Doer, Work


class Encounters(Work):
    """`engines` and `rules` are those of the run's description: on a cluster, a worker without one of them is not fit.

    `cores` has the processors of each slot, `upload` sends the engines' programs along; networks and books that options
    name go along anyway, and so do endgame tables: those that judge games without their distances. With a `reference` speed, time
    controls are scaled to what the worker is capable of. `environment` has variables that the engines see.
    """

    in_process = True

    def __init__(
        self, engines=(), rules=None, *, cores=None, live=False, upload=False, reference=None, environment=None
    ):
        self.engines = list(engines)
        self.rules = rules
        self.cores = cores
        self.live = live
        self.upload = upload
        self.reference = reference
        self.environment = environment or {}

    def files(self):
        found = (files_of(each["command"], each["options"], upload=self.upload) for each in self.engines)
        return list(dict.fromkeys(itertools.chain(*found)))

    def folders(self):
        found = {}
        if self.rules is not None and self.rules["syzygy"] is not None:
            found[self.rules["syzygy"]] = table_files(self.rules["syzygy"], (WDL_SUFFIX,))
        for engine in self.engines:
            found |= folders_of(engine["options"])
        return found

    def open(self, place):
        if place.is_remote:
            self.require_all(place)
        return Table(self, place)

    def require_all(self, place):
        """Is everything there that games need?"""
        for engine in self.engines:
            placed(engine, place)
        if self.rules is not None:
            rules_at(self.rules, place)

    def check(self, place):
        self.require_all(place)
        os.environ.update(self.environment)
        engines = [engine_from(placed(values, place)) for values in self.engines]
        return problems_of(engines, rules_from(rules_at(self.rules, place)))

    def label(self, task):
        return f"game {task['games'][0]['game'] + 1}"

    def note(self, task, part):
        if part["kind"] == "game":
            task["games"] = [each for each in task["games"] if each["game"] != part["record"]["game"]]

    def is_finished(self, task):
        return not task["games"]


def placed(engine, place):
    """An engine's settings with the paths of its files on this machine."""
    return {
        **engine,
        "command": command_at(engine["command"], place),
        "options": options_at(engine["options"], place),
    }


def rules_at(rules, place):
    """Rules with the path of their tables on this machine."""
    return {**rules, "syzygy": tables_at(rules["syzygy"], place)}


class Table(Doer):
    """Where the games of one worker are played."""

    def __init__(self, work, place):
        self.work = work
        self.place = place
        os.environ.update(work.environment)
        self.players = Players()
        self.scale = 1.0
        if work.reference is not None:
            from arena.calibration import measure_speed, time_scale  # brings the search along

            self.scale = time_scale(work.reference, measure_speed())
        sys.setswitchinterval(0.0005)  # the thread that reads an engine must not wait for the one that writes a record
        if work.cores is not None and place.slot is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, work.cores[place.slot])

    def do(self, task, say):
        def show_game(record, log):
            if self.work.reference is not None:
                record = {**record, "scale": round(self.scale, 3)}
            say({"kind": "game", "record": record, "log": log})

        def show_move(plan, move, thought):
            say({"kind": "move", "game": plan["game"], "players": plan["players"], "move": move, "thought": thought})

        self.players.on_start = lambda pids: say(Children(pids))
        engines = {index: placed(values, self.place) for index, values in task["engines"].items()}
        try:
            self.players.play(
                {**task, "engines": engines, "rules": rules_at(task["rules"], self.place)},
                scale=self.scale,
                on_game=show_game,
                on_move=show_move if self.work.live else None,
                on_warning=lambda text: say({"kind": "warning", "text": text}),
            )
        except BaseException:
            self.players.end_all()
            raise

    def give_up(self):
        self.players.end_all()

    def close(self):
        self.players.close()

"""A run: takes encounters from a schedule, has them played, keeps every game, and tells whoever watches."""

import collections
import json
import time

from arena.conduct import Conduct
from arena.engine import EngineFailure
from arena.errors import InputError
from arena.game import record_of_failed_start
from arena.interrupts import Interrupt
from arena.openings import DEFAULT, START, Opening, Supply, chess960_starts, fingerprint, read_openings
from arena.report import page, page_data


def openings_description(path, *, plies=None, shuffle=False, seed=1, first=0):
    """How the openings of a run are written down; the fingerprint tells whether the file has changed since."""
    return {
        "path": None if path is None else str(path),
        "sha256": None if path is None else fingerprint(path),
        "plies": plies,
        "shuffle": shuffle or path == DEFAULT,  # which stand in the order of the alphabet
        "seed": seed,
        "first": first,
    }


def supply_from(description):
    """The openings of a run, the same ones every time."""
    how = description["openings"]
    chess960 = description["rules"]["chess960"]
    if how["path"] is None:
        return Supply(chess960_starts(how["seed"]) if chess960 else [START])
    openings = read_openings(how["path"], plies=how["plies"], chess960=chess960, seed=how["seed"])
    if how["sha256"] != fingerprint(how["path"]):
        raise InputError("has changed since the run began", how["path"])
    return Supply(openings, shuffle=how["shuffle"], seed=how["seed"], first=how["first"])


def encounter(description, supply, number, players, *, round_number, opening_number, first_game, games=2):
    """A task for a worker: `games` games of two engines from one opening, with colours by turns."""
    return {
        "number": number,
        "rules": description["rules"],
        "engines": {index: description["engines"][index] for index in players},
        "opening": supply[opening_number],
        "games": [
            {
                "game": first_game + game,
                "pair": number,
                "round": round_number,
                "players": list(players if game % 2 == 0 else players[::-1]),
            }
            for game in range(games)
        ],
    }


class LiveGames:
    """The games that are being played, as far as workers tell."""

    def __init__(self):
        self.games = {}

    def hear(self, event):
        if event["kind"] == "move":
            number = event["game"]
            if event["move"] is None:
                start = event["thought"]
                plies = len(start["moves"]) + (start["fen"].split()[1] == "b")
                self.games[number] = {
                    "game": number,
                    "players": event["players"],
                    "offset": plies % 2,  # the side that moves first after the opening
                    **start,
                    "thoughts": [],
                }
            elif number in self.games:
                self.games[number]["moves"].append(event["move"])
                self.games[number]["thoughts"].append(event["thought"])
        elif event["kind"] == "game":
            self.games.pop(event["record"]["game"], None)


class Run:
    """Everything that a match or tournament has in common."""

    def __init__(self, journal, schedule, pool, views):
        self.journal = journal
        self.schedule = schedule
        self.pool = pool
        self.views = views
        self.live = LiveGames()
        self.started = time.monotonic()
        self.before = len(journal.records)  # games of earlier sessions, which say nothing about this one's speed
        self.conduct = Conduct(schedule.names)
        self.forfeits = collections.deque()  # events of games that an engine which is out has lost without playing
        self.is_short = False  # of openings
        self.finished = {record["game"] for record in journal.records}
        for record in journal.records:
            schedule.record(record)

    @property
    def played(self):
        """Games of this session."""
        return len(self.journal.records) - self.before

    @property
    def seconds(self):
        return time.monotonic() - self.started

    def rate(self):
        """Games per second of this session."""
        return self.played / max(self.seconds, 1e-9)

    def play(self):
        """Plays until the schedule is over; True then, False when it was interrupted. Nothing finished gets lost."""
        complete = True
        with Interrupt() as interrupt:
            try:
                for view in self.views:
                    view.begin(self)
                while complete and not self.schedule.is_over() and self.conduct.problem() is None:
                    self.fill()
                    if self.pool.busy == 0 and not self.forfeits:
                        break
                    if self.forfeits:
                        self.hear(self.forfeits.popleft())
                    else:
                        self.hear_pool(self.pool.event(0.5))
                    for view in self.views:
                        view.update(self)
                    complete = not interrupt.is_requested
            except KeyboardInterrupt:
                complete = False
            finally:
                self.pool.close()
        self.journal.write("results.json", json.dumps(self.results(), indent=1) + "\n")
        self.journal.write("report.html", page(page_data(self)))
        for view in self.views:
            view.end(self, complete)
        return complete

    def fill(self):
        """Gives work to everybody who has none."""
        while self.pool.has_room() and not self.forfeits:
            task = self.schedule.next_encounter()
            if task is None:
                return
            self.warn_of_shortage()
            task["games"] = [game for game in task["games"] if game["game"] not in self.finished]
            if any(player in self.conduct.out for player in task["engines"]):
                self.forfeits.extend(
                    {"kind": "game", "record": self.forfeit(task, game), "log": None} for game in task["games"]
                )
            elif task["games"]:
                self.pool.give(task)

    def warn_of_shortage(self):
        """Once: openings that are played again bring the same games of engines that always play alike."""
        if not self.is_short and self.schedule.supply.shortage() is not None:
            self.is_short = True
            self.warn(self.schedule.supply.shortage())

    def forfeit(self, task, game):
        """The record of a game that is not played; White's if both are out, as where both fail to start."""
        side = 0 if game["players"][0] in self.conduct.out else 1
        engines = [task["engines"][player] for player in game["players"]]
        return record_of_failed_start(
            game,
            [engine["name"] for engine in engines],
            [engine["control"] for engine in engines],
            Opening(*task["opening"]),
            side,
            EngineFailure("out", "is out"),
        )

    def hear_pool(self, event):
        if event is None:
            return
        if event.kind == "part":
            self.hear(event.value)
        elif event.kind == "warning":
            self.warn(event.value)

    def hear(self, event):
        self.live.hear(event)
        if event["kind"] == "game":
            if event["record"]["game"] not in self.finished:
                self.finished.add(event["record"]["game"])
                record = self.journal.add(event["record"], event["log"])
                self.schedule.record(self.journal.records[-1])
                for view in self.views:
                    view.game(self, record)
                verdict = self.conduct.hear(self.journal.records[-1])
                if verdict is not None:
                    self.warn(verdict)
        elif event["kind"] == "warning":
            self.warn(event["text"])

    def warn(self, text):
        for view in self.views:
            view.warning(text)

    def results(self):
        """All results as one object, for programs that read on. Games count from one, as in the PGN."""
        games = []
        for record in self.journal.records:
            kept = {name: value for name, value in record.items() if name != "players"}
            games.append({**kept, "game": record["game"] + 1})
        return {**self.journal.description, "summary": self.schedule.summary(), "games": games}

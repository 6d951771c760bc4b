"""The journal of a review of a collection: what has been reviewed so far, one line of JSON for each game, in their order.

It lies beside the output until that is complete. The first line says what the review is made with; it can only be
continued with the same. A process that is killed loses the games that it was at: a line that was cut short is dropped.
On Windows a locked byte cannot be read by others, which does not matter: one process reads and writes.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import TypedDict

from arena.errors import InputError
from arena.formats import check_shape, demand, show
from arena.journal import damage, drop_cut_line, read_json
from board.files import lock_file, open_regular
from play.verdicts import NAGS, PHASES

VERSION = 1
SUFFIX = ".journal"

Grades = TypedDict("Grades", dict.fromkeys(NAGS, int))
Phases = TypedDict("Phases", dict.fromkeys(PHASES, list[float]))  # moves, and the points that they lost


class Side(TypedDict):
    """What Totals.sums has."""

    accuracies: float
    grades: Grades
    phases: Phases


class Mark(TypedDict):
    """A move that deserves a word."""

    ply: int
    grade: str
    loss: float
    best: list[str]
    best_uci: list[str]


class Game(TypedDict):
    """What every record has: the place of a game, and what tells it from another one."""

    file: str
    number: int
    line: int
    digest: str


class BrokenGame(Game):
    """One that could not be read, and why."""

    broken: str


class ReviewedGame(Game):
    """What play.collection_run.game_data has, and the annotated game."""

    white: str
    black: str
    result: str
    event: str
    date: str
    fen: str
    moves: list[str]
    sans: list[str]
    scores: list[str]  # before the first move and after each
    points: list[float]  # likewise
    marks: list[Mark]
    sides: list[Side]
    pgn: str


def digest_of(entry):
    """What tells a game from another one, should the collection have changed."""
    return hashlib.blake2b(entry.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Journal:
    """Held by one process at a time. `games` is how many it has."""

    def __init__(self, output, settings):
        self.path = Path(f"{output}{SUFFIX}")
        self.settings = {"version": VERSION, **settings}
        self.games = 0
        self.file = open(self.path, "a+b", opener=open_regular)  # noqa: SIM115 - open as long as the review
        try:
            self.hold()
            drop_cut_line(self.path)
            self.read()
        except BaseException:
            self.file.close()
            raise

    def hold(self):
        try:
            lock_file(self.file)
        except OSError:
            raise InputError("another process is writing it", self.path) from None

    def read(self):
        """What is there already; an empty file begins with the settings."""
        known = next(self.lines(), None)
        if known is None:
            self.write(self.settings)
            return
        different = [name for name in {**known, **self.settings} if known.get(name) != self.settings.get(name)]
        if different:
            raise InputError(
                f"was begun with other settings ({', '.join(different)}); repeat them, or delete it to begin again",
                self.path,
            )
        for number, record in enumerate(self.records(), 2):
            try:
                check_record(record)
            except ValueError as error:
                raise damage(error, self.path, number) from None
            self.games += 1

    def lines(self):
        with open(self.path, "rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    found = read_json(line)
                except ValueError as error:
                    raise damage(error, self.path, number) from None
                if not isinstance(found, dict):
                    raise damage("no record of a game", self.path, number)
                yield found

    def records(self):
        """All games so far, one after the other from the disk."""
        lines = self.lines()
        next(lines)
        return lines

    def missing(self, entries):
        """Yields the entries behind those that are there. InputError if these are others than the review began with."""
        entries = iter(entries)
        for record in self.records():
            entry = next(entries, None)
            if entry is None or digest_of(entry) != record["digest"]:
                place = f"{record['file']}, game {record['number']}"
                raise InputError(f"the games have changed since ({place}); delete it to begin again", self.path)
        yield from entries

    def write(self, found):
        self.file.write(json.dumps(found, separators=(",", ":"), allow_nan=False).encode() + b"\n")
        self.file.flush()

    def add(self, record):
        self.write(record)
        self.games += 1

    def close(self):
        if not self.file.closed:
            os.fsync(self.file.fileno())
            self.file.close()

    def remove(self):
        """The output is complete."""
        self.file.close()
        self.path.unlink()


def check_record(record):
    """ValueError unless this is what a review says of one game, and its parts fit together."""
    if "broken" in record:
        check_shape(record, BrokenGame)
        return
    check_shape(record, ReviewedGame)
    moves = len(record["moves"])
    for name, count in (("sans", moves), ("scores", moves + 1), ("points", moves + 1), ("sides", 2)):
        demand(len(record[name]) == count, f"{len(record[name])} {name} with {moves} moves")
    for mark in record["marks"]:
        demand(mark["grade"] in NAGS, f"a grade is {show(mark['grade'])}")
        demand(0 <= mark["ply"] < moves, f"a mark is on ply {mark['ply']} of {moves}")
    for side in record["sides"]:
        demand(side["grades"].keys() <= NAGS.keys(), f"grades are {show(list(side['grades']))}")
        demand(side["phases"].keys() <= set(PHASES), f"phases are {show(list(side['phases']))}")
        demand(all(len(each) == 2 for each in side["phases"].values()), "a phase has not two numbers")

"""The journal of a review of a collection: what has been reviewed so far, game by game in their order."""

import hashlib
from typing import TypedDict

from arena.formats import check_shape, demand, show
from play import journal
from play.verdicts import NAGS, PHASES

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


class Journal(journal.Journal):
    """Its entries are those of play.collection."""

    name = "a game"
    matter = "the games"

    def check(self, record):
        check_record(record)

    def digest(self, entry):
        return digest_of(entry)

    def place(self, record):
        return f"{record['file']}, game {record['number']}"


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

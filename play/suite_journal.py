"""The journal of a suite: what each engine has answered so far, engine after engine, in the order of the positions."""

import hashlib
from typing import TypedDict

from arena.formats import check_shape, demand, show
from arena.journal import damage
from play import journal
from play.suite import Attempt


class Answer(TypedDict):
    """An Attempt, and what tells its problem and its engine from others."""

    digest: str
    engine: str
    id: str
    move: str | None
    score: int | None
    mate: int | None
    depth: int | None
    nodes: int | None
    time: float
    solved_at: float | None
    failure: str | None


class Journal(journal.Journal):
    """Its entries are pairs of an engine's name and a problem."""

    name = "an answer"
    matter = "the positions"

    def check(self, record):
        check_shape(record, Answer)
        demand((record["move"] is None) == (record["failure"] is not None), "there is neither a move nor a failure")
        demand(record["time"] >= 0, f"time is {show(record['time'])}")
        demand(record["solved_at"] is None or record["solved_at"] >= 0, f"solved_at is {show(record['solved_at'])}")

    def digest(self, entry):
        engine, problem = entry
        return digest_of(engine, problem)

    def place(self, record):
        return f"{record['engine']} at {record['id']}"

    def answered(self, entries):
        """The Attempts that are there. InputError if they are at other positions, or damaged."""
        entries = list(entries)
        for _ in self.missing(entries):  # it compares all of them before the first one that is missing
            break
        return [
            self.attempt(record, problem, number)
            for number, (record, (_, problem)) in enumerate(zip(self.records(), entries, strict=False), 2)
        ]

    def attempt(self, record, problem, line):
        found = {name: record[name] for name in Attempt._fields if name != "kind"}
        try:
            if found["move"] is not None:
                found["move"] = problem.board.parse_uci(found["move"])
                demand(found["move"], "there is no move")
            demand(found["solved_at"] is None or problem.has_solution, "it solves what asks nothing")
        except ValueError as error:
            raise damage(error, self.path, line) from None
        return Attempt(**found)

    def note(self, engine, problem, attempt):
        """Keeps an Attempt, but for the kind of a failure: who goes on later may have repaired the engine."""
        found = attempt._asdict()
        del found["kind"]
        found["move"] = None if attempt.move is None else problem.board.uci(attempt.move)
        self.add({"digest": digest_of(engine, problem), "engine": engine, "id": problem.name, **found})


def digest_of(engine, problem):
    """The same for the same question to the same engine, should a file have changed."""
    question = problem._replace(path="", board=problem.board.fen(en_passant="fen"))
    return hashlib.blake2b(repr((engine, *question)).encode(), digest_size=8).hexdigest()

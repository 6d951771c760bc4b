"""What the files of a run hold, run.json and the lines of games.jsonl, and the check that they do.

A file that was damaged or edited is refused with the place and the reason before anything is made of it.
"""

import functools
import typing
from typing import Literal, NotRequired, TypedDict

from arena.control import parse_control
from arena.settings import EngineSettings, Rules
from arena.statistics import Sprt

VERSION = 1
# More than anybody plays; the schedule of a tournament keeps its meetings and pairs in memory.
MOST_GAMES = 10**9
MOST_ROUNDS = 10**5
MOST_MEETING_GAMES = 10**5
MOST_CONCURRENCY = 1024
_LARGEST = 10**18
MOST_RATING = 10_000  # either way: expected scores of larger differences overflow


class Thought(TypedDict):
    """What an engine said about its move. Times in milliseconds."""

    time: float
    left: NotRequired[int]
    depth: NotRequired[int]
    nodes: NotRequired[int]
    score: NotRequired[int]
    mate: NotRequired[int]
    pv: NotRequired[str]  # the beginning of its best line


class Record(TypedDict):
    """A finished game: a line of games.jsonl."""

    game: int
    pair: int
    round: int
    players: list[int]  # the engines with White and Black, by their place in the description
    white: str
    black: str
    result: Literal["1-0", "0-1", "1/2-1/2"]
    points: Literal[0, 0.5, 1]
    reason: str
    termination: str
    failed: str | None
    failure: str | None
    fen: str
    opening: str
    book_plies: int
    moves: list[str]
    thoughts: list[Thought]
    began: str
    seconds: float
    overhead: list[float]  # moves, milliseconds in all, milliseconds at worst
    controls: list[str]
    scale: NotRequired[float]
    log: NotRequired[str]


class Openings(TypedDict):
    path: str | None
    sha256: str | None
    plies: int | None
    shuffle: bool
    seed: int
    first: int


class Description(TypedDict):
    """run.json: what matches and tournaments share."""

    version: Literal[1]
    kind: Literal["match", "tournament"]
    name: str
    engines: list[EngineSettings]
    rules: Rules
    openings: Openings
    concurrency: int
    pin: bool
    reference_speed: NotRequired[float]


class Match(Description):
    games: int | None
    sprt: Sprt | None


class Tournament(Description):
    format: Literal["round-robin", "gauntlet", "swiss", "knockout"]
    rounds: int
    games: int
    challengers: int
    extra_pairs: int


_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


def show(value):
    """A value in a message, not all of it."""
    text = ascii(value)
    return text if len(text) <= 40 else text[:37] + "..."


class MisfitError(ValueError):
    """A value that is not what it should be. The place is put together on the way out, from the inside."""

    def __init__(self, text, place=""):
        super().__init__(text, place)
        self.text = text
        self.place = place

    def within(self, place):
        dot = "." if self.place[:1] not in ("", "[") else ""
        return MisfitError(self.text, place + dot + self.place)

    def __str__(self):
        return f"{self.place or 'this'} {self.text}"


def check_shape(value, hint):
    """MisfitError if a value that was read from JSON is not what the type says."""
    kind = typing.get_origin(hint)
    if kind is None:
        if hint in _WORDS:
            check_plain(value, hint)
        else:
            check_fields(value, hint)
    elif kind is Literal:
        if isinstance(value, (bool, list, dict)) or value not in typing.get_args(hint):
            raise MisfitError(f"is {show(value)}, not {' or '.join(map(str, typing.get_args(hint)))}")
    elif kind is list:
        if not isinstance(value, list):
            raise MisfitError(f"is {show(value)}, not a list")
        check_all(enumerate(value), typing.get_args(hint)[0], "[{}]")
    elif kind is dict:
        check_object(value)
        check_all(value.items(), typing.get_args(hint)[1], "{}")
    elif value is not None:  # a union is always with None
        check_shape(value, next(each for each in typing.get_args(hint) if each is not type(None)))


def check_all(pairs, hint, place):
    for name, value in pairs:
        try:
            check_shape(value, hint)
        except MisfitError as error:
            raise error.within(place.format(name)) from None


def check_plain(value, hint):
    if type(value) is not hint and not (hint is float and type(value) is int):
        raise MisfitError(f"is {show(value)}, not {_WORDS[hint]}")
    if hint in (int, float) and not -_LARGEST <= value <= _LARGEST:
        raise MisfitError(f"is {show(value)}")


def check_object(value):
    if not isinstance(value, dict):
        raise MisfitError(f"is {show(value)}, not an object with names and values")


@functools.cache
def fields_of(hint):
    """Names and types of a TypedDict, a dataclass or a NamedTuple, and the names that may be missing from a file."""
    return typing.get_type_hints(hint), getattr(hint, "__optional_keys__", frozenset())


def check_fields(value, hint):
    check_object(value)
    fields, optional = fields_of(hint)
    for name, kind in fields.items():
        if name not in value:
            if name not in optional:
                raise MisfitError("is missing", name)
            continue
        try:
            check_shape(value[name], kind)
        except MisfitError as error:
            raise error.within(name) from None
    if not typing.is_typeddict(hint):  # becomes an object that has no other fields
        for name in value:
            if name not in fields:
                raise MisfitError("is unknown", name[:40])


def demand(condition, text):
    if not condition:
        raise ValueError(text)


def check_record(record, names):
    """ValueError unless this is a game between two of these engines whose parts fit together."""
    check_shape(record, Record)
    for name, value in record.items():
        demand(not isinstance(value, str) or value.isprintable(), f"{name[:40]} is {show(value)}, not one line of text")
    demand(0 <= record["game"] < MOST_GAMES, f"game is {show(record['game'])}")
    demand(record["pair"] == record["game"] // 2, f"pair is {show(record['pair'])}, not half of game")
    players = record["players"]
    demand(
        len(players) == 2 and players[0] != players[1] and all(0 <= player < len(names) for player in players),
        f"players are {show(players)}, not two of {len(names)} engines",
    )
    sides = [names[player] for player in players]
    demand(
        [record["white"], record["black"]] == sides,
        f"white and black are {show([record['white'], record['black']])}, not {show(sides)}",
    )
    demand(
        record["result"] == {1: "1-0", 0: "0-1", 0.5: "1/2-1/2"}[record["points"]],
        f"points are {record['points']:g}, and the result is {record['result']}",
    )
    demand(record["failure"] is None or record["points"] != 0.5, "a game that one side lost by a failure is drawn")
    loser = {1: sides[1], 0: sides[0], 0.5: None}[record["points"]] if record["failure"] is not None else None
    demand(record["failed"] == loser, f"failed is {show(record['failed'])}, not {show(loser)}")
    book, moves = record["book_plies"], len(record["moves"])
    demand(0 <= book <= moves, f"book_plies is {show(book)}, with {moves} moves")
    demand(
        len(record["thoughts"]) == moves - book,
        f"{len(record['thoughts'])} thoughts for {moves - book} moves after the opening",
    )
    demand(all(thought["time"] >= 0 for thought in record["thoughts"]), "a move took less than no time")
    demand(len(record["overhead"]) == 3, "overhead has not three numbers")
    demand(len(record["controls"]) == 2, "controls are not two")


def check_description(description):
    """ValueError unless a run can be continued with it."""
    check_object(description)
    demand(
        description.get("version") == VERSION and not isinstance(description["version"], bool),
        "was written by another version of this program",
    )
    demand(description.get("kind") in ("match", "tournament"), f"kind is {show(description.get('kind'))}")
    is_match = description["kind"] == "match"
    check_shape(description, Match if is_match else Tournament)
    count = len(description["engines"])
    demand(count == 2 if is_match else count >= 2, f"there are {count} engines")
    demand(description["name"].isprintable(), f"name is {show(description['name'])}, not one line of text")
    for number, engine in enumerate(description["engines"]):
        demand(engine["command"], f"engines[{number}].command is empty")
        demand(engine["name"].isprintable(), f"engines[{number}].name is {show(engine['name'])}")
        demand(abs(engine["rating"] or 0) <= MOST_RATING, f"engines[{number}].rating is {show(engine['rating'])}")
        parse_control(engine["control"])
    names = [engine["name"] for engine in description["engines"]]
    demand(len(set(names)) == count, f"engines are called {show(names)}")
    how = description["openings"]
    demand(how["first"] >= 0, "openings.first is less than 0")
    demand((how["path"] is None) == (how["sha256"] is None), "openings.path and openings.sha256 belong together")
    demand(1 <= description["concurrency"] <= MOST_CONCURRENCY, f"concurrency is not between 1 and {MOST_CONCURRENCY}")
    demand(description.get("reference_speed", 1) > 0, "reference_speed is not more than 0")
    games = description["games"]
    if is_match:
        demand(games is None or 1 <= games <= MOST_GAMES, f"games are not between 1 and {MOST_GAMES}")
        demand(games is not None or description["sprt"] is not None, "neither games nor sprt end it")
        if description["sprt"] is not None:
            Sprt(**description["sprt"]).check()
        return
    demand(
        2 <= games <= MOST_MEETING_GAMES and games % 2 == 0,
        f"games are {games}, not an even number up to {MOST_MEETING_GAMES}",
    )
    demand(1 <= description["rounds"] <= MOST_ROUNDS, f"rounds are not between 1 and {MOST_ROUNDS}")
    demand(1 <= description["challengers"] < count, "challengers leave nobody to play")
    demand(0 <= description["extra_pairs"] <= 900, "extra_pairs are not between 0 and 900")

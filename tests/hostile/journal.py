"""Runs whose files were damaged in every way, from a seed: they go on, or are refused with file and reason, and nothing is lost.

python tests/hostile/journal.py [--seed N] [--seconds S] [--keep DIR] | --replay FILE
"""

import copy
import json
import random
import sys
import tempfile
from pathlib import Path

from fuzzing import KEEP, cases, command_line, damage_bytes, keep_failure, kept_failure

from arena.display import match_lines, tournament_lines
from arena.errors import InputError
from arena.journal import Journal
from arena.match import MatchSchedule
from arena.pgn import game_text
from arena.report import page, page_data
from arena.run import Run, encounter, openings_description, supply_from
from arena.settings import EngineSettings, Rules, as_dict
from arena.tournament import TournamentSchedule
from board import Board
from board.fen import STARTING_FEN

MATCH = {"kind": "match", "games": 8, "sprt": {"elo0": 0, "elo1": 5, "alpha": 0.05, "beta": 0.05, "normalized": False}}
TOURNAMENT = {"kind": "tournament", "rounds": 1, "games": 2, "challengers": 1, "extra_pairs": 2}


def make_description(rng):
    count = 2
    own = MATCH if rng.random() < 0.5 else {**TOURNAMENT, "format": rng.choice(("round-robin", "swiss", "knockout"))}
    if own["kind"] == "tournament":
        count = rng.randrange(2, 5)
    engines = [as_dict(EngineSettings(f"e{number}", ["e"], "1+0.1")) for number in range(count)]
    rules = as_dict(Rules())
    return {
        "version": 1,
        **own,
        "name": "a run",
        "engines": engines,
        "rules": rules,
        "openings": openings_description(None),
        "concurrency": 1,
        "pin": True,
    }


def make_record(plan, engines, rng):
    board = Board()
    moves = []
    for _ in range(rng.randrange(6)):
        move = rng.choice(board.legal_moves())
        moves.append(board.uci(move))
        board.push(move)
    book = rng.randrange(len(moves) + 1)
    points = rng.choice((0.0, 0.5, 1.0))
    failure = rng.choice((None, "crash")) if points != 0.5 else None
    white, black = (engines[player]["name"] for player in plan["players"])
    return {
        **plan,
        "white": white,
        "black": black,
        "result": {0.0: "0-1", 0.5: "1/2-1/2", 1.0: "1-0"}[points],
        "points": points,
        "reason": "a reason",
        "termination": "normal",
        "failed": failure and (white if points == 0.0 else black),
        "failure": failure,
        "fen": STARTING_FEN,
        "opening": "",
        "book_plies": book,
        "moves": moves,
        "thoughts": [
            {"time": 1.5, "left": 900, "depth": 7, "score": -3, "nodes": 12, "pv": "e2e4 a1a1"} for _ in moves[book:]
        ],
        "began": "2026-01-02T03:04:05+00:00",
        "seconds": 1.5,
        "overhead": [len(moves), 0.5, 0.25],
        "controls": ["1+0.1", "1+0.1"],
    }


def make_run(rng):
    """A description and the lines of some of its games, as bytes."""
    description = make_description(rng)
    count = len(description["engines"])
    lines = []
    for number in range(rng.randrange(6)):
        players = rng.sample(range(count), 2)
        supply = supply_from(description)
        task = encounter(
            description, supply, number, players, round_number=1, opening_number=0, first_game=2 * number, games=2
        )
        for plan in task["games"]:
            lines.append(json.dumps(make_record(plan, description["engines"], rng), separators=(",", ":")).encode())
    return json.dumps(description, indent=1).encode() + b"\n", b"".join(line + b"\n" for line in lines)


# Damage

VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1,
    7,
    0.5,
    1e308,
    10**17,
    10**40,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\n",
    "\x1b[2J",
]
VALUES += [
    "\ud800",
    "9" * 5000,
    [],
    {},
    [[]],
    {"a": 1},
    [0, 1],
    [1, 1],
    "e2e4",
    "1-0",
    STARTING_FEN,
    "8/8/8/8/8/8/8/8 w - - 0 1",
]
VALUES += ["nodes=1", "match", "swiss", "../../x", "\u202e", "}", '"]\n[White "y"]']


def places(value, found=None):
    """All containers within a value."""
    found = [] if found is None else found
    if isinstance(value, (dict, list)):
        found.append(value)
        for each in value.values() if isinstance(value, dict) else value:
            places(each, found)
    return found


def damage_value(value, rng):
    """Changes, removes, adds or moves something somewhere within."""
    value = copy.deepcopy(value)
    where = rng.choice(places(value) or [[]])
    keys = list(where) if isinstance(where, dict) else list(range(len(where)))
    new = rng.choice(VALUES)
    if not keys or rng.random() < 0.1:
        if isinstance(where, dict):
            where[rng.choice(("x", "game", "", "\ud800"))] = new
        else:
            where.append(new)
        return value
    key = rng.choice(keys)
    how = rng.randrange(4)
    if how == 0:
        del where[key]
    elif how == 1:
        where[key] = where[rng.choice(keys)]
    else:
        where[key] = new
    return value


def damage_json(data, rng):
    if rng.random() < 0.15:
        return json.dumps(rng.choice(VALUES)).encode()
    value = json.loads(data)
    for _ in range(rng.choice((1, 1, 1, 3))):
        value = damage_value(value, rng)
    return json.dumps(value).encode()


def damaged(rng):
    description, games = make_run(rng)
    if rng.random() < 0.4:
        how = damage_json if rng.random() < 0.7 else damage_bytes
        return how(description, rng), games
    lines = games.splitlines(keepends=True)
    if lines and rng.random() < 0.7:
        number = rng.randrange(len(lines))
        lines[number] = damage_json(lines[number], rng) + b"\n"
        if rng.random() < 0.1:
            rng.shuffle(lines)
        return description, b"".join(lines)
    return description, damage_bytes(games, rng)


# What must hold


class NoPool:
    busy = 0

    def close(self):
        pass


def go_on(directory):
    """All that happens with the files of a run when it is resumed, but for the games; True if it was accepted."""
    journal = Journal.resume(directory)
    try:
        make = MatchSchedule if journal.description["kind"] == "match" else TournamentSchedule
        schedule = make(journal.description, supply_from(journal.description))
        run = Run(journal, schedule, NoPool(), [])
        while schedule.next_encounter() is not None:
            pass
        schedule.is_over()
        lines = match_lines(run) if make is MatchSchedule else tournament_lines(run)
        assert all(line.isprintable() for line in lines), "control characters in the table"
        json.dumps(run.results())
        page(page_data(run)).encode()
        for record in journal.full_records():
            assert game_text(record, journal.description).count("\n[") + 1 <= 20, "tags in the PGN"
    finally:
        journal.close()


def problem_with(description, games):
    """What is wrong with how a run of these files is resumed, or None; and whether it was accepted."""
    with tempfile.TemporaryDirectory(prefix="quetzal-hostile-") as name:
        directory = Path(name) / "run"
        directory.mkdir()
        files = {"run.json": description, "games.jsonl": games, "games.pgn": b"before\n"}
        for file, data in files.items():
            (directory / file).write_bytes(data)
        try:
            go_on(directory)
        except InputError as error:
            if str(directory) not in str(error):
                return f"the place is missing: {error}", False
            for file, data in files.items():
                if (directory / file).read_bytes() != data:
                    return f"{file} has changed after: {error}", False
            return None, False
        except Exception as error:
            return f"{type(error).__name__}: {error}", False
        whole = games[: games.rfind(b"\n") + 1]
        if (directory / "games.jsonl").read_bytes() != whole:
            return "games are lost", True
        return None, True


# Many runs


def replay(path):
    """Resumes a kept run again; what is still wrong, or None."""
    kept = kept_failure(path)
    if "games" not in kept:
        kept["description"], kept["games"] = damaged(random.Random(kept["case"]))
    return problem_with(kept["description"], kept["games"])[0]


def run(seed, seconds, keep=KEEP, most=None):
    """Damages and resumes runs until the time is over, or so many; counts of runs, of those accepted, and of problems."""
    counts = {"runs": 0, "accepted": 0, "refused": 0, "problems": 0}
    for case in cases("journal", seed, seconds, keep, most):
        description, games = damaged(random.Random(case))
        problem, accepted = problem_with(description, games)
        counts["runs"] += 1
        counts["problems" if problem is not None else "accepted" if accepted else "refused"] += 1
        if problem is not None:
            keep_failure(keep, f"journal-{case}", problem, description=description, games=games)
    return counts


if __name__ == "__main__":
    sys.exit(command_line(__doc__.splitlines()[0], run, replay))

"""The page of a reviewed collection: players, errors and games in one HTML file that needs nothing else."""

import itertools
from pathlib import Path

from play.verdicts import NAGS
from web.page import assemble, part

MOST_GAMES = 2_000  # a page with more would take long to open


def page(records, settings, summary):
    """The page as text. Of a large collection it has the first games; the totals are those of all."""
    reviewed = (record for record in records if "pgn" in record)
    games = [compact(record, number) for number, record in enumerate(itertools.islice(reviewed, MOST_GAMES), 1)]
    names = [Path(path).name if path != "-" else "standard input" for path in settings["games"]]
    title = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
    data = {
        "title": title,
        "program": settings["program"],
        "limits": settings["limits"],
        "only": settings["only"],
        "nags": NAGS,
        "summary": summary.as_json(),
        "games": games,
    }
    own = (part("play", f"page/{name}.js") for name in ("collection", "collection_game"))
    script = "\n".join([part("web", "assets/walk.js"), *own])
    return assemble(title, part("play", "page/collection.html"), part("play", "page/collection.css"), script, data)


def compact(record, number):
    """A game with short names: it is there thousands of times."""
    sides = [sum(side["grades"][name] for name in ("inaccuracy", "mistake", "blunder")) for side in record["sides"]]
    return {
        "g": number,
        "w": record["white"],
        "b": record["black"],
        "r": record["result"],
        "v": record["event"],
        "d": record["date"],
        "n": record["fen"],
        "m": " ".join(record["moves"]),
        "a": " ".join(record["sans"]),
        "e": " ".join(record["scores"]),
        "p": record["points"],
        "c": [accuracy(side) for side in record["sides"]],
        "x": sides,
        "u": [side["grades"]["blunder"] for side in record["sides"]],
        "k": [[mark["ply"], mark["grade"], mark["loss"], " ".join(mark["best_uci"])] for mark in record["marks"]],
    }


def accuracy(side):
    moves = sum(count for count, _ in side["phases"].values())
    return round(side["accuracies"] / moves, 1) if moves else None

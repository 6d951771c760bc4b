"""From the journal of a complete review to what people read: the annotated games, the summary, JSON and the page."""

import json

from board.files import replacing
from play.collection_summary import Summary

_ONLY_FOR_US = ("digest", "pgn", "sides")


def write_games(journal, output):
    """The annotated games, in the order of the collection."""
    with replacing(output) as file:
        for record in journal.records():
            if "pgn" in record:
                file.write(record["pgn"].encode("utf-8", "replace") + b"\n\n")


def summarize(journal, only=None):
    summary = Summary(only)
    for record in journal.records():
        summary.add(record)
    return summary


def json_parts(journal, settings, summary):
    """One JSON object in pieces, so that thousands of games never lie in memory together."""
    head = json.dumps({"settings": settings, **summary.as_json()}, ensure_ascii=False)
    yield head[:-1] + ', "reviews": ['
    separator = "\n"
    for record in journal.records():
        yield separator + json.dumps(plain(record), ensure_ascii=False)
        separator = ",\n"
    yield "\n]}\n"


def plain(record):
    """What programs get of a game. A broken one has its reason and place only."""
    if "broken" in record:
        return {name: record[name] for name in ("file", "number", "line", "broken")}
    one = Summary()
    one.add({**record, "white": "white", "black": "black"})
    sides = {name: player.totals.as_json() for name, player in one.by_name.items()}
    kept = {name: value for name, value in record.items() if name not in _ONLY_FOR_US}
    return {**kept, "totals": sides}

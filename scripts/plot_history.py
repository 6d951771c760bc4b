"""Writes the table and the plot of docs/history.md from its tournament, when that is finished.

    QUETZAL_TUNING=1 quetzal tournament docs/history.toml --dir work/history -c 2
    python scripts/plot_history.py work/history -o docs/history.svg --document docs/history.md

The table goes to standard output, too.
"""

import argparse
import os
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from arena.errors import InputError
from arena.figures import elo_text
from arena.journal import damage, read_description, read_records
from arena.statistics import Estimate, estimate
from arena.text import plural
from board.files import parse_json, read_text, replace_file
from training.documents import with_section
from training.plots import interval_chart

BEGIN = "<!-- written by scripts/plot_history.py: begin -->"
TITLE = "Elo above the first station"


class Station(NamedTuple):
    """What the tournament says of one engine. The step is its match against the one before, None for the first."""

    name: str
    control: str
    rating: float
    error: float | None
    rating_text: str
    step: Estimate | None
    medians: dict


def pentanomial(scores):
    """How many pairs ended with 0 to 2 points, from the points of the games in order."""
    counts = [0] * 5
    for first, second in zip(scores[::2], scores[1::2], strict=True):
        counts[round(2 * (first + second))] += 1
    return counts


def is_white(fen, index):
    """Who makes the move of this number, counted from 0?"""
    return (fen.split()[1] == "w") == (index % 2 == 0)


def medians(path, names):
    """Of the moves that each engine thought about: half of them were deeper, larger or longer than this."""
    found = [{"depth": [], "nodes": [], "time": []} for _ in names]
    for _, record in read_records(path, names):
        for index, thought in enumerate(record["thoughts"], record["book_plies"]):
            kept = found[record["players"][0 if is_white(record["fen"], index) else 1]]
            for name, values in kept.items():
                if name in thought:
                    values.append(thought[name])
    return [{name: statistics.median(values) for name, values in kept.items() if values} for kept in found]


def read_stations(directory):
    """The engines of a finished round robin in the order of its file, and its summary."""
    description = read_description(directory)
    if description["kind"] != "tournament" or description["format"] != "round-robin":
        raise InputError("is no round robin", directory)
    names = [engine["name"] for engine in description["engines"]]
    path = directory / "results.json"
    try:
        summary = parse_json(read_text(path))["summary"]
        rows = {row["engine"]: row for row in summary["standings"]}
        wanted = description["rounds"] * description["games"]
        for name in names:
            if any(len(rows[name]["against"].get(other, ())) != wanted for other in names if other != name):
                raise InputError("is not finished", directory)
        thoughts = medians(directory / "games.jsonl", names)
        stations = []
        for number, engine in enumerate(description["engines"]):
            row = rows[engine["name"]]
            scores = row["against"][names[number - 1]] if number else []
            stations.append(
                Station(
                    engine["name"],
                    engine["control"],
                    row["rating"],
                    row["rating_error"],
                    row["rating_text"],
                    estimate(pentanomial(scores)) if number else None,
                    thoughts[number],
                )
            )
    except InputError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise damage(repr(error), path) from None
    return stations, summary


def table_lines(stations):
    """Markdown."""
    yield "| station | control | rating | against the one before | plies | nodes | ms |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for station in stations:
        known = station.medians
        cells = (
            station.name,
            station.control,
            station.rating_text,
            elo_text(station.step) if station.step is not None else "",
            f"{known['depth']:g}" if "depth" in known else "",
            f"{known['nodes']:,.0f}" if "nodes" in known else "",
            f"{known['time']:.1f}" if "time" in known else "",
        )
        yield f"| {' | '.join(cells)} |"


def section_lines(stations, summary, plot):
    """What stands in the document; `plot` is the picture's place as seen from there."""
    failures = sum(row["failures"] for row in summary["standings"])
    were = "was" if failures == 1 else "were"
    lost = f", of which {failures:,} {were} lost by a failure or on time" if failures else ""
    yield ""
    yield f"{plural(summary['games'], 'game')}{lost}."
    for note in summary["notes"]:
        yield f"{note[:1].upper()}{note[1:]}."
    yield ""
    if plot is not None:
        yield f"![Ratings of the stations with their 95 % intervals]({plot})"
        yield ""
    yield from table_lines(stations)
    yield ""


def bars(stations):
    """For a plot, in the order of the stations. One without a finite error has no place there."""
    return [
        (each.name, each.rating, each.rating - each.error, each.rating + each.error)
        for each in stations
        if each.error is not None
    ]


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, metavar="DIR", help="where the tournament is kept")
    parser.add_argument("-o", "--plot", type=Path, metavar="FILE.svg", help="an SVG of the ratings")
    parser.add_argument("--document", type=Path, metavar="FILE.md", help="a document with a place for the table")
    return parser


def write(options):
    stations, summary = read_stations(options.directory)
    document = options.document
    text = None
    if document is not None:
        plot = os.path.relpath(options.plot, document.parent) if options.plot is not None else None
        section = "\n".join(section_lines(stations, summary, plot and Path(plot).as_posix()))
        text = with_section(read_text(document), BEGIN, section, document)
    if options.plot is not None:
        replace_file(options.plot, interval_chart(TITLE, bars(stations)))
    if text is not None:
        replace_file(document, text)
    print("\n".join(table_lines(stations)))


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        write(options)
    except (ValueError, OSError) as error:
        print(f"plot_history: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

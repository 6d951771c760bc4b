"""`quetzal analyse`: reviews the games of PGN files."""

import contextlib
import math
import os
import sys
import time

from arena.interrupts import INTERRUPTED, Interrupt
from arena.text import plural
from board.files import check_replaceable, replace_file
from board.messages import brief_reason
from book.opening.pgn import STANDARD_INPUT, PgnError, Source
from command.arguments import (
    add_cluster,
    add_hash,
    add_json,
    add_output,
    add_search_limits,
    add_show_broken,
    add_syzygy_path,
    add_threads,
    cluster_of,
    search_limits_of,
)
from command.progress import Progress
from command.rich_table import print_table
from play.collection import entries
from play.collection_journal import Journal
from play.collection_output import json_parts, summarize, write_games
from play.collection_run import Runner
from play.collection_summary import HEADS, is_wanted, row
from search import Limits

DEFAULT_NODES = 100_000
COUNTING_SECONDS = 3.0  # to know before how many games there are
MOST_SHOWN = 20  # players in the table


def add_arguments(parser):
    parser.add_argument(
        "games", nargs="+", help="PGN files, plain or packed (gzip, bzip2, xz, zstd); - is standard input"
    )
    add_output(parser, "the annotated games, a PGN file")
    add_search_limits(parser, f"position (default: --nodes {DEFAULT_NODES})")
    add_threads(parser, "games at once")
    add_hash(parser, 16)
    add_syzygy_path(parser)
    parser.add_argument(
        "--only", metavar="NAME", help="only games of players with this in their name, in any case; others are left out"
    )
    parser.add_argument("--html", metavar="FILE", help="also write a page with all of it")
    add_show_broken(parser)
    add_json(parser)
    add_cluster(parser, tables=True)


class Reading:
    """The games of all files in their order, and what is wrong with the files."""

    def __init__(self, options, interrupt):
        self.paths = options.games
        self.only = options.only
        self.interrupt = interrupt
        self.damage = []

    def wanted(self, path, deadline=math.inf):
        """The games of one file; KeyboardInterrupt or TimeoutError between two of them, in a file of others too."""
        for entry in entries(path):
            self.interrupt.check()
            if time.monotonic() > deadline:
                raise TimeoutError
            if self.only is None or any(is_wanted(name, self.only) for name in (entry.white, entry.black)):
                yield entry

    def entries(self):
        for path in self.paths:
            try:
                yield from self.wanted(path)
            except PgnError as error:
                self.damage.append(str(error))

    def count(self):
        """How many games there are; None where that takes long or cannot be known before."""
        if not all(os.path.isfile(path) for path in self.paths):
            return None
        deadline = time.monotonic() + COUNTING_SECONDS
        number = 0
        for path in self.paths:
            try:
                for _ in self.wanted(path, deadline):
                    number += 1
            except TimeoutError:
                return None
            except PgnError:
                continue  # said when the games are reviewed
        return number


def check_files(options):
    """Whatever can be wrong with the names is said before the work begins."""
    inputs = options.games
    if len(set(inputs)) < len(inputs):
        raise ValueError("a file is named twice")
    outputs = [name for name in (options.output, options.html) if name is not None]
    for path in inputs:
        if path == STANDARD_INPUT:
            continue
        Source(path).close()  # PgnError if it cannot be opened
        for output in outputs:
            if os.path.exists(output) and os.path.samefile(path, output):
                raise ValueError(f"{output} is one of the files to read; another name has to be written to")
    if len({os.path.realpath(output) for output in outputs}) < len(outputs):
        raise ValueError("-o and --html name the same file")
    for output in outputs:
        check_replaceable(output)


def settings_of(options):
    """What the result depends on; a review goes on with the same only."""
    from uci_engine import __version__

    return {
        "program": f"Quetzal {__version__}",
        "games": [path if path == STANDARD_INPUT else os.path.abspath(path) for path in options.games],
        "limits": search_limits_of(options, {"nodes": DEFAULT_NODES}),
        "hash": options.hash,
        "syzygy_path": options.syzygy_path or "",
        "only": options.only,
    }


class Broken:
    """Names the first broken games with their places, then only counts."""

    def __init__(self, most, progress):
        self.most = most
        self.progress = progress
        self.count = 0

    def add(self, record):
        self.count += 1
        if self.count <= self.most:
            place = f"{record['file']}:{record['line']}: game {record['number']}"
            self.say(f"{place}: {brief_reason(record['broken'])}; it is skipped")

    def say(self, text):
        self.progress.say(text, sys.stderr)

    def finish(self):
        if self.count > max(0, self.most):
            self.say(f"... and {plural(self.count - max(0, self.most), 'more broken game')}")


def runner_of(options, cluster):
    return Runner(
        Limits(**search_limits_of(options, {"nodes": DEFAULT_NODES})),
        megabytes=options.hash,
        threads=options.threads,
        syzygy_path=options.syzygy_path or "",
        cluster=cluster,
    )


def review(options, journal, reading, interrupt, runner):
    """Fills the journal. False if that was interrupted."""
    progress = Progress("analyse", "games", reading.count(), by_minute=True)
    progress.resume_at(journal.count)
    broken = Broken(options.show_broken, progress)
    for record in journal.records():
        if "broken" in record:
            broken.add(record)
    runner.say = broken.say
    missing = journal.missing(reading.entries())
    with contextlib.suppress(KeyboardInterrupt):
        for record in runner.records(missing, lambda: interrupt.is_requested):
            journal.add(record)
            if "broken" in record:
                broken.add(record)
            progress.advance(1)
    broken.finish()
    if interrupt.is_requested:
        done = plural(journal.count, "game")
        progress.finish(f"interrupted after {done}; the same command goes on from {journal.path}")
        return False
    for damage in reading.damage:
        broken.say(damage)
    reviewed = journal.count - progress.skipped
    if reviewed:
        progress.finish(f"{plural(reviewed, 'game')} at {progress.speed()} on {plural(runner.pool.slots(), 'thread')}")
    return True


def run(options):
    """Status 0; 1 if a file could be read only in part, 130 if interrupted, 2 if there is nothing to do."""
    check_files(options)
    settings = settings_of(options)
    with contextlib.ExitStack() as stack:
        runner = runner_of(options, stack.enter_context(cluster_of(options)))
        interrupt = stack.enter_context(Interrupt())
        journal = stack.enter_context(contextlib.closing(Journal(options.output, settings)))
        reading = Reading(options, interrupt)
        if not review(options, journal, reading, interrupt, runner):
            return INTERRUPTED
        if journal.count == 0:
            journal.remove()
            whose = "" if options.only is None else f" of a player '{options.only}'"
            raise ValueError("; ".join(reading.damage) or f"there is no game{whose} in {', '.join(options.games)}")
        publish(options, journal, settings)
        journal.remove()
    return 1 if reading.damage else 0


def publish(options, journal, settings):
    """Everything that comes from a complete review."""
    summary = summarize(journal, options.only)
    write_games(journal, options.output)
    if options.html is not None:
        from play.collection_page import page

        replace_file(options.html, page(journal.records(), settings, summary))
    if options.json:
        for text in json_parts(journal, settings, summary):
            sys.stdout.write(text)
        return
    players = summary.players()
    print_table(HEADS, [row(player) for player in players[:MOST_SHOWN]])
    if len(players) > MOST_SHOWN:
        print(f"... and {plural(len(players) - MOST_SHOWN, 'more player')}")
    print(
        f"{options.output}: {plural(summary.games, 'game')}, {plural(summary.moves, 'move')}; opening, middlegame and "
        "endgame: hundredths of a point lost by a move"
    )

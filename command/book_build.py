"""`quetzal book build`."""

import sys
import time

from book.opening.builder import Report, Settings, build_book
from book.opening.verify import plural
from command.arguments import add_output, add_show_broken, positive
from command.progress import Progress


def add_arguments(parser):
    parser.add_argument(
        "games", nargs="+", help="PGN files, plain or packed (gzip, bzip2, xz, zstd); - is standard input"
    )
    add_output(parser, "the book to write, usually .bin", "BOOK")
    parser.add_argument("--depth", type=positive, default=40, metavar="PLIES", help="of each game (default: 40)")
    parser.add_argument(
        "--min-games", type=positive, default=3, metavar="N", help="leave out moves played less often (default: 3)"
    )
    parser.add_argument("--win", type=int, default=2, metavar="W", help="weight of a won game (default: 2)")
    parser.add_argument("--draw", type=int, default=1, metavar="W", help="weight of a drawn game (default: 1)")
    parser.add_argument("--loss", type=int, default=0, metavar="W", help="weight of a lost game (default: 0)")
    parser.add_argument("--min-rating", type=int, default=0, metavar="ELO", help="that both players must have")
    parser.add_argument("--colour", choices=("both", "white", "black"), default="both", help="whose moves to take")
    parser.add_argument(
        "--player", default="", metavar="NAME", help="only moves of players with this in their name, in any case"
    )
    parser.add_argument("--memory", type=positive, default=256, metavar="MB", help="to count in (default: 256)")
    add_show_broken(parser)


class BuildProgress:
    """Follows the bytes of all files together; without a total where a pipe is among them."""

    def __init__(self):
        self.bar = None
        self.started = time.monotonic()
        self.finished = 0
        self.source = None

    def start(self, sources):
        sizes = [source.size for source in sources]
        total = None if None in sizes else max(1, sum(sizes) // 1024)
        self.bar = Progress("reading", "kB", total)

    def show(self, source, report):
        if source is not self.source:
            self.finished += self.source.position if self.source is not None else 0
            self.source = source
        done = (self.finished + source.position) // 1024
        self.bar.advance(done - self.bar.done, f"{report.games:,} games")

    def written(self, count):
        """The second part of the work: from counts to a book."""
        if self.bar.label != "writing":
            self.bar.clear()
            self.bar = Progress("writing", "entries")
        self.bar.advance(count - self.bar.done)

    def say(self, text):
        """A line of its own above the bar."""
        if self.bar is not None:
            self.bar.clear()
        print(text, file=sys.stderr)


def run(options):
    """Status 0, or 1 if a file could be read only in part; the book is written either way."""
    settings = Settings(
        plies=options.depth,
        min_games=options.min_games,
        win=options.win,
        draw=options.draw,
        loss=options.loss,
        min_rating=options.min_rating,
        colour=options.colour,
        player=options.player,
        megabytes=options.memory,
    )
    if min(settings.win, settings.draw, settings.loss) < 0:
        raise ValueError("the weight of a result cannot be less than 0")
    if len(set(options.games)) < len(options.games):
        raise ValueError("a file is named twice")
    progress = BuildProgress()

    def on_broken(place, reason):
        if report.broken <= options.show_broken:
            progress.say(f"{place}: {reason}; the game is skipped")

    report = Report(on_broken)
    entries, positions = build_book(
        options.games,
        options.output,
        settings,
        report,
        on_start=progress.start,
        on_progress=lambda source: progress.show(source, report),
        on_written=progress.written,
    )
    hidden = report.broken - max(0, options.show_broken)
    if report.broken and hidden > 0:
        progress.say(f"… and {plural(hidden, 'more broken game')}")
    for damage in report.damaged:
        progress.say(damage)
    rate = report.games / max(time.monotonic() - progress.started, 1e-9)
    progress.bar.finish(
        f"{plural(report.games, 'game')} read ({rate:,.0f}/s), {report.used:,} used, {report.filtered:,} filtered out, "
        f"{report.broken:,} broken; {plural(report.plies, 'ply', 'plies')}"
    )
    print(f"{options.output}: {plural(entries, 'entry', 'entries')}, {plural(positions, 'position')}")
    return 1 if report.damaged else 0

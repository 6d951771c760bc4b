"""`quetzal book`: makes, shows, merges and checks books, and tells about it."""

import contextlib
import sys
import time

from board import Board
from book.builder import Report, Settings, build_book, check_output, merged_entries, write_book
from book.polyglot import Book, default_book, shares
from book.verify import plural, verify
from uci_engine.progress import Progress


def open_book(path):
    return Book(path) if path else default_book()


# build


class BuildProgress:
    """Follows the bytes of all files together; without a total where a pipe is among them."""

    def __init__(self):
        self.bar = None
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

    def say(self, text):
        """A line of its own above the bar."""
        if self.bar is not None and self.bar.stream.isatty():
            text = "\r" + text.ljust(79)
        print(text, file=sys.stderr)


def run_build(options):
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
    )
    hidden = report.broken - max(0, options.show_broken)
    if report.broken and hidden > 0:
        progress.say(f"… and {plural(hidden, 'more broken game')}")
    for damage in report.damaged:
        progress.say(damage)
    rate = report.games / max(time.monotonic() - progress.bar.started, 1e-9)
    progress.bar.finish(
        f"{plural(report.games, 'game')} read ({rate:,.0f}/s), {report.used:,} used, {report.filtered:,} filtered out, "
        f"{report.broken:,} broken; {plural(report.plies, 'ply', 'plies')}"
    )
    print(f"{options.output}: {plural(entries, 'entry', 'entries')}, {plural(positions, 'position')}")
    return 1 if report.damaged else 0


# show


def run_show(options):
    board = Board(options.fen) if options.fen else Board()
    depth = options.depth or (1 if options.fen else 3)
    with open_book(options.book) as book:
        for warning in book.warnings:
            print(f"{book.path}: {warning}", file=sys.stderr)
        print(f"{book.name}: {plural(len(book), 'entry', 'entries')}")
        moves = book.moves(board)
        if not moves:
            print("nothing about this position")
            return
        print()
        print("move      weight    share")
        for each, share in zip(moves, shares(moves), strict=True):
            print(f"{board.san(each.move):8} {each.weight:7,} {share:8.1%}")
        if depth > 1:
            print()
            for line in tree_lines(book, board, depth, options.least / 100):
                print(line)


def tree_lines(book, board, depth, least, indent=""):
    """The book as a tree: a move per line, its share behind it; what lies behind a move is indented."""
    moves = book.moves(board)
    rare = 0
    for each, share in zip(moves, shares(moves), strict=True):
        if share < least:
            rare += 1
            continue
        number = f"{board.fullmove_number}{'.' if board.turn == 0 else '...'}"
        yield f"{indent}{number} {board.san(each.move)}  {share:.0%}"
        if depth > 1:
            board.push(each.move)
            yield from tree_lines(book, board, depth - 1, least, indent + "   ")
            board.pop()
    if rare:
        yield f"{indent}… {plural(rare, 'rarer move')}"


# merge


def run_merge(options):
    with contextlib.ExitStack() as stack:
        books = [stack.enter_context(Book(path)) for path in options.books]
        for book in books:
            for warning in book.warnings:
                print(f"{book.path}: {warning}", file=sys.stderr)
        check_output(options.output)
        entries, positions = write_book(options.output, merged_entries(books, options.first))
    print(f"{options.output}: {plural(entries, 'entry', 'entries')}, {plural(positions, 'position')}")


# verify


def run_verify(options):
    """Status 0 for a good book, 1 for one with faults; a file that is no book ends with 2 like every bad input."""
    with open_book(options.book) as book:
        bar = Progress("playing through", "positions")
        verdict = verify(book, lambda reached: bar.advance(reached - bar.done))
        bar.clear()
        print(
            f"{book.name}: {plural(verdict.entries, 'entry', 'entries')}, "
            f"{plural(verdict.positions, 'position')}, {verdict.reached:,} reached from the start"
        )
        for fault in verdict.faults:
            print(f"fault: {fault}")
        for note in verdict.notes:
            print(f"note: {note}")
        if not verdict.faults:
            print("no faults")
        return 1 if verdict.faults else 0

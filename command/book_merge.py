"""`quetzal book merge`."""

import contextlib
import sys

from book.opening.builder import check_output, merged_entries, write_book
from book.opening.polyglot import Book
from book.opening.verify import plural
from command.arguments import add_output
from command.progress import Progress


def add_arguments(parser):
    parser.add_argument("books", nargs="+", help="the books to merge")
    add_output(parser, "the book to write", "BOOK")
    parser.add_argument(
        "--first", action="store_true", help="of each position take the first book that has it (default: sum weights)"
    )


def run(options):
    with contextlib.ExitStack() as stack:
        books = [stack.enter_context(Book(path)) for path in options.books]
        for book in books:
            for warning in book.warnings:
                print(f"{book.path}: {warning}", file=sys.stderr)
        check_output(options.output)
        progress = Progress("merging", "entries", sum(map(len, books)))
        entries, positions = write_book(
            options.output,
            merged_entries(books, options.first),
            on_written=lambda count: progress.advance(count - progress.done),
            release=stack.close,
        )
        progress.clear()
    print(f"{options.output}: {plural(entries, 'entry', 'entries')}, {plural(positions, 'position')}")

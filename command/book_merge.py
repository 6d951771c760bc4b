"""`quetzal book merge`."""

import contextlib
import sys

from book.opening.builder import check_output, merged_entries, write_book
from book.opening.polyglot import Book
from book.opening.verify import plural


def add_arguments(parser):
    parser.add_argument("books", nargs="+", help="the books to merge")
    parser.add_argument("-o", "--output", required=True, metavar="BOOK", help="the book to write")
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
        entries, positions = write_book(options.output, merged_entries(books, options.first))
    print(f"{options.output}: {plural(entries, 'entry', 'entries')}, {plural(positions, 'position')}")

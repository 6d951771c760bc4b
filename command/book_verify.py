"""`quetzal book verify`."""

from book.opening.polyglot import open_book
from book.opening.verify import plural, verify
from command.progress import Progress


def add_arguments(parser):
    parser.add_argument("book", nargs="?", help="(default: the bundled book)")


def run(options):
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

"""The command line of `quetzal book`. What it starts is imported only when it does."""

from uci_engine.arguments import positive


def run_later(name):
    """A command that imports its work when it is run."""

    def run(options):
        from uci_engine import book_command

        return getattr(book_command, name)(options)

    return run


def add_book_commands(commands):
    """Adds `book` and its own commands to the parser of `quetzal`."""
    book = commands.add_parser("book", help="make, show, merge and check Polyglot opening books")
    actions = book.add_subparsers(dest="action", required=True, metavar="ACTION")

    build = actions.add_parser("build", help="make a book from the games of PGN files")
    build.add_argument(
        "games", nargs="+", help="PGN files, plain or packed (gzip, bzip2, xz, zstd); - is standard input"
    )
    build.add_argument("-o", "--output", required=True, metavar="BOOK", help="the book to write, usually .bin")
    build.add_argument("--depth", type=positive, default=40, metavar="PLIES", help="of each game (default: 40)")
    build.add_argument(
        "--min-games", type=positive, default=3, metavar="N", help="leave out moves played less often (default: 3)"
    )
    build.add_argument("--win", type=int, default=2, metavar="W", help="weight of a won game (default: 2)")
    build.add_argument("--draw", type=int, default=1, metavar="W", help="weight of a drawn game (default: 1)")
    build.add_argument("--loss", type=int, default=0, metavar="W", help="weight of a lost game (default: 0)")
    build.add_argument("--min-rating", type=int, default=0, metavar="ELO", help="that both players must have")
    build.add_argument("--colour", choices=("both", "white", "black"), default="both", help="whose moves to take")
    build.add_argument(
        "--player", default="", metavar="NAME", help="only moves of players with this in their name, in any case"
    )
    build.add_argument("--memory", type=positive, default=256, metavar="MB", help="to count in (default: 256)")
    build.add_argument(
        "--show-broken",
        type=int,
        default=20,
        metavar="N",
        help="broken games to name before only counting (default: 20)",
    )
    build.set_defaults(run=run_later("run_build"))

    show = actions.add_parser("show", help="show the moves that a book has for a position")
    show.add_argument("book", nargs="?", help="(default: the book that comes with Quetzal)")
    show.add_argument("--fen", help="the position (default: the start of the game)")
    show.add_argument("--depth", type=positive, metavar="PLIES", help="a tree so deep (default: 1; at the start 3)")
    show.add_argument(
        "--least",
        type=float,
        default=5.0,
        metavar="PERCENT",
        help="share of a move to be shown in the tree (default: 5)",
    )
    show.set_defaults(run=run_later("run_show"))

    merge = actions.add_parser("merge", help="make one book of several; also sorts one that is not in order")
    merge.add_argument("books", nargs="+", help="the books to merge")
    merge.add_argument("-o", "--output", required=True, metavar="BOOK", help="the book to write")
    merge.add_argument(
        "--first", action="store_true", help="of each position take the first book that has it (default: sum weights)"
    )
    merge.set_defaults(run=run_later("run_merge"))

    verify = actions.add_parser("verify", help="check a book: order, legality, weights; status 1 if it has faults")
    verify.add_argument("book", nargs="?", help="(default: the book that comes with Quetzal)")
    verify.set_defaults(run=run_later("run_verify"))

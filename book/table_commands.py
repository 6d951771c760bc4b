"""The command line of `quetzal tables`. What it starts is imported only when it does."""

from book.making_commands import add_making_commands


def run_probe(options):
    from book.tables_tool import run_probe

    return run_probe(options)


def run_check(options):
    from book.tables_tool import run_check

    return run_check(options)


def add_table_commands(commands):
    """Adds `tables` with its own commands to the parser of `quetzal`."""
    tables = commands.add_parser("tables", help="ask, check and make endgame tables")
    actions = tables.add_subparsers(dest="action", required=True, metavar="ACTION")

    probe = actions.add_parser("probe", help="who wins, how fast, and what each move does")
    probe.add_argument(
        "--fen", default="8/8/8/4k3/8/4K3/4P3/8 w - - 0 1", help="the position (default: a king and pawn ending)"
    )
    probe.add_argument("--path", metavar="DIRS", help="directories of tables (default: those of the package)")
    probe.set_defaults(run=run_probe)

    check = actions.add_parser("check", help="read table files from end to end, and say what is missing")
    check.add_argument("directory", metavar="DIR", help="where the tables are")
    check.add_argument("--md5", metavar="LIST", help="a list of checksums, as md5sum writes it")
    check.set_defaults(run=run_check)

    add_making_commands(actions)

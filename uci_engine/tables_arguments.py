"""The command line of `quetzal tables`. What it starts is imported only when it does."""

import os

from uci_engine.arguments import positive

DEFAULT_MEMORY = 3000


def run_probe(options):
    from uci_engine.tables_ask import run_probe

    return run_probe(options)


def run_check(options):
    from uci_engine.tables_ask import run_check

    return run_check(options)


def run_generate(options):
    from uci_engine.tables_generate import run_generate

    return run_generate(options)


def run_stats(options):
    from uci_engine.tables_stats import run_stats

    return run_stats(options)


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

    generate = actions.add_parser(
        "generate",
        help="make table files by retrograde analysis",
        description="Solves endings and writes real Syzygy files, together with all smaller endings that they lead to. "
        "Files that are there already are kept, so an interrupted run goes on where it was.",
    )
    generate.add_argument("endings", nargs="*", metavar="ENDING", help="such as KQvKR")
    generate.add_argument("--men", type=int, choices=(3, 4, 5), help="all endings with up to so many men")
    generate.add_argument("-o", "--output", default=".", metavar="DIR", help="where the files go (default: here)")
    generate.add_argument("--threads", type=positive, default=os.cpu_count(), metavar="N", help="(default: all cores)")
    generate.add_argument(
        "--memory", type=positive, default=DEFAULT_MEMORY, metavar="MB", help=f"at most (default: {DEFAULT_MEMORY})"
    )
    generate.set_defaults(run=run_generate)

    stats = actions.add_parser("stats", help="solve an ending, count wins, draws and losses, show the longest win")
    stats.add_argument("ending", metavar="ENDING", help="such as KBNvK")
    stats.add_argument("--threads", type=positive, default=os.cpu_count(), metavar="N", help="(default: all cores)")
    stats.add_argument(
        "--memory", type=positive, default=DEFAULT_MEMORY, metavar="MB", help=f"at most (default: {DEFAULT_MEMORY})"
    )
    stats.set_defaults(run=run_stats)

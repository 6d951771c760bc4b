"""The command lines of `quetzal tables generate` and `stats`. What they start is imported only when they do."""

import os

from uci_engine.arguments import positive

DEFAULT_MEMORY = 3000


def run_generate(options):
    from book.generate_command import run_generate

    return run_generate(options)


def run_stats(options):
    from book.stats_command import run_stats

    return run_stats(options)


def add_making_commands(commands):
    """Adds `generate` and `stats` to the commands of `quetzal tables`."""
    generate = commands.add_parser(
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

    stats = commands.add_parser("stats", help="solve an ending, count wins, draws and losses, show the longest win")
    stats.add_argument("ending", metavar="ENDING", help="such as KBNvK")
    stats.add_argument("--threads", type=positive, default=os.cpu_count(), metavar="N", help="(default: all cores)")
    stats.add_argument(
        "--memory", type=positive, default=DEFAULT_MEMORY, metavar="MB", help=f"at most (default: {DEFAULT_MEMORY})"
    )
    stats.set_defaults(run=run_stats)

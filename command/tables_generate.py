"""`quetzal tables generate`: solves endings and writes their table files."""

import sys
import time

from arena.duration import duration
from arena.interrupts import INTERRUPTED, Interrupt
from board.memory import available_megabytes
from book.endgame.generator import MEGABYTE, Generator, all_endings, checked_names, memory_needed, positions
from command.arguments import add_cluster, add_output, add_threads, cluster_of, positive
from command.progress import Progress

DESCRIPTION = (
    "Solves endings and writes real Syzygy files, together with all smaller endings that they lead to. Files that are "
    "there already are kept, so an interrupted run goes on where it was."
)
DEFAULT_MEMORY = 3000


def add_solving_arguments(parser):
    """What `generate` and `stats` ask."""
    add_threads(parser)
    parser.add_argument(
        "--memory", type=positive, default=DEFAULT_MEMORY, metavar="MB", help=f"at most (default: {DEFAULT_MEMORY})"
    )


def add_arguments(parser):
    parser.add_argument("endings", nargs="*", metavar="ENDING", help="such as KQvKR")
    parser.add_argument("--men", type=int, choices=(3, 4, 5), help="all endings with up to so many men")
    add_output(parser, "where the files go (default: here)", "DIR", default=".")
    add_solving_arguments(parser)
    add_cluster(parser)


class EndingProgress(Progress):
    """A progress line over several endings, each as large as its number of positions."""

    def __init__(self, names, interrupt=None):
        self.sizes = {name: positions(name) for name in names}
        super().__init__("", "positions", sum(self.sizes.values()), interrupt=interrupt)
        self.finished = 0

    def report(self, name, share):
        amount = 0  # an ending that is solved once more because its outcomes were forgotten does not count
        if name in self.sizes:
            self.label = name
            amount = max(0, self.finished + int(share * self.sizes[name]) - self.done)
        self.advance(amount)

    def report_solving(self, name, share):
        """The same where nothing is written, so that endings are finished without further notice."""
        if name != self.label:
            if self.label:
                self.complete(self.label)
            self.label = name
        self.report(name, min(1.0, 2 * share))

    def complete(self, name):
        self.finished += self.sizes[name]
        self.done = self.finished


def make_all(generator, names, progress):
    """Makes one ending after the other until an interrupt; returns how many are finished, and their bytes."""
    made = total = 0
    try:
        for place, name in enumerate(names):
            progress.interrupt.check()
            began = time.monotonic()
            sizes = generator.make(name, names[place + 1 :])
            made += 1
            total += sum(sizes)
            progress.complete(name)
            progress.say(f"{name}: {sizes[0]:,} + {sizes[1]:,} bytes in {time.monotonic() - began:.1f} s")
    except KeyboardInterrupt:
        pass
    return made, total


def make_on_cluster(generator, names, progress, cluster):
    """The same with an ending for each worker; files are written here, as they come."""
    from book.endgame.table_work import TableWork
    from pool.cluster import ClusterPool
    from pool.tasks import as_finished

    pool = ClusterPool(cluster, TableWork(names, generator.memory))
    pool.check()
    made = total = 0
    for name, tables in as_finished(pool, names, lambda: progress.interrupt.is_requested, progress.finish):
        sizes = generator.write(name, *tables)
        made += 1
        total += sum(sizes)
        progress.complete(name)
        progress.say(f"{name}: {sizes[0]:,} + {sizes[1]:,} bytes")
    return made, total


def run(options):
    """Makes what is missing in the folder. Returns the exit status."""
    with cluster_of(options) as cluster:
        return generate(options, cluster)


def generate(options, cluster):
    if bool(options.endings) == bool(options.men):
        raise ValueError("name endings (KRPvKR), or say --men 3, 4 or 5")
    names = checked_names(options.endings) if options.endings else all_endings(options.men)
    threads = options.threads if cluster is None else 1
    generator = Generator(options.output, threads, options.memory * MEGABYTE)
    try:
        todo = generator.plan(names)
        if not todo:
            print(f"{options.output} has all of them already")
            return 0
        most = max(memory_needed(name, threads) for name in todo) // MEGABYTE + 1
        available = available_megabytes() if cluster is None else None
        if available is not None and most > available:
            raise ValueError(f"{most} MB of memory are needed, the system has {available} MB left")
        with Interrupt() as interrupt:
            progress = EndingProgress(todo, interrupt)
            generator.report = progress.report
            where = f"{threads} thread{'s' if threads > 1 else ''}" if cluster is None else options.cluster
            progress.say(f"{len(todo)} endings, {progress.total:,} positions, on {where}, at most {most} MB of memory")
            if cluster is None:
                made, total = make_all(generator, todo, progress)
            else:
                made, total = make_on_cluster(generator, todo, progress, cluster)
        if made < len(todo):
            progress.say(
                f"interrupted: {made} of {len(todo)} endings are finished; the same command goes on from there"
            )
            return INTERRUPTED
        seconds = max(time.monotonic() - progress.started, 1e-9)
        progress.say(
            f"{made} endings, {total:,} bytes in {options.output}, {duration(seconds)}, "
            f"{progress.total / seconds:,.0f} positions/s"
        )
        return 0
    except MemoryError as error:
        print(f"quetzal tables: {error or 'not enough memory'}", file=sys.stderr)
        return 2
    finally:
        generator.close()

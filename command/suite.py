"""`quetzal suite`: lets engines solve positions whose solutions are known."""

import contextlib
import json
import os
import sys

from arena.interrupts import INTERRUPTED, Interrupt
from arena.options import named_values
from arena.settings import Rules
from arena.text import plural, visible
from board.files import check_replaceable, replace_file
from command.arguments import (
    add_cluster,
    add_hash,
    add_json,
    add_move_timeout,
    add_output,
    add_search_limits,
    cluster_of,
    positive,
    search_limits_of,
)
from command.progress import Progress
from command.rich_table import print_table
from play.suite import Score, played, read_suites
from play.suite_engines import OWN, solvers
from play.suite_journal import Journal
from play.suite_run import Solving
from pool.containment import adopt_descendants
from pool.tasks import PoolError

DEFAULT_MILLISECONDS = 1000


def add_arguments(parser):
    parser.add_argument("suites", nargs="+", metavar="FILE", help="EPD files with bm, am, dm, ce or points in c0")
    parser.add_argument(
        "--engine",
        action="append",
        metavar="COMMAND",
        help=f"a UCI engine, quoted if it has arguments; several stand side by side; {OWN} is this one (default: {OWN})",
    )
    add_search_limits(parser, f"position (default: --movetime {DEFAULT_MILLISECONDS})")
    parser.add_argument(
        "-c", "--concurrency", type=positive, default=1, metavar="N", help="positions at once (default: 1)"
    )
    add_move_timeout(parser, "position")
    add_hash(parser, 64)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="for every UCI engine")
    parser.add_argument("--chess960", action="store_true", help="positions of Chess960")
    add_output(
        parser,
        "all attempts, as --json shows them; kept while it works, so that the same command goes on",
        default=None,
    )
    parser.add_argument("--quiet", action="store_true", help="only the table, without the misses")
    add_json(parser)
    add_cluster(parser, upload=True, tables=True)


def check_output(options):
    """Whatever can be wrong with the name is said before the work begins."""
    if options.output is None:
        return
    check_replaceable(options.output)
    for path in options.suites:
        if os.path.exists(options.output) and os.path.samefile(path, options.output):
            raise ValueError(f"{options.output} is one of the files to read; another name has to be written to")


def move_seconds_of(options):
    return Rules.move_seconds if options.move_timeout is None else options.move_timeout


def settings_of(options, limits):
    """What the result depends on; a suite goes on with the same only."""
    from uci_engine import __version__

    return {
        "program": f"Quetzal {__version__}",
        "suites": [os.path.abspath(path) for path in options.suites],
        "engines": options.engine or [OWN],
        "limits": limits,
        "move_timeout": move_seconds_of(options),
        "hash": options.hash,
        "options": named_values(options.option),
        "chess960": options.chess960,
    }


def run(options):
    """Status 0; 1 if an engine failed or the cluster was lost, 130 if interrupted. What was solved is shown in any case."""
    limits = search_limits_of(options, {"movetime": DEFAULT_MILLISECONDS})
    check_output(options)
    problems = read_suites(options.suites, lambda text: print(text, file=sys.stderr), chess960=options.chess960)
    if not problems:
        raise ValueError(f"there is no position in {', '.join(options.suites)}")
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(cluster_of(options))
        adopt_descendants()
        engines = solvers(
            options.engine or [OWN],
            limits,
            megabytes=options.hash,
            options=named_values(options.option),
            chess960=options.chess960,
            move_seconds=move_seconds_of(options),
            cluster=cluster,
            upload=options.upload,
        )
        journal = None
        if options.output is not None:
            journal = stack.enter_context(contextlib.closing(Journal(options.output, settings_of(options, limits))))
        test = Test(engines, problems, journal)
        with Interrupt() as interrupt:
            trouble = test.solve(options.concurrency, cluster, interrupt)
        if test.is_complete and journal is not None:
            replace_file(options.output, result_of(test.scores, limits, options) + "\n")
            journal.remove()
    show(test.scores, problems, limits, options)
    going_on = "" if journal is None or test.is_complete else f"; the same command goes on from {journal.path}"
    if trouble is not None:
        print(f"quetzal suite: {trouble}{going_on}", file=sys.stderr)
        return 1
    if not test.is_complete:
        print(f"interrupted{going_on}", file=sys.stderr)
        return INTERRUPTED
    return 1 if any(attempt.failure for score in test.scores for _, attempt in score.attempts) else 0


class Test:
    """All engines at all positions. What a journal has is not asked again."""

    def __init__(self, engines, problems, journal=None):
        self.engines = engines
        self.problems = problems
        self.journal = journal
        self.scores = [Score(work.name) for work in engines]
        self.progress = Progress("suite", "positions", len(engines) * len(problems), by_minute=True)
        known = []
        if journal is not None:
            known = journal.answered((work.name, problem) for work in engines for problem in problems)
        for number, attempt in enumerate(known):
            engine, place = divmod(number, len(problems))
            self.scores[engine].add(problems[place], attempt)
        self.progress.resume_at(len(known))

    @property
    def is_complete(self):
        return all(len(score.attempts) == len(self.problems) for score in self.scores)

    def solve(self, concurrency, cluster, interrupt):
        """Asks until all is answered or it is interrupted. Returns the error that ended it before, or None."""
        try:
            for score, work in zip(self.scores, self.engines, strict=True):
                left = self.problems[len(score.attempts) :]
                if left and not interrupt.is_requested:
                    solving = Solving(work, concurrency, cluster=cluster, on_warning=self.progress.finish)
                    self.fill(score, solving.attempts(left, lambda: interrupt.is_requested))
        except PoolError as error:
            return error
        finally:
            self.progress.clear()
        return None

    def fill(self, score, attempts):
        """Adds the attempts of one engine as they come."""
        for problem, attempt in attempts:
            if self.journal is not None:
                self.journal.note(score.name, problem, attempt)
            score.add(problem, attempt)
            if attempt.failure is not None and attempt.kind != "out":
                self.progress.say(f"{visible(score.name)}: {visible(problem.name)}: {attempt.failure}", sys.stderr)
            self.progress.advance(1)


def result_of(scores, limits, options):
    """All of it as JSON. What is no UTF-8 in the name of a file is escaped, as JSON can have it."""
    data = {"limits": limits, "hash": options.hash, "engines": [score.as_json() for score in scores]}
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def show(scores, problems, limits, options):
    if options.json:
        print(result_of(scores, limits, options))
        return
    if not options.quiet:
        for score in scores:
            for problem, attempt in score.misses():
                print(miss_text(score, problem, attempt, len(scores)))
    has_points = any(problem.points for problem in problems)
    has_scores = any(problem.score is not None for problem in problems)
    heads = ["engine", "solved", "of", "per cent"]
    heads += ["points", "of"] * has_points + ["ce error"] * has_scores + ["time to solution"]
    print_table(heads, [row(score, has_points, has_scores) for score in scores])
    print(f"{plural(len(problems), 'position')}, {', '.join(f'{name} {value}' for name, value in limits.items())} each")


def miss_text(score, problem, attempt, engines):
    who = f"{score.name}: " if engines > 1 else ""
    if attempt.failure is not None:
        return visible(f"{who}{problem.name}: {attempt.failure}")
    points = f" ({problem.points.get(attempt.move, 0)} of {problem.most_points} points)" if problem.points else ""
    return visible(f"{who}{problem.name}: played {played(problem, attempt)}{points}, not {problem.wanted()}")


def row(score, has_points, has_scores):
    share = f"{100 * score.solved / score.asked:.1f}" if score.asked else "-"
    cells = [score.name, str(score.solved), str(score.asked), share]
    if has_points:
        cells += [str(score.points), str(score.most_points)]
    if has_scores:
        cells.append("-" if score.score_error is None else f"{score.score_error:.0f}")
    seconds = score.solution_time
    return (*cells, "-" if seconds is None else f"{seconds / 1000:.3f} s")

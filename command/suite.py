"""`quetzal suite`: lets engines solve positions whose solutions are known."""

import json
import sys

from arena.interrupts import INTERRUPTED, Interrupt
from arena.options import named_values
from arena.text import plural, visible
from command.arguments import (
    add_cluster,
    add_hash,
    add_json,
    add_search_limits,
    cluster_of,
    positive,
    search_limits_of,
)
from command.progress import Progress
from command.rich_table import print_table
from play.suite import Score, played, read_suites
from play.suite_engines import OWN, solvers
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
    add_hash(parser, 64)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="for every UCI engine")
    parser.add_argument("--chess960", action="store_true", help="positions of Chess960")
    parser.add_argument("--quiet", action="store_true", help="only the table, without the misses")
    add_json(parser)
    add_cluster(parser, upload=True)


def run(options):
    """Status 0; 1 if an engine failed or the cluster was lost, 130 if interrupted. What was solved is shown in any case."""
    limits = search_limits_of(options, {"movetime": DEFAULT_MILLISECONDS})
    problems = read_suites(options.suites, lambda text: print(text, file=sys.stderr), chess960=options.chess960)
    if not problems:
        raise ValueError(f"there is no position in {', '.join(options.suites)}")
    with cluster_of(options) as cluster:
        adopt_descendants()
        engines = solvers(
            options.engine or [OWN],
            limits,
            megabytes=options.hash,
            options=named_values(options.option),
            chess960=options.chess960,
            cluster=cluster,
            upload=options.upload,
        )
        progress = Progress("suite", "positions", len(engines) * len(problems), by_minute=True)
        scores = [Score(work.name) for work in engines]
        trouble = None
        with Interrupt() as interrupt:
            try:
                for score, work in zip(scores, engines, strict=True):
                    solving = Solving(work, options.concurrency, cluster=cluster, on_warning=progress.finish)
                    fill(score, solving.attempts(problems, lambda: interrupt.is_requested), progress)
                    if interrupt.is_requested:
                        break
            except PoolError as error:
                trouble = error
    progress.clear()
    show(scores, problems, limits, options)
    if trouble is not None:
        print(f"quetzal suite: {trouble}", file=sys.stderr)
        return 1
    if interrupt.is_requested:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return 1 if any(attempt.failure for score in scores for _, attempt in score.attempts) else 0


def fill(score, attempts, progress):
    """Adds the attempts of one engine as they come."""
    for problem, attempt in attempts:
        score.add(problem, attempt)
        if attempt.failure is not None:
            progress.say(f"{visible(score.name)}: {visible(problem.name)}: {attempt.failure}", sys.stderr)
        progress.advance(1)


def show(scores, problems, limits, options):
    if options.json:
        data = {"limits": limits, "hash": options.hash, "engines": [score.as_json() for score in scores]}
        print(json.dumps(data, ensure_ascii=False))
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

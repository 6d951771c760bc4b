"""What `data` and `train` share: which games and positions, and reading them."""

import time

from command.arguments import add_threads, positive
from command.progress import Progress
from training.gather import Filters, gather, gather_shards
from training.positions import MOST_SCORE


def add_filters(parser):
    """What `data` and `train` ask about games and positions."""
    parser.add_argument("games", nargs="+", help="files of games, as self-play writes them")
    parser.add_argument(
        "--most-score",
        type=positive,
        default=MOST_SCORE,
        metavar="CP",
        help=f"leave out larger scores (default: {MOST_SCORE})",
    )
    parser.add_argument(
        "--from-ply", type=int, default=16, metavar="N", help="leave out the plies before (default: 16)"
    )
    parser.add_argument(
        "--held-out", type=int, default=2, metavar="PERCENT", help="share of the games held out (default: 2)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of everything random (default: 1)")
    add_threads(parser)


def filters_from(options, later_share=0.0):
    """The filters that were asked for, once they make sense."""
    if not 1 <= options.held_out <= 50:
        raise ValueError(f"--held-out {options.held_out}: 1 to 50 percent of the games can be held out")
    if options.from_ply < 0:
        raise ValueError(f"--from-ply {options.from_ply}: plies are counted from 0")
    return Filters(options.most_score, options.from_ply, options.held_out, options.seed, later_share)


def gather_with_progress(paths, filters, threads, shards=None):
    """Reads the files; tells about damage and speed. `shards`: the directory and number of shards to keep on disk."""
    progress = Progress("reading", "positions")
    started = time.monotonic()
    try:
        if shards:
            data = gather_shards(paths, filters, threads, *shards, progress)
        else:
            data = gather(paths, filters, threads, progress)
    except MemoryError as error:
        raise ValueError(f"{error or 'not enough memory'}") from error
    for path, damage in data.damaged:
        progress.finish(f"{path}: {damage}")
    seconds = max(time.monotonic() - started, 1e-9)
    progress.finish(f"read {data.seen:,} positions in {seconds:.1f} s, {data.seen / seconds:,.0f} positions/s")
    return data

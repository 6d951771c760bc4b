"""`quetzal data`: what a trainer would find in files of games."""

import time
from pathlib import Path

from book.builder import replacing
from training.gather import Filters, gather
from training.plots import bar_chart, svg_page
from uci_engine.progress import Progress

BAR = 40  # characters
RESULTS = ("White won", "drawn", "Black won")


def filters_from(options, later_share=0.0):
    """The filters that were asked for, once they make sense."""
    if not 1 <= options.held_out <= 50:
        raise ValueError(f"--held-out {options.held_out}: 1 to 50 percent of the games can be held out")
    if options.from_ply < 0:
        raise ValueError(f"--from-ply {options.from_ply}: plies are counted from 0")
    return Filters(options.most_score, options.from_ply, options.held_out, options.seed, later_share)


def gather_with_progress(paths, filters, threads):
    """Reads the files; tells about damage and speed."""
    progress = Progress("reading", "positions")
    started = time.monotonic()
    try:
        data = gather(paths, filters, threads, progress)
    except MemoryError as error:
        raise ValueError(f"{error or 'not enough memory'}") from error
    for path, damage in data.damaged:
        progress.finish(f"{path}: {damage}")
    seconds = max(time.monotonic() - started, 1e-9)
    progress.finish(f"read {data.seen:,} positions in {seconds:.1f} s, {data.seen / seconds:,.0f} positions/s")
    return data


def histogram(rows):
    """Lines with bars, for pairs of label and count."""
    most = max([count for _, count in rows] + [1])
    total = max(1, sum(count for _, count in rows))
    wide = max(len(label) for label, _ in rows)
    for label, count in rows:
        yield f"{label:>{wide}} {count:>12,} {100 * count / total:5.1f} % {'#' * round(BAR * count / most)}".rstrip()


def tables(statistics):
    """The three histograms: title, unit and rows."""
    step, middle = statistics["score_step"], len(statistics["scores"]) // 2
    men = [(str(number), count) for number, count in enumerate(statistics["men"])][2:]
    scores = [
        (f"{(place - middle) * step:+d}" if place != middle else "0", count)
        for place, count in enumerate(statistics["scores"])
    ]
    return (
        (
            "positions by the result of their game",
            "White's view",
            list(zip(RESULTS, statistics["results"], strict=True)),
        ),
        ("positions by men on the board", "men, kings included", men),
        ("positions by the score of the search", f"centipawns, White's view, ±{step // 2}", scores),
    )


def run_data(options):
    """Reads, counts, prints, draws."""
    if options.plot is not None and not Path(options.plot).absolute().parent.is_dir():
        raise ValueError(f"{options.plot} cannot be written: there is no such folder")
    data = gather_with_progress(options.games, filters_from(options), options.threads)
    for line in data.report():
        print(line)
    if not len(data.training):
        raise ValueError("no position to learn from in these games")
    statistics = data.training.statistics()
    print(f"mean |score| of the search: {statistics['mean_score']:.0f} centipawns")
    for title, unit, rows in tables(statistics):
        print(f"\n{title} ({unit})")
        for line in histogram(rows):
            print(line)
    if options.plot is not None:
        panels = [bar_chart(title, unit, rows, max(1, len(rows) // 10)) for title, unit, rows in tables(statistics)]
        with replacing(options.plot) as file:
            file.write(svg_page(panels).encode())
        print(f"\ndrawn in {options.plot}")

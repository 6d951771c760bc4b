"""`quetzal data`: what a trainer would find in files of games."""

from board.files import check_replaceable, replace_file
from command.learning import add_filters, filters_from, gather_with_progress
from training.plots import bar_chart, svg_page

BAR = 40  # characters
RESULTS = ("White won", "drawn", "Black won")


def add_arguments(parser):
    add_filters(parser)
    parser.add_argument("--plot", metavar="FILE.svg", help="draw the histograms, too, as an SVG")


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


def run(options):
    """Reads, counts, prints, draws."""
    if options.plot is not None:
        if not options.plot.lower().endswith(".svg"):
            raise ValueError(f"--plot {options.plot}: the plot is an SVG, so its name ends in .svg")
        check_replaceable(options.plot)
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
        replace_file(options.plot, svg_page(panels))
        print(f"\ndrawn in {options.plot}")

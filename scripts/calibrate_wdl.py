"""How far can the chances be trusted that `UCI_ShowWDL` shows? Plays games and counts what came of them.

    python scripts/calibrate_wdl.py --openings openings.epd --plot docs/calibration.svg

The bundled network plays against itself, other games than those that its model was fitted to (another --seed). Of every
third position the model's chances are compared with the game's result.
"""

import argparse
import sys

from arena.interrupts import INTERRUPTED, Interrupt
from arena.openings import Supply, read_openings
from board.files import replace_file
from command.arguments import positive
from command.progress import Progress
from training.plots import Line, line_chart, svg_page
from training.wdl_fit import calibration, gather
from uci_engine.wdl import default_model

TITLES = (("win", "winning"), ("draw", "drawing"), ("points", "points"))


def table_lines(found):
    """Markdown: the promises of each kind side by side, by tenths."""
    yield "| given | " + " | ".join(f"{title}: positions | given | came true" for _, title in TITLES) + " |"
    yield "|--:|" + "--:|--:|--:|" * len(TITLES)
    for tenth in range(10):
        cells = [f"{10 * tenth} to {10 * tenth + 10} %"]
        for name, _ in TITLES:
            inside = [promise for promise in found[name] if min(9, int(10 * promise.promised)) == tenth]
            cells += (
                [f"{inside[0].positions:,}", f"{100 * inside[0].promised:.1f} %", f"{100 * inside[0].kept:.1f} %"]
                if inside
                else ["", "", ""]
            )
        yield f"| {' | '.join(cells)} |"


def plot(found):
    """An SVG: a perfect model would lie on the diagonal."""
    lines = [Line(title, [(100 * each.promised, 100 * each.kept) for each in found[name]]) for name, title in TITLES]
    true = Line("if all were true", [(0, 0), (100, 100)], "#999")
    title = "Chances of the model, and what came of them, per cent"
    return svg_page([line_chart(title, "given", [*lines, true], names_left=True)])


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--openings", required=True, metavar="FILE", help=".epd, .pgn, or .bin for a Polyglot book")
    parser.add_argument("--games", type=positive, default=400, metavar="N", help="(default: 400)")
    parser.add_argument("--nodes", type=positive, default=3000, metavar="N", help="per move, about (default: 3000)")
    parser.add_argument("--seed", type=int, default=2, metavar="N", help="of the openings' order (default: 2)")
    parser.add_argument("--plot", metavar="FILE", help="an SVG of the table")
    return parser


def calibrate(options):
    supply = Supply(read_openings(options.openings), shuffle=True, seed=options.seed)
    with Interrupt() as interrupt:
        progress = Progress("playing", "games", options.games, interrupt=interrupt)
        counts, _ = gather(supply, options.games, options.nodes, lambda: progress.advance(1))
        progress.clear()
    found = calibration(counts, default_model())
    print("\n".join(table_lines(found)))
    if options.plot:
        replace_file(options.plot, plot(found))
    return 0


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        return calibrate(options)
    except KeyboardInterrupt:
        print("interrupted; nothing is written", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        print(f"calibrate_wdl: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

"""What each technique of the search is worth: switches one off at a time.

    python scripts/ablate.py --depth 10
    python scripts/ablate.py --only null_move transposition_table --markdown table.md
    python scripts/ablate.py --elo work/ablation --tc 1+0.01 --games 400 -c 2 --plot elo.svg

Without --elo, in nodes: the bench positions are searched with and without it to the same depth. Fewer nodes are not the
same as more strength: pruning may save nodes and lose the best move, an extension costs nodes to find it. Times are
processor time.

With --elo, in games: the whole engine plays against itself without the technique, in a match that is kept in the
directory. The same command goes on after Ctrl-C. Beside the search there are the parts tables, book, network, time_… and
the terms of the classical evaluation (eval_…).
"""

import argparse
import sys
import time
from pathlib import Path

from arena.interrupts import INTERRUPTED, Interrupt
from board import Board
from board.files import replace_file
from command.arguments import add_cluster, positive
from search import Limits, Searcher
from search.parameters import reset
from search.techniques import BY_NAME, TECHNIQUES, switch_off
from training.ablation import Ablation, Settings, bars, parts, table_lines
from training.plots import interval_chart
from training.programs import CommandError, InterruptedStepError, option, own_quetzal
from uci_engine.bench import positions

NEUTRAL = {"draw_noise"}  # keeps draws apart; it saves nothing and is not meant to
NAMES = [each.name for each in TECHNIQUES if each.name not in NEUTRAL]
CLUSTER = ("cluster", "tls_ca", "tls_cert", "tls_key")
TIMED_POSITIONS = 10  # a second each


def measure(fens, depth):
    """Nodes, processor seconds and the mean effective branching factor of one pass over the positions."""
    searcher = Searcher(megabytes=16)
    nodes = 0
    branching = []
    started = time.process_time()
    for fen in fens:
        searcher.clear()
        info = searcher.think(Board(fen), Limits(depth=depth)).info
        nodes += info.nodes
        branching.append(info.branching)
    seconds = time.process_time() - started
    searcher.close()
    return nodes, seconds, sum(branching) / len(branching)


def ablate(fens, depth, names, show):
    """Yields (step, meaning, nodes, seconds, branching) for the whole search and then without each technique."""
    reset()
    yield ("", "everything on", *measure(fens, depth))
    for name in names:
        technique = BY_NAME[name]
        show(f"without {technique.meaning} ...")
        switch_off(name)
        try:
            measured = measure(fens, depth)
        finally:
            reset()
        yield (technique.step or "", f"without {technique.meaning}", *measured)


def node_lines(rows, depth, count):
    """The rows as a Markdown table."""
    _, _, all_nodes, all_seconds, _ = rows[0]
    yield f"| step | {count} positions, depth {depth} | nodes | ratio | seconds | ratio | branching factor |"
    yield "|--:|---|--:|--:|--:|--:|--:|"
    for step, name, nodes, seconds, branching in rows:
        # A coarse clock may not have moved at all.
        longer = f"{seconds / all_seconds:.2f}" if all_seconds else "-"
        yield f"| {step} | {name} | {nodes:,} | {nodes / all_nodes:.2f} | {seconds:.1f} | {longer} | {branching:.3f} |"


def show(text):
    print(text, file=sys.stderr, flush=True)


def depth_in(fens, milliseconds):
    """The mean depth that searches of so long complete."""
    searcher = Searcher(megabytes=16)
    depths = []
    for fen in fens:
        searcher.clear()
        depths.append(searcher.think(Board(fen), Limits(movetime=milliseconds)).info.depth)
    searcher.close()
    return sum(depths) / len(depths)


def measure_tree(name, fens, depth, whole):
    """What the table of games says of the tree without a technique; nothing for parts of other kinds.

    `whole` are the nodes with everything.
    """
    if name not in NAMES:
        return {}
    switch_off(name)
    try:
        nodes, _, branching = measure(fens, depth)
        return {"nodes": nodes / whole, "branching": branching, "depth": depth_in(fens[:TIMED_POSITIONS], 1000)}
    finally:
        reset()


def nodes_table(options):
    fens = positions()[: options.positions]
    rows = list(ablate(fens, options.depth, options.only or NAMES, show))
    return "\n".join(node_lines(rows, options.depth, len(fens))) + "\n"


def elo_table(options):
    """Plays what is left, and returns the table of all chosen parts."""
    cluster = [option(f"--{name.replace('_', '-')}", getattr(options, name)) for name in CLUSTER]
    settings = Settings(
        own_quetzal(),
        options.tc,
        options.games,
        options.concurrency,
        options.openings,
        options.hash,
        [word for words in cluster for word in words],
    )
    ablation = Ablation(options.elo, settings)
    chosen = [ablation.parts[name] for name in options.only or ablation.parts]
    with Interrupt() as interrupt:
        for part in chosen:
            if interrupt.is_requested:
                raise InterruptedStepError(f"interrupted before {part.name}")
            show(f"without {part.meaning}")
            ablation.play(part, interrupt)
    fens = [] if options.no_tree else positions()[: options.positions]
    whole = measure(fens, options.depth)[0] if fens else 0
    rows = []
    for part in chosen:
        tree = measure_tree(part.name, fens, options.depth, whole) if fens else {}
        rows.append((part, ablation.result(part), tree))
    if options.plot:
        replace_file(options.plot, interval_chart(f"Worth in Elo, {options.tc}", bars(rows)))
    return "\n".join(table_lines(rows)) + "\n"


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=positive, default=10, help="plies of the tree (default: 10)")
    parser.add_argument("--positions", type=positive, metavar="N", help="only the first N bench positions")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these techniques only")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there too")
    games = parser.add_argument_group("games")
    games.add_argument("--elo", metavar="DIR", help="play, and keep the matches there")
    games.add_argument("--tc", default="1+0.01", metavar="CONTROL", help="(default: 1+0.01)")
    games.add_argument("--games", type=positive, default=400, metavar="N", help="of each match (default: 400)")
    games.add_argument("--openings", metavar="FILE", help=".epd, .pgn or .bin (default: 2,500 of our own)")
    games.add_argument("--hash", type=positive, default=16, metavar="MB", help="(default: 16)")
    games.add_argument("-c", "--concurrency", type=positive, default=1, metavar="N", help="games at once (default: 1)")
    games.add_argument("--no-tree", action="store_true", help="only games, no nodes and depths beside them")
    games.add_argument("--plot", type=Path, metavar="FILE", help="an SVG of the table")
    add_cluster(parser)
    return parser


def main(arguments=None):
    parser = build_parser()
    options = parser.parse_args(arguments)
    known = NAMES if options.elo is None else list(parts(options.elo))
    unknown = [name for name in options.only or () if name not in known]
    if unknown:
        parser.error(f"there is no technique {', '.join(unknown)}; there are {', '.join(known)}")
    if options.elo is None and options.cluster is not None:
        parser.error("--cluster needs --elo")
    try:
        text = nodes_table(options) if options.elo is None else elo_table(options)
    except (KeyboardInterrupt, InterruptedStepError) as error:
        show(f"{str(error) or 'interrupted'}; the same command goes on")
        return INTERRUPTED
    except CommandError as error:
        show(f"ablate: {error}")
        return 1
    except (ValueError, OSError) as error:
        show(f"ablate: {error}")
        return 2
    print(text, end="")
    if options.markdown:
        replace_file(options.markdown, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

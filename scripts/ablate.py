"""What each technique of the search is worth in nodes: switches one off at a time and searches the bench positions.

    python scripts/ablate.py --depth 10
    python scripts/ablate.py --only null_move transposition_table --markdown table.md

Every line compares the search without one technique to the whole one at the same depth. Fewer nodes are not the same
as more strength: pruning may save nodes and lose the best move, an extension costs nodes to find it. What a technique
is worth in games only matches can tell; what it does to the tree is seen here. Times are processor time.
"""

import argparse
import sys
import time
from pathlib import Path

from board import Board
from board.files import replace_file
from search import Limits, Searcher
from search.parameters import reset
from search.techniques import BY_NAME, TECHNIQUES, switch_off
from uci_engine.bench import positions

NEUTRAL = {"draw_noise"}  # keeps draws apart; it saves nothing and is not meant to
NAMES = [each.name for each in TECHNIQUES if each.name not in NEUTRAL]


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


def table_lines(rows, depth, count):
    """The rows as a Markdown table."""
    _, _, all_nodes, all_seconds, _ = rows[0]
    yield f"| step | {count} positions, depth {depth} | nodes | ratio | seconds | ratio | branching factor |"
    yield "|--:|---|--:|--:|--:|--:|--:|"
    for step, name, nodes, seconds, branching in rows:
        # A coarse clock may not have moved at all.
        longer = f"{seconds / all_seconds:.2f}" if all_seconds else "-"
        yield f"| {step} | {name} | {nodes:,} | {nodes / all_nodes:.2f} | {seconds:.1f} | {longer} | {branching:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=10, help="plies (default: 10)")
    parser.add_argument("--positions", type=int, metavar="N", help="only the first N bench positions")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these techniques only")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there too")
    options = parser.parse_args()
    names = options.only or NAMES
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"there is no technique {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if options.depth < 1 or (options.positions is not None and options.positions < 1):
        parser.error("depth and positions start at 1")

    fens = positions()[: options.positions]
    rows = list(ablate(fens, options.depth, names, lambda line: print(line, file=sys.stderr, flush=True)))
    text = "\n".join(table_lines(rows, options.depth, len(fens))) + "\n"
    print(text, end="")
    if options.markdown:
        replace_file(options.markdown, text)


if __name__ == "__main__":
    main()

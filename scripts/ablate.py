"""What each technique of the search is worth in nodes: switches one off at a time and searches the bench positions.

    python scripts/ablate.py --depth 10
    python scripts/ablate.py --only null_move table --markdown table.md

Every line compares the search without one technique to the whole one at the same depth. Fewer nodes are not the same
as more strength: pruning may save nodes and lose the best move, an extension costs nodes to find it. What a technique
is worth in games only matches can tell; what it does to the tree is seen here. Times are processor time.
"""

import argparse
import sys
import time
from pathlib import Path

from board import Board
from search import Limits, Searcher
from search.parameters import TABLE, reset, set_parameter
from uci_engine.bench import positions

NEUTRAL = {"use_draw_noise"}  # keeps draws apart; it saves nothing and is not meant to
# What cannot do its work alone goes with what it needs: internal reductions wait for a hash move that would never come,
# and make every node shallower instead.
TOGETHER = {"use_table": ("use_internal_reduction",)}
# The steps of search/tree.py and sections of docs/search.md; aspiration windows stand before the first of them.
STEPS = {
    "use_quiescence": "1",
    "use_cycles": "2",
    "use_mate_distance": "3",
    "use_table": "4",
    "use_correction": "6",
    "use_razoring": "7",
    "use_reverse_futility": "8",
    "use_null_move": "9",
    "use_internal_reduction": "10",
    "use_probcut": "11",
    "use_killers": "12",
    "use_history": "12",
    "use_threats": "12",
    "use_late_move_pruning": "13",
    "use_futility": "13",
    "use_see_pruning": "13",
    "use_history_pruning": "13",
    "use_check_extension": "14",
    "use_singular_extension": "14",
    "use_late_move_reduction": "16",
}


def switches():
    """The names of all techniques that can be switched off, with their meaning, in the order of the steps."""
    known = {each.name: each.meaning for each in TABLE if each.name.startswith("use_") and each.name not in NEUTRAL}
    return dict(sorted(known.items(), key=lambda pair: int(STEPS.get(pair[0], 0))))


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
    known = switches()
    reset()
    yield ("", "everything on", *measure(fens, depth))
    for name in names:
        show(f"without {known[name]} ...")
        for each in (name, *TOGETHER.get(name, ())):
            set_parameter(each, 0)
        try:
            measured = measure(fens, depth)
        finally:
            reset()
        yield (STEPS.get(name, ""), f"without {known[name].partition(';')[0].partition(':')[0]}", *measured)


def table_lines(rows, depth, count):
    """The rows as a Markdown table."""
    _, _, all_nodes, all_seconds, _ = rows[0]
    yield f"| step | {count} positions, depth {depth} | nodes | ratio | seconds | ratio | branching factor |"
    yield "|--:|---|--:|--:|--:|--:|--:|"
    for step, name, nodes, seconds, branching in rows:
        more, longer = nodes / all_nodes, seconds / all_seconds
        yield f"| {step} | {name} | {nodes:,} | {more:.2f} | {seconds:.1f} | {longer:.2f} | {branching:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=10, help="plies (default: 10)")
    parser.add_argument("--positions", type=int, metavar="N", help="only the first N bench positions")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these techniques only, without 'use_'")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there too")
    options = parser.parse_args()
    names = [f"use_{name.removeprefix('use_')}" for name in options.only] if options.only else list(switches())
    unknown = [name for name in names if name not in switches()]
    if unknown:
        parser.error(f"there is no switch {', '.join(unknown)}; there are {', '.join(switches())}")
    if options.depth < 1 or (options.positions is not None and options.positions < 1):
        parser.error("depth and positions start at 1")

    fens = positions()[: options.positions]
    rows = list(ablate(fens, options.depth, names, lambda line: print(line, file=sys.stderr, flush=True)))
    text = "\n".join(table_lines(rows, options.depth, len(fens))) + "\n"
    print(text, end="")
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Makes the openings that matches begin with by default, arena/openings.txt.

python scripts/make_openings.py          draws lines until there are enough, and writes the file
python scripts/make_openings.py --judge  searches the positions of the file again and says how balanced they are

A line follows the repertoire of the book for some plies, and goes on with moves that Quetzal believes to be nearly best.
It is taken if a longer search finds its last position balanced and no other line leads to that position. Every line
depends on the seed, its number and the search alone, so the file can be made again, byte for byte, by the same build.
"""

import argparse
import random
import sys
import time
from pathlib import Path

from arena.openings import own_openings
from board import Board
from board.files import replace_file
from book.opening.repertoire import read_repertoire, same_position
from search import Limits, Searcher
from uci_engine.strength import LineCollector, value

FILE = Path(__file__).resolve().parent.parent / "arena" / "openings.txt"

PLIES = 8
BALANCED = 60  # centipawns that either side may be ahead
CANDIDATES, SPREAD = 8, 25  # a move is drawn among so many, not more than so many centipawns behind the best
DRAW_NODES = 2_000  # of the search that finds the candidates
JUDGE_NODES = 50_000

HEADER = """\
# Openings for matches: NAME: MOVES, eight plies each, all positions different, none better for one side than {balanced}
# centipawns in a search of {nodes} nodes. Made by scripts/make_openings.py --seed {seed}; do not edit.
"""


def limits(nodes):
    """Whole iterations, so that all candidates have been searched to the same depth."""
    return Limits(soft_nodes=nodes, nodes=8 * nodes)


class Judge:
    """The search, without memory: what it says of a position does not depend on those before."""

    def __init__(self):
        self.searcher = Searcher(megabytes=8)

    def candidates(self, board):
        self.searcher.clear()
        self.searcher.multipv = CANDIDATES
        collector = LineCollector()
        best = value(self.searcher.think(board, limits(DRAW_NODES), collector).info)
        return sorted({board.uci(info.pv[0]) for info in collector.lines if value(info) >= best - SPREAD})

    def score(self, board):
        """Centipawns from the side to move."""
        self.searcher.clear()
        self.searcher.multipv = 1
        return value(self.searcher.think(board, limits(JUDGE_NODES)).info)


class Names:
    """What openings are called: as the last position is where several lines of the repertoire meet, all of one name."""

    def __init__(self, lines):
        self.names = {}
        for line in lines:
            name = line.name.split(",")[0]
            board = Board()
            for text in line.moves[:PLIES]:
                board.push_san(text)
                self.names.setdefault(same_position(board), []).append(name)

    def of(self, moves):
        board, found = Board(), ""
        for text in moves:
            board.push_uci(text)
            names = self.names.get(same_position(board), ())
            if len(names) > 1 and len(set(names)) == 1:
                found = names[0]
        return found


def board_of(moves):
    board = Board()
    for text in moves:
        board.push_uci(text)
    return board


def draw_line(lines, judge, dice):
    """A line in UCI's notation: the beginning of one of the repertoire, and drawn moves."""
    board = Board()
    moves = []
    for text in dice.choice(lines).moves[: dice.randint(2, PLIES)]:
        moves.append(board.uci(board.parse_san(text)))
        board.push_uci(moves[-1])
    while len(moves) < PLIES:
        moves.append(dice.choice(judge.candidates(board)))
        board.push_uci(moves[-1])
    return moves, board


def make(count, seed):
    """Yields lines as text, the name first, until there are `count`."""
    lines = read_repertoire()
    names = Names(lines)
    judge = Judge()
    found = {}
    number = 0
    started = time.monotonic()
    while len(found) < count:
        moves, board = draw_line(lines, judge, random.Random(f"{seed} {number}"))
        number += 1
        if same_position(board) not in found and board.outcome() is None and abs(judge.score(board)) <= BALANCED:
            found[same_position(board)] = f"{names.of(moves)}: {' '.join(moves)}"
        if number % 100 == 0:
            left = (time.monotonic() - started) / max(1, len(found)) * (count - len(found))
            print(f"{len(found)} of {count} lines after {number} tries, {left:.0f} s left", file=sys.stderr)
    return sorted(found.values(), key=lambda text: text.split(": ")[1])


def judge_file():
    judge = Judge()
    scores = [judge.score(board_of(opening.moves)) for opening in own_openings()]
    outside = sum(abs(score) > BALANCED for score in scores)
    mean = sum(scores) / len(scores)
    print(f"{len(scores)} openings, White's advantage {mean:+.0f} on average, from {min(scores)} to {max(scores)};")
    print(f"{outside} beyond {BALANCED} centipawns in a search of {JUDGE_NODES} nodes")
    return 1 if outside else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2500, help="lines (default: 2500)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judge", action="store_true", help="only look at the file that is there")
    options = parser.parse_args()
    if options.judge:
        return judge_file()
    lines = make(options.count, options.seed)
    header = HEADER.format(balanced=BALANCED, nodes=f"{JUDGE_NODES:,}", seed=options.seed)
    replace_file(FILE, header + "".join(f"{line}\n" for line in lines))
    print(f"{FILE}: {len(lines)} openings, {FILE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

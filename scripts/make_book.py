"""Makes the book that Quetzal brings along, book/opening/default.bin, in two steps.

python scripts/make_book.py play     from the end of every line of book/opening/repertoire.txt Quetzal plays games against
                                     itself; what the book needs of them goes to scripts/book_games.pgn
python scripts/make_book.py build    lines and games become the book

A game depends on the seed, its line and its number alone, so `play` can be repeated (with the same search), and `build`
always gives the same bytes. docs/books.md says how lines and results become weights.
"""

import argparse
import random
import time
from pathlib import Path

from board import Board
from board.files import replace_file
from book.opening.builder import Report, Settings, count_games, entries_from, write_book
from book.opening.move_counter import MoveCounter
from book.opening.pgn import Source
from book.opening.repertoire import read_repertoire
from command.progress import Progress
from search import Limits, Searcher
from training.fast_games import Ends
from training.fast_games import play as play_on
from uci_engine.strength import LineCollector, value

ROOT = Path(__file__).resolve().parent.parent
GAMES = ROOT / "scripts" / "book_games.pgn"
BOOK = ROOT / "book" / "opening" / "default.bin"

# A line counts as so many drawn games, so that no result can throw it out; a move that only games have needs two.
LINE_GAMES = 4
SETTINGS = Settings(plies=1024, min_games=2, win=2, draw=1, loss=0)

EXTRA_PLIES = 6  # kept of a game behind its line
VARIED_PLIES = 4  # of these, plies where a move may be nearly best
VARIED_LINES, VARIED_SPREAD = 3, 12  # among so many, so many centipawns
ENDS = Ends(win_score=500, win_plies=6, draw_score=10, draw_plies=12, draw_from=80, most_plies=240)
RESULTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}


class BookPlayer:
    """Plays both sides; behind the line, for a few plies, a little off the best move."""

    def __init__(self, searcher, line, nodes, dice):
        self.searcher, self.nodes, self.dice = searcher, nodes, dice
        self.varied_until = len(line.moves) + VARIED_PLIES

    def new_game(self):
        self.searcher.clear()

    def move(self, board):
        is_varied = board.ply < self.varied_until
        self.searcher.multipv = VARIED_LINES if is_varied else 1
        collector = LineCollector()
        result = self.searcher.think(board, Limits(soft_nodes=self.nodes, nodes=8 * self.nodes), collector)
        score = value(result.info)
        if not is_varied:
            return result.best, score
        near = [info.pv[0] for info in collector.lines if value(info) >= score - VARIED_SPREAD]
        return self.dice.choice([result.best, *(move for move in near if move != result.best)]), score


def play_game(searcher, line, nodes, dice):
    """Plays from the end of a line; returns the first moves in algebraic notation and the result as PGN writes it."""
    board = Board()
    for text in line.moves:
        board.push_san(text)
    kept = list(line.moves)

    def keep(board, move, score):
        if len(kept) < len(line.moves) + EXTRA_PLIES:
            kept.append(board.san(move))

    player = BookPlayer(searcher, line, nodes, dice)
    return kept, RESULTS[play_on(player, player, board, ENDS, keep)]


def pgn_text(line, number, moves, result):
    """A game of the file: cut behind what the book takes, so the last moves are missing, but not the result."""
    numbered = [f"{ply // 2 + 1}. {move}" if ply % 2 == 0 else move for ply, move in enumerate(moves)]
    return f'[Event "{line.title}"]\n[Round "{number}"]\n[Result "{result}"]\n\n{" ".join(numbered)} {result}\n\n'


def play(options):
    lines = read_repertoire()
    searcher = Searcher(megabytes=8)
    started = time.monotonic()
    progress = Progress("playing", "lines", len(lines))
    texts, results = [], {"1-0": 0, "1/2-1/2": 0, "0-1": 0}
    for line in lines:
        for number in range(1, options.games + 1):
            dice = random.Random(f"{options.seed} {line.title} {number}")
            moves, result = play_game(searcher, line, options.nodes, dice)
            texts.append(pgn_text(line, number, moves, result))
            results[result] += 1
        progress.advance(1)
    progress.clear()
    header = f"% quetzal: {options.games} games per line, {options.nodes} nodes per move, seed {options.seed}\n\n"
    replace_file(GAMES, header + "".join(texts))
    print(f"{GAMES}: {len(texts)} games in {time.monotonic() - started:.0f} s, {results}")


def build(output=BOOK, games=GAMES):
    """Writes the book; returns how many entries and positions it has."""
    counter = MoveCounter(64)
    start = Board()
    for line in read_repertoire():
        counter.add_game(start, " ".join(line.moves).encode(), SETTINGS.plies, 0, times=LINE_GAMES)

    def on_broken(place, reason):
        raise ValueError(f"{place}: {reason}")

    with Source(str(games)) as source:
        count_games([source], SETTINGS, counter, Report(on_broken))
    return write_book(output, entries_from(counter, SETTINGS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    player = actions.add_parser("play", help="play the games")
    player.add_argument("--games", type=int, default=4, help="per line (default: 4)")
    player.add_argument("--nodes", type=int, default=4000, help="per move (default: 4000)")
    player.add_argument("--seed", type=int, default=1)
    actions.add_parser("build", help="make the book")
    options = parser.parse_args()
    if options.action == "play":
        play(options)
    else:
        entries, positions = build()
        print(f"{BOOK}: {entries} entries, {positions} positions, {BOOK.stat().st_size} bytes")


if __name__ == "__main__":
    main()

"""Makes the book that Quetzal brings along, book/opening/default.bin, in two steps.

python scripts/make_book.py play     from the end of every line of book/opening/repertoire.txt Quetzal plays games against
                                     itself; what the book needs of them goes to scripts/book_games.pgn
python scripts/make_book.py build    lines and games become the book

A game depends on the seed, its line and its number alone, so `play` can be repeated (with the same search), and `build`
always gives the same bytes. docs/books.md says how lines and results become weights.
"""

import argparse
import random
import sys
import time
from pathlib import Path
from typing import NamedTuple

from board import Board
from book.files import replace_file
from book.opening.builder import Report, Settings, count_games, entries_from, write_book
from book.opening.move_counter import MoveCounter
from book.opening.pgn import Source
from search import Limits, Listener, Searcher

ROOT = Path(__file__).resolve().parent.parent
REPERTOIRE = ROOT / "book" / "opening" / "repertoire.txt"
GAMES = ROOT / "scripts" / "book_games.pgn"
BOOK = ROOT / "book" / "opening" / "default.bin"

# A line counts as so many drawn games, so that no result can throw it out; a move that only games have needs two.
LINE_GAMES = 4
SETTINGS = Settings(plies=1024, min_games=2, win=2, draw=1, loss=0)

EXTRA_PLIES = 6  # kept of a game behind its line
VARIED_PLIES = 4  # of these, plies where a move may be nearly best
VARIED_LINES, VARIED_SPREAD = 3, 12  # among so many, so many centipawns
DECIDED, DECIDED_PLIES = 500, 6
LEVEL, LEVEL_PLIES, LEVEL_FROM = 10, 12, 80
MOST_PLIES = 240


class Line(NamedTuple):
    code: str
    name: str
    moves: list  # in algebraic notation

    @property
    def title(self):
        return f"{self.code} {self.name}"


def read_repertoire(path=REPERTOIRE):
    """The lines of the repertoire, every move checked. ValueError names the place where something is wrong."""
    lines = []
    for number, text in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        title, colon, moves = text.partition(":")
        code, _, name = title.strip().partition(" ")
        if not colon or not name:
            raise ValueError(f"{path}:{number}: a line is 'CODE NAME: MOVES'")
        board = Board()
        try:
            for move in moves.split():
                board.push_san(move)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        lines.append(Line(code, name, moves.split()))
    return lines


class Collector(Listener):
    """The first moves and scores of the last finished iteration."""

    def __init__(self):
        self.choices = []

    def on_info(self, info):
        if info.bound == "exact":
            if info.multipv == 1:
                self.choices = []
            self.choices.append((info.pv[0], 10000 if info.is_mate and info.score > 0 else info.score))


def think(searcher, board, nodes, varied, dice):
    """A move and its score for the side to move; a little off the best where `varied`."""
    searcher.multipv = VARIED_LINES if varied else 1
    collector = Collector()
    result = searcher.think(board, Limits(soft_nodes=nodes, nodes=8 * nodes), collector)
    score = (10000 if result.info.score > 0 else -10000) if result.info.is_mate else result.info.score
    if varied:
        near = [move for move, each in collector.choices if each >= score - VARIED_SPREAD]
        return dice.choice([result.best, *(move for move in near if move != result.best)]), score
    return result.best, score


def play_game(searcher, line, nodes, dice):
    """Plays from the end of a line; returns the first moves in algebraic notation and the result as PGN writes it."""
    board = Board()
    for text in line.moves:
        board.push_san(text)
    searcher.clear()
    kept = list(line.moves)
    decided = level = 0
    while (outcome := board.outcome()) is None and board.ply < MOST_PLIES:
        move, score = think(searcher, board, nodes, board.ply < len(line.moves) + VARIED_PLIES, dice)
        side = (score >= DECIDED) - (score <= -DECIDED)
        side = side if board.turn == 0 else -side
        decided = decided + side if side and decided * side >= 0 else side
        level = level + 1 if board.ply >= LEVEL_FROM and abs(score) <= LEVEL else 0
        if abs(decided) >= DECIDED_PLIES:
            return kept, "1-0" if decided > 0 else "0-1"
        if level >= LEVEL_PLIES:
            return kept, "1/2-1/2"
        if len(kept) < len(line.moves) + EXTRA_PLIES:
            kept.append(board.san(move))
        board.push(move)
    return kept, outcome.result if outcome is not None else "1/2-1/2"


def pgn_text(line, number, moves, result):
    """A game of the file: cut behind what the book takes, so the last moves are missing, but not the result."""
    numbered = [f"{ply // 2 + 1}. {move}" if ply % 2 == 0 else move for ply, move in enumerate(moves)]
    return f'[Event "{line.title}"]\n[Round "{number}"]\n[Result "{result}"]\n\n{" ".join(numbered)} {result}\n\n'


def play(options):
    lines = read_repertoire()
    searcher = Searcher(megabytes=8)
    started = time.monotonic()
    texts, results = [], {"1-0": 0, "1/2-1/2": 0, "0-1": 0}
    for index, line in enumerate(lines):
        for number in range(1, options.games + 1):
            dice = random.Random(f"{options.seed} {line.title} {number}")
            moves, result = play_game(searcher, line, options.nodes, dice)
            texts.append(pgn_text(line, number, moves, result))
            results[result] += 1
        seconds = time.monotonic() - started
        left = seconds / (index + 1) * (len(lines) - index - 1)
        if sys.stderr.isatty() or (index + 1) % 20 == 0:
            print(f"{index + 1} of {len(lines)} lines, {left:.0f} s left", file=sys.stderr)
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

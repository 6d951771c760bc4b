"""Solves an ending and checks, on random positions, that every value follows from those one move further.

    python scripts/verify_ending.py KBBvKN --positions 200000

The definition is written down here once more, in plain Python on python-chess's moves: the fifty-move rule, en passant,
mate and stalemate. A solution that agrees with it everywhere, and whose distances fall with every move, is right.
Where official tables do not reach (five men), this is the proof.
"""

import argparse
import os
import random
import sys

from book.endgame.best_play import BestPlay
from book.endgame.generator import MEGABYTE, Generator, checked_names

FIFTY_MOVES = 100


def after_zeroing(wdl):
    """(WDL, DTZ) of a capture or pawn move that leads to a position worth `wdl` to the other side."""
    return {2: (-2, -1), 1: (-1, -FIFTY_MOVES - 1), 0: (0, 0), -1: (1, FIFTY_MOVES + 1), -2: (2, 1)}[wdl]


def one_ply_more(distance):
    """(WDL, DTZ) of a quiet move to a position with this distance."""
    if distance == 0:
        return 0, 0
    plies = abs(distance) + 1
    wdl = 2 if plies <= FIFTY_MOVES else 1
    return (wdl, plies) if distance < 0 else (-wdl, -plies)


def merit(value):
    """Larger is better: wins soon, losses late."""
    wdl, distance = value
    return wdl, -distance


def with_en_passant(board, known):
    """The value of a position after a double step: en passant may be better, or the only move."""
    captures = [move for move in board.legal_moves if board.is_en_passant(move)]
    if not captures:
        return known(board)[0]
    values = []
    for move in captures:
        board.push(move)
        values.append(-known(board)[0])
        board.pop()
    if len(captures) < board.legal_moves.count():
        values.append(known(board)[0])
    return max(values)


def defined_value(board, known):
    """What the rules say of a position, if `known` says the truth about the positions after each move."""
    values = []
    for move in board.legal_moves:
        zeroing = board.is_zeroing(move)
        board.push(move)
        if board.is_checkmate():
            values.append((2, 1))
        elif zeroing:
            values.append(after_zeroing(with_en_passant(board, known)))
        else:
            values.append(one_ply_more(known(board)[1]))
        board.pop()
    if not values:
        return (-2, -1) if board.is_check() else (0, 0)
    return max(values, key=merit)


def verify(ending, generator, count, seed=1):
    """Compares so many random positions; returns the differences and how many values of each kind were seen."""
    line = BestPlay(ending, generator)
    rng = random.Random(seed)
    wrong, seen = [], {}
    while sum(seen.values()) < count:
        squares, side = ending.squares_of(rng.randrange(ending.size)), rng.randrange(2)
        value = ending.value(side, squares)
        if value is None:
            continue
        board = line.board(squares, side)
        defined = defined_value(board, line.value)
        seen[value[0]] = seen.get(value[0], 0) + 1
        if defined != value:
            wrong.append((board.fen(), value, defined))
    return wrong, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ending")
    parser.add_argument("--positions", type=int, default=20000, metavar="N")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--memory", type=int, default=6000, metavar="MB")
    options = parser.parse_args()
    (name,) = checked_names([options.ending])
    generator = Generator(None, options.threads, options.memory * MEGABYTE)
    try:
        ending = generator.solved(name)
        wrong, seen = verify(ending, generator, options.positions)
    finally:
        generator.close()
    words = {2: "won", 1: "cursed", 0: "drawn", -1: "blessed", -2: "lost"}
    print(f"{name}:", ", ".join(f"{seen[wdl]:,} {words[wdl]}" for wdl in sorted(seen, reverse=True)), end="; ")
    print(f"{len(wrong)} differ")
    for difference in wrong[:5]:
        print(*difference)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Random positions, and boards seen in a mirror."""

import random

from board import STARTING_FEN, Board


def random_walk(seed, plies=160, fen=STARTING_FEN):
    """Yields the board after each move of a random game that likes to capture, so that endings are reached."""
    rng = random.Random(seed)
    board = Board(fen)
    for _ in range(plies):
        moves = board.legal_moves()
        if not moves or board.is_insufficient_material():
            return
        captures = board.tactical_moves()
        board.push(rng.choice(captures if captures and rng.random() < 0.35 else moves))
        yield board


def random_men(rng, letters):
    """A FEN with these men on random squares, White to move, or None where that makes no legal position."""
    squares = rng.sample(range(64), len(letters))
    rows = [["."] * 8 for _ in range(8)]
    for letter, square in zip(letters, squares, strict=True):
        if letter in "Pp" and not 8 <= square < 56:
            return None
        rows[square >> 3][square & 7] = letter
    text = "/".join("".join(row) for row in rows)
    for run in range(8, 0, -1):
        text = text.replace("." * run, str(run))
    fen = f"{text} {rng.choice('wb')} - - 0 1"
    try:
        Board(fen)
    except ValueError:
        return None
    return fen


def without_castling(fen):
    placement, turn, _, *rest = fen.split()
    return " ".join((placement, turn, "-", *rest))


def colours_swapped(fen):
    placement, turn, castling, passed, *rest = fen.split()
    placement = "/".join(reversed(placement.swapcase().split("/")))
    if passed != "-":
        passed = passed[0] + str(9 - int(passed[1]))
    return " ".join((placement, "b" if turn == "w" else "w", castling.swapcase(), passed, *rest))


def files_mirrored(fen):
    """Of a position without castling rights."""
    placement, turn, castling, passed, *rest = fen.split()
    assert castling == "-"
    placement = "/".join(row[::-1] for row in placement.split("/"))
    if passed != "-":
        passed = "abcdefgh"[7 - "abcdefgh".index(passed[0])] + passed[1]
    return " ".join((placement, turn, castling, passed, *rest))

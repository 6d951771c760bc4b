"""Endings: random ones, some with known values, and the tables that the tests read.

These are the shipped tables, or those of another maker in the directory that QUETZAL_SYZYGY names: all endings of three
and four men and no others.
"""

import os
from pathlib import Path

import chess
from positions import random_men
from support import read_epd

from book.endgame.endings import endings
from book.endgame.table_paths import shipped_directories

SHIPPED = Path(*shipped_directories())
DIRECTORY = Path(os.environ.get("QUETZAL_SYZYGY") or SHIPPED)
SMALL = [name for count in (3, 4) for name in endings(count)]

# FEN, result and distance from the official tables.
KNOWN = [(fen, int(values["wdl"]), int(values["dtz"])) for fen, values in read_epd("endings.epd")]


def random_ending(rng, name):
    """A legal position of an ending, either side with either colour."""
    first, second = name.split("v")
    while True:
        fen = random_men(rng, first + second.lower() if rng.random() < 0.5 else first.lower() + second)
        if fen is not None:
            return fen


def random_en_passant(rng):
    """A position of KPvKP where a pawn may be captured en passant."""
    while True:
        turn = rng.choice((chess.WHITE, chess.BLACK))
        rank = 4 if turn == chess.WHITE else 3
        file = rng.randrange(7)
        files = [file, file + 1] if rng.random() < 0.5 else [file + 1, file]
        board = chess.Board(None)
        board.turn = turn
        board.set_piece_at(chess.square(files[0], rank), chess.Piece(chess.PAWN, turn))
        board.set_piece_at(chess.square(files[1], rank), chess.Piece(chess.PAWN, not turn))
        board.ep_square = chess.square(files[1], rank + (1 if turn == chess.WHITE else -1))
        kings = rng.sample([square for square in range(64) if board.piece_at(square) is None], 2)
        for square, colour in zip(kings, (chess.WHITE, chess.BLACK), strict=True):
            board.set_piece_at(square, chess.Piece(chess.KING, colour))
        if board.is_valid() and board.has_legal_en_passant():
            return board.fen()

"""Zobrist keys. The numbers are Polyglot's, so that a position's key finds it in a Polyglot book too."""

import cython
from cython.cimports.board.types import BLACK, WHITE

from board.polyglot_randoms import RANDOM64


def _fill_tables():
    """Sorts Polyglot's list (black pawn, white pawn, black knight, …) into tables indexed by our pieces."""
    piece: cython.int
    square: cython.int
    for piece in range(12):
        for square in range(64):
            # The two orders differ only in which colour comes first.
            PIECE_KEYS[piece][square] = RANDOM64[64 * (piece ^ 1) + square]
    CASTLING_KEYS[WHITE][1], CASTLING_KEYS[WHITE][0] = RANDOM64[768], RANDOM64[769]
    CASTLING_KEYS[BLACK][1], CASTLING_KEYS[BLACK][0] = RANDOM64[770], RANDOM64[771]
    for square in range(8):
        EN_PASSANT_KEYS[square] = RANDOM64[772 + square]
    global TURN_KEY
    TURN_KEY = RANDOM64[780]


_fill_tables()

"""Small Polyglot books for tests, written with struct alone so that nothing under test is used to make them."""

import struct

import chess
import chess.polyglot


def code(text):
    """Polyglot's bits of a move like e2e4 or e7e8q, as the format's description has them."""
    squares = [chess.parse_square(text[index : index + 2]) for index in (0, 2)]
    promotion = " nbrq".index(text[4]) if len(text) == 5 else 0
    return squares[1] | squares[0] << 6 | promotion << 12


def entry(fen, move, weight=1, learn=0):
    """One entry's 16 bytes. `fen` may be a FEN, or the UCI moves that lead to the position."""
    if "/" in fen:
        board = chess.Board(fen)
    else:
        board = chess.Board()
        for text in fen.split():
            board.push_uci(text)
    return struct.pack(">QHHI", chess.polyglot.zobrist_hash(board), code(move), weight, learn)


def write(path, *entries, keep_order=False):
    """A book file with these entries, sorted by key as they should be unless told otherwise."""
    path.write_bytes(b"".join(entries if keep_order else sorted(entries, key=lambda each: each[:8])))
    return path


def random_game(rng, plies=40):
    """A game of python-chess that castles, promotes and captures en passant when it can."""
    board = chess.Board()
    while len(board.move_stack) < plies and not board.is_game_over():
        moves = list(board.legal_moves)
        rare = [move for move in moves if move.promotion or board.is_castling(move) or board.is_en_passant(move)]
        board.push(rng.choice(rare or moves))
    return board

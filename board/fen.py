"""Forsyth-Edwards notation in and out: standard, X-FEN and Shredder-FEN castling, with or without the counters."""

import cython
from cython.cimports.board.bits import RANK_1, RANK_8, bit, has, lsb, more_than_one, msb, popcount
from cython.cimports.board.position import (
    ConstPosition,
    Position,
    complete,
    is_attacked,
    king_square,
    occupied,
    pieces,
    put_piece,
)
from cython.cimports.board.types import (
    BLACK,
    KING,
    NO_PIECE,
    NO_SQUARE,
    PAWN,
    ROOK,
    WHITE,
    make_piece,
    u64,
)
from cython.cimports.libc.string import memcpy, memset

STARTING_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PIECE_LETTERS = "PpNnBbRrQqKk"  # indexed by piece
# Counters stop here, in a FEN as in a game, so that every position can be written and read again. They are stored in
# 16 bits, and a search still has room to count on.
MAX_COUNTER = 32767

_COLOUR_NAMES = ("White", "Black")


class FenError(ValueError):
    """The text is no FEN, or the position it describes cannot be played. The message says what is wrong."""


def square_name(square):
    return "abcdefgh"[square & 7] + "12345678"[square >> 3]


@cython.cfunc
@cython.exceptval(check=True)
def _place_pieces(text: str, position: cython.pointer(Position)) -> cython.void:
    ranks = text.split("/")
    if len(ranks) != 8:
        raise FenError(f"the board has {len(ranks)} ranks instead of 8: '{text}'")
    for row, rank in enumerate(ranks):
        file = 0
        previous_was_digit = False
        for letter in rank:
            if letter in "12345678":
                if previous_was_digit:
                    raise FenError(f"two digits in a row on rank {8 - row}: '{rank}'")
                file += ord(letter) - ord("0")
                previous_was_digit = True
            elif letter in PIECE_LETTERS:
                if file < 8:
                    put_piece(position, PIECE_LETTERS.index(letter), (7 - row) * 8 + file)
                file += 1
                previous_was_digit = False
            else:
                raise FenError(f"'{letter}' on rank {8 - row} is no piece")
        if file != 8:
            raise FenError(f"rank {8 - row} has {file} squares instead of 8: '{rank}'")


@cython.cfunc
@cython.exceptval(check=True)
def _check_material(position: cython.pointer(Position)) -> cython.void:
    colour: cython.int
    for colour in range(2):
        name = _COLOUR_NAMES[colour]
        kings: cython.int = popcount(pieces(position, colour, KING))
        if kings != 1:
            raise FenError(f"{name} has {kings} kings instead of one")
        if popcount(position.colours[colour]) > 16:
            raise FenError(f"{name} has too many pieces: {popcount(position.colours[colour])}, at most 16")
        if popcount(pieces(position, colour, PAWN)) > 8:
            raise FenError(f"{name} has too many pawns: {popcount(pieces(position, colour, PAWN))}, at most 8")
    if position.kinds[PAWN] & (RANK_1 | RANK_8):
        square = square_name(lsb(position.kinds[PAWN] & (RANK_1 | RANK_8)))
        raise FenError(f"a pawn stands on {square}, where it would have promoted")


@cython.cfunc
@cython.exceptval(check=True)
def _set_castling(text: str, position: cython.pointer(Position)) -> cython.void:
    """K, Q, k, q mean the outermost rook of that wing (X-FEN); a letter A to H names the rook's file (Shredder-FEN)."""
    if text == "-":
        return
    for letter in text:
        colour: cython.int = WHITE if letter.isupper() else BLACK
        name = _COLOUR_NAMES[colour]
        king: cython.int = king_square(position, colour)
        home: u64 = RANK_1 if colour == WHITE else RANK_8
        wing: u64
        rook: cython.int
        if letter not in "KQkqABCDEFGHabcdefgh":
            raise FenError(f"'{letter}' in '{text}' is no castling right")
        if not has(home, king):
            raise FenError(f"castling right '{letter}', but {name}'s king stands on {square_name(king)}")
        rooks: u64 = pieces(position, colour, ROOK) & home
        if letter in "Kk":
            wing = rooks & ~(bit(king) - 1)
            rook = msb(wing) if wing else NO_SQUARE
        elif letter in "Qq":
            wing = rooks & (bit(king) - 1)
            rook = lsb(wing) if wing else NO_SQUARE
        else:
            rook = (king & 56) + "abcdefgh".index(letter.lower())
            if not has(rooks, rook):
                rook = NO_SQUARE
        if rook == NO_SQUARE:
            raise FenError(f"castling right '{letter}', but {name} has no rook there")
        position.castling_rooks |= bit(rook)
    for colour in range(2):
        king = king_square(position, colour)
        rooks = position.castling_rooks & position.colours[colour]
        if more_than_one(rooks & ~(bit(king) - 1)) or more_than_one(rooks & (bit(king) - 1)):
            raise FenError(f"'{text}' gives {_COLOUR_NAMES[colour]} two rooks to castle with on one wing")


@cython.cfunc
@cython.exceptval(check=True)
def _set_en_passant(text: str, position: cython.pointer(Position)) -> cython.void:
    """The square is kept in `passed_beside` until `complete` has looked whether anything can capture there."""
    if text == "-":
        return
    if len(text) != 2 or text[0] not in "abcdefgh" or text[1] not in "12345678":
        raise FenError(f"en-passant square '{text}' is no square")
    us: cython.int = position.turn
    target: cython.int = "abcdefgh".index(text[0]) + 8 * "12345678".index(text[1])
    if target >> 3 != (5 if us == WHITE else 2):
        raise FenError(f"en passant on {text} is impossible with {_COLOUR_NAMES[us]} to move")
    passed_pawn: cython.int = target ^ 8
    came_from: cython.int = target + 8 if us == WHITE else target - 8
    if position.squares[passed_pawn] != make_piece(us ^ 1, PAWN):
        raise FenError(f"en passant on {text} is impossible: no pawn has just passed there")
    if position.squares[target] != NO_PIECE or position.squares[came_from] != NO_PIECE:
        raise FenError(f"en passant on {text} is impossible: the pawn's way was not free")
    position.passed_beside = target


def _counter(text, name, least, most):
    if not text.isascii() or not text.isdigit() or len(text) > 6 or not least <= int(text) <= most:
        raise FenError(f"{name} '{text}' is not a number from {least} to {most}")
    return int(text)


def parse_fen(text, position, chess960):
    """Sets `position` from a FEN, or raises FenError and leaves it as it was.

    Fields missing at the end take their usual values: White to move, no rights, clock 0, move 1.
    """
    draft: Position
    fields = text.split()
    if not fields:
        raise FenError("the FEN is empty")
    if len(fields) > 6:
        raise FenError(f"the FEN has {len(fields)} fields instead of at most 6: '{fields[6]}' is too much")
    memset(cython.address(draft), 0, cython.sizeof(Position))
    memset(draft.squares, NO_PIECE, 64)
    draft.chess960 = chess960
    draft.passed_beside = NO_SQUARE
    draft.fullmove_number = 1

    _place_pieces(fields[0], cython.address(draft))
    _check_material(cython.address(draft))
    if len(fields) > 1:
        if fields[1] not in ("w", "b"):
            raise FenError(f"the side to move is 'w' or 'b', not '{fields[1]}'")
        draft.turn = BLACK if fields[1] == "b" else WHITE
    us: cython.int = draft.turn
    if is_attacked(
        cython.address(draft), king_square(cython.address(draft), us ^ 1), us, occupied(cython.address(draft))
    ):
        raise FenError(f"{_COLOUR_NAMES[us ^ 1]} is in check, but it is {_COLOUR_NAMES[us]}'s turn")
    if len(fields) > 2:
        _set_castling(fields[2], cython.address(draft))
    if len(fields) > 3:
        _set_en_passant(fields[3], cython.address(draft))
    if len(fields) > 4:
        draft.halfmove_clock = _counter(fields[4], "halfmove clock", 0, MAX_COUNTER)
    if len(fields) > 5:
        # Some programs count from 0; the game's first move is number 1 all the same.
        draft.fullmove_number = max(1, _counter(fields[5], "fullmove number", 0, MAX_COUNTER))
    complete(cython.address(draft))
    memcpy(position, cython.address(draft), cython.sizeof(Position))


@cython.cfunc
def _castling_text(position: cython.pointer(ConstPosition), shredder: cython.bint) -> str:
    text = ""
    colour: cython.int
    for colour in range(2):
        king: cython.int = king_square(position, colour)
        rooks: u64 = position.castling_rooks & position.colours[colour]
        home: u64 = pieces(position, colour, ROOK) & (RANK_1 if colour == WHITE else RANK_8)
        letters = ""
        while rooks:
            rook: cython.int = msb(rooks)
            rooks ^= bit(rook)
            if shredder:
                letter = "abcdefgh"[rook & 7]
            elif rook > king:
                letter = "k" if msb(home) == rook else "abcdefgh"[rook & 7]
            else:
                letter = "q" if lsb(home) == rook else "abcdefgh"[rook & 7]
            letters += letter
        text += letters.upper() if colour == WHITE else letters
    return text or "-"


def format_fen(position, shredder):
    """The FEN of a position; castling as X-FEN (KQkq where that is unambiguous) or Shredder-FEN."""
    rows = []
    for rank in range(7, -1, -1):
        row = ""
        empty = 0
        for file in range(8):
            piece: cython.int = position.squares[rank * 8 + file]
            if piece == NO_PIECE:
                empty += 1
                continue
            if empty:
                row += str(empty)
                empty = 0
            row += PIECE_LETTERS[piece]
        rows.append(row + (str(empty) if empty else ""))
    turn = "w" if position.turn == WHITE else "b"
    passed = "-" if position.en_passant == NO_SQUARE else square_name(position.en_passant)
    castling = _castling_text(position, shredder)
    return f"{'/'.join(rows)} {turn} {castling} {passed} {position.halfmove_clock} {position.fullmove_number}"

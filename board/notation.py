"""Moves as text: the coordinates of UCI (e2e4, e7e8q) and the standard algebraic notation of books (Nf3, exd8=Q+)."""

import re

import cython
from cython.cimports.board.legality import gives_check
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import (
    ConstPosition,
    Position,
    castling_king_target,
    make_move,
)
from cython.cimports.board.types import (
    MAX_MOVES,
    PAWN,
    Move,
    is_capture,
    is_castling,
    is_promotion,
    move_from,
    move_to,
    piece_kind,
    promotion_kind,
)

from board.fen import square_name

_KIND_LETTERS = "PNBRQK"
_UCI = re.compile(r"([a-h][1-8])([a-h][1-8])([nbrq]?)")
_SAN = re.compile(r"([NBRQK]?)([a-h]?)([1-8]?)[x:-]?([a-h][1-8])(?:=?\(?([NBRQnbrq])\)?)?")
_CASTLING = re.compile(r"[Oo0]-[Oo0](-[Oo0])?")
_ORNAMENTS = re.compile(r"(\s*e\.?p\.?)?[+#!?]*$")


class MoveError(ValueError):
    """The text is no move, or not one that can be played here. The message says which."""


def _square(name):
    return ord(name[0]) - ord("a") + 8 * (ord(name[1]) - ord("1"))


@cython.cfunc
@cython.exceptval(check=False)
def _castles_by_king_steps(position: cython.pointer(ConstPosition), move: Move) -> cython.bint:
    """Standard chess writes castling as two steps of the king (e1g1), unless the pieces stand as only Chess960 has them."""
    king: cython.int = move_from(move)
    rook: cython.int = move_to(move)
    return position.chess960 == 0 and king & 7 == 4 and (rook & 7 == 0 or rook & 7 == 7)


def uci_text(position, move):
    target: cython.int = move_to(move)
    if is_castling(move) and _castles_by_king_steps(position, move):
        target = castling_king_target(move_from(move), target)
    text = square_name(move_from(move)) + square_name(target)
    if is_promotion(move):
        text += _KIND_LETTERS[promotion_kind(move)].lower()
    return text


def parse_uci_text(position, text):
    """The legal move that a UCI text means. Both ways of writing castling are understood, whatever the mode."""
    match = _UCI.fullmatch(text.lower()) if text.isascii() else None
    if match is None:
        raise MoveError(f"'{text}' is no move in UCI notation")
    origin: cython.int = _square(match[1])
    target: cython.int = _square(match[2])
    promotion = match[3]
    moves: Move[MAX_MOVES]
    castling: Move = 0
    index: cython.int
    for index in range(generate(position, moves, ALL_MOVES)):
        move: Move = moves[index]
        if move_from(move) != origin:
            continue
        if is_promotion(move):
            if move_to(move) == target and _KIND_LETTERS[promotion_kind(move)].lower() == promotion:
                return move
        elif promotion:
            continue
        elif move_to(move) == target:
            return move
        elif is_castling(move) and castling_king_target(origin, move_to(move)) == target:
            castling = move
    # A plain king step goes first: in Chess960 f1g1 may be either.
    if castling:
        return castling
    raise MoveError(f"'{text}' is not a legal move here")


@cython.cfunc
def _disambiguation(position: cython.pointer(ConstPosition), move: Move) -> str:
    """As much of the origin as tells the piece from others of its kind that could go there too: file, rank or both."""
    origin: cython.int = move_from(move)
    moves: Move[MAX_MOVES]
    index: cython.int
    rivals = []
    for index in range(generate(position, moves, ALL_MOVES)):
        other: cython.int = move_from(moves[index])
        if (
            other != origin
            and move_to(moves[index]) == move_to(move)
            and position.squares[other] == position.squares[origin]
            and not is_castling(moves[index])
        ):
            rivals.append(other)
    name = square_name(origin)
    if not rivals:
        return ""
    if all(rival & 7 != origin & 7 for rival in rivals):
        return name[0]
    if all(rival >> 3 != origin >> 3 for rival in rivals):
        return name[1]
    return name


def san_text(position, move):
    """The algebraic notation of a legal move, with + or #."""
    kind: cython.int = piece_kind(position.squares[move_from(move)])
    after: Position
    replies: Move[MAX_MOVES]
    if is_castling(move):
        text = "O-O" if move_to(move) > move_from(move) else "O-O-O"
    else:
        text = ""
        if kind != PAWN:
            text = _KIND_LETTERS[kind] + _disambiguation(position, move)
        elif is_capture(move):
            text = square_name(move_from(move))[0]
        text += ("x" if is_capture(move) else "") + square_name(move_to(move))
        if is_promotion(move):
            text += "=" + _KIND_LETTERS[promotion_kind(move)]
    if gives_check(position, move):
        make_move(position, cython.address(after), move)
        text += "#" if generate(cython.address(after), replies, ALL_MOVES) == 0 else "+"
    return text


def parse_san_text(position, text):
    """The legal move that a text in algebraic notation means; also long forms (Ng1-f3) and O-O written with zeros."""
    plain = _ORNAMENTS.sub("", text.strip())
    moves: Move[MAX_MOVES]
    count: cython.int = generate(position, moves, ALL_MOVES)
    index: cython.int
    wing = _CASTLING.fullmatch(plain)
    match = None
    if wing is None:
        match = _SAN.fullmatch(plain)
        if match is None:
            raise MoveError(f"'{text}' is no move in algebraic notation")
    found = []
    for index in range(count):
        move: Move = moves[index]
        if wing is not None:
            if is_castling(move) and (move_to(move) < move_from(move)) == (wing[1] is not None):
                found.append(move)
            continue
        origin = square_name(move_from(move))
        kind: cython.int = piece_kind(position.squares[move_from(move)])
        promotion = _KIND_LETTERS[promotion_kind(move)] if is_promotion(move) else ""
        if (
            _KIND_LETTERS[kind] == (match[1] or "P")
            and origin[0] == (match[2] or origin[0])
            and origin[1] == (match[3] or origin[1])
            and square_name(move_to(move)) == match[4]
            and promotion == (match[5] or "").upper()
            and not is_castling(move)
        ):
            found.append(move)
    if not found:
        raise MoveError(f"'{text}' is not a legal move here")
    if len(found) > 1:
        raise MoveError(f"'{text}' can mean {' or '.join(uci_text(position, each) for each in found)}")
    return found[0]

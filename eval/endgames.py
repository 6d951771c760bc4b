"""Endgame knowledge that no sum of features expresses.

A known ending has its own score, which rises on the way to mate, so that a search that sees no mate yet still makes
progress. Other endings keep their score but scaled down where the material is known to draw often.
The numbers are hand-written; the facts are those of any endgame primer.
"""

import cython
from cython.cimports.board.bits import FILE_A, FILE_H, LIGHT_SQUARES, has, lsb, more_than_one, popcount
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import ConstPosition, is_insufficient_material, king_square, pieces
from cython.cimports.board.types import (
    BISHOP,
    BLACK,
    KNIGHT,
    MAX_MOVES,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
    Move,
    file_of,
    relative_rank,
    u64,
)
from cython.cimports.eval.geometry import distance, eccentricity
from cython.cimports.eval.kpk import kpk_is_won

# Textbook values serve to compare armies; they need not be the tuned ones.
_PIECE_WORTH = cython.declare(cython.int[6], [100, 320, 330, 500, 900, 0])

_WIN = cython.declare(cython.int, 4000)  # a known win, before what is left to do is counted
_PAWN_WIN = cython.declare(cython.int, 2000)  # a won pawn ending: less than the queen it will become


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _material(position: cython.pointer(ConstPosition), colour: cython.int, first: cython.int) -> cython.int:
    """Worth of a colour's pieces from one kind on."""
    worth: cython.int = 0
    kind: cython.int
    for kind in range(first, QUEEN + 1):
        worth += _PIECE_WORTH[kind] * popcount(pieces(position, colour, kind))
    return worth


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _drive(strong_king: cython.int, weak_king: cython.int) -> cython.int:
    """Rises as the weak king goes to the edge and the strong one comes near: 0 to 330."""
    return 30 * eccentricity(weak_king) + 25 * (7 - distance(strong_king, weak_king))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _against_lone_king(position: cython.pointer(ConstPosition), strong: cython.int) -> cython.int:
    """The strong side's score when it has mating material, 0 for a draw, -1 when this is no known ending."""
    moves: Move[MAX_MOVES]
    weak: cython.int = strong ^ 1
    strong_king: cython.int = king_square(position, strong)
    weak_king: cython.int = king_square(position, weak)
    pawns: u64 = position.kinds[PAWN]
    knights: u64 = position.kinds[KNIGHT]
    bishops: u64 = position.kinds[BISHOP]
    majors: u64 = position.kinds[ROOK] | position.kinds[QUEEN]
    flip: cython.int = 56 if strong == BLACK else 0
    score: cython.int
    corner: cython.int
    if is_insufficient_material(position):
        return 0
    if pawns and (knights | bishops | majors) == 0 and not more_than_one(pawns):
        pawn: cython.int = lsb(pawns)
        if not kpk_is_won(strong_king ^ flip, weak_king ^ flip, pawn ^ flip, position.turn == strong):
            return 0
        return _PAWN_WIN + 60 * relative_rank(strong, pawn) - 5 * distance(strong_king, pawn)
    if pawns and majors == 0:
        return -1  # promoting comes before mating
    if majors == 0 and bishops == 0 and popcount(knights) < 3:
        return 0  # two knights cannot force mate
    if position.turn == weak and position.checkers == 0 and generate(position, moves, ALL_MOVES) == 0:
        return 0
    score = _material(position, strong, PAWN)
    score = _WIN + (score if score < 4000 else 4000)
    if pawns == 0 and majors == 0 and not more_than_one(bishops) and not more_than_one(knights):
        # Bishop and knight: only the corners of the bishop's colour will do. Nearness to one of them, 0 to 7.
        light: cython.bint = (bishops & LIGHT_SQUARES) != 0
        corner = distance(weak_king, 7 if light else 0)
        other: cython.int = distance(weak_king, 56 if light else 63)
        corner = other if other < corner else corner
        return score + 60 * (7 - corner) + 10 * eccentricity(weak_king) + 20 * (7 - distance(strong_king, weak_king))
    return score + _drive(strong_king, weak_king)


def is_known_ending(position, score):
    """Is this an ending with a score of its own? Then it is written to `score`, as White sees it."""
    strong: cython.int
    worth: cython.int
    for strong in range(2):
        if not more_than_one(position.colours[strong ^ 1]):
            worth = _against_lone_king(position, strong)
            score[0] = worth if strong == WHITE else -worth
            return worth >= 0
        # Queen against rook: won, but only by driving the king to the edge until the rook is lost.
        if (
            popcount(position.colours[strong]) == 2
            and popcount(position.colours[strong ^ 1]) == 2
            and pieces(position, strong, QUEEN)
            and pieces(position, strong ^ 1, ROOK)
        ):
            worth = 700 + _drive(king_square(position, strong), king_square(position, strong ^ 1))
            score[0] = worth if strong == WHITE else -worth
            return True
    return False


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_wrong_corner(position: cython.pointer(ConstPosition), strong: cython.int) -> cython.bint:
    """Only rook pawns of one file, with bishops at most that do not rule the corner where the defending king waits."""
    own: u64 = position.colours[strong]
    pawns: u64 = own & position.kinds[PAWN]
    bishops: u64 = own & position.kinds[BISHOP]
    if own & (position.kinds[KNIGHT] | position.kinds[ROOK] | position.kinds[QUEEN]) or pawns == 0:
        return False
    if position.kinds[PAWN] != pawns or (pawns & ~FILE_A != 0 and pawns & ~FILE_H != 0):
        return False
    corner: cython.int = file_of(lsb(pawns)) + (56 if strong == WHITE else 0)
    if bishops & (LIGHT_SQUARES if has(LIGHT_SQUARES, corner) else ~LIGHT_SQUARES):
        return False
    return distance(king_square(position, strong ^ 1), corner) <= 1


def scale_factor(position, strong):
    """How much of the strong side's advantage counts, of 64."""
    weak: cython.int = strong ^ 1
    own_pawns: cython.int = popcount(pieces(position, strong, PAWN))
    if own_pawns > 4 and popcount(position.kinds[BISHOP]) != 2:
        return 64
    own: cython.int = _material(position, strong, KNIGHT)
    enemy: cython.int = _material(position, weak, KNIGHT)
    if own_pawns == 0:
        if own - enemy <= _PIECE_WORTH[BISHOP]:
            # A lone minor piece cannot win, and a minor piece more seldom does.
            return 0 if own < _PIECE_WORTH[ROOK] else 8
        if own == 2 * _PIECE_WORTH[KNIGHT] and popcount(pieces(position, strong, KNIGHT)) == 2:
            return 4
        return 64
    if _is_wrong_corner(position, strong):
        return 0
    bishops: u64 = position.kinds[BISHOP]
    if (
        popcount(bishops) == 2
        and popcount(bishops & position.colours[strong]) == 1
        and popcount(bishops & LIGHT_SQUARES) == 1
    ):
        if own == _PIECE_WORTH[BISHOP] and enemy == _PIECE_WORTH[BISHOP]:
            return 20 + 4 * own_pawns
        return 48 + 2 * own_pawns
    if own - enemy <= _PIECE_WORTH[BISHOP]:
        # The defender may give a piece for the last pawns.
        return 40 + 6 * own_pawns if own_pawns < 4 else 64
    return 64

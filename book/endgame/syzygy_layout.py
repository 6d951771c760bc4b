"""The numbering of positions in Syzygy tables. docs/syzygy.md explains it with diagrams.

A header lists the pieces in an order that was chosen for good compression. They fall into groups: the leading group,
where the board's symmetries are used up, then runs of equal pieces. Each group's squares become a number, and the
groups' numbers are the digits of one mixed-radix number, the position's place in the table.

All tables here are computed from these rules:
- without pawns the board may be turned and mirrored (8 ways), so that the first piece stands in the triangle a1-d1-d4;
- with pawns only left and right are exchangeable, so that the leading pawn stands on the a- to d-file;
- k equal pieces on squares s1 < s2 < … are C(s1, 1) + C(s2, 2) + …, squares counted without those already taken.
"""

import cython
from cython.cimports.board.attacks import KING_ATTACKS
from cython.cimports.board.bits import has, popcount
from cython.cimports.board.position import pieces
from cython.cimports.board.types import BLACK, KING, PAWN, WHITE, u8, u64

from book.endgame.endings import men, normalised, split

_KIND_LETTERS = "PNBRQK"
# Where each part of the numbering of three leading pieces begins: all below the diagonal; first piece on it; two on it.
_FIRST_ON_DIAGONAL = cython.declare(cython.int, 6 * 63 * 62)
_TWO_ON_DIAGONAL = cython.declare(cython.int, 6 * 63 * 62 + 4 * 28 * 62)
_THREE_ON_DIAGONAL = cython.declare(cython.int, 6 * 63 * 62 + 4 * 28 * 62 + 4 * 7 * 28)


# Material


def material_key(position):
    """How many of each piece there are, four bits each; kings are not counted."""
    key: u64 = 0
    colour: cython.int
    kind: cython.int
    for colour in range(2):
        for kind in range(PAWN, KING):
            key = key << 4 | popcount(pieces(position, colour, kind))
    return key


def set_material(material, name):
    """Reads a name such as KQvKR. ValueError if it is none, if it is spelt otherwise, or with more than seven men."""
    colour: cython.int
    kind: cython.int
    if name != normalised(name) or not 3 <= men(name) <= MOST_MEN:
        raise ValueError(f"'{name}' is not the name of a table")
    material.men = men(name)
    material.has_unique = False
    material.key = 0
    material.mirrored_key = 0
    sides = split(name)
    for colour in range(2):
        for kind in range(6):
            material.counts[colour][kind] = sides[colour].count(_KIND_LETTERS[kind])
            if material.counts[colour][kind] == 1 and kind != KING:
                material.has_unique = True
    for colour in range(2):
        for kind in range(KING):
            material.key = material.key << 4 | material.counts[colour][kind]
            material.mirrored_key = material.mirrored_key << 4 | material.counts[colour ^ 1][kind]
    material.is_symmetric = material.key == material.mirrored_key
    white: cython.int = material.counts[WHITE][PAWN]
    black: cython.int = material.counts[BLACK][PAWN]
    material.lead_colour = WHITE if black == 0 or (white > 0 and black >= white) else BLACK
    material.lead_pawns = material.counts[material.lead_colour][PAWN]
    material.other_pawns = material.counts[material.lead_colour ^ 1][PAWN]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _has_same_men(
    material: cython.pointer(cython.const[Material]), codes: cython.pointer(cython.const[u8])
) -> cython.bint:
    """Does the list hold just this ending's pieces, equal ones side by side?"""
    counted: cython.int[16]
    index: cython.int
    code: cython.int
    for index in range(16):
        counted[index] = 0
    for index in range(material.men):
        code = codes[index]
        if counted[code] and codes[index - 1] != code:
            return False
        counted[code] += 1
    for code in range(16):
        wanted: cython.int = 0
        if 1 <= code & 7 <= 6:
            wanted = material.counts[code >> 3][(code & 7) - 1]
        if counted[code] != wanted:
            return False
    return True


# Setting a layout up


def set_layout(layout, material, codes, order, second_order, file):
    """The layout that a header describes, or False if it cannot be one of this ending.

    `order` is the leading group's place among the digits, `second_order` that of the other side's pawns.
    """
    index: cython.int
    place: cython.int
    lead: cython.int = material.lead_pawns
    if not _has_same_men(material, codes):
        return False
    layout.men = material.men
    layout.lead_pawns = lead
    layout.other_pawns = material.other_pawns
    layout.file = file
    if lead:
        # The leading side's pawns come first, then the other side's.
        if codes[0] != (PAWN + 1 | material.lead_colour << 3):
            return False
        if material.other_pawns and codes[lead] != (PAWN + 1 | (material.lead_colour ^ 1) << 3):
            return False
    else:
        lead = 3 if material.has_unique else 2
        for index in range(lead):
            if material.counts[codes[index] >> 3][(codes[index] & 7) - 1] != 1:
                return False
    for index in range(min(material.men, MOST_MEN)):  # the bound is for compilers, which cannot know it
        layout.pieces[index] = codes[index]

    layout.groups = 0
    layout.lengths[0] = lead
    index = lead
    while index < material.men:
        layout.groups += 1
        layout.lengths[layout.groups] = 1
        index += 1
        while index < material.men and codes[index] == codes[index - 1]:
            layout.lengths[layout.groups] += 1
            index += 1
    layout.groups += 1

    next_group: cython.int = 1
    free_squares: cython.int = 64 - layout.lengths[0]
    if material.other_pawns:
        next_group = 2
        free_squares -= layout.lengths[1]
    if not material.other_pawns:
        second_order = NO_ORDER
    if order == second_order or order >= layout.groups or (material.other_pawns and second_order >= layout.groups):
        return False
    layout.size = 1
    for place in range(layout.groups):
        group: cython.int
        if place == order:
            group = 0
            if material.lead_pawns:
                layout.sizes[0] = LEAD_PAWN_SIZE[lead][file]
            else:
                layout.sizes[0] = LEADS_OF_THREE if material.has_unique else LEADS_OF_KINGS
        elif place == second_order:
            group = 1
            layout.sizes[1] = BINOMIAL[material.other_pawns][48 - lead]
        else:
            group = next_group
            next_group += 1
            layout.sizes[group] = BINOMIAL[layout.lengths[group]][free_squares]
            free_squares -= layout.lengths[group]
        layout.factors[group] = layout.size
        layout.size *= layout.sizes[group]
    return True


# From squares to a number


def leading_file(squares, pawns):
    """Which of the four sub-tables: the file of the leading pawn, a and h together 0, d and e together 3."""
    index: cython.int
    best: cython.int = 0
    for index in range(1, pawns):
        if PAWN_ORDER[squares[index]] > PAWN_ORDER[squares[best]]:
            best = index
    file: cython.int = squares[best] & 7
    return file if file < 4 else 7 - file


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _above_diagonal(square: cython.int) -> cython.int:
    """How far above the diagonal a1-h8; below zero for squares below."""
    return (square >> 3) - (square & 7)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mirror(squares: cython.pointer(u8), count: cython.int, mask: cython.int) -> cython.void:
    index: cython.int
    for index in range(count):
        squares[index] ^= mask


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _lead_of_three(a: cython.int, b: cython.int, c: cython.int) -> cython.int:
    """The number of three different pieces: the first in the triangle, the first one off the diagonal below it."""
    b_after: cython.int = b > a  # squares that are taken do not count
    c_after: cython.int = (c > a) + (c > b)
    if _above_diagonal(a):
        return TRIANGLE[a] * 63 * 62 + (b - b_after) * 62 + c - c_after
    if _above_diagonal(b):
        return _FIRST_ON_DIAGONAL + (a >> 3) * 28 * 62 + LOWER[b] * 62 + c - c_after
    if _above_diagonal(c):
        return _TWO_ON_DIAGONAL + (a >> 3) * 7 * 28 + ((b >> 3) - b_after) * 28 + LOWER[c]
    return _THREE_ON_DIAGONAL + (a >> 3) * 7 * 6 + ((b >> 3) - b_after) * 6 + (c >> 3) - c_after


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _lead_of_pieces(layout: cython.pointer(cython.const[Layout]), squares: cython.pointer(u8)) -> cython.int:
    """Turns the board so that the first piece stands in the triangle, and numbers the leading group."""
    index: cython.int
    if squares[0] & 4:
        _mirror(squares, layout.men, 7)
    if squares[0] & 32:
        _mirror(squares, layout.men, 56)
    for index in range(layout.lengths[0]):
        if _above_diagonal(squares[index]) == 0:
            continue
        if _above_diagonal(squares[index]) > 0:
            while index < layout.men:
                squares[index] = (squares[index] & 7) << 3 | squares[index] >> 3
                index += 1
        break
    if layout.lengths[0] == 3:
        return _lead_of_three(squares[0], squares[1], squares[2])
    return KINGS[TRIANGLE[squares[0]]][squares[1]]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _lead_of_pawns(layout: cython.pointer(cython.const[Layout]), squares: cython.pointer(u8)) -> cython.int:
    """Turns the board so that the leading pawn stands on the left, and numbers the leading side's pawns."""
    index: cython.int
    place: cython.int
    held: cython.int
    for index in range(1, layout.lead_pawns):
        if PAWN_ORDER[squares[index]] > PAWN_ORDER[squares[0]]:
            held = squares[0]
            squares[0] = squares[index]
            squares[index] = held
    if squares[0] & 4:
        _mirror(squares, layout.men, 7)
    number: cython.int = LEAD_PAWN_INDEX[layout.lead_pawns][squares[0]]
    for index in range(2, layout.lead_pawns):
        held = squares[index]
        place = index
        while place > 1 and PAWN_ORDER[squares[place - 1]] > PAWN_ORDER[held]:
            squares[place] = squares[place - 1]
            place -= 1
        squares[place] = held
    for index in range(1, layout.lead_pawns):
        number += cython.cast(cython.int, BINOMIAL[index][PAWN_ORDER[squares[index]]])
    return number


def index_of(layout, squares):
    """A position's place in the table. `squares` holds the square of each of `layout.pieces`, and is turned and sorted.

    The first-named side is White: who probes a position the other way round turns the ranks (`square ^ 56`) before. With
    pawns the layout must be that of the leading pawn's file. Kings side by side have no place: the result is then not
    smaller than the table.
    """
    group: cython.int
    index: cython.int
    place: cython.int
    held: cython.int
    lead: cython.int
    if layout.lead_pawns:
        lead = _lead_of_pawns(layout, squares)
    else:
        lead = _lead_of_pieces(layout, squares)
    if lead < 0:
        return layout.size
    number: u64 = lead * layout.factors[0]
    first: cython.int = layout.lengths[0]
    for group in range(1, layout.groups):
        length: cython.int = layout.lengths[group]
        for index in range(first + 1, first + length):
            held = squares[index]
            place = index
            while place > first and squares[place - 1] > held:
                squares[place] = squares[place - 1]
                place -= 1
            squares[place] = held
        digit: u64 = 0
        below: cython.int = 8 if group == 1 and layout.other_pawns else 0  # no pawn stands on the first rank
        for index in range(length):
            square: cython.int = squares[first + index]
            taken: cython.int = below
            for place in range(first):
                taken += squares[place] < square
            digit += BINOMIAL[index + 1][square - taken]
        number += digit * layout.factors[group]
        first += length
    return number


# From a number to squares


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _largest(chosen: cython.int, digit: u64) -> cython.int:
    """The largest n such that C(n, chosen) is not above the digit: one step of reading a combinatorial number."""
    n: cython.int = chosen - 1
    while n < 64 and BINOMIAL[chosen][n + 1] <= digit:
        n += 1
    return n


def squares_of(layout, index, squares):
    """The way back: the squares, in the order of `layout.pieces`, of the position at a place in the table.

    Leading pieces come out where `index_of` turns them to. Not every number is a legal position: kings may touch.
    """
    group: cython.int
    place: cython.int
    other: cython.int
    n: cython.int
    lead: cython.int = cython.cast(cython.int, index // layout.factors[0] % layout.sizes[0])
    first: cython.int = layout.lengths[0]
    if layout.lead_pawns:
        n = 8 + layout.file
        while n + 8 < 56 and LEAD_PAWN_INDEX[layout.lead_pawns][n + 8] <= lead:
            n += 8
        squares[0] = n
        lead -= LEAD_PAWN_INDEX[layout.lead_pawns][n]
        for place in range(layout.lead_pawns - 1, 0, -1):
            n = _largest(place, lead)
            lead -= cython.cast(cython.int, BINOMIAL[place][n])
            squares[place] = PAWN_SQUARES[n]
    elif first == 3:
        for place in range(3):
            squares[place] = THREE_SQUARES[lead][place]
    else:
        for place in range(2):
            squares[place] = KINGS_SQUARES[lead][place]
    for group in range(1, layout.groups):
        digit: u64 = index // layout.factors[group] % layout.sizes[group]
        length: cython.int = layout.lengths[group]
        for place in range(length, 0, -1):
            n = _largest(place, digit)
            digit -= BINOMIAL[place][n]
            # The n-th square that no earlier group has taken.
            square: cython.int = 8 if group == 1 and layout.other_pawns else 0
            while True:
                is_free: cython.bint = True
                for other in range(first):
                    is_free = is_free and squares[other] != square
                if is_free:
                    if n == 0:
                        break
                    n -= 1
                square += 1
            squares[first + place - 1] = square
        first += length


# The tables


def _fill_binomials():
    k: cython.int
    n: cython.int
    for n in range(65):
        BINOMIAL[0][n] = 1
        for k in range(1, 8):
            BINOMIAL[k][n] = BINOMIAL[k - 1][n - 1] + BINOMIAL[k][n - 1] if n else 0


def _fill_triangles():
    square: cython.int
    lower: cython.int = 0
    triangle: cython.int = 0
    for square in range(64):
        TRIANGLE[square] = -1
        if _above_diagonal(square) == 0:
            LOWER[square] = 28 + (square >> 3)
            if square & 7 < 4:
                TRIANGLE[square] = 6 + (square >> 3)
        elif _above_diagonal(square) < 0:
            LOWER[square] = lower
            LOWER[(square & 7) << 3 | square >> 3] = lower
            lower += 1
            if square & 7 < 4:
                TRIANGLE[square] = triangle
                triangle += 1


def _fill_kings():
    """Kings that stand apart, the first in the triangle. Pairs with both on the diagonal come last."""
    first: cython.int
    second: cython.int
    row: cython.int
    number: cython.int = 0
    late: cython.int
    for row in range(10):
        for second in range(64):
            KINGS[row][second] = -1
    for late in range(2):
        for row in range(10):
            for first in range(64):
                if TRIANGLE[first] != row:
                    continue
                for second in range(64):
                    if first == second or has(KING_ATTACKS[first], second):
                        continue
                    both: cython.bint = _above_diagonal(first) == 0 and _above_diagonal(second) == 0
                    if both != late or (_above_diagonal(first) == 0 and _above_diagonal(second) > 0):
                        continue
                    KINGS[row][second] = number
                    KINGS_SQUARES[number][0] = first
                    KINGS_SQUARES[number][1] = second
                    number += 1


def _fill_threes():
    a: cython.int
    b: cython.int
    c: cython.int
    for a in range(64):
        if TRIANGLE[a] < 0:
            continue
        for b in range(64):
            if b == a or (_above_diagonal(a) == 0 and _above_diagonal(b) > 0):
                continue
            for c in range(64):
                if c in (a, b):
                    continue
                if _above_diagonal(a) == 0 and _above_diagonal(b) == 0 and _above_diagonal(c) > 0:
                    continue
                number: cython.int = _lead_of_three(a, b, c)
                THREE_SQUARES[number][0] = a
                THREE_SQUARES[number][1] = b
                THREE_SQUARES[number][2] = c


def _fill_pawns():
    """Pawns near the edge lead, and on one file those nearer home."""
    file: cython.int
    square: cython.int
    count: cython.int
    order: cython.int = 47
    for file in range(4):
        for square in range(8 + file, 56, 8):
            PAWN_ORDER[square] = order
            PAWN_ORDER[square ^ 7] = order - 1
            PAWN_SQUARES[order] = square
            PAWN_SQUARES[order - 1] = square ^ 7
            order -= 2
    for count in range(1, 6):
        for file in range(4):
            number: cython.int = 0
            for square in range(8 + file, 56, 8):
                LEAD_PAWN_INDEX[count][square] = number
                number += cython.cast(cython.int, BINOMIAL[count - 1][PAWN_ORDER[square]])
            LEAD_PAWN_SIZE[count][file] = number


_fill_binomials()
_fill_triangles()
_fill_kings()
_fill_threes()
_fill_pawns()


# For Python


@cython.final
@cython.cclass
class Numbering:
    """A layout as Python sees it: `place(squares)` and the way back, `squares(place)`."""

    def __init__(self, name: str, codes: bytes, order: int = 0, second_order: int = NO_ORDER, file: int = 0):
        set_material(cython.address(self.material), name)
        given: cython.p_const_uchar = codes
        if (
            len(codes) != self.material.men
            or max(codes) > 15
            or not 0 <= order <= NO_ORDER
            or not 0 <= second_order <= NO_ORDER
            or not 0 <= file <= 3
            or not set_layout(
                cython.address(self.layout), cython.address(self.material), given, order, second_order, file
            )
        ):
            raise ValueError(f"these are not the pieces of {name}, or not in a possible order")

    @property
    def size(self) -> int:
        return self.layout.size

    def place(self, squares) -> int:
        buffer: u8[8]
        index: cython.int
        if len(squares) != self.layout.men or not all(0 <= square < 64 for square in squares):
            raise ValueError(f"{self.layout.men} squares are wanted")
        for index in range(self.layout.men):
            buffer[index] = squares[index]
        return index_of(cython.address(self.layout), buffer)

    def squares(self, place: int) -> list:
        buffer: u8[8]
        if not 0 <= place < self.size:
            raise ValueError(f"the table has {self.size} places")
        squares_of(cython.address(self.layout), place, buffer)
        return [buffer[index] for index in range(self.layout.men)]

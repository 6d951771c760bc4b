"""The index of a position in retrograde analysis: squares as digits, so that a move costs one addition.

It is not the index of the table files (syzygy_layout.py), which has no gaps but takes longer to compute.
"""

import cython
from cython.cimports.board.attacks import KING_ATTACKS
from cython.cimports.board.bits import bit, has
from cython.cimports.board.types import WHITE, i32, u8, u64
from cython.cimports.libc.stdlib import calloc, free, malloc

from book.endgame.endings import STRENGTH, men, normalised, pawns, split

_KINDS = "PNBRQK"


def _fill_turns():
    """The eight ways to turn a board: bit 0 exchanges left and right, bit 1 up and down, bit 2 the two diagonally."""
    turn: cython.int
    square: cython.int
    for turn in range(8):
        for square in range(64):
            turned: cython.int = square ^ (7 if turn & 1 else 0) ^ (56 if turn & 2 else 0)
            TURN[turn][square] = (turned >> 3 | (turned & 7) << 3) if turn & 4 else turned


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_first_view(first: cython.int, second: cython.int) -> cython.bint:
    """The first king in the triangle a1-d1-d4, and if it is on the diagonal the second not above it."""
    file: cython.int = first & 7
    rank: cython.int = first >> 3
    return file < 4 and rank <= file and (rank < file or second >> 3 <= second & 7)


def _fill_king_pairs():
    first: cython.int
    second: cython.int
    turn: cython.int
    number: cython.int = 0
    for first in range(64):
        for second in range(64):
            KING_PAIR[first << 6 | second] = -1
            if first == second or has(KING_ATTACKS[first], second):
                continue
            if _is_first_view(first, second):
                KING_PAIR[first << 6 | second] = number
                PAIR_SQUARES[number][0] = first
                PAIR_SQUARES[number][1] = second
                PAIR_IS_DIAGONAL[number] = first >> 3 == first & 7 and second >> 3 == second & 7
                number += 1
    for first in range(64):
        for second in range(64):
            if first == second or has(KING_ATTACKS[first], second):
                continue
            for turn in range(8):
                if _is_first_view(TURN[turn][first], TURN[turn][second]):
                    KING_TURN[first << 6 | second] = turn
                    KING_PAIR[first << 6 | second] = KING_PAIR[TURN[turn][first] << 6 | TURN[turn][second]]
                    break


_fill_turns()
_fill_king_pairs()


def men_of(name):
    """The men in our order, as pairs of colour (0 White, the first-named side) and letter."""
    sides = split(name)
    kings = [(colour, "K") for colour in (0, 1)]
    pieces = [(colour, letter) for colour in (0, 1) for letter in sides[colour] if letter not in "KP"]
    return kings + pieces + [(colour, "P") for colour in (0, 1) for _ in range(sides[colour].count("P"))]


def name_of(men):
    """The file's name for these men, and whether colours have to change for it."""
    first, second = (
        "".join(sorted((letter for colour, letter in men if colour == side), key=STRENGTH.index)) for side in (0, 1)
    )
    name = normalised(f"{first}v{second}")
    return name, name != f"{first}v{second}"


def transitions(name):
    """Everything that a capture or promotion can do: (captured man or None, promoted man or None, new kind, men left)."""
    men = men_of(name)
    for captured in (None, *range(2, len(men))):
        for pawn in (None, *(man for man in range(len(men)) if men[man][1] == "P")):
            if captured is None and pawn is None:
                continue
            if (
                captured is not None
                and pawn is not None
                and (men[captured][0] == men[pawn][0] or men[captured][1] == "P")
            ):
                continue  # no pawn stands where another promotes
            for kind in "NBRQ" if pawn is not None else "N":
                left = list(men)
                if pawn is not None:
                    left[pawn] = (men[pawn][0], kind)
                if captured is not None:
                    left[captured] = None
                yield captured, pawn, kind, left


def successors(name):
    """The endings that captures and promotions lead to directly, bare kings left out."""
    found = {name_of([man for man in left if man is not None])[0] for *_, left in transitions(name)}
    return sorted(found - {"KvK"}, key=lambda ending: (men(ending), pawns(ending), ending))


def needed(names):
    """These endings and all that they can turn into, in an order in which each comes after what it leads to."""
    found = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += successors(name)
    return sorted(found, key=lambda ending: (men(ending), pawns(ending), ending))


@cython.cclass
class PositionIndex:
    """Index of the positions of one ending: from squares to a number and back."""

    def __cinit__(self, name: str, *_):
        if not 3 <= men(name) <= MOST_GENERATED or normalised(name) != name:
            raise ValueError(f"{name} is no ending of three to {MOST_GENERATED} men")
        self.name = name
        geometry: cython.pointer(Geometry) = cython.address(self.geometry)
        number: cython.int
        everybody = men_of(name)
        geometry.men = len(everybody)
        geometry.pawns = pawns(name)
        geometry.pieces = geometry.men - geometry.pawns
        for number in range(geometry.men):
            geometry.colours[number] = everybody[number][0]
            geometry.kinds[number] = _KINDS.index(everybody[number][1])
        if geometry.pawns:
            self._number_pawns()
            geometry.slice_size = cython.cast(cython.size_t, 1) << (6 * geometry.pieces)
        else:
            geometry.slices = 1
            geometry.slice_size = KING_PAIRS * (cython.cast(cython.size_t, 1) << (6 * (geometry.pieces - 2)))

    def _number_pawns(self):
        """One slice for every arrangement of the pawns, left and right exchanged counting as the same."""
        geometry: cython.pointer(Geometry) = cython.address(self.geometry)
        count: cython.int = geometry.pawns
        codes: cython.int = 1 << (6 * count)
        squares: cython.int[3]
        order: cython.int
        rest: cython.int
        which: cython.int
        code: cython.int
        same: cython.int
        mirror: cython.int
        index: cython.int
        geometry.slice_of = cython.cast(cython.pointer(i32), malloc(codes * cython.sizeof(i32)))
        geometry.slice_pawns = cython.cast(cython.pointer(u8), calloc(codes, 3))
        if geometry.slice_of == cython.NULL or geometry.slice_pawns == cython.NULL:
            raise MemoryError("no memory for the numbers of the pawns")
        for code in range(codes):
            geometry.slice_of[code] = -1
        white: cython.int = 0
        for index in range(count):
            white += geometry.colours[geometry.pieces + index] == WHITE
        for code in range(codes):
            possible: cython.bint = geometry.slice_of[code] < 0
            taken: u64 = 0
            for index in range(count):
                squares[index] = code >> (6 * (count - 1 - index)) & 63
                possible = possible and 8 <= squares[index] < 56 and not taken & bit(squares[index])
                taken |= bit(squares[index])
            if not possible:
                continue
            for index in range(count):
                geometry.slice_pawns[3 * geometry.slices + index] = squares[index]
            # The same pawns in any order, and seen in a mirror.
            for mirror in range(1, -1, -1):
                for order in range(27 if count == 3 else 4 if count == 2 else 1):
                    rest = order
                    same = 0
                    possible = True
                    taken = 0
                    for index in range(count):
                        which = rest % count
                        rest //= count
                        possible = possible and not taken & bit(which) and (which < white) == (index < white)
                        taken |= bit(which)
                        same = same << 6 | squares[which] ^ 7 * mirror
                    if possible:
                        geometry.slice_of[same] = geometry.slices << 1 | mirror
            geometry.slices += 1

    def __dealloc__(self):
        free(self.geometry.slice_of)
        free(self.geometry.slice_pawns)

    @property
    def size(self) -> int:
        """Indices for each side to move. Some belong to no possible position, some twice to the same."""
        return self.geometry.slices * self.geometry.slice_size

    @property
    def slices(self) -> int:
        return self.geometry.slices

    @property
    def slice_size(self) -> int:
        return self.geometry.slice_size

    def slice_pawns(self, number: cython.int) -> list:
        """The squares of a slice's pawns."""
        return [self.geometry.slice_pawns[3 * number + index] for index in range(self.geometry.pawns)]

    def levels(self) -> list:
        """The slices in lists that must be solved one after the other: the pawns nearest to promotion first.

        A pawn move leads to an earlier list, and slices of one list do not depend on each other.
        """
        number: cython.int
        index: cython.int
        levels: list = [[] for _ in range(6 * MOST_GENERATED)]
        for number in range(self.geometry.slices):
            steps: cython.int = 0
            for index in range(self.geometry.pawns):
                rank: cython.int = self.geometry.slice_pawns[3 * number + index] >> 3
                steps += 6 - rank if self.geometry.colours[self.geometry.pieces + index] == WHITE else rank - 1
            levels[steps].append(number)
        return [level for level in levels if level]

    def index_of(self, squares) -> int:
        buffer: u8[8]
        index: cython.int
        for index in range(self.geometry.men):
            buffer[index] = squares[index]
        return position_index(cython.address(self.geometry), buffer)

    def squares_of(self, at: cython.size_t) -> list:
        buffer: u8[8]
        squares_at(cython.address(self.geometry), at, buffer)
        return [buffer[index] for index in range(self.geometry.men)]


@cython.cclass
class Outcomes(PositionIndex):
    """Who wins, for every position of a solved ending: four bits for each side to move."""

    def __cinit__(self, name: str, *_):
        self.values = cython.cast(cython.pointer(u8), calloc(self.geometry.slices * self.geometry.slice_size, 1))
        if self.values == cython.NULL:
            raise MemoryError(f"no memory for {name}")

    def __dealloc__(self):
        free(self.values)

    def value(self, side: cython.int, squares) -> int:
        """-2 to 2 for the side to move, of a possible position."""
        return (self.values[self.index_of(squares)] >> (4 * side) & 15) - 2

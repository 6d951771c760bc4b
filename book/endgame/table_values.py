"""The values of a solved ending in the order of a table file.

Where probers never look, or accept several values, the one that compresses best is taken: such values are "don't care".
"""

import cython
from cython.cimports.board.attacks import KING_ATTACKS
from cython.cimports.board.bits import bit
from cython.cimports.board.types import u8, u16, u64
from cython.cimports.book.endgame.compression import Sequence
from cython.cimports.book.endgame.retrograde import Ending
from cython.cimports.book.endgame.retrograde_index import (
    CAPTURE_BITS,
    CAPTURE_SHIFT,
    FIFTY_MOVES,
    IMPOSSIBLE,
    IS_CURSED,
    PLIES,
    ZEROING_SHIFT,
    position_index,
    value_of,
)
from cython.cimports.book.endgame.syzygy_layout import (
    BINOMIAL,
    Material,
    leading_file,
    set_layout,
    set_material,
    squares_of,
)
from cython.cimports.libc.stdlib import free, malloc

from book.endgame.retrograde_index import men_of

_KINDS = " PNBRQK"


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _allowed(state: cython.int) -> cython.int:
    """The outcomes that may stand in the table, as bits 0 to 4.

    Probers try captures themselves and take the better of them and the table, so where a capture is as good as anything
    the table may say less.
    """
    if state == IMPOSSIBLE:
        return ANY_VALUE
    value: cython.int = value_of(state)
    if (state & CAPTURE_BITS) >> CAPTURE_SHIFT == value + 3:
        return (1 << (value + 3)) - 1
    return 1 << (value + 2)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _distance(state: cython.int, win_in_plies: cython.bint, loss_in_plies: cython.bint) -> cython.int:
    """Class (win, loss, cursed win, blessed loss) and number to store, or UNUSED.

    Nobody asks for the distance of a draw or of a win that a capture or pawn move brings at once.
    """
    value: cython.int = value_of(state)
    plies: cython.int = state & PLIES
    if state == IMPOSSIBLE or value == 0 or (value == 2 and plies == 0):
        return UNUSED
    if value == 1 and state >> ZEROING_SHIFT == IS_CURSED:
        return UNUSED
    if value == 2:
        return plies - 1 if win_in_plies else (plies - 1) // 2
    if value == -2:
        plies = plies - 1 if plies else 0  # mate counts as one ply
        return 1 << CLASS_SHIFT | (plies if loss_in_plies else plies // 2)
    return (2 if value == 1 else 3) << CLASS_SHIFT | (plies - FIFTY_MOVES - 1) // 2


@cython.cclass
class TableValues:
    """The values of one subtable (side to move and, with pawns, file of the leading pawn) in the order of a layout."""

    def __cinit__(
        self,
        ending: Ending,
        side: cython.int,
        codes: bytes,
        order: cython.int,
        second_order: cython.int,
        file: cython.int,
    ):
        material: Material
        group: cython.int
        place: cython.int
        other: cython.int
        index: cython.int
        self._ending = ending
        self.side = side
        set_material(cython.address(material), ending.name)
        given: cython.p_const_uchar = codes
        if len(codes) != material.men or not set_layout(
            cython.address(self.layout), cython.address(material), given, order, second_order, file
        ):
            raise ValueError(f"{ending.name} cannot be written in this order")
        left = list(men_of(ending.name))
        for index in range(material.men):
            man = left.index((codes[index] >> 3, _KINDS[codes[index] & 7]))
            left[man] = None
            self.men[index] = man
        index = 0
        for group in range(self.layout.groups):
            self.first[group] = index
            index += self.layout.lengths[group]
            place = 0
            for other in range(self.layout.groups):
                place += self.layout.factors[other] < self.layout.factors[group]
            self.places[place] = group
            self._fill_table(group)

    def _fill_table(self, group: cython.int):
        """What each number of the group means."""
        length: cython.int = self.layout.lengths[group]
        size: u64 = self.layout.sizes[group]
        squares: u8[8]
        number: u64
        rest: u64
        index: cython.int
        n: cython.int
        self.tables[group] = cython.cast(cython.pointer(u8), malloc(size * length))
        if self.tables[group] == cython.NULL:
            raise MemoryError("no memory for the numbers of a layout")
        for number in range(size):
            if group == 0:
                squares_of(cython.address(self.layout), number * self.layout.factors[0], squares)
                for index in range(length):
                    self.tables[0][number * length + index] = squares[index]
                continue
            rest = number
            for index in range(length, 0, -1):
                n = index - 1
                while BINOMIAL[index][n + 1] <= rest:
                    n += 1
                rest -= BINOMIAL[index][n]
                # The other side's pawns are counted from the second rank on.
                self.tables[group][number * length + index - 1] = n + 8 if group == 1 and self.layout.other_pawns else n

    def __dealloc__(self):
        group: cython.int
        for group in range(8):
            free(self.tables[group])

    def _seek(self, index):
        group: cython.int
        for group in range(self.layout.groups):
            self.digits[group] = index // self.layout.factors[group] % self.layout.sizes[group]

    def _advance(self):
        """On to the next number; returns the first group (in the order of pieces) that has changed."""
        place: cython.int
        group: cython.int
        changed: cython.int = 8
        for place in range(self.layout.groups):
            group = self.places[place]
            changed = group if group < changed else changed
            self.digits[group] += 1
            if self.digits[group] < self.layout.sizes[group]:
                break
            self.digits[group] = 0
        return changed

    def _squares(self, group, squares):
        """The squares of this group and all later ones, in the order of the layout."""
        taken: u8[8]
        count: cython.int = 0
        index: cython.int
        place: cython.int
        square: cython.int
        if group > 0:
            for index in range(self.first[group]):
                square = squares[index]
                place = count
                while place > 0 and taken[place - 1] > square:
                    taken[place] = taken[place - 1]
                    place -= 1
                taken[place] = square
                count += 1
        while group < self.layout.groups:
            length: cython.int = self.layout.lengths[group]
            first: cython.int = self.first[group]
            source: cython.pointer(u8) = cython.address(self.tables[group][self.digits[group] * length])
            for index in range(length):
                square = source[index]
                if group:
                    for place in range(count):
                        if taken[place] > square:
                            break
                        square += 1
                squares[first + index] = square
            for index in range(length):
                square = squares[first + index]
                place = count
                while place > 0 and taken[place - 1] > square:
                    taken[place] = taken[place - 1]
                    place -= 1
                taken[place] = square
                count += 1
            group += 1

    def _states(self, first, last, states):
        """What is known of a run of positions."""
        squares: u8[8]
        ours: u8[8]
        index: u64
        man: cython.int
        changed: cython.int = 0
        values: cython.pointer(u16) = self._ending.values[self.side]
        self._seek(first)
        for index in range(first, last):
            self._squares(changed, squares)
            for man in range(self.layout.men):
                ours[self.men[man]] = squares[man]
            if KING_ATTACKS[ours[0]] & bit(ours[1]):
                states[index - first] = IMPOSSIBLE
            else:
                states[index - first] = values[position_index(cython.address(self._ending.geometry), ours)]
            changed = self._advance()

    @property
    def size(self) -> int:
        return self.layout.size

    def squares(self, index: u64) -> list:
        """As the layout orders them; for tests."""
        squares: u8[8]
        self._seek(index)
        self._squares(0, squares)
        return [squares[man] for man in range(self.layout.men)]

    def outcomes(self, first: u64, last: u64) -> Sequence:
        """Values 0 to 4 with as few changes as possible, and never a wrong one where a prober looks."""
        found: Sequence = Sequence(last - first)
        with cython.nogil:
            self._states(first, last, found.values)
            _settle_outcomes(found.values, last - first)
        return found

    def distances(self, first: u64, last: u64, numbers: bytes, win_in_plies: cython.bint, loss_in_plies: cython.bint):
        """Distances as numbers of the maps: `numbers` is the map, 16 bits for each class and distance."""
        found: Sequence = Sequence(last - first)
        given: cython.pointer(cython.const[u16]) = cython.cast(
            cython.pointer(cython.const[u16]), cython.cast(cython.p_const_uchar, numbers)
        )
        at: u64
        size: u64 = last - first
        distance: cython.int
        with cython.nogil:
            self._states(first, last, found.values)
            for at in range(size):
                distance = _distance(found.values[at], win_in_plies, loss_in_plies)
                found.values[at] = UNUSED if distance == UNUSED else given[distance]
            _settle_distances(found.values, size)
        return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _settle_outcomes(values: cython.pointer(u16), size: u64) -> cython.void:
    """Turns states into outcomes. A run goes on as long as one outcome is allowed everywhere in it."""
    at: u64
    begin: u64 = 0
    outcome: cython.int
    common: cython.int = ANY_VALUE
    for at in range(size + 1):
        allowed: cython.int = _allowed(values[at]) if at < size else 0
        if common & allowed:
            common &= allowed
            continue
        # Of several the highest: where captures leave a choice, the others near by are mostly won.
        outcome = 4
        while not common >> outcome & 1:
            outcome -= 1
        while begin < at:
            values[begin] = outcome
            begin += 1
        common = allowed


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _settle_distances(values: cython.pointer(u16), size: u64) -> cython.void:
    """Where nobody asks, the number before goes on; at the very beginning, the first one that somebody asks for."""
    at: u64
    last: cython.int = 0
    for at in range(size):
        if values[at] != UNUSED:
            last = values[at]
            break
    for at in range(size):
        if values[at] == UNUSED:
            values[at] = last
        last = values[at]


def changes(sequence: Sequence) -> int:
    """How often a value differs from the one before: a guess at the size after compression."""
    at: cython.size_t
    count: cython.size_t = 0
    for at in range(1, sequence.size):
        count += sequence.values[at] != sequence.values[at - 1]
    return count


def histogram(ending: Ending, side: cython.int, file: cython.int) -> list:
    """Positions of each state (plies, won, lost) of the slices of one file; a list of 2048 numbers.

    Wins that captures or pawn moves bring at once are not counted, nor cursed ones: their distances are never asked for.
    """
    counts: list = [0] * 2048
    number: cython.int
    at: cython.size_t
    state: cython.int
    counted: u64[2048]
    for number in range(2048):
        counted[number] = 0
    for number in range(ending.geometry.slices):
        if ending.geometry.pawns and _file_of(ending, number) != file:
            continue
        with cython.nogil:
            for at in range(number * ending.geometry.slice_size, (number + 1) * ending.geometry.slice_size):
                state = ending.values[side][at]
                if _distance(state, True, True) != UNUSED:
                    counted[state & 2047] += 1
    for number in range(2048):
        counts[number] = counted[number]
    return counts


@cython.cfunc
def _file_of(ending: Ending, number: cython.int) -> cython.int:
    """The file of the leading pawn of a slice, 0 to 3."""
    material: Material
    squares: u8[3]
    count: cython.int = 0
    index: cython.int
    set_material(cython.address(material), ending.name)
    for index in range(ending.geometry.pawns):
        if ending.geometry.colours[ending.geometry.pieces + index] == material.lead_colour:
            squares[count] = ending.geometry.slice_pawns[3 * number + index]
            count += 1
    return leading_file(squares, count)

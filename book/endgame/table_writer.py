"""Writes a solved ending as a pair of table files, `.rtbw` (who wins) and `.rtbz` (how far to the next zeroing move)."""

import hashlib
import itertools
import struct
from typing import NamedTuple

from book.endgame.compression import LEAF, Grammar, code_lengths
from book.endgame.endings import split
from book.endgame.retrograde_index import men_of
from book.endgame.syzygy_layout import Numbering
from book.endgame.table_values import TableValues, changes, histogram

WDL_MAGIC = bytes.fromhex("71E8235D")
DTZ_MAGIC = bytes.fromhex("D7660CA5")
# Flags of a table's head.
SINGLE_VALUE = 0x80
BLACK_STORED, MAPPED, WIN_IN_PLIES, LOSS_IN_PLIES, WIDE_MAP = 1, 2, 4, 8, 16

NO_ORDER = 15
SAMPLE_WINDOWS, SAMPLE_LENGTH = 48, 2048
# Outcomes are asked for in the search, so their blocks are small and quick to unpack; distances only at the root.
WDL_BLOCKS, DTZ_BLOCKS = range(5, 8), range(5, 11)
FIFTY_MOVES = 100
IS_WIN, IS_LOSS = 0x200, 0x400  # of a state, as in retrograde_index.pxd


class Order(NamedTuple):
    """How a table is laid out: the pieces, and the places of the leading group and of the other side's pawns."""

    codes: bytes
    first: int
    second: int = NO_ORDER


class Packed(NamedTuple):
    """A compressed table, in the parts that stand in different places of the file."""

    head: bytes
    index: bytes
    sizes: bytes
    data: bytes

    @property
    def size(self):
        return len(self.head) + len(self.index) + len(self.sizes) + -(-len(self.data) // 64) * 64


def _code(man):
    colour, letter = man
    return " PNBRQK".index(letter) | colour << 3


def orders(name):
    """All layouts that the format allows for an ending."""
    counts = {}
    for man in men_of(name):
        counts[_code(man)] = counts.get(_code(man), 0) + 1
    pawns = [code for code in (1, 9) if code in counts]
    pieces = [code for code in counts if code not in pawns]
    if pawns:
        white, black = (side.count("P") for side in split(name))
        lead = 1 if black == 0 or (white > 0 and black >= white) else 9
        pawns.sort(key=lambda code: code != lead)
        groups = len(pieces) + len(pawns)
        places = (
            [(a, b) for a in range(groups) for b in range(groups) if a != b]
            if len(pawns) == 2
            else [(a, NO_ORDER) for a in range(groups)]
        )
        for rest in itertools.permutations(pieces):
            codes = bytes(itertools.chain.from_iterable([code] * counts[code] for code in (*pawns, *rest)))
            yield from (Order(codes, a, b) for a, b in places)
        return
    unique = [code for code in pieces if counts[code] == 1]
    leads = itertools.permutations(unique, 3) if len(unique) > 2 else itertools.permutations(unique)
    for lead in leads:
        others = [code for code in pieces if code not in lead]
        for rest in itertools.permutations(others):
            codes = bytes(itertools.chain(lead, *([code] * counts[code] for code in rest)))
            yield from (Order(codes, place) for place in range(len(others) + 1))


def _windows(size):
    """Short stretches all over a table, or all of a small one."""
    if size <= SAMPLE_WINDOWS * SAMPLE_LENGTH:
        return [(0, size)]
    step = (size - SAMPLE_LENGTH) / (SAMPLE_WINDOWS - 1)
    return [(int(step * number), int(step * number) + SAMPLE_LENGTH) for number in range(SAMPLE_WINDOWS)]


def best_order(ending, side, file, read):
    """The layout in which neighbours differ least often, by sample; `read(values, first, last)` gives values."""

    def roughness(order):
        values = TableValues(ending, side, *order, file)
        return sum(changes(read(values, *window)) for window in _windows(values.size)), order

    return min(map(roughness, orders(ending.name)))[1]


def compress(sequence, flags, block_choices, check=None):
    """The best compression of one table that has more than one value."""
    positions = len(sequence)
    grammar = Grammar(sequence, check)
    lengths = code_lengths(grammar.frequencies())
    rules = grammar.rules()

    # Symbols are renumbered: longest code first, those without a code of their own last.
    used = sorted((number for number, length in enumerate(lengths) if length), key=lambda number: -lengths[number])
    unused = [number for number, length in enumerate(lengths) if not length]
    numbers = {old: new for new, old in enumerate(used + unused)}
    longest, shortest = lengths[used[0]], lengths[used[-1]]
    offsets = {length: sum(lengths[number] > length for number in used) for length in range(shortest, longest + 1)}
    bases = {longest: 0}
    for length in range(longest - 1, shortest - 1, -1):
        bases[length] = (bases[length + 1] + offsets[length] - offsets[length + 1]) // 2
    codes = [0] * len(rules)
    for number in used:
        length = lengths[number]
        codes[number] = bases[length] + numbers[number] - offsets[length]

    best = None
    for log in block_choices:
        blocks = grammar.blocks(lengths, 8 << log)
        span = _span(positions, blocks)
        size = -(-(blocks << log) // 64) * 64 + 2 * blocks + 6 * -(-positions >> span)
        if best is None or size < best[0]:
            best = size, log, blocks, span
    _, log, blocks, span = best
    data, sizes = grammar.pack(codes, lengths, 8 << log, blocks)
    index, extra = _index(positions, sizes, span)

    head = struct.pack("<BBBBIBB", flags, log, span, extra, blocks, longest, shortest)
    head += b"".join(struct.pack("<H", offsets[length]) for length in range(shortest, longest + 1))
    head += struct.pack("<H", len(rules))
    for old in used + unused:
        left, right = rules[old]
        if right != LEAF:
            left, right = numbers[left], numbers[right]
        head += bytes((left & 255, left >> 8 | (right & 15) << 4, right >> 4))
    head += b"\0" * (len(head) % 2)
    sizes = b"".join(struct.pack("<H", size - 1) for size in sizes + [65536] * extra)
    return Packed(head, index, sizes, data)


def _span(positions, blocks):
    """How many positions (as a power of two) share an entry of the index: about eight blocks of them."""
    return max(1, (8 * positions // blocks).bit_length())


def _index(positions, sizes, span):
    """For the middle of every span its block and the place in that block, and the number of blocks past the end."""
    entries = []
    block = start = extra = 0
    sizes = list(sizes)
    for middle in range((1 << span) // 2, -(-positions >> span << span), 1 << span):
        while middle >= start + sizes[block]:
            start += sizes[block]
            block += 1
            if block == len(sizes):
                sizes.append(65536)
                extra += 1
        entries.append(struct.pack("<IH", block, middle - start))
    return b"".join(entries), extra


def single(flags, value):
    """A table with one value everywhere."""
    return Packed(bytes((SINGLE_VALUE | flags, value)), b"", b"", b"")


def wdl_table(ending, side, file, check=None):
    """One side's outcomes: (order, packed)."""
    order = best_order(ending, side, file, TableValues.outcomes)
    values = TableValues(ending, side, *order, file)
    sequence = values.outcomes(0, values.size)
    if changes(sequence) == 0:
        return order, single(0, sequence[0])
    return order, compress(sequence, 0, WDL_BLOCKS, check)


class DistanceMap(NamedTuple):
    """How the distances of a table are numbered, and in which unit they are."""

    flags: int
    lists: tuple  # four lists: wins, losses, cursed wins, blessed losses; most frequent first
    numbers: bytes  # 16 bits for each class << 10 | distance

    @property
    def packed(self):
        if self.flags & WIDE_MAP:
            return b"".join(struct.pack(f"<{len(numbers) + 1}H", len(numbers), *numbers) for numbers in self.lists)
        return b"".join(bytes((len(numbers), *numbers)) for numbers in self.lists)


def distance_map(ending, side, file):
    """Counts the distances of a table. None if nobody will ever ask for one, or all are the shortest there is."""
    own, other = histogram(ending, side, file), histogram(ending, side ^ 1, file)
    # Half-moves matter only where the fifty-move rule is about to strike; else whole moves are stored.
    win_in_plies = own[IS_WIN | FIFTY_MOVES] or other[IS_LOSS | FIFTY_MOVES]
    loss_in_plies = own[IS_LOSS | FIFTY_MOVES] or other[IS_WIN | FIFTY_MOVES]
    counts = [{}, {}, {}, {}]
    for state, count in enumerate(own):
        plies = state & 0x1FF
        if not count:
            continue
        if state & IS_WIN:
            kind, number = (0, plies - 1 if win_in_plies else (plies - 1) // 2) if plies <= FIFTY_MOVES else (2, 0)
        else:
            kind, number = (1, max(0, plies - 1) // (1 if loss_in_plies else 2)) if plies <= FIFTY_MOVES else (3, 0)
        if plies > FIFTY_MOVES:
            number = (plies - FIFTY_MOVES - 1) // 2
        counts[kind][number] = counts[kind].get(number, 0) + count
    if all(set(found) <= {0} for found in counts):
        return None
    lists = tuple(sorted(found, key=lambda number: (-found[number], number)) for found in counts)
    flags = MAPPED | (WIN_IN_PLIES if win_in_plies else 0) | (LOSS_IN_PLIES if loss_in_plies else 0)
    if any(len(numbers) > 255 or max(numbers, default=0) > 255 for numbers in lists):
        flags |= WIDE_MAP
    numbers = [0] * 4096
    for kind, found in enumerate(lists):
        for index, number in enumerate(found):
            numbers[kind << 10 | number] = index
    return DistanceMap(flags, lists, struct.pack("<4096H", *numbers))


def dtz_table(ending, side, file, check=None):
    """One side's distances: (order, packed, map)."""
    found = distance_map(ending, side, file)
    if found is None:
        return next(orders(ending.name)), single(side, 0), None
    units = bool(found.flags & WIN_IN_PLIES), bool(found.flags & LOSS_IN_PLIES)

    def read(values, first, last):
        return values.distances(first, last, found.numbers, *units)

    order = best_order(ending, side, file, read)
    values = TableValues(ending, side, *order, file)
    return order, compress(read(values, 0, values.size), found.flags | side, DTZ_BLOCKS, check), found


def is_symmetric(name):
    first, second = split(name)
    return first == second


def _sides(name):
    return (0,) if is_symmetric(name) else (0, 1)


def parts(name):
    """The tables of an ending: (side to move, file of the leading pawn). DTZ files keep those of one side."""
    return [(side, file) for side in _sides(name) for file in (range(4) if "P" in name else range(1))]


def largest_table(name):
    """Positions in the largest of an ending's tables."""
    unsolved = next(orders(name))
    return max(Numbering(name, *unsolved, file).size for _, file in parts(name))


def _assemble(name, magic, split_flag, heads, tables, maps=()):
    """Puts the parts where readers look for them. `tables` come in the order of the heads."""
    both_have_pawns = all("P" in side for side in split(name))
    data = bytearray(magic)
    data.append(len(men_of(name)) << 4 | (2 if "P" in name else 0) | split_flag)
    for white, black in heads:
        data.append(white.first | black.first << 4)
        if both_have_pawns:
            data.append(white.second | black.second << 4)
        data += bytes(a | b << 4 for a, b in zip(white.codes, black.codes, strict=True))
    data += b"\0" * (len(data) % 2)
    for table in tables:
        data += table.head
    for found in maps:
        if found is not None:
            if found.flags & WIDE_MAP:
                data += b"\0" * (len(data) % 2)
            data += found.packed
    data += b"\0" * (len(data) % 2)
    for table in tables:
        data += table.index
    for table in tables:
        data += table.sizes
    for table in tables:
        data += b"\0" * (-len(data) % 64)
        data += table.data
    data += b"\0" * (-len(data) % 64)
    return bytes(data + hashlib.md5(data, usedforsecurity=False).digest())


def wdl_file(name, tables):
    """The bytes of the `.rtbw` file, from the result of `wdl_table` for each part."""
    sides = _sides(name)
    heads, packed = [], []
    for file in sorted({file for _, file in parts(name)}):
        found = [tables[side, file] for side in sides]
        heads.append((found[0][0], found[-1][0]))
        packed += [table for _, table in found]
    return _assemble(name, WDL_MAGIC, len(sides) - 1, heads, packed)


def dtz_file(name, tables):
    """The bytes of the `.rtbz` file, from the result of `dtz_table` for each part: the side that takes less room."""
    choices = []
    for side in _sides(name):
        found = [tables[part] for part in parts(name) if part[0] == side]
        heads = [(order, Order(bytes(len(order.codes)), 0, 0)) for order, _, _ in found]
        maps = [numbers for _, _, numbers in found]
        choices.append(_assemble(name, DTZ_MAGIC, len(_sides(name)) - 1, heads, [table for _, table, _ in found], maps))
    return min(choices, key=len)

# cython: overflowcheck=False
"""Reads one Syzygy file, .rtbw (win, draw, loss) or .rtbz (distance to zeroing). docs/syzygy.md draws the format.

The file is mapped into memory and read in place. Everything that later reads rely on is checked once when the file is
opened: the pieces, every offset and length, that symbols are trees. What can only be seen while decoding (a block
number, a code that stands for nothing) is checked there. So a damaged file can give wrong values, or say that it is
damaged, but nobody ever reads outside of it.
"""

import mmap
import os

import cython
from cython.cimports.board.types import i64, u8, u16, u64
from cython.cimports.book.endgame.syzygy_layout import NO_ORDER, set_ending, set_layout
from cython.cimports.cpython.buffer import PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cython.cimports.libc.stdlib import free, malloc

from book.endgame.endings import DTZ_SUFFIX, WDL_SUFFIX

MAGIC = {WDL_SUFFIX: b"\x71\xe8\x23\x5d", DTZ_SUFFIX: b"\xd7\x66\x0c\xa5"}
CHECKSUM_BYTES = 16  # at the end of every file


class TableError(ValueError):
    """Why a file cannot be used."""


# Decompression


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def decode(pairs: cython.pointer(cython.const[Pairs]), index: u64) -> cython.int:
    """The value at a place of the table, or DAMAGED.

    The index says which block holds the middle of the span; the lengths of the blocks lead on from there. Within the
    block, codes are skipped until the one whose symbol covers the place; its halves lead down to the value.
    """
    if pairs.flags & SINGLE_VALUE:
        return pairs.single
    if index >= pairs.layout.size:
        return DAMAGED
    entry: Bytes = pairs.index + 6 * (index >> pairs.span_bits)
    block: u64 = read32(entry)
    span: u64 = cython.cast(u64, 1) << pairs.span_bits
    offset: i64 = cython.cast(i64, read16(entry + 4) + (index & (span - 1))) - cython.cast(i64, span >> 1)
    if block >= pairs.length_count:
        return DAMAGED
    while offset < 0:
        if block == 0:
            return DAMAGED
        block -= 1
        offset += cython.cast(i64, read16(pairs.lengths + 2 * block)) + 1
    while offset > cython.cast(i64, read16(pairs.lengths + 2 * block)):
        offset -= cython.cast(i64, read16(pairs.lengths + 2 * block)) + 1
        block += 1
        if block >= pairs.length_count:
            return DAMAGED
    if block >= pairs.block_count:
        return DAMAGED

    # Codes: the next ones always stand at the top of `word`; `filled` of its bits are from the file.
    place: Bytes = pairs.data + (block << pairs.block_bits)
    word: u64 = cython.cast(u64, read_code32(place)) << 32 | read_code32(place + 4)
    filled: cython.int = 64
    length: cython.int
    symbol: u64
    place += 8
    while True:
        length = pairs.likely[word >> 56]
        while word < pairs.base[length]:
            length += 1
        symbol = pairs.lowest[length] + ((word - pairs.base[length]) >> (64 - length))
        if symbol >= cython.cast(u64, pairs.symbols):
            return DAMAGED
        if offset <= pairs.symbol_lengths[symbol]:
            break
        offset -= pairs.symbol_lengths[symbol] + 1
        word <<= length
        filled -= length
        if filled <= 32:
            if pairs.end - place >= 4:
                word |= cython.cast(u64, read_code32(place)) << (32 - filled)
            filled += 32
            place += 4

    node: cython.int = cython.cast(cython.int, symbol)
    while pairs.symbol_lengths[node]:
        half: cython.int = left_half(pairs, node)
        if offset <= pairs.symbol_lengths[half]:
            node = half
        else:
            offset -= pairs.symbol_lengths[half] + 1
            node = right_half(pairs, node)
    return left_half(pairs, node)


# Opening


@cython.final
@cython.cclass
class MappedTable:
    """An opened file. TableError says why one cannot be used, OSError why it cannot be read."""

    def __cinit__(self):
        self.has_buffer = False
        for file in range(4):
            for side in range(2):
                self.table.pairs[file][side].symbol_lengths = cython.NULL

    def __init__(self, path, contents=None):
        """Maps the file, or takes its bytes from `contents`."""
        self.path = path
        name, suffix = os.path.splitext(os.path.basename(path))
        if suffix not in MAGIC:
            raise TableError(f"the name does not end with {WDL_SUFFIX} or {DTZ_SUFFIX}")
        self.table.kind = WDL if suffix == WDL_SUFFIX else DTZ
        try:
            set_ending(cython.address(self.table.ending), name)
        except ValueError as error:
            raise TableError(str(error)) from None
        if contents is None:
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size == 0:
                    raise TableError("it is empty")
                contents = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.mapping = contents
        PyObject_GetBuffer(contents, cython.address(self.buffer), PyBUF_SIMPLE)
        self.has_buffer = True
        self.start = cython.cast(Bytes, self.buffer.buf)
        self.length = self.buffer.len
        if contents[:4] != MAGIC[suffix]:
            raise TableError("it does not begin as a table does")
        if self.length % 64 != CHECKSUM_BYTES or self.length < 64:
            raise TableError(f"{self.length} bytes are not the length of a table: it was cut off")
        cursor: u64 = 4
        self._read_header(cython.address(cursor))

    def __dealloc__(self):
        for file in range(4):
            for side in range(2):
                free(self.table.pairs[file][side].symbol_lengths)
        if self.has_buffer:
            PyBuffer_Release(cython.address(self.buffer))

    @cython.cfunc
    @cython.exceptval(check=True)
    def _take(self, cursor: cython.pointer(u64), size: u64) -> Bytes:
        """The next `size` bytes, if they are there; the checksum at the end is not."""
        begin: u64 = cursor[0]
        if size > self.length or begin + size + CHECKSUM_BYTES > self.length:
            raise TableError("it is shorter than its header says")
        cursor[0] = begin + size
        return self.start + begin

    @cython.cfunc
    @cython.exceptval(check=True)
    def _read_header(self, cursor: cython.pointer(u64)) -> cython.void:
        table: cython.pointer(TableFile) = cython.address(self.table)
        ending: cython.pointer(Ending) = cython.address(self.table.ending)
        file: cython.int
        side: cython.int
        index: cython.int
        codes: u8[8]
        flags: cython.int = self._take(cursor, 1)[0]
        has_pawns: cython.bint = ending.lead_pawns > 0
        if flags >> 4 not in (0, ending.men):
            raise TableError("its header is that of another number of men")
        if ((flags & 2) != 0) != has_pawns or ((flags & 1) != 0) == ending.is_symmetric:
            raise TableError("its header is that of another kind of ending")
        table.files = 4 if has_pawns else 1
        table.sides = 2 if table.kind == WDL and not ending.is_symmetric else 1
        for file in range(table.files):
            orders = self._take(cursor, 2 if ending.other_pawns else 1)
            order: cython.int = orders[0]
            second: cython.int = orders[1] if ending.other_pawns else NO_ORDER * 17
            listed = self._take(cursor, ending.men)
            for side in range(table.sides):
                for index in range(ending.men):
                    codes[index] = listed[index] >> 4 if side else listed[index] & 15
                if not set_layout(
                    cython.address(table.pairs[file][side].layout),
                    ending,
                    codes,
                    order >> 4 if side else order & 15,
                    second >> 4 if side else second & 15,
                    file,
                ):
                    raise TableError("its list of pieces is wrong")
        cursor[0] += cursor[0] & 1
        for file in range(table.files):
            for side in range(table.sides):
                self._read_pairs(cython.address(table.pairs[file][side]), cursor)
        if table.kind == DTZ:
            for file in range(table.files):
                self._read_maps(cython.address(table.pairs[file][0]), cursor)
            cursor[0] += cursor[0] & 1
        pairs: cython.pointer(Pairs)
        for file in range(table.files):
            for side in range(table.sides):
                pairs = cython.address(table.pairs[file][side])
                pairs.index = self._take(cursor, 6 * pairs.index_count)
        for file in range(table.files):
            for side in range(table.sides):
                pairs = cython.address(table.pairs[file][side])
                pairs.lengths = self._take(cursor, 2 * pairs.length_count)
        for file in range(table.files):
            for side in range(table.sides):
                pairs = cython.address(table.pairs[file][side])
                if pairs.block_count:
                    cursor[0] = (cursor[0] + 63) & ~cython.cast(u64, 63)
                pairs.data = self._take(cursor, pairs.block_count << pairs.block_bits)
                pairs.end = self.start + self.length
        if (cursor[0] + 63) // 64 * 64 + CHECKSUM_BYTES != self.length:
            raise TableError("it is longer than its header says")

    @cython.cfunc
    @cython.exceptval(check=True)
    def _read_pairs(self, pairs: cython.pointer(Pairs), cursor: cython.pointer(u64)) -> cython.void:
        """The header of a sub-table: sizes, the code, the symbols."""
        length: cython.int
        pairs.index_count = 0
        pairs.length_count = 0
        pairs.block_count = 0
        pairs.block_bits = 0
        pairs.flags = self._take(cursor, 1)[0]
        if pairs.flags & SINGLE_VALUE:
            pairs.single = self._take(cursor, 1)[0]
            if self.table.kind == DTZ:
                pairs.single = 0
            elif pairs.single > 4:
                raise TableError("its only value is none")
            return
        fixed = self._take(cursor, 9)
        pairs.block_bits = fixed[0]
        pairs.span_bits = fixed[1]
        pairs.block_count = read32(fixed + 3)
        pairs.length_count = pairs.block_count + fixed[2]
        pairs.longest = fixed[7]
        pairs.shortest = fixed[8]
        if not 3 <= pairs.block_bits <= 24 or not 1 <= pairs.span_bits <= 31 or pairs.block_count == 0:
            raise TableError("its blocks have impossible sizes")
        if not 1 <= pairs.shortest <= pairs.longest <= LONGEST_CODE:
            raise TableError("its codes have impossible lengths")
        span: u64 = cython.cast(u64, 1) << pairs.span_bits
        pairs.index_count = (pairs.layout.size + span - 1) >> pairs.span_bits
        lowest = self._take(cursor, 2 * (pairs.longest - pairs.shortest + 1))
        for length in range(pairs.shortest, pairs.longest + 1):
            pairs.lowest[length] = read16(lowest + 2 * (length - pairs.shortest))
        pairs.base[pairs.longest] = 0
        for length in range(pairs.longest - 1, pairs.shortest - 1, -1):
            pairs.base[length] = (pairs.base[length + 1] + pairs.lowest[length] - pairs.lowest[length + 1]) // 2
        for length in range(pairs.shortest, pairs.longest + 1):
            pairs.base[length] <<= 64 - length
        prefix: cython.int
        for prefix in range(256):
            length = pairs.shortest
            while (cython.cast(u64, prefix + 1) << 56) - 1 < pairs.base[length]:
                length += 1
            pairs.likely[prefix] = length
        pairs.symbols = read16(self._take(cursor, 2))
        if not 1 <= pairs.symbols <= MOST_SYMBOLS:
            raise TableError("it has an impossible number of symbols")
        pairs.tree = self._take(cursor, 3 * pairs.symbols)
        cursor[0] += pairs.symbols & 1
        self._measure_symbols(pairs)

    @cython.cfunc
    @cython.exceptval(check=True)
    def _measure_symbols(self, pairs: cython.pointer(Pairs)) -> cython.void:
        """How many positions each symbol stands for. Halves must exist, and no symbol may be a part of itself."""
        pairs.symbol_lengths = cython.cast(cython.pointer(u16), malloc(pairs.symbols * cython.sizeof(u16)))
        if pairs.symbol_lengths == cython.NULL:
            raise MemoryError("no memory for a table's symbols")
        marks: u8[MOST_SYMBOLS]  # 0 new, 1 begun, 2 measured
        path: u16[MOST_SYMBOLS]
        symbol: cython.int
        for symbol in range(pairs.symbols):
            marks[symbol] = 0
        for symbol in range(pairs.symbols):
            depth: cython.int = 0
            path[0] = symbol
            while depth >= 0:
                node: cython.int = path[depth]
                left: cython.int = left_half(pairs, node)
                right: cython.int = right_half(pairs, node)
                if marks[node] == 2:
                    depth -= 1
                    continue
                if right == 0xFFF:
                    pairs.symbol_lengths[node] = 0
                    marks[node] = 2
                    continue
                if left >= pairs.symbols or right >= pairs.symbols:
                    raise TableError("a symbol has halves that do not exist")
                marks[node] = 1
                waiting: cython.int = left if marks[left] != 2 else right
                if marks[waiting] == 2:
                    total: cython.int = pairs.symbol_lengths[left] + pairs.symbol_lengths[right] + 1
                    if total > 0xFFFF:
                        raise TableError("a symbol is longer than any block")
                    pairs.symbol_lengths[node] = total
                    marks[node] = 2
                elif marks[waiting] == 1:
                    raise TableError("a symbol is a part of itself")
                else:
                    depth += 1
                    path[depth] = waiting

    @cython.cfunc
    @cython.exceptval(check=True)
    def _read_maps(self, pairs: cython.pointer(Pairs), cursor: cython.pointer(u64)) -> cython.void:
        index: cython.int
        for index in range(4):
            pairs.map_counts[index] = 0
        if not pairs.flags & MAPPED:
            return
        wide: cython.int = 2 if pairs.flags & WIDE_MAP else 1
        if wide == 2:
            cursor[0] += cursor[0] & 1
        for index in range(4):
            count = self._take(cursor, wide)
            pairs.map_counts[index] = read16(count) if wide == 2 else count[0]
            pairs.maps[index] = self._take(cursor, wide * pairs.map_counts[index])

    # Looking through it

    @property
    def sub_tables(self) -> list:
        """The sub-tables as triples: file of the leading pawn, side to move, number of positions."""
        return [
            (file, side, self.table.pairs[file][side].layout.size)
            for file in range(self.table.files)
            for side in range(self.table.sides)
        ]

    def value(self, file: int, side: int, place: int) -> int | None:
        """What is stored for a place of a sub-table, before any map; None if it cannot be decoded."""
        if not (0 <= file < self.table.files and 0 <= side < self.table.sides and place >= 0):
            raise IndexError("there is no such sub-table")
        value: cython.int = decode(cython.address(self.table.pairs[file][side]), place)
        return None if value == DAMAGED else value

    def check(self):
        """Decodes every block; TableError at the first that does not fit its header."""
        for file in range(self.table.files):
            for side in range(self.table.sides):
                problem = self._check_pairs(cython.address(self.table.pairs[file][side]))
                if problem is not None:
                    raise TableError(problem)

    @cython.cfunc
    def _check_pairs(self, pairs: cython.pointer(Pairs)) -> object:
        if pairs.flags & SINGLE_VALUE:
            return None
        symbol: cython.int
        for symbol in range(pairs.symbols):
            if self.table.kind == WDL and pairs.symbol_lengths[symbol] == 0 and left_half(pairs, symbol) > 4:
                return f"symbol {symbol} has a value that is none"
        block: u64
        total: u64 = 0
        begins: u64
        span: u64 = 0
        middle: u64
        step: u64 = cython.cast(u64, 1) << pairs.span_bits
        for block in range(pairs.length_count):
            count: i64 = cython.cast(i64, read16(pairs.lengths + 2 * block)) + 1
            begins = total
            total += count
            # The index entries whose middles lie in this block.
            while span < pairs.index_count and span * step + (step >> 1) < total:
                middle = span * step + (step >> 1)
                entry = pairs.index + 6 * span
                if read32(entry) != block or read16(entry + 4) != middle - begins:
                    return f"the index does not lead to block {block}"
                span += 1
            if block < pairs.block_count and not _block_holds(pairs, block, count):
                return f"block {block} cannot be decoded"
            if block == pairs.block_count - 1 and total != pairs.layout.size:
                return f"its blocks hold {total} positions instead of {pairs.layout.size}"
        if span != pairs.index_count:
            return "the index leads nowhere"
        return None


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _block_holds(pairs: cython.pointer(cython.const[Pairs]), block: u64, count: i64) -> cython.bint:
    """Do so many positions come out of a block's own bytes? Its last symbol may stand for more: a short code is welcome."""
    place: Bytes = pairs.data + (block << pairs.block_bits)
    bits: i64 = cython.cast(i64, 8) << pairs.block_bits
    at: i64 = 0
    index: cython.int
    while count > 0:
        word: u64 = 0
        # Bit by bit: up to 39 bits are enough for a code of 32.
        for index in range(5):
            word <<= 8
            if (at >> 3) + index < (bits >> 3):
                word |= place[(at >> 3) + index]
        word <<= 24 + (at & 7)
        length: cython.int = pairs.likely[word >> 56]
        while word < pairs.base[length]:
            length += 1
        symbol: u64 = pairs.lowest[length] + ((word - pairs.base[length]) >> (64 - length))
        if symbol >= cython.cast(u64, pairs.symbols):
            return False
        count -= pairs.symbol_lengths[symbol] + 1
        at += length
    return at <= bits

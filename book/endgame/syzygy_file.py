# cython: overflowcheck=False
"""Reads one Syzygy file, .rtbw (win, draw, loss) or .rtbz (distance to zeroing). docs/syzygy.md draws the format.

A small file is read into memory; a large one is mapped, but its header is copied. Everything that later reads rely on
is checked once when the file is opened: the pieces, every offset and length, that symbols are trees. What can only be
seen while decoding (a block number, a code that stands for nothing) is checked there. So a damaged file can give wrong
values, or say that it is damaged, but nobody ever reads outside of it; and reads of a mapped file are guarded, so that
one which is cut short meanwhile is only unreadable.
"""

import io
import mmap
import os

import cython
from cython.cimports.board.types import i64, u8, u16, u64
from cython.cimports.book.endgame.syzygy_layout import MOST_MEN, NO_ORDER, set_layout, set_material
from cython.cimports.cpython.buffer import PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cython.cimports.libc.stdlib import free, malloc

from board.files import open_regular
from book.endgame.endings import DTZ_SUFFIX, WDL_SUFFIX

MAGIC = {WDL_SUFFIX: b"\x71\xe8\x23\x5d", DTZ_SUFFIX: b"\xd7\x66\x0c\xa5"}
CHECKSUM_BYTES = 16  # at the end of every file
MOST_READ = 1 << 16  # bytes of a file that is not mapped
PROBLEMS = (
    None,
    "symbol {} has a value that is none",
    "the index does not lead to block {}",
    "block {} cannot be decoded",
    "its blocks hold {} positions instead of the ending's",
    "the index leads nowhere",
)


class TableError(ValueError):
    """Why a file cannot be used."""


# Decompression


def decode(subtable, index):
    """The value at a place of the table, or DAMAGED or UNREADABLE."""
    if subtable.flags & SINGLE_VALUE:
        return subtable.single
    if subtable.is_mapped:
        return guarded(_decode, subtable, index, UNREADABLE)
    return _decode(subtable, index)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _decode(subject: cython.pointer(cython.const[cython.void]), index: u64) -> cython.int:
    """The value at a place of a subtable, or DAMAGED.

    The index says which block holds the middle of the span; the lengths of the blocks lead on from there. Within the
    block, codes are skipped until the one whose symbol covers the place; its halves lead down to the value.
    """
    subtable: cython.pointer(cython.const[Subtable]) = cython.cast(cython.pointer(cython.const[Subtable]), subject)
    if index >= subtable.layout.size:
        return DAMAGED
    entry: Bytes = subtable.index + 6 * (index >> subtable.span_bits)
    block: u64 = read32(entry)
    span: u64 = cython.cast(u64, 1) << subtable.span_bits
    offset: i64 = cython.cast(i64, read16(entry + 4) + (index & (span - 1))) - cython.cast(i64, span >> 1)
    if block >= subtable.length_count:
        return DAMAGED
    while offset < 0:
        if block == 0:
            return DAMAGED
        block -= 1
        offset += cython.cast(i64, read16(subtable.lengths + 2 * block)) + 1
    while offset > cython.cast(i64, read16(subtable.lengths + 2 * block)):
        offset -= cython.cast(i64, read16(subtable.lengths + 2 * block)) + 1
        block += 1
        if block >= subtable.length_count:
            return DAMAGED
    if block >= subtable.block_count:
        return DAMAGED

    # Codes: the next ones always stand at the top of `word`; `filled` of its bits are from the file.
    place: Bytes = subtable.data + (block << subtable.block_bits)
    word: u64 = cython.cast(u64, read_code32(place)) << 32 | read_code32(place + 4)
    filled: cython.int = 64
    length: cython.int
    symbol: u64
    place += 8
    while True:
        length = subtable.likely[word >> 56]
        while word < subtable.base[length]:
            length += 1
        symbol = subtable.lowest[length] + ((word - subtable.base[length]) >> (64 - length))
        if symbol >= cython.cast(u64, subtable.symbols):
            return DAMAGED
        if offset <= subtable.symbol_lengths[symbol]:
            break
        offset -= subtable.symbol_lengths[symbol] + 1
        word <<= length
        filled -= length
        if filled <= 32:
            if subtable.end - place >= 4:
                word |= cython.cast(u64, read_code32(place)) << (32 - filled)
            filled += 32
            place += 4

    node: cython.int = cython.cast(cython.int, symbol)
    while subtable.symbol_lengths[node]:
        half: cython.int = left_half(subtable, node)
        if offset <= subtable.symbol_lengths[half]:
            node = half
        else:
            offset -= subtable.symbol_lengths[half] + 1
            node = right_half(subtable, node)
    return left_half(subtable, node)


# Opening


@cython.final
@cython.cclass
class MappedTable:
    """An opened file. TableError says why one cannot be used, OSError why it cannot be read."""

    def __cinit__(self):
        self.has_buffer = False
        for file in range(4):
            for side in range(2):
                self.table.subtables[file][side].symbol_lengths = cython.NULL

    def __init__(self, path, contents=None):
        """Opens the file, or takes its bytes from `contents`."""
        self.path = path
        name, suffix = os.path.splitext(os.path.basename(path))
        if suffix not in MAGIC:
            raise TableError(f"the name does not end with {WDL_SUFFIX} or {DTZ_SUFFIX}")
        self.table.kind = WDL if suffix == WDL_SUFFIX else DTZ
        try:
            set_material(cython.address(self.table.material), name)
        except ValueError as error:
            raise TableError(str(error)) from None
        if contents is None:
            with open(path, "rb", MOST_READ, opener=open_regular) as file:
                if os.fstat(file.fileno()).st_size > MOST_READ:
                    prepare_guard()
                    self._open(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), file, True)
                    return
                contents = file.read(MOST_READ)
        self._open(contents, io.BytesIO(contents), False)

    def _open(self, contents, stream, is_mapped):
        if len(contents) == 0:
            raise TableError("it is empty")
        for file in range(4):
            for side in range(2):
                self.table.subtables[file][side].is_mapped = is_mapped
        self.mapping = contents
        self.stream = stream
        self.copies = []
        PyObject_GetBuffer(contents, cython.address(self.buffer), PyBUF_SIMPLE)
        self.has_buffer = True
        self.start = cython.cast(Bytes, self.buffer.buf)
        self.length = self.buffer.len
        if stream.read(4) != MAGIC[os.path.splitext(self.path)[1]]:
            raise TableError("it does not begin as a table does")
        if self.length % 64 != CHECKSUM_BYTES or self.length < 64:
            raise TableError(f"{self.length} bytes are not the length of a table: it was cut off")
        cursor: u64 = 4
        self._read_header(cython.address(cursor))
        self.stream = None

    def __dealloc__(self):
        for file in range(4):
            for side in range(2):
                free(self.table.subtables[file][side].symbol_lengths)
        if self.has_buffer:
            PyBuffer_Release(cython.address(self.buffer))

    def _copy(self, cursor, size):
        """The next `size` bytes of the header, which live as long as this object and never change."""
        begin: u64 = cursor[0]
        self._find(cursor, size)
        self.stream.seek(begin)
        piece: bytes = self.stream.read(size)
        if cython.cast(u64, len(piece)) != size:
            raise TableError("it was cut off")
        self.copies.append(piece)
        place: cython.p_const_uchar = piece
        return place

    def _find(self, cursor, size):
        """Where the next `size` bytes are, if they are there; the checksum at the end does not count."""
        begin: u64 = cursor[0]
        if size > self.length or begin + size + CHECKSUM_BYTES > self.length:
            raise TableError("it is shorter than its header says")
        cursor[0] = begin + size
        return self.start + begin

    def _read_header(self, cursor):
        table: cython.pointer(TableFile) = cython.address(self.table)
        material: cython.pointer(Material) = cython.address(self.table.material)
        file: cython.int
        side: cython.int
        index: cython.int
        codes: u8[8]
        flags: cython.int = self._copy(cursor, 1)[0]
        has_pawns: cython.bint = material.lead_pawns > 0
        if flags >> 4 not in (0, material.men):
            raise TableError("its header is that of another number of men")
        if ((flags & 2) != 0) != has_pawns or ((flags & 1) != 0) == material.is_symmetric:
            raise TableError("its header is that of another kind of ending")
        table.files = 4 if has_pawns else 1
        table.sides = 2 if table.kind == WDL and not material.is_symmetric else 1
        for file in range(table.files):
            orders = self._copy(cursor, 2 if material.other_pawns else 1)
            order: cython.int = orders[0]
            second: cython.int = orders[1] if material.other_pawns else NO_ORDER * 17
            listed = self._copy(cursor, material.men)
            for side in range(table.sides):
                for index in range(min(material.men, MOST_MEN)):  # the bound is for compilers, which cannot know it
                    codes[index] = listed[index] >> 4 if side else listed[index] & 15
                if not set_layout(
                    cython.address(table.subtables[file][side].layout),
                    material,
                    codes,
                    order >> 4 if side else order & 15,
                    second >> 4 if side else second & 15,
                    file,
                ):
                    raise TableError("its list of pieces is wrong")
        cursor[0] += cursor[0] & 1
        for file in range(table.files):
            for side in range(table.sides):
                self._read_subtable(cython.address(table.subtables[file][side]), cursor)
        if table.kind == DTZ:
            for file in range(table.files):
                self._read_maps(cython.address(table.subtables[file][0]), cursor)
            cursor[0] += cursor[0] & 1
        subtable: cython.pointer(Subtable)
        for file in range(table.files):
            for side in range(table.sides):
                subtable = cython.address(table.subtables[file][side])
                subtable.index = self._find(cursor, 6 * subtable.index_count)
        for file in range(table.files):
            for side in range(table.sides):
                subtable = cython.address(table.subtables[file][side])
                subtable.lengths = self._find(cursor, 2 * subtable.length_count)
        for file in range(table.files):
            for side in range(table.sides):
                subtable = cython.address(table.subtables[file][side])
                if subtable.block_count:
                    cursor[0] = (cursor[0] + 63) & ~cython.cast(u64, 63)
                subtable.data = self._find(cursor, subtable.block_count << subtable.block_bits)
                subtable.end = self.start + self.length
        if (cursor[0] + 63) // 64 * 64 + CHECKSUM_BYTES != self.length:
            raise TableError("it is longer than its header says")

    def _read_subtable(self, subtable, cursor):
        """The header of a sub-table: sizes, the code, the symbols."""
        length: cython.int
        subtable.index_count = 0
        subtable.length_count = 0
        subtable.block_count = 0
        subtable.block_bits = 0
        subtable.flags = self._copy(cursor, 1)[0]
        if subtable.flags & SINGLE_VALUE:
            subtable.single = self._copy(cursor, 1)[0]
            if self.table.kind == DTZ:
                subtable.single = 0
            elif subtable.single > 4:
                raise TableError("its only value is none")
            return
        fixed = self._copy(cursor, 9)
        subtable.block_bits = fixed[0]
        subtable.span_bits = fixed[1]
        subtable.block_count = read32(fixed + 3)
        subtable.length_count = subtable.block_count + fixed[2]
        subtable.longest = fixed[7]
        subtable.shortest = fixed[8]
        if not 3 <= subtable.block_bits <= 24 or not 1 <= subtable.span_bits <= 31 or subtable.block_count == 0:
            raise TableError("its blocks have impossible sizes")
        if not 1 <= subtable.shortest <= subtable.longest <= LONGEST_CODE:
            raise TableError("its codes have impossible lengths")
        span: u64 = cython.cast(u64, 1) << subtable.span_bits
        subtable.index_count = (subtable.layout.size + span - 1) >> subtable.span_bits
        lowest = self._copy(cursor, 2 * (subtable.longest - subtable.shortest + 1))
        for length in range(subtable.shortest, subtable.longest + 1):
            subtable.lowest[length] = read16(lowest + 2 * (length - subtable.shortest))
        subtable.base[subtable.longest] = 0
        for length in range(subtable.longest - 1, subtable.shortest - 1, -1):
            subtable.base[length] = (
                subtable.base[length + 1] + subtable.lowest[length] - subtable.lowest[length + 1]
            ) // 2
        for length in range(subtable.shortest, subtable.longest + 1):
            subtable.base[length] <<= 64 - length
        prefix: cython.int
        for prefix in range(256):
            length = subtable.shortest
            while (cython.cast(u64, prefix + 1) << 56) - 1 < subtable.base[length]:
                length += 1
            subtable.likely[prefix] = length
        subtable.symbols = read16(self._copy(cursor, 2))
        if not 1 <= subtable.symbols <= MOST_SYMBOLS:
            raise TableError("it has an impossible number of symbols")
        subtable.tree = self._copy(cursor, 3 * subtable.symbols)
        cursor[0] += subtable.symbols & 1
        self._measure_symbols(subtable)

    def _measure_symbols(self, subtable):
        """How many positions each symbol stands for. Halves must exist, and no symbol may be a part of itself."""
        subtable.symbol_lengths = cython.cast(cython.pointer(u16), malloc(subtable.symbols * cython.sizeof(u16)))
        if subtable.symbol_lengths == cython.NULL:
            raise MemoryError("no memory for a table's symbols")
        marks: u8[MOST_SYMBOLS]  # 0 new, 1 begun, 2 measured
        path: u16[MOST_SYMBOLS]
        symbol: cython.int
        for symbol in range(subtable.symbols):
            marks[symbol] = 0
        for symbol in range(subtable.symbols):
            depth: cython.int = 0
            path[0] = symbol
            while depth >= 0:
                node: cython.int = path[depth]
                left: cython.int = left_half(subtable, node)
                right: cython.int = right_half(subtable, node)
                if marks[node] == 2:
                    depth -= 1
                    continue
                if right == 0xFFF:
                    subtable.symbol_lengths[node] = 0
                    marks[node] = 2
                    continue
                if left >= subtable.symbols or right >= subtable.symbols:
                    raise TableError("a symbol has halves that do not exist")
                marks[node] = 1
                waiting: cython.int = left if marks[left] != 2 else right
                if marks[waiting] == 2:
                    total: cython.int = subtable.symbol_lengths[left] + subtable.symbol_lengths[right] + 1
                    if total > 0xFFFF:
                        raise TableError("a symbol is longer than any block")
                    subtable.symbol_lengths[node] = total
                    marks[node] = 2
                elif marks[waiting] == 1:
                    raise TableError("a symbol is a part of itself")
                else:
                    depth += 1
                    path[depth] = waiting

    def _read_maps(self, subtable, cursor):
        index: cython.int
        for index in range(4):
            subtable.map_counts[index] = 0
        if not subtable.flags & MAPPED:
            return
        wide: cython.int = 2 if subtable.flags & WIDE_MAP else 1
        if wide == 2:
            cursor[0] += cursor[0] & 1
        for index in range(4):
            count = self._copy(cursor, wide)
            subtable.map_counts[index] = read16(count) if wide == 2 else count[0]
            subtable.maps[index] = self._copy(cursor, wide * subtable.map_counts[index])

    # Looking through it

    @property
    def sub_tables(self) -> list:
        """The sub-tables as triples: file of the leading pawn, side to move, number of positions."""
        return [
            (file, side, self.table.subtables[file][side].layout.size)
            for file in range(self.table.files)
            for side in range(self.table.sides)
        ]

    def value(self, file: int, side: int, place: int) -> int | None:
        """What is stored for a place of a sub-table, before any map; None if it cannot be decoded."""
        if not (0 <= file < self.table.files and 0 <= side < self.table.sides and place >= 0):
            raise IndexError("there is no such sub-table")
        value: cython.int = decode(cython.address(self.table.subtables[file][side]), place)
        return None if value < 0 else value

    @property
    def is_cut(self) -> bool:
        """Has the file become shorter since it was opened? What its last page is said to hold then is not true."""
        return self.table.subtables[0][0].is_mapped and self.mapping.size() < self.length

    def check(self):
        """Decodes every block; TableError at the first that does not fit its header."""
        for file in range(self.table.files):
            for side in range(self.table.sides):
                self._check_subtable(cython.address(self.table.subtables[file][side]))

    def _check_subtable(self, subtable):
        finding: Finding
        finding.subtable = subtable
        finding.is_wdl = self.table.kind == WDL
        finding.problem = 0
        finding.number = 0
        result: cython.int
        with cython.nogil:
            result = guarded(_look_through, cython.address(finding), 0, UNREADABLE)
        if result == UNREADABLE or self.is_cut:
            raise TableError("it cannot be read to its end")
        if finding.problem:
            raise TableError(PROBLEMS[finding.problem].format(finding.number))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _note(finding: cython.pointer(Finding), problem: cython.int, number: u64) -> cython.int:
    finding.problem = problem
    finding.number = number
    return DAMAGED


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _look_through(subject: cython.pointer(cython.const[cython.void]), unused: u64) -> cython.int:
    """Decodes every block of a subtable; notes the first that does not fit."""
    finding: cython.pointer(Finding) = cython.cast(cython.pointer(Finding), subject)
    subtable: cython.pointer(cython.const[Subtable]) = finding.subtable
    if subtable.flags & SINGLE_VALUE:
        return 0
    symbol: cython.int
    for symbol in range(subtable.symbols):
        if finding.is_wdl and subtable.symbol_lengths[symbol] == 0 and left_half(subtable, symbol) > 4:
            return _note(finding, 1, symbol)
    block: u64
    total: u64 = 0
    begins: u64
    span: u64 = 0
    middle: u64
    entry: Bytes
    step: u64 = cython.cast(u64, 1) << subtable.span_bits
    for block in range(subtable.length_count):
        count: i64 = cython.cast(i64, read16(subtable.lengths + 2 * block)) + 1
        begins = total
        total += count
        # The index entries whose middles lie in this block.
        while span < subtable.index_count and span * step + (step >> 1) < total:
            middle = span * step + (step >> 1)
            entry = subtable.index + 6 * span
            if read32(entry) != block or read16(entry + 4) != middle - begins:
                return _note(finding, 2, block)
            span += 1
        if block < subtable.block_count and not _block_holds(subtable, block, count):
            return _note(finding, 3, block)
        if block == subtable.block_count - 1 and total != subtable.layout.size:
            return _note(finding, 4, total)
    return 0 if span == subtable.index_count else _note(finding, 5, 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _block_holds(subtable: cython.pointer(cython.const[Subtable]), block: u64, count: i64) -> cython.bint:
    """Do so many positions come out of a block's own bytes? Its last symbol may stand for more: a short code is welcome."""
    place: Bytes = subtable.data + (block << subtable.block_bits)
    bits: i64 = cython.cast(i64, 8) << subtable.block_bits
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
        length: cython.int = subtable.likely[word >> 56]
        while word < subtable.base[length]:
            length += 1
        symbol: u64 = subtable.lowest[length] + ((word - subtable.base[length]) >> (64 - length))
        if symbol >= cython.cast(u64, subtable.symbols):
            return False
        count -= subtable.symbol_lengths[symbol] + 1
        at += length
    return at <= bits

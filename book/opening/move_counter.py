"""Counts moves in bounded memory by external sorting: a hash table, and sorted runs in a temporary file.

Whenever the table is full it is written as a sorted run. The runs are merged when everything has been counted, so a
collection of games may be far larger than the memory.
"""

import heapq
import struct
import tempfile

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.types import u32, u64
from cython.cimports.book.opening.movetext import FAULTLESS, MOST_PLIES, Fault, Ply, read_plies
from cython.cimports.libc.stdlib import calloc, free, malloc, qsort

from book.opening.movetext import describe_fault

RECORD = struct.Struct("=QHHIII")
BLOCK = 4096  # records that each run holds in memory while they are merged
_FIRST_ROOM = cython.declare(cython.Py_ssize_t, 1 << 12)
_FULL = cython.declare(u32, 0xFFFFFFFF)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _compare(a: cython.p_const_void, b: cython.p_const_void) -> cython.int:
    left: cython.pointer(cython.const[Count]) = cython.cast(cython.pointer(cython.const[Count]), a)
    right: cython.pointer(cython.const[Count]) = cython.cast(cython.pointer(cython.const[Count]), b)
    if left.key != right.key:
        return -1 if left.key < right.key else 1
    return left.code - right.code


@cython.final
@cython.cclass
class MoveCounter:
    """Takes games and hands out (key, code, wins, draws, losses), sorted. `megabytes` bounds the memory."""

    def __cinit__(self):
        self.slots = cython.NULL
        self.line = cython.cast(cython.pointer(Ply), malloc(MOST_PLIES * cython.sizeof(Ply)))
        if self.line == cython.NULL:
            raise MemoryError("no memory for a game")

    def __init__(self, megabytes: int = 256, directory=None):
        self.runs = []  # (offset, records) in the temporary file
        self.spill_file = None
        self.used = 0
        self.room = _FIRST_ROOM
        self.most_room = _FIRST_ROOM
        # While the table doubles, the old one is still there.
        most: cython.size_t = cython.cast(cython.size_t, megabytes) << 20
        while 3 * self.most_room * cython.sizeof(Count) <= most:
            self.most_room *= 2
        free(self.slots)
        self.slots = cython.cast(
            cython.pointer(Count), calloc(cython.cast(cython.size_t, self.room), cython.sizeof(Count))
        )
        if self.slots == cython.NULL:
            raise MemoryError("no memory to count moves")
        self._directory = directory

    def __dealloc__(self):
        free(self.slots)
        free(self.line)

    @cython.overflowcheck(False)
    def _slot(self, slots, room, key, code):
        """Where a move's count is, or the empty slot where it belongs."""
        mix: u64 = (key ^ code) * cython.cast(u64, 0x9E3779B97F4A7C15)
        index: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, (mix >> 20) & cython.cast(u64, room - 1))
        while slots[index].code and (slots[index].key != key or slots[index].code != code):
            index = (index + 1) & (room - 1)
        return cython.address(slots[index])

    def _grow(self):
        """Makes room: a table twice as large, or, where that is not allowed, an empty one."""
        index: cython.Py_ssize_t
        if self.room >= self.most_room:
            self.spill()
            return 0
        larger: cython.pointer(Count) = cython.cast(
            cython.pointer(Count), calloc(cython.cast(cython.size_t, 2 * self.room), cython.sizeof(Count))
        )
        if larger == cython.NULL:
            self.spill()
            return 0
        for index in range(self.room):
            if self.slots[index].code:
                self._slot(larger, 2 * self.room, self.slots[index].key, self.slots[index].code)[0] = self.slots[index]
        free(self.slots)
        self.slots = larger
        self.room *= 2
        return 0

    def _add(self, ply, result, times):
        count: cython.pointer(Count) = self._slot(self.slots, self.room, ply.key, ply.code)
        if count.code == 0:
            if 4 * (self.used + 1) > 3 * self.room:
                self._grow()
                count = self._slot(self.slots, self.room, ply.key, ply.code)
            count.key = ply.key
            count.code = ply.code
            count.wins = count.draws = count.losses = 0  # of a move that was written out
            self.used += 1
        which: cython.pointer(u32) = cython.address(count.draws)
        if result > 0:
            which = cython.address(count.wins)
        elif result < 0:
            which = cython.address(count.losses)
        which[0] = which[0] + times if which[0] <= _FULL - times else _FULL
        return 0

    def add_game(self, board: Board, text: bytes, most: int, result: int, colours: int = 3, times: int = 1) -> int:
        """Counts the first `most` plies of a game with White's `result` (1, 0, -1), and returns how many were counted.

        Only moves of White if `colours` is 1, of Black if it is 2. ValueError, and nothing is counted, if a move
        cannot be read.
        """
        fault: Fault
        index: cython.int
        counted: cython.int = 0
        count: cython.int = read_plies(
            board.current(), text, len(text), max(0, min(most, MOST_PLIES)), self.line, cython.address(fault)
        )
        if fault.kind != FAULTLESS:
            raise ValueError(describe_fault(text, fault.kind, fault.start, fault.end))
        for index in range(count):
            if colours >> self.line[index].turn & 1:
                self._add(cython.address(self.line[index]), -result if self.line[index].turn else result, times)
                counted += 1
        return counted

    # Getting it out again

    def _sort(self):
        """Moves the counts to the front of the table, sorted. It is no hash table any more afterwards."""
        index: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        for index in range(self.room):
            if self.slots[index].code:
                self.slots[count] = self.slots[index]
                count += 1
        for index in range(count, self.room):
            self.slots[index].code = 0
        qsort(self.slots, cython.cast(cython.size_t, count), cython.sizeof(Count), _compare)
        return count

    def _block(self, first: cython.Py_ssize_t, count: cython.Py_ssize_t) -> bytes:
        return cython.cast(cython.p_char, cython.address(self.slots[first]))[: count * cython.sizeof(Count)]

    def spill(self):
        """Writes the counts to the temporary file and forgets them."""
        index: cython.Py_ssize_t
        if self.spill_file is None:
            self.spill_file = tempfile.TemporaryFile(prefix="quetzal-book-", dir=self._directory)  # noqa: SIM115
        count: cython.Py_ssize_t = self._sort()
        self.runs.append((self.spill_file.seek(0, 2), count))
        for index in range(0, count, BLOCK):
            self.spill_file.write(self._block(index, min(BLOCK, count - index)))
        for index in range(count):
            self.slots[index].code = 0
        self.used = 0

    def _stored(self, offset, count):
        """The records of one run, read block by block."""
        while count > 0:
            self.spill_file.seek(offset)
            part = min(BLOCK, count)
            data = self.spill_file.read(part * RECORD.size)
            if len(data) != part * RECORD.size:
                raise OSError("the temporary file has lost records")
            yield from RECORD.iter_unpack(data)
            offset += len(data)
            count -= part

    def _in_memory(self):
        index: cython.Py_ssize_t
        count: cython.Py_ssize_t = self._sort()
        for index in range(0, count, BLOCK):
            yield from RECORD.iter_unpack(self._block(index, min(BLOCK, count - index)))

    def counts(self, least: int = 1):
        """Yields (key, code, wins, draws, losses) of all moves that were played `least` times, sorted by key and code.

        The counter is used up by that.
        """
        sources = [self._stored(*run) for run in self.runs] + [self._in_memory()]
        total = None
        for key, code, _, wins, draws, losses in heapq.merge(*sources) if self.runs else sources[0]:
            if total is not None and total[0] == key and total[1] == code:
                total = (key, code, total[2] + wins, total[3] + draws, total[4] + losses)
                continue
            if total is not None and total[2] + total[3] + total[4] >= least:
                yield total
            total = (key, code, wins, draws, losses)
        if total is not None and total[2] + total[3] + total[4] >= least:
            yield total

    def close(self):
        if self.spill_file is not None:
            self.spill_file.close()
            self.spill_file = None

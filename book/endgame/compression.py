"""The compression of Syzygy files: Re-Pair, then a canonical Huffman code. docs/tables.md has an example.

Re-Pair (recursive pairing; Larsson and Moffat, 2000) makes a symbol of the most frequent pair of neighbours, again and
again. It suits tables because a single value can be unpacked from its block alone.
"""

import heapq

import cython
from cython.cimports.board.types import u8, u16, u32
from cython.cimports.libc.stdlib import calloc, free, malloc, qsort
from cython.cimports.libc.string import memset

LEAF = 0xFFF
LONGEST_CODE = 32  # bits


@cython.cclass
class Sequence:
    """A long list of numbers below 4096, 16 bits each."""

    def __cinit__(self, size: cython.size_t, *_):
        self.size = size
        self.values = cython.cast(cython.pointer(u16), malloc((size if size > 0 else 1) * cython.sizeof(u16)))
        if self.values == cython.NULL:
            raise MemoryError(f"no memory for a table of {size} positions")

    def __dealloc__(self):
        free(self.values)

    @staticmethod
    def of(numbers):
        """A sequence with these numbers."""
        found: Sequence = Sequence(len(numbers))
        index: cython.size_t
        for index in range(found.size):
            found.values[index] = numbers[index]
        return found

    def __len__(self):
        return self.size

    def __getitem__(self, index: cython.size_t):
        if index >= self.size:
            raise IndexError(index)
        return self.values[index]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _by_count(a: cython.p_const_void, b: cython.p_const_void) -> cython.int:
    """Most frequent first; among equals the smaller pair, so that the result is always the same."""
    first: cython.pointer(cython.const[Candidate]) = cython.cast(cython.pointer(cython.const[Candidate]), a)
    second: cython.pointer(cython.const[Candidate]) = cython.cast(cython.pointer(cython.const[Candidate]), b)
    if first.count != second.count:
        return -1 if first.count > second.count else 1
    return -1 if first.pair < second.pair else 1


@cython.cclass
class Grammar:
    """A sequence as a shorter one of symbols, each a value or a pair of symbols. The sequence is used up.

    Pairs that occur less than `least` times are not worth their three bytes; `most` symbols are made in one round. `check`
    is called after each round and may raise.
    """

    def __cinit__(self, sequence: Sequence, check=None, least: cython.int = 6, most: cython.int = 50):
        self._sequence = sequence
        self.text = sequence.values
        self.length = sequence.size
        self.positions = sequence.size
        symbol_of: u16[4096]
        seen: u8[4096]
        at: cython.size_t
        value: cython.int
        memset(seen, 0, 4096)
        for at in range(self.length):
            seen[self.text[at]] = 1
        for value in range(4096):
            if seen[value]:
                symbol_of[value] = self.symbols
                self.left[self.symbols] = value
                self.right[self.symbols] = 0xFFF
                self.lengths[self.symbols] = 1
                self.symbols += 1
        self.leaves = self.symbols
        for at in range(self.length):
            self.text[at] = symbol_of[self.text[at]]
        self._pair_up(check, least, most)

    def _pair_up(self, check, least: u32, most: cython.int):
        counts: cython.pointer(u32) = cython.cast(cython.pointer(u32), calloc(1 << 24, cython.sizeof(u32)))
        room: cython.size_t = min(self.length, cython.cast(cython.size_t, 1 << 24)) + 1
        touched: cython.pointer(u32) = cython.cast(cython.pointer(u32), malloc(room * cython.sizeof(u32)))
        chosen: cython.pointer(Candidate) = cython.cast(
            cython.pointer(Candidate), malloc(MOST_CHOSEN * cython.sizeof(Candidate))
        )
        used: cython.size_t = 0
        try:
            if counts == cython.NULL or touched == cython.NULL or chosen == cython.NULL:
                raise MemoryError("no memory to count pairs")
            made: cython.int = 1
            while made and self.symbols < MOST_SYMBOLS and self.length > 1:
                with cython.nogil:
                    made = self._round(counts, touched, cython.address(used), chosen, least, most)
                if check is not None:
                    check()
        finally:
            free(counts)
            free(touched)
            free(chosen)

    def _round(self, counts, touched, used, chosen, least, most):
        """Counts all pairs, makes symbols of the most frequent ones and replaces them; returns how many."""
        text: cython.pointer(u16) = self.text
        at: cython.size_t
        index: cython.int
        pair: u32
        last: u32 = NO_PAIR
        used[0] = 0
        for at in range(self.length - 1):
            pair = cython.cast(u32, text[at]) << 12 | text[at + 1]
            if pair == last:
                # Three equal symbols in a row are one pair, not two.
                last = NO_PAIR
                continue
            last = pair
            if counts[pair] == 0:
                touched[used[0]] = pair
                used[0] += 1
            counts[pair] += 1
        highest: u32 = 0
        for at in range(used[0]):
            pair = touched[at]
            if counts[pair] > highest and self.lengths[pair >> 12] + self.lengths[pair & 0xFFF] <= MOST_VALUES:
                highest = counts[pair]
        # Pairs much rarer than the most frequent wait for the next round, when their counts are known better.
        floor: u32 = highest // 2 if highest // 2 > least else least
        found: cython.int = 0
        while True:
            found = 0
            for at in range(used[0]):
                pair = touched[at]
                if counts[pair] >= floor and self.lengths[pair >> 12] + self.lengths[pair & 0xFFF] <= MOST_VALUES:
                    if found == MOST_CHOSEN:
                        found += 1
                        break
                    chosen[found].count = counts[pair]
                    chosen[found].pair = pair
                    found += 1
            if found <= MOST_CHOSEN:
                break
            floor += floor // 8 + 1
        qsort(chosen, found, cython.sizeof(Candidate), _by_count)

        # No symbol may end one chosen pair and begin another, so that occurrences never overlap.
        begins: u8[4096]
        ends: u8[4096]
        memset(begins, 0, 4096)
        memset(ends, 0, 4096)
        made: cython.int = 0
        for index in range(found):
            pair = chosen[index].pair
            first: cython.int = pair >> 12
            second: cython.int = pair & 0xFFF
            if ends[first] or begins[second] or made == most or self.symbols == MOST_SYMBOLS:
                continue
            begins[first] = 1
            ends[second] = 1
            self.left[self.symbols] = first
            self.right[self.symbols] = second
            self.lengths[self.symbols] = self.lengths[first] + self.lengths[second]
            counts[pair] = IS_CHOSEN | self.symbols
            self.symbols += 1
            made += 1

        if made:
            target: cython.size_t = 0
            at = 0
            while at < self.length:
                if at + 1 < self.length:
                    pair = counts[cython.cast(u32, text[at]) << 12 | text[at + 1]]
                    if pair & IS_CHOSEN:
                        text[target] = pair & 0xFFF
                        target += 1
                        at += 2
                        continue
                text[target] = text[at]
                target += 1
                at += 1
            self.length = target
        for at in range(used[0]):
            counts[touched[at]] = 0
        return made

    def frequencies(self) -> list:
        counted: u32[4096]
        at: cython.size_t
        memset(counted, 0, 4096 * cython.sizeof(u32))
        with cython.nogil:
            for at in range(self.length):
                counted[self.text[at]] += 1
        return [counted[index] for index in range(self.symbols)]

    def rules(self) -> list:
        """(first, second) of every symbol; a leaf is (value, 0xFFF)."""
        return [(self.left[index], self.right[index]) for index in range(self.symbols)]

    def text_length(self) -> int:
        return self.length

    def blocks(self, code_lengths: list, block_bits: cython.size_t) -> int:
        """How many blocks of so many bits the text fills."""
        lengths: u8[4096]
        index: cython.int
        at: cython.size_t
        for index in range(self.symbols):
            lengths[index] = code_lengths[index]
        count: cython.size_t = 1
        filled: cython.size_t = 0
        positions: cython.size_t = 0
        with cython.nogil:
            for at in range(self.length):
                if (
                    filled + lengths[self.text[at]] > block_bits
                    or positions + self.lengths[self.text[at]] > BLOCK_POSITIONS
                ):
                    count += 1
                    filled = 0
                    positions = 0
                filled += lengths[self.text[at]]
                positions += self.lengths[self.text[at]]
        return count

    def pack(self, codes: list, code_lengths: list, block_bits: cython.size_t, count: cython.size_t):
        """The text as blocks: their bytes, and how many positions each holds."""
        lengths: u8[4096]
        words: u32[4096]
        index: cython.int
        at: cython.size_t
        place: cython.int
        for index in range(self.symbols):
            lengths[index] = code_lengths[index]
            words[index] = codes[index]
        data = bytearray(count * block_bits // 8)
        view: cython.p_uchar = data
        sizes = []
        block: cython.size_t = 0
        filled: cython.size_t = 0
        positions: cython.size_t = 0
        for at in range(self.length):
            symbol: cython.int = self.text[at]
            length: cython.int = lengths[symbol]
            if filled + length > block_bits or positions + self.lengths[symbol] > BLOCK_POSITIONS:
                sizes.append(positions)
                block += 1
                filled = 0
                positions = 0
            for place in range(length - 1, -1, -1):
                if words[symbol] >> place & 1:
                    view[(block * block_bits + filled) >> 3] |= 0x80 >> (filled & 7)
                filled += 1
            positions += self.lengths[symbol]
        sizes.append(positions)
        return bytes(data), sizes


def code_lengths(frequencies):
    """Huffman's code lengths, 0 for symbols that do not occur, none above 32."""
    while True:
        waiting = [(count, number, number) for number, count in enumerate(frequencies) if count]
        if len(waiting) == 1:
            return [1 if count else 0 for count in frequencies]
        parents = {}
        heapq.heapify(waiting)
        fresh = len(frequencies)
        while len(waiting) > 1:
            a = heapq.heappop(waiting)
            b = heapq.heappop(waiting)
            parents[a[2]] = parents[b[2]] = fresh
            heapq.heappush(waiting, (a[0] + b[0], fresh, fresh))
            fresh += 1
        depths = {fresh - 1: 0}
        for number in range(fresh - 2, -1, -1):
            if number in parents:
                depths[number] = depths[parents[number]] + 1
        lengths = [depths[number] if count else 0 for number, count in enumerate(frequencies)]
        if max(lengths) <= LONGEST_CODE:
            return lengths
        # Flatten the frequencies until the tree is low enough.
        frequencies = [(count + 1) // 2 if count else 0 for count in frequencies]

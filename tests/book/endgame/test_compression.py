"""Compression: what is packed comes out again, by a reader written from the format's description alone."""

import random

import pytest

from book.endgame.compression import LEAF, Grammar, Sequence, code_lengths
from book.endgame.table_writer import compress


def unpack(packed, size):
    """All values of a packed table, block by block. Bit by bit and slow, but short enough to be believed."""
    head = packed.head
    log, longest, shortest = head[1], head[8], head[9]
    blocks = int.from_bytes(head[4:8], "little")
    place = 10
    lowest = {}
    for length in range(shortest, longest + 1):
        lowest[length] = int.from_bytes(head[place : place + 2], "little")
        place += 2
    count = int.from_bytes(head[place : place + 2], "little")
    place += 2
    rules = []
    for number in range(count):
        a, b, c = head[place + 3 * number : place + 3 * number + 3]
        rules.append((a | (b & 15) << 8, b >> 4 | c << 4))
    base = {longest: 0}
    for length in range(longest - 1, shortest - 1, -1):
        base[length] = (base[length + 1] + lowest[length] - lowest[length + 1]) // 2

    def spell(symbol):
        left, right = rules[symbol]
        return [left] if right == LEAF else spell(left) + spell(right)

    values = []
    for block in range(blocks):
        wanted = int.from_bytes(packed.sizes[2 * block : 2 * block + 2], "little") + 1
        data = packed.data[block << log : (block + 1) << log]
        bits = int.from_bytes(data, "big")
        left = 8 * len(data)
        got = []
        while len(got) < wanted:
            for length in range(shortest, longest + 1):
                code = bits >> (left - length) & ((1 << length) - 1)
                if code >= base[length]:
                    break
            left -= length
            assert left >= 0
            got += spell(lowest[length] + code - base[length])
        assert len(got) == wanted <= 65536
        values += got
    assert len(values) == size
    return values


def sequences():
    rng = random.Random(7)
    yield "random", [rng.randrange(5) for _ in range(5000)]
    yield "runs", [value for _ in range(300) for value in [rng.randrange(5)] * rng.randrange(1, 200)]
    yield "skewed", [min(40, int(rng.expovariate(0.5))) for _ in range(20000)]
    yield "periodic", [0, 1, 2, 2, 2, 1] * 3000
    yield "short", [3, 1]
    yield "nearly one value", [2] * 70000 + [1] + [2] * 70000
    yield "many values", [rng.randrange(3000) for _ in range(9000)]


@pytest.mark.parametrize("numbers", [pytest.param(numbers, id=name) for name, numbers in sequences()])
def test_values_come_back(numbers):
    packed = compress(Sequence.of(numbers), 0, range(5, 8))
    assert unpack(packed, len(numbers)) == numbers


def test_repetition_is_found():
    packed = compress(Sequence.of([0, 1, 2, 2, 2, 1] * 3000), 0, range(5, 8))
    assert len(packed.data) <= 64


def test_symbols_are_few_and_short_enough_for_every_reader():
    rng = random.Random(3)
    grammar = Grammar(Sequence.of([rng.randrange(60) for _ in range(400000)]))
    assert grammar.symbols <= 4095

    def length(symbol):
        left, right = grammar.rules()[symbol]
        return 1 if right == LEAF else length(left) + length(right)

    grammar = Grammar(Sequence.of([1] * 100000 + [2]))
    assert max(length(symbol) for symbol in range(grammar.symbols)) == 256


def test_code_lengths_are_huffmans():
    assert code_lengths([5, 1, 1, 2, 0]) == [1, 3, 3, 2, 0]
    assert code_lengths([0, 7]) == [0, 1]
    fibonacci = [1, 1]
    while len(fibonacci) < 45:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    lengths = code_lengths(fibonacci)  # Huffman's tree would be 44 deep
    assert max(lengths) <= 32
    assert sum(2.0**-length for length in lengths) == 1

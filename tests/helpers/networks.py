"""Made-up networks, and the evaluation written down a second time, slowly and from the formula."""

import random
from contextlib import contextmanager

from eval import load_evaluation
from eval.king_buckets import bucket_table
from eval.network_file import FEATURES, SCALE, NetworkData, bytes_from, pack_network, unpack_network

KINDS = "pnbrqk"


def random_network(neurons, seed=1, extreme=False, outputs=1, king_buckets=1):
    """Weights of the usual size, or all as large as a file may hold them."""
    rng = random.Random(seed)
    feature, bias, output = (505, 16000, 127) if extreme else (90, 60, 120)

    def numbers(count, most):
        if extreme:
            return bytes_from([rng.choice((-most, most)) for _ in range(count)])
        return bytes_from([rng.randint(-most, most) for _ in range(count)])

    return NetworkData(
        neurons,
        SCALE,
        numbers(FEATURES * king_buckets * neurons, feature),
        numbers(neurons, bias),
        numbers(2 * neurons * outputs, output),
        tuple(rng.randint(-5000, 5000) for _ in range(outputs)),
        {"made": f"by chance, seed {seed}"},
        bucket_table(king_buckets),
    )


def write_network(path, data):
    path.write_bytes(pack_network(data))
    return path


@contextmanager
def evaluating_with(name):
    """Another evaluation, for a while."""
    load_evaluation(name)
    try:
        yield
    finally:
        load_evaluation()


def feature_of(letter, square, perspective, king):
    """The number of an input, from what docs/network.md says: perspective 0 is White's."""
    colour = 0 if letter.isupper() else 1
    if perspective == 1:
        square ^= 56
    if king % 8 > 3:
        square ^= 7
    return (0 if colour == perspective else 384) + KINDS.index(letter.lower()) * 64 + square


def bucket_of(table, perspective, king):
    """The bucket of a side's king: the table has the files a to d, rank by rank from the side's own end."""
    rank, file = divmod(king ^ 56 if perspective == 1 else king, 8)
    return table[4 * rank + min(file, 7 - file)]


def reference_score(path, board):
    """The network's score by the formula, with Python's unbounded numbers."""
    data = unpack_network(path.read_bytes(), path)

    def column(block):
        return [int.from_bytes(block[at : at + 2], "little", signed=True) for at in range(0, len(block), 2)]

    pieces = {square: board.piece_at(square) for square in range(64) if board.piece_at(square)}
    which = (len(pieces) - 2) * data.outputs // 31
    outputs = column(data.output_weights)[2 * which * data.neurons : 2 * (which + 1) * data.neurons]
    total = 0
    for half, perspective in enumerate((board.turn, 1 - board.turn)):
        king = next(square for square, letter in pieces.items() if letter == "Kk"[perspective])
        sums = column(data.biases)
        first = bucket_of(data.bucket_table, perspective, king) * FEATURES
        for square, letter in pieces.items():
            row = (first + feature_of(letter, square, perspective, king)) * data.neurons * 2
            for neuron, weight in enumerate(column(data.feature_weights[row : row + 2 * data.neurons])):
                sums[neuron] += weight
        for neuron, value in enumerate(sums):
            total += min(max(value, 0), 255) ** 2 * outputs[half * data.neurons + neuron]

    def divided(number, by):
        return number // by if number >= 0 else -(-number // by)

    return divided((divided(total, 255) + data.output_biases[which]) * data.scale, 255 * 64)

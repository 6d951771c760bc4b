"""The network file (.qnn): a head, a description in JSON, the weights, a checksum. docs/network.md has the table.

Plain Python, and independent of the compiled evaluation: trainers write these files, the engine reads them.
"""

import hashlib
import json
import struct
import sys
from array import array
from typing import NamedTuple

from board.files import parse_json
from eval.king_buckets import MOST_BUCKETS, ONE_BUCKET, SQUARES, is_bucket_table

MAGIC = b"QZNN"
PLAIN = 1  # version of a file with one output and one king bucket
VERSION = 2
ARCHITECTURE = "(768 -> N) x 2 -> 1, SCReLU, mirrored"

FEATURES = 768  # own and enemy, six kinds, 64 squares
LEAST_NEURONS = 32
MOST_NEURONS = 1024
MOST_OUTPUTS = 8
ACTIVATION_ONE = 255  # what 1.0 is in an accumulator
OUTPUT_ONE = 64  # and in the output weights
SCALE = 180  # centipawns to one unit of the output of a new network
MOST_SCALE = 10_000
MOST_FEATURE_WEIGHT = 505  # 1.98: 32 pieces and the bias stay within 16 bits
MOST_BIAS = 16000
MOST_OUTPUT_WEIGHT = 127  # times 255 within 16 bits
MOST_OUTPUT_BIAS = 1 << 20
MOST_DESCRIPTION = 1 << 20

_HEAD = struct.Struct("<4sHHI")  # magic, version, neurons, length of the description


class NetworkError(ValueError):
    """This is no network, or one that cannot be used here. The message says why."""


class NetworkData(NamedTuple):
    """A network as it stands in the file; all weights are 16-bit numbers, the low byte first."""

    neurons: int
    scale: int
    feature_weights: bytes  # for each king bucket a row of `neurons` for each feature
    biases: bytes
    output_weights: bytes  # of each output those for the side to move, then those for the other
    output_biases: tuple  # one for each output
    training: dict  # how it was made; nothing here is needed to evaluate
    bucket_table: tuple = ONE_BUCKET  # by the own king's square; eval/king_buckets.py says how

    @property
    def outputs(self):
        """How many there are; the number of men decides which of them counts."""
        return len(self.output_biases)

    @property
    def king_buckets(self):
        """How many there are; the square of a side's king decides which of them it has."""
        return max(self.bucket_table) + 1


def shown(value):
    """Something out of a file for a message: short, and without what steers a terminal."""
    return repr(value)[:100]


def numbers_from(data):
    """16-bit little-endian numbers as an array of this machine."""
    numbers = array("h")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def bytes_from(numbers):
    """The way back: whole numbers as 16-bit little-endian bytes."""
    found = array("h", numbers)
    if sys.byteorder == "big":
        found.byteswap()
    return found.tobytes()


def _check_table(table, source):
    if not is_bucket_table(table):
        raise NetworkError(
            f"{source}: king buckets {shown(table)}, but there must be {SQUARES} numbers from 0 up to at most "
            f"{MOST_BUCKETS - 1}, none of them left out"
        )


def _check(data, source):
    """The evaluation adds and multiplies in 16 bits: what could overflow there is refused."""
    if data.neurons % 32 or not LEAST_NEURONS <= data.neurons <= MOST_NEURONS:
        raise NetworkError(f"{source}: {data.neurons} neurons, but there must be a multiple of 32 up to {MOST_NEURONS}")
    if not 1 <= data.outputs <= MOST_OUTPUTS:
        raise NetworkError(f"{source}: {data.outputs} outputs, but there must be 1 to {MOST_OUTPUTS}")
    _check_table(data.bucket_table, source)
    for name, block, size, most in (
        ("feature weights", data.feature_weights, FEATURES * data.king_buckets * data.neurons, MOST_FEATURE_WEIGHT),
        ("biases", data.biases, data.neurons, MOST_BIAS),
        ("output weights", data.output_weights, 2 * data.neurons * data.outputs, MOST_OUTPUT_WEIGHT),
    ):
        if len(block) != 2 * size:
            raise NetworkError(f"{source}: {len(block) // 2} {name} instead of {size}")
        numbers = numbers_from(block)
        if max(numbers) > most or min(numbers) < -most:
            raise NetworkError(f"{source}: {name} beyond {most}")
    if max(map(abs, data.output_biases)) > MOST_OUTPUT_BIAS:
        raise NetworkError(f"{source}: an output bias beyond {MOST_OUTPUT_BIAS}")
    if not 1 <= data.scale <= 4000:
        raise NetworkError(f"{source}: a scale of {data.scale} centipawns")


def weights_size(neurons, outputs, king_buckets):
    """Bytes of all weights and biases."""
    return 2 * neurons * (FEATURES * king_buckets + 1 + 2 * outputs) + 4 * outputs


def pack_network(data):
    """The bytes of a network file. Raises NetworkError for weights that the evaluation could not work with.

    What the network does not have is not described, so that older programs read the others, too.
    """
    _check(data, "the network")
    described = {
        "architecture": ARCHITECTURE,
        "quantisation": {"activation": ACTIVATION_ONE, "output": OUTPUT_ONE},
        "scale": data.scale,
        "training": data.training,
    }
    version = PLAIN
    if data.outputs > 1 or data.king_buckets > 1:
        version = VERSION
        described["outputs"] = data.outputs
    if data.king_buckets > 1:
        described["king_buckets"] = data.bucket_table
    description = json.dumps(described, sort_keys=True).encode()
    body = b"".join(
        (
            _HEAD.pack(MAGIC, version, data.neurons, len(description)),
            description,
            data.feature_weights,
            data.biases,
            data.output_weights,
            struct.pack(f"<{data.outputs}i", *data.output_biases),
        )
    )
    return body + hashlib.sha256(body).digest()


def unpack_network(blob, source):
    """The network in a file's bytes; `source` is the file's name for messages. Raises NetworkError with the reason."""
    if len(blob) < _HEAD.size or blob[:4] != MAGIC:
        raise NetworkError(f"{source}: no network of Quetzal's")
    _, version, neurons, length = _HEAD.unpack_from(blob)
    if version not in (PLAIN, VERSION):
        raise NetworkError(f"{source}: format version {version}, this program reads {PLAIN} and {VERSION}")
    if length > MOST_DESCRIPTION or neurons > MOST_NEURONS:
        raise NetworkError(f"{source}: a damaged head")
    least = _HEAD.size + length + weights_size(neurons, 1, 1) + hashlib.sha256().digest_size
    if len(blob) < least or (version == PLAIN and len(blob) != least):
        raise NetworkError(f"{source}: {len(blob)} bytes instead of {least}: cut off or damaged")
    body, checksum = blob[:-32], blob[-32:]
    if hashlib.sha256(body).digest() != checksum:
        raise NetworkError(f"{source}: the checksum is wrong: damaged")
    try:
        description = parse_json(body[_HEAD.size : _HEAD.size + length])
        architecture, quantisation = description["architecture"], description["quantisation"]
        scale, training = description["scale"], description["training"]
        outputs = description["outputs"] if version == VERSION else 1
        table = description.get("king_buckets", ONE_BUCKET) if version == VERSION else ONE_BUCKET
    except (ValueError, KeyError, TypeError) as error:
        raise NetworkError(f"{source}: the description cannot be read: {shown(error)}") from error
    if architecture != ARCHITECTURE or quantisation != {"activation": ACTIVATION_ONE, "output": OUTPUT_ONE}:
        raise NetworkError(f"{source}: another architecture: {shown(architecture)}, {shown(quantisation)}")
    if type(scale) is not int or not 1 <= scale <= MOST_SCALE or not isinstance(training, dict):
        raise NetworkError(f"{source}: the description cannot be read")
    if type(outputs) is not int or not 1 <= outputs <= MOST_OUTPUTS:
        raise NetworkError(f"{source}: {shown(outputs)} outputs, but there must be 1 to {MOST_OUTPUTS}")
    _check_table(table, source)
    buckets = max(table) + 1
    at, size = _HEAD.size + length, weights_size(neurons, outputs, buckets)
    if len(body) != at + size:
        raise NetworkError(f"{source}: {len(body) - at} bytes of weights instead of {size}")
    blocks = []
    for count in (FEATURES * buckets * neurons, neurons, 2 * neurons * outputs):
        blocks.append(body[at : at + 2 * count])
        at += 2 * count
    output_biases = struct.unpack_from(f"<{outputs}i", body, at)
    data = NetworkData(neurons, scale, *blocks, output_biases, training, tuple(table))
    _check(data, source)
    return data

"""Files of games: a header, then one framed and checksummed payload after the other. See docs/data-format.md."""

import hashlib
import json
import os
import struct
import zlib
from typing import NamedTuple

from board.files import open_regular, parse_json
from training.records import decode_game, encode_game

MAGIC = b"QZGM"
VERSION = 1
MOST_PAYLOAD = 1 << 20  # no game is longer; a larger length is damage

_HEAD = struct.Struct("<4sHH")
_FRAME = struct.Struct("<I")


class FormatError(ValueError):
    """This is no file of games, or one of another version."""


class Damage(NamedTuple):
    """From `offset` on, `size` bytes of a file cannot be used; `reason` says what is wrong there."""

    offset: int
    size: int
    reason: str

    def __str__(self):
        return f"{self.reason} at byte {self.offset}: the last {self.size} bytes are not used"


def _checksum(*parts):
    value = 0
    for part in parts:
        value = zlib.crc32(part, value)
    return _FRAME.pack(value)


def _read_header(stream, name):
    """The metadata; the stream is left at the first game."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size or head[:4] != MAGIC:
        raise FormatError(f"{name} is no file of Quetzal's games")
    _, version, length = _HEAD.unpack(head)
    if version != VERSION:
        raise FormatError(f"{name} has format version {version}, this program reads {VERSION}")
    text = stream.read(length)
    if len(text) < length or stream.read(4) != _checksum(head, text):
        raise FormatError(f"{name} has a damaged header")
    try:
        metadata = parse_json(text)
    except ValueError as error:
        raise FormatError(f"{name} has a header that cannot be read: {type(error).__name__}") from None
    if not isinstance(metadata, dict):
        raise FormatError(f"{name} has a header that says nothing")
    return metadata


class GameReader:
    """Iterates over the payloads of a file, each one checked.

    Reading stops at the first damage, which `damage` then tells; None means that the file was good to its end. `end`
    is the offset behind the last good game.
    """

    def __init__(self, path):
        self.path = path
        self.damage = None
        self._stream = open(path, "rb", opener=open_regular)  # noqa: SIM115 - closed by close() or at the end
        try:
            self.metadata = _read_header(self._stream, path)
            self.size = os.fstat(self._stream.fileno()).st_size
        except BaseException:
            self._stream.close()
            raise
        self.end = self._stream.tell()

    def __iter__(self):
        return self

    def __next__(self):
        if self._stream.closed:
            raise StopIteration
        frame = self._stream.read(_FRAME.size)
        if not frame:
            self.close()
            raise StopIteration
        if len(frame) < _FRAME.size:
            self._stop("a game's length is cut off")
        (length,) = _FRAME.unpack(frame)
        if not 0 < length <= MOST_PAYLOAD:
            self._stop("an impossible length of a game")
        payload = self._stream.read(length)
        checksum = self._stream.read(4)
        if len(checksum) < 4:
            self._stop("a game is cut off")
        if checksum != _checksum(frame, payload):
            self._stop("a game's checksum is wrong")
        self.end = self._stream.tell()
        return payload

    def _stop(self, reason):
        self.damage = Damage(self.end, self.size - self.end, reason)
        self.close()
        raise StopIteration

    def games(self):
        """The same, decoded."""
        return map(decode_game, self)

    def close(self):
        self._stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class GameWriter:
    """Appends games to a file, a new one if there is none.

    A damaged tail, as a killed program leaves it, is cut off first; `damage` tells what was lost, None if nothing.
    """

    def __init__(self, path, metadata=None):
        self.path = path
        self.damage = None
        self.games = 0  # in the file
        if os.path.exists(path) and os.path.getsize(path) > 0:
            with GameReader(path) as reader:
                self.metadata = reader.metadata
                self.games = sum(1 for _ in reader)
                self.damage = reader.damage
                end = reader.end
            if self.damage is not None:
                os.truncate(path, end)
            self._stream = open(path, "ab", opener=open_regular)  # noqa: SIM115 - closed by close()
        else:
            self.metadata = metadata or {}
            text = json.dumps(self.metadata, sort_keys=True).encode()
            head = _HEAD.pack(MAGIC, VERSION, len(text))
            self._stream = open(path, "wb", opener=open_regular)  # noqa: SIM115
            self._stream.write(head + text + _checksum(head, text))

    def write_payload(self, payload):
        frame = _FRAME.pack(len(payload))
        self._stream.write(frame + payload + _checksum(frame, payload))
        self.games += 1

    def write(self, game):
        self.write_payload(encode_game(game))

    def flush(self):
        """Hands everything to the operating system."""
        self._stream.flush()

    def close(self):
        self._stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def is_held_out(number, seed, percent):
    """Is this game for judging only? Decided by its number among all games read and by the seed alone."""
    digest = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little") % 100 < percent

"""PGN collections as streams of games: plain, compressed or from a pipe, however large. Moves are not looked at here.

A collection may come from anywhere, so nothing in it decides how much memory is used: not its lines, its tags, its games,
nor the window that packed data asks for.
"""

import bz2
import contextlib
import gzip
import io
import lzma
import os
import re
import shutil
import subprocess
import sys
import zlib
from typing import NamedTuple

MOST_LINE = 1 << 20  # bytes that are read at once of a line without an end
MOST_GAME = 1 << 24  # of one game; more is no game
MOST_TAGS = 1 << 20  # of one game's tags together
MOST_TAG = 1 << 16  # of one of them; the rest is not read
WINDOW_BITS = 27  # of zstd data, 128 MB: what every decompressor accepts without being asked for more
XZ_MEMORY = 1 << 28  # `xz -9` needs 65 MB, the format allows 4 GB
STANDARD_INPUT = "-"

_TAG = re.compile(rb'\[\s*([\w+#=:-]+)\s+"([^"\\]*(?:\\.[^"\\]*)*)')
_LINES = re.compile(rb"[\t\r ]*\n(?:[\t\n\r ]*\n)?|[^\n]*\n")  # blank lines together, others one by one
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}

# What the modules that unpack raise when the data is cut off or damaged.
DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


class PgnError(ValueError):
    """A file cannot be read as PGN. The message names it."""


class Game(NamedTuple):
    """One game's tags and text as they stand in the file, and the line where it begins."""

    tags: dict
    text: bytes
    line: int
    is_too_long: bool = False

    def tag(self, name):
        return self.tags.get(name, b"").decode("utf-8", "replace")

    @property
    def result(self):
        """White's result: 1, 0 or -1; None if the game says nothing about it."""
        word = self.tags.get(b"Result", b"").strip()
        if word not in _RESULTS:
            word = self.text.rsplit(None, 1)[-1] if self.text.strip() else b""
        return _RESULTS.get(word)


_RESULTS = {b"1-0": 1, b"1/2-1/2": 0, b"0-1": -1}
_ENDS = tuple(result + end for result in (*_RESULTS, b"*") for end in (b"\n", b"\r\n", b" \n"))
# A text key for each tag name would be decoded for every game; names are bytes here.


class Source:
    """An open collection. `position` is how many bytes of the file itself have been read, for a progress bar."""

    def __init__(self, path):
        self.path = path
        self.name = "standard input" if path == STANDARD_INPUT else path
        self._process = None
        try:
            self._raw = sys.stdin.buffer if path == STANDARD_INPUT else open(path, "rb")  # noqa: SIM115
        except OSError as error:
            raise PgnError(f"{path} cannot be opened: {error.strerror or error}") from None
        try:
            self._stream = self._unpacked()
        except BaseException:
            self.close()
            raise

    def _unpacked(self):
        """The contents tell how a file is packed; its name may say anything, and a pipe has none."""
        try:
            start = self._raw.peek(8)[:8]
        except OSError as error:
            raise PgnError(f"{self.name} cannot be read: {error.strerror or error}") from None
        kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
        if kind == "gzip":
            return gzip.GzipFile(fileobj=self._raw)
        if kind == "bzip2":
            return bz2.BZ2File(self._raw)
        if kind == "xz":
            return io.BufferedReader(_Xz(self._raw), MOST_LINE)
        if kind == "zstd":
            return self._zstd()
        return self._raw

    def _zstd(self):
        """Python's own module (3.14), the `zstandard` package, or the `zstd` program: whichever is there."""
        with contextlib.suppress(ImportError):
            from compression import zstd

            return zstd.ZstdFile(self._raw, options={zstd.DecompressionParameter.window_log_max: WINDOW_BITS})
        with contextlib.suppress(ImportError):
            import zstandard

            reader = zstandard.ZstdDecompressor(max_window_size=1 << WINDOW_BITS).stream_reader(
                self._raw, read_across_frames=True
            )
            return io.BufferedReader(reader, 1 << 18)
        program = shutil.which("zstd")
        if program is None:
            raise PgnError(f"{self.name} is packed with zstd: install the Python package zstandard or the zstd program")
        if self.path == STANDARD_INPUT:
            raise PgnError("standard input is packed with zstd: unpack it with `zstd -dc |` before")
        # The program goes on with our descriptor, so that its place in the file can be asked for.
        os.lseek(self._raw.fileno(), 0, os.SEEK_SET)
        self._process = subprocess.Popen(
            [program, "-dc", f"--long={WINDOW_BITS}"], stdin=self._raw, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        return self._process.stdout

    @property
    def size(self):
        """Bytes of the file, or None where nobody knows."""
        try:
            status = os.fstat(self._raw.fileno())
        except OSError:
            return None
        return status.st_size if os.path.isfile(self.path) else None

    @property
    def position(self):
        try:
            return self._raw.tell() if self._process is None else os.lseek(self._raw.fileno(), 0, os.SEEK_CUR)
        except (OSError, ValueError):
            return 0

    def games(self):
        """Yields the games. PgnError at the place where packed data is damaged; what came before it is good."""
        try:
            yield from split_games(self._stream)
        except DAMAGE as error:
            raise PgnError(f"{self.name} is damaged: {error}") from None
        except OSError as error:
            raise PgnError(f"{self.name} cannot be read further: {error.strerror or error}") from None
        except Exception as error:
            if type(error).__name__ == "ZstdError":
                raise PgnError(f"{self.name} is damaged: {error}") from None
            raise
        if self._process is not None and self._process.wait() != 0:
            message = self._process.stderr.read().decode("utf-8", "replace").strip()
            raise PgnError(f"{self.name} is damaged: {message or 'zstd failed'}")

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
            self._process.stderr.close()
        if self.path != STANDARD_INPUT:
            self._raw.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Xz(io.RawIOBase):
    """Data of the xz format. Python's own reader gives it all the memory that it asks for."""

    def __init__(self, raw):
        self._raw = raw
        self._decompressor = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def readable(self):
        return True

    def readinto(self, buffer):
        while True:
            if self._decompressor.eof:
                data = self._decompressor.unused_data.lstrip(b"\0") or self._raw.read1(1 << 16)
                if not data:
                    return 0
                if not data.strip(b"\0"):
                    continue  # padding between two streams
                self._decompressor = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            else:
                data = self._raw.read1(1 << 16) if self._decompressor.needs_input else b""
                if not data and self._decompressor.needs_input:
                    raise EOFError("the data ends before the end of the stream")
            unpacked = self._decompressor.decompress(data, len(buffer))
            if unpacked:
                buffer[: len(unpacked)] = unpacked
                return len(unpacked)


def lines_of(stream):
    """The lines of a stream, but blank ones that follow each other as one piece, and long ones in pieces without an end."""
    rest = b""
    is_inside = False  # of a line whose beginning was already given
    while block := stream.read1(MOST_LINE):
        block = rest + block
        start, end = 0, block.rfind(b"\n") + 1
        rest = block[end:]
        if is_inside and end:
            start = block.index(b"\n") + 1
            yield block[:start]
            is_inside = False
        for match in _LINES.finditer(block, start, end):
            yield match[0]
        if len(rest) >= MOST_LINE:
            yield rest
            rest, is_inside = b"", True
    if rest:
        yield rest


def split_games(stream):
    """Splits a stream of bytes into games.

    A game begins with a line that is a tag, outside of comments; a comment that is never closed ends with its game,
    where an empty line and an Event tag follow each other. A line that only begins like a tag is left out of the head of
    a game, as python-chess does; behind a result and an empty line it begins one.
    """
    tags, parts, size, tags_size = {}, [], 0, 0
    number = start = behind = 1
    in_comment = in_tag = was_blank = False
    is_new_line = True
    for chunk in lines_of(stream):
        number, behind = behind, behind + chunk.count(b"\n")
        if number == 1 and is_new_line:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")
        starts_line, is_new_line = is_new_line, chunk.endswith(b"\n")
        if not starts_line and in_tag:
            tags_size += len(chunk)  # the rest of a tag without an end
            continue
        in_tag = False
        if starts_line and chunk[:1] == b"[" and (not in_comment or (was_blank and chunk.startswith(b"[Event "))):
            match = _TAG.match(chunk, 0, MOST_TAG)
            has_ended = was_blank and not in_comment and bool(parts) and parts[-2:][0].endswith(_ENDS)
            if match is not None or not parts or has_ended:
                if parts:
                    yield Game(tags, b"".join(parts), start, size > MOST_GAME or tags_size > MOST_TAGS)
                    tags, parts, size, tags_size, in_comment = {}, [], 0, 0, False
                if not tags_size:
                    start = number
                tags_size += len(chunk)
                if match is not None and tags_size <= MOST_TAGS:
                    tags[match[1]] = match[2].replace(b'\\"', b'"')
                in_tag, was_blank = True, False
                continue
        was_blank = starts_line and not chunk.strip()
        if was_blank:
            if not parts or parts[-1] == b"\n":
                continue
            chunk = b"\n"
        if starts_line and not in_comment and (chunk[:1] == b"%" or (chunk[:1] == b";" and not parts)):
            continue  # not PGN, or a remark between two games
        if not parts and not tags_size:
            start = number
        size += len(chunk)
        if size <= MOST_GAME:
            parts.append(chunk)
        if b"{" in chunk or b"}" in chunk:
            opened, closed = chunk.rfind(b"{"), chunk.rfind(b"}")
            in_comment = opened > closed or (in_comment and closed < 0)
    if parts or tags:
        yield Game(tags, b"".join(parts), start, size > MOST_GAME or tags_size > MOST_TAGS)

"""Files, read and written without surprises.

What is written takes its place at once: under its name stands the old file or the whole new one, whatever happens
meanwhile. What is read is a regular file: a pipe or a device would keep its reader waiting for ever.

This is not about chess. It stands in the lowest room, so that every room may import it.
"""

import contextlib
import errno
import json
import os
import re
import stat
import sys
import time

NOT_REGULAR = "not a regular file"
PATIENCE = 2.0  # seconds for others who have the file open


def open_regular(path, flags=os.O_RDONLY):
    """A descriptor of a regular file, as `opener` of Python's `open` too. OSError for anything else, without waiting."""
    quick = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags | quick, 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a FIFO that nobody reads
            raise OSError(errno.EINVAL, NOT_REGULAR, os.fspath(path)) from None
        if isinstance(error, PermissionError) and os.path.isdir(path):  # Windows opens none
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path)) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, NOT_REGULAR, os.fspath(path))


def read_bytes(path):
    """All of a regular file."""
    with open(path, "rb", opener=open_regular) as file:
        return file.read()


def read_text(path):
    """All of a regular file in UTF-8, its line ends as newlines, without the mark that Windows' editors put first."""
    with open(path, encoding="utf-8-sig", opener=open_regular) as file:
        return file.read()


def parse_json(text):
    """What JSON, text or bytes in UTF-8, says; ValueError with a short reason for whatever keeps Python from reading it."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("brackets within brackets within brackets") from None
    except (json.JSONDecodeError, UnicodeError):
        raise
    except ValueError:  # of `int`, whose time is quadratic in the digits
        raise ValueError(_long_number(text)) from None


def _long_number(text):
    """The reason for a number that Python refuses to read, and its line. Digits in a string count, too."""
    limit = sys.get_int_max_str_digits()
    reason = f"a number of more than {limit} digits"
    text = text.decode("utf-8", "replace") if isinstance(text, bytes | bytearray) else text
    found = re.search(rf"[0-9]{{{limit + 1}}}", text)
    return reason if found is None else f"{reason}: line {text.count(chr(10), 0, found.start()) + 1}"


def check_replaceable(path):
    """The permissions of the file at `path`, None if there is none yet. OSError if no file may be put there.

    Only regular files are replaced; symbolic links are followed. A device or a pipe must not be written to, as nothing
    could be taken back after an error, and must never be replaced by a file: without /dev/null no system works.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
            raise FileNotFoundError(errno.ENOENT, "there is no such directory", os.fspath(path)) from None
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, NOT_REGULAR, os.fspath(path))
    return stat.S_IMODE(mode)


def sync_directory(path):
    """Makes new names in a directory durable. Windows has no way to ask for that, some file systems neither."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)


def _take_place(temporary, target):
    """Windows refuses while anybody has the file open: another thread of ours, a virus scanner. That does not last."""
    deadline = time.monotonic() + PATIENCE if os.name == "nt" else 0
    while True:
        try:
            return os.replace(temporary, target)
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


@contextlib.contextmanager
def replacing(path):
    """A binary file to write that takes the place of `path` when the block ends; after an exception all is as before.

    The file at `path` keeps its permissions, and a symbolic link goes on pointing to it. What is written goes to a
    temporary file beside it, which only a killed process leaves behind.
    """
    permissions = check_replaceable(path)
    target = os.path.realpath(path)
    directory = os.path.dirname(target)
    temporary = os.path.join(directory, f".quetzal-{os.urandom(8).hex()}.partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # The process's umask restricts what a new file allows.
    first = 0o666 if permissions is None else permissions & 0o600
    try:
        with open(temporary, "wb", opener=lambda name, _: os.open(name, flags, first)) as file:
            if permissions is not None:
                os.chmod(temporary, permissions)
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_replaceable(path)  # hours may have passed
        _take_place(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None  # the name that the caller knows
        raise
    sync_directory(directory)


def lock_file(file):
    """Holds an open file until it is closed. OSError if another process does."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def replace_file(path, data):
    """Writes bytes, or text as UTF-8, as the whole content of a file."""
    with replacing(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)

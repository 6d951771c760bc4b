"""Folders of files that go with work to other machines, such as endgame tables: too many and too large for a message.

They are sent file by file in pieces, so that nobody ever holds more than a piece in memory, and only to workers that lack
them. There they are stored by their content like other files (pool/uploads.py), and a folder of links to them stands for
the folder at home.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import time
from pathlib import Path
from typing import NamedTuple

from pool.tasks import Unfit
from pool.uploads import (
    UploadError,
    check_name,
    content_of,
    folder_for,
    has_content,
    is_own,
    is_stored,
    private_directory,
)

PIECE = 16 << 20  # bytes
_FORGOTTEN = 3600.0  # seconds after which nobody goes on with a file that is being sent


class Entry(NamedTuple):
    """A file at home. `digest` is None where there is too much to be sent, and so nothing to compare but the size."""

    path: str
    size: int
    digest: str | None

    @property
    def name(self):
        return os.path.basename(self.path)

    @property
    def key(self):
        """What is sent once: the same content under two names, such as two empty files, is stored twice."""
        return self.digest, self.name


class Folder(NamedTuple):
    """What the work calls it, and its files."""

    name: str
    entries: tuple


class Absent(Exception):  # noqa: N818 - nothing is wrong
    """A worker lacks files with these keys, which can be sent."""

    def __init__(self, worker, keys):
        super().__init__(worker, keys)  # as pickle wants to make it again
        self.worker = worker
        self.keys = keys


def measured(folders, most_bytes):
    """The Folders of a work (Work.folders), how many bytes they have, and whether these are few enough to be sent."""
    sizes = {path: os.path.getsize(path) for paths in folders.values() for path in paths}
    total = sum(sizes.values())
    is_sent = total <= most_bytes
    digests = {path: content_of(path) if is_sent else None for path in sizes}
    found = [
        Folder(name, tuple(Entry(path, sizes[path], digests[path]) for path in paths))
        for name, paths in folders.items()
        if paths
    ]
    return found, total, is_sent


def is_here(entry):
    """Is the same file on this machine under the same name? Without a digest the size has to be enough."""
    try:
        status = os.stat(entry.path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != entry.size:
            return False
        return entry.digest is None or has_content(Path(entry.path), status, entry.digest)
    except OSError:
        return False


def stored_path(entry):
    return private_directory() / entry.digest / entry.name


def find_folder(folder, worker):
    """The directories that stand for a folder on this machine, as its name does at home.

    Unfit if there are none and the files are too large to be sent, Absent if they have to be sent.
    """
    if all(map(is_here, folder.entries)):
        # The name may be a relative one, and the worker stands elsewhere.
        return os.pathsep.join(dict.fromkeys(os.path.dirname(entry.path) for entry in folder.entries))
    if any(entry.digest is None for entry in folder.entries):
        raise Unfit(
            f"the files of {folder.name} are missing or others on this worker, and too large to be sent", worker
        )
    absent = [entry.key for entry in folder.entries if not is_stored(stored_path(entry), entry.digest)]
    if absent:
        raise Absent(worker, absent)
    return linked(folder)


def linked(folder):
    """A directory of our own that has just the files of a folder, all of which are stored."""
    parts = sorted((entry.name, entry.digest) for entry in folder.entries)
    place = folder_for(hashlib.sha256(repr(parts).encode()).hexdigest())
    for entry in folder.entries:
        check_name(entry.name)
        path = place / entry.name
        if is_stored(path, entry.digest):
            continue
        beside = place / f".{os.urandom(8).hex()}.partial"
        try:
            try:
                os.link(stored_path(entry), beside)
            except OSError:  # a file system without links
                shutil.copy2(stored_path(entry), beside)
            os.replace(beside, path)
        finally:
            with contextlib.suppress(OSError):  # a link onto the same file is left where it was
                os.unlink(beside)
    return str(place)


def store_piece(sending, data, entry, offset):
    """A piece of a file that is being sent; behind the last one it is used if it is what was announced.

    `sending` tells apart who gets the same file at the same time: several workers of a machine, or several runs.
    """
    check_name(entry.name)
    place = folder_for(entry.digest)
    beside = place / f".{sending}.partial"
    path = stored_path(entry)
    try:
        if offset == 0:
            drop_forgotten()
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()
        flags = os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        flags |= os.O_CREAT | os.O_EXCL if offset == 0 else os.O_APPEND
        with open(os.open(beside, flags, 0o600), "wb") as file:
            if os.fstat(file.fileno()).st_size != offset or not is_own(os.fstat(file.fileno()), kind=stat.S_ISREG):
                raise UploadError(f"a piece of '{entry.name}' is missing")
            file.write(data)
        if offset + len(data) < entry.size:
            return
        if content_of(beside) != entry.digest:
            raise UploadError(f"what was sent as '{entry.name}' is not what was announced")
        os.chmod(beside, 0o700)  # as is_stored wants it of all that is sent
        os.replace(beside, path)
        if not is_stored(path, entry.digest):
            raise UploadError(f"{path} could not be stored")
    except BaseException:  # such as a full disk
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def drop_forgotten():
    """Removes pieces whose sender was killed: nobody else would, and they may be as large as a disk."""
    for path in private_directory().glob("*/.*.partial"):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _FORGOTTEN:
                path.unlink()

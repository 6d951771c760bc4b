"""Files that were sent to a worker: kept where nobody else can put or change one, and used only if they are what was sent."""

import atexit
import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
import threading
from pathlib import Path

_RUNS_BY_NAME = os.name == "nt"  # what may be run is told by a file's name there, and no file has such a right
_LOCK = threading.Lock()
_CHOOSING = threading.Lock()
_CHOSEN = []  # the private directory, once there is one
_CHECKED = {}  # path: what its status was when its content was compared


class UploadError(Exception):
    """What was sent cannot be stored or is not what was announced."""


def is_own(status, *, kind):
    """Is this ours, of this kind, and closed to everybody else? Windows keeps temporary files in the user's profile."""
    if not kind(status.st_mode):
        return False
    return os.name == "nt" or (status.st_uid == os.getuid() and not status.st_mode & 0o077)


def is_made(path):
    """Makes a directory that only this user can enter, unless it is there; False if something else is."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        return is_own(path.lstat(), kind=stat.S_ISDIR)
    except OSError:
        return False


def private_directory():
    """A directory that only this user can enter.

    The usual one is found again by later workers. Its name is known, so another user may have made it first: then a new
    one is made, with a name that nobody knows, and removed when the worker ends. It stays the same one, and is looked at
    each time: what tidies temporary directories up may have removed it.
    """
    with _CHOOSING:
        user = os.getuid() if hasattr(os, "getuid") else "user"
        path = _CHOSEN[0] if _CHOSEN else Path(tempfile.gettempdir()) / f"quetzal-files-{user}"
        if not is_made(path):
            path = Path(tempfile.mkdtemp(prefix="quetzal-files-"))
            atexit.register(shutil.rmtree, path, ignore_errors=True)
        _CHOSEN[:] = [path]
        return path


def content_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_stored(path, digest):
    """Is this file ours alone, and does it have this content?"""
    try:
        status = path.lstat()
    except OSError:
        return False
    if not is_own(status, kind=stat.S_ISREG) or not (_RUNS_BY_NAME or status.st_mode & stat.S_IXUSR):
        return False
    return has_content(path, status, digest)


def has_content(path, status, digest):
    """Has a file with this status this content? It is read once, and again when it has changed."""
    known = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, digest)
    if _CHECKED.get(path) != known:
        if content_of(path) != digest:
            return False
        _CHECKED[path] = known
    return True


def folder_for(digest):
    """The directory of files with this content, closed to others."""
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise UploadError(f"{digest[:64]!r} is no SHA-256")
    folder = private_directory() / digest
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not is_own(folder.lstat(), kind=stat.S_ISDIR):
        raise UploadError(f"{folder} belongs to somebody else or is open to others")
    return folder


def check_name(name):
    """A name that came with a file must not lead anywhere else."""
    if name in ("", ".", "..") or not name.isprintable() or set(name) & set('/\\:"<>|?*'):
        raise UploadError(f"{name!r} is no name for a file")


def store_file(data, digest, name):
    """Puts an uploaded file where it can be read and run, once for each content; returns its path."""
    check_name(name)
    with _LOCK:
        folder = folder_for(digest)
        path = folder / name
        if not is_stored(path, digest):
            if hashlib.sha256(data).hexdigest() != digest:
                raise UploadError(f"what was sent as {name!r} is not what was announced")
            handle, beside = tempfile.mkstemp(dir=folder)  # board.files would follow a link that lies there
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.chmod(beside, 0o700)
                os.replace(beside, path)
            except BaseException:  # such as a full disk
                with contextlib.suppress(OSError):
                    os.unlink(beside)
                raise
            if not is_stored(path, digest):
                raise UploadError(f"{path} could not be stored")
    return str(path)

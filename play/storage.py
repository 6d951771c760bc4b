"""Where games stay: one file each in the user's data directory, written as a whole or not at all."""

import contextlib
import json
import os
import re
import secrets
import sys
import time

from board.files import lock_file, open_regular, parse_json, replace_file

_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}", re.ASCII)
_MOST_BYTES = 8_000_000  # of one game


def data_directory():
    """Where the system's rules want a user's data."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    return os.path.join(base, "quetzal")


def new_name():
    """A name for a game: by it, games sort in the order in which they began, to the millisecond."""
    moment = time.time_ns() // 1_000_000
    clock = time.strftime("%Y%m%d-%H%M%S", time.localtime(moment // 1000))
    return f"{clock}-{moment % 1000:03x}{secrets.randbelow(4096):03x}"


class Store:
    """Games as dicts, each with its `id`. OSError where the disk does not allow it."""

    def __init__(self, directory=None):
        self.directory = os.path.join(directory or data_directory(), "games")
        os.makedirs(self.directory, exist_ok=True)
        self._lock = None

    def lock(self):
        """Keeps other programs away from these games until this one ends. ValueError if one is there already."""
        directory = os.path.dirname(self.directory)
        path = os.path.join(directory, "lock")
        self._lock = open(path, "ab", opener=open_regular)  # noqa: SIM115 - held as long as the program runs
        try:
            lock_file(self._lock)
        except (BlockingIOError, PermissionError):
            self._lock.close()
            raise ValueError(
                f"another Quetzal is playing with the games in {directory}: use its page, or --data DIR"
            ) from None
        except OSError:
            pass  # a file system without locks

    def _path(self, name):
        """ValueError for what is no name of a game: it may have come from a page."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError("there is no such game")
        return os.path.join(self.directory, f"{name}.json")

    def save(self, record):
        replace_file(self._path(record["id"]), json.dumps(record, separators=(",", ":")))

    def load(self, name):
        """ValueError with the reason when the game cannot be read."""
        path = self._path(name)
        try:
            with open(path, encoding="utf-8", opener=open_regular) as file:
                text = file.read(_MOST_BYTES)
        except FileNotFoundError:
            raise ValueError("there is no such game") from None
        try:
            record = parse_json(text)
        except ValueError:
            raise ValueError(f"the file of game {name} is damaged") from None
        if not isinstance(record, dict) or record.get("id") != name:
            raise ValueError(f"the file of game {name} is damaged")
        return record

    def delete(self, name):
        try:
            os.unlink(self._path(name))
        except FileNotFoundError:
            raise ValueError("there is no such game") from None

    def names(self):
        """The newest first."""
        found = (file.removesuffix(".json") for file in os.listdir(self.directory) if file.endswith(".json"))
        return sorted((name for name in found if _NAME.fullmatch(name)), reverse=True)

    def secret(self):
        """A word that only this user can read, the same for every start: it keeps others away from the page."""
        path = os.path.join(os.path.dirname(self.directory), "page-secret")
        with contextlib.suppress(OSError, UnicodeDecodeError):
            with open(path, encoding="ascii", opener=open_regular) as file:
                text = file.read(200).strip()
            if re.fullmatch(r"[0-9a-f]{32}", text) and (os.name == "nt" or os.stat(path).st_mode & 0o077 == 0):
                return text
        text = secrets.token_hex(16)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(text)
        return text

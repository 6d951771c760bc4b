"""The directory of a run: what it is (run.json), every finished game (games.jsonl), and what is made from them.

A game counts when its line is on the disk. Lines are only ever appended, each written and synced as one, so a run that
is killed at any moment can be continued: a line that was cut short is dropped, and its game is played again.
"""

import contextlib
import json
import os
from pathlib import Path

from arena.errors import InputError
from arena.formats import VERSION, check_description, check_record
from arena.pgn import game_text
from arena.repeats import moves_hash
from board.files import lock_file, open_regular, parse_json, read_text, replace_file, replacing, sync_directory

MOST_LOGGED = 256 << 20  # bytes of dialogues that a run keeps in full
SHORT_LOG = 8 << 10  # of the beginning and of the end of those that come later
BULKY = ("moves", "thoughts")  # left on the disk: thousands of games would fill the memory


def slim(record):
    """A record without what only the disk keeps, but with the number of its moves and what tells whether they repeat."""
    kept = {name: value for name, value in record.items() if name not in BULKY}
    return kept | {"plies": len(record["moves"]), "moves_hash": moves_hash(record)}


class Journal:
    """One run's directory, held by one process at a time. `records` are slim; `full_records` reads the others again."""

    def __init__(self, directory, description):
        self.directory = Path(directory)
        self.description = description
        self.records = []
        self.lock = None
        self.file = None
        self.pgn = None
        self.logged = None  # bytes in the directory of failures, counted when the first is added

    @classmethod
    def create(cls, directory, description):
        directory = Path(directory)
        if (directory / "run.json").exists():
            raise InputError("holds a run already; --resume continues it", directory)
        if (directory / "games.jsonl").exists():
            raise InputError("holds games of a run that has lost its run.json", directory)
        journal = cls(directory, {"version": VERSION, **description})
        check_description(journal.description)
        directory.mkdir(parents=True, exist_ok=True)
        journal.hold()
        replace_file(directory / "run.json", json.dumps(journal.description, indent=1) + "\n")
        journal.open()
        sync_directory(directory)
        return journal

    @classmethod
    def resume(cls, directory):
        directory = Path(directory)
        description = read_description(directory)
        journal = cls(directory, description)
        journal.hold()
        try:
            journal.open()
        except BaseException:
            journal.close()
            raise
        return journal

    def update_description(self, **changes):
        changed = {**self.description, **changes}
        check_description(changed)
        self.description.update(changes)
        replace_file(self.directory / "run.json", json.dumps(self.description, indent=1) + "\n")

    def hold(self):
        """Two processes that play the same run would play its games twice."""
        self.lock = open(self.directory / "lock", "ab", opener=open_regular)  # noqa: SIM115 - held as long as the run
        try:
            lock_file(self.lock)
        except OSError:
            self.lock.close()
            raise InputError("another process is playing this run", self.directory) from None

    def open(self):
        """Reads what is there, and opens the files for what comes. Nothing is changed before everything is understood."""
        path = self.directory / "games.jsonl"
        # The PGN file follows from the records; writing it anew repairs one that was cut short.
        with replacing(self.directory / "games.pgn") as file:
            for number, record in read_records(path, [engine["name"] for engine in self.description["engines"]]):
                try:
                    file.write(game_text(record, self.description).encode())
                except ValueError as error:  # a position or a move that is none
                    raise damage(error, path, number) from None
                self.records.append(slim(record))
        drop_cut_line(path)
        self.file = open(path, "ab", opener=open_regular)  # noqa: SIM115 - open as long as the run
        pgn = self.directory / "games.pgn"
        self.pgn = open(pgn, "a", encoding="utf-8", opener=open_regular)  # noqa: SIM115 - likewise

    def full_records(self):
        """All games with moves and thoughts, one after the other from the disk."""
        path = self.directory / "games.jsonl"
        return (record for _, record in read_records(path))

    def add(self, record, log=None):
        """Keeps a finished game, for good when this returns. Returns the record as it was written."""
        if log is not None:
            record = {**record, "log": self.add_log(f"game-{record['game'] + 1}.log", log)}
        self.file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.records.append(slim(record))
        self.pgn.write(game_text(record, self.description))
        self.pgn.flush()
        return record

    def add_log(self, name, text):
        """Keeps the dialogue of a game with a failure. Thousands of long ones would fill the disk, so later ones are cut."""
        folder = self.directory / "failures"
        folder.mkdir(exist_ok=True)
        if self.logged is None:
            self.logged = sum(path.stat().st_size for path in folder.iterdir())
        data = text.encode("utf-8", "backslashreplace")
        if self.logged + len(data) > MOST_LOGGED and len(data) > 2 * SHORT_LOG:
            note = f"\n... cut: the logs of this run hold {MOST_LOGGED >> 20} MB already ...\n".encode()
            data = data[:SHORT_LOG] + note + data[-SHORT_LOG:]
        replace_file(folder / name, data)
        self.logged += len(data)
        return f"failures/{name}"

    def write(self, name, text):
        """A file that is made from the records, such as the report."""
        replace_file(self.directory / name, text)

    def close(self):
        for file in (self.file, self.pgn, self.lock):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()


def damage(error, path, line=None):
    return InputError(f"damaged: {error}", path, line)


def read_description(directory):
    path = Path(directory) / "run.json"
    try:
        description = parse_json(read_text(path))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("there is no run to resume", directory) from None
    except ValueError as error:
        raise damage(error, path) from None
    try:
        check_description(description)
    except ValueError as error:
        raise InputError(str(error), path) from None
    return description


def read_records(path, names=None):
    """Yields the games of a journal, each with its line; checks that they are games between engines of these names.

    A last line that was cut short is left out; anything else that is no game is an InputError.
    """
    if not path.exists():
        return
    seen = set()
    with open(path, "rb", opener=open_regular) as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                record = parse_json(line)
                if names is not None:
                    check_record(record, names)
            except ValueError as error:
                raise damage(error, path, number) from None
            if record["game"] not in seen:
                seen.add(record["game"])
                yield number, record


def drop_cut_line(path):
    """Removes the end of a journal after its last whole line; that game is played again."""
    if not path.exists():
        return
    with open(path, "r+b", opener=open_regular) as file:
        whole = sum(len(line) for line in file if line.endswith(b"\n"))
        if whole < file.seek(0, os.SEEK_END):
            file.truncate(whole)

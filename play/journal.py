"""The journal of a long job whose results come in a known order: what is done so far, one line of JSON for each.

It lies beside the output until that is complete. The first line says what the job is made with; it can only be continued
with the same. A process that is killed loses what it was at: a line that was cut short is dropped. On Windows a locked
byte cannot be read by others, which does not matter: one process reads and writes.
"""

import json
import os
from pathlib import Path

from arena.errors import InputError
from arena.journal import damage, drop_cut_line
from board.files import lock_file, open_regular, parse_json

VERSION = 1
SUFFIX = ".journal"


class Journal:
    """Held by one process at a time. `count` is how many records it has. Subclasses say what a record is."""

    name = "a result"  # what to call a record
    matter = "the input"  # what the records are about, if it has changed

    def __init__(self, output, settings):
        self.path = Path(f"{output}{SUFFIX}")
        self.settings = {"version": VERSION, **settings}
        self.count = 0
        self.file = open(self.path, "a+b", opener=open_regular)  # noqa: SIM115 - open as long as the job
        try:
            self.hold()
            self.read()
        except BaseException:
            self.file.close()
            raise

    def check(self, record):
        """ValueError unless a record is one, and its parts fit together."""
        raise NotImplementedError

    def digest(self, entry):
        """What tells an entry of the input from another one; its record has it as `digest`."""
        raise NotImplementedError

    def place(self, record):
        """Where a record comes from, in words."""
        raise NotImplementedError

    def hold(self):
        try:
            lock_file(self.file)
        except OSError:
            raise InputError("another process is writing it", self.path) from None

    def read(self):
        """What is there already; an empty file begins with the settings. A file of something else stays as it is."""
        known = next(self.lines(), None)
        if known is None:
            self.begin()
        else:
            self.check_all(known)
            drop_cut_line(self.path)

    def begin(self):
        """There may be a part of the first line, of a process that was killed at once."""
        first = line_of(self.settings)
        with open(self.path, "rb", opener=open_regular) as file:
            cut = file.read(len(first))
        if not first.startswith(cut):
            raise damage("no journal", self.path, 1)
        drop_cut_line(self.path)
        self.write(self.settings)

    def check_all(self, known):
        """InputError unless the settings are ours, and every record is one."""
        different = [name for name in {**known, **self.settings} if known.get(name) != self.settings.get(name)]
        if different:
            raise InputError(
                f"was begun with other settings ({', '.join(different)}); repeat them, or delete it to begin again",
                self.path,
            )
        for number, record in enumerate(self.records(), 2):
            try:
                self.check(record)
            except ValueError as error:
                raise damage(error, self.path, number) from None
            self.count += 1

    def lines(self):
        with open(self.path, "rb", opener=open_regular) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    found = parse_json(line)
                except ValueError as error:
                    raise damage(error, self.path, number) from None
                if not isinstance(found, dict):
                    raise damage(f"no record of {self.name}", self.path, number)
                yield found

    def records(self):
        """All of them so far, one after the other from the disk."""
        lines = self.lines()
        next(lines)
        return lines

    def missing(self, entries):
        """Yields the entries behind those that are there. InputError if these are others than the job began with."""
        entries = iter(entries)
        for record in self.records():
            entry = next(entries, None)
            if entry is None or self.digest(entry) != record["digest"]:
                raise InputError(
                    f"{self.matter} have changed since ({self.place(record)}); delete it to begin again", self.path
                )
        yield from entries

    def write(self, found):
        self.file.write(line_of(found))
        self.file.flush()

    def add(self, record):
        self.write(record)
        self.count += 1

    def close(self):
        if not self.file.closed:
            os.fsync(self.file.fileno())
            self.file.close()

    def remove(self):
        """The output is complete."""
        self.file.close()
        self.path.unlink()


def line_of(found):
    return json.dumps(found, separators=(",", ":"), allow_nan=False).encode() + b"\n"

"""Which program an engine's command means, and the processors that games run on."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from book.endgame.table_paths import split_path, table_files
from pool.tasks import Unfit

# Options of UCI engines, whose names are written in any case.
FILE_OPTIONS = ("evalfile", "bookfile")  # their values name files
TABLES_OPTION = "syzygypath"  # its value names directories


def split_command(text, *, windows=os.name == "nt"):
    """The words of a command line. On Windows only double quotes hold words together: a backslash is part of a path, and
    an apostrophe of a name.
    """
    if not windows:
        return shlex.split(text)
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split = True
    lexer.escape = lexer.commenters = ""
    lexer.quotes = '"'
    return list(lexer)


def resolve_command(text, base=None):
    """The words of an engine's command with the program's full path. ValueError if there is no such program.

    A program that is not on the PATH may stand beside the interpreter, as `quetzal` does in a virtual environment. A
    path may be relative to the directory `base`. A path alone needs no quotes, whatever is in it.
    """

    def at_base(path):
        return base is not None and os.path.dirname(path) != "" and os.path.isfile(Path(base) / path)

    # Not Path.is_file: a long command is no name that a system takes, which is an OSError there.
    words = [text] if os.path.isfile(text) or at_base(text) else split_command(text)
    if not words:
        raise ValueError("an engine needs a command")
    if at_base(words[0]):
        words[0] = str(Path(base) / words[0])
    program = shutil.which(words[0]) or shutil.which(words[0], path=str(Path(sys.executable).parent))
    if program is None:
        if os.path.exists(words[0]):
            raise ValueError(f"'{words[0]}' is no program that can be run")
        raise ValueError(f"there is no program '{words[0]}'")
    return [str(Path(program).absolute()), *words[1:]]


def available_cores():
    """The processors that we may use, one of each physical core first."""
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))
    cores = sorted(os.sched_getaffinity(0))
    firsts, seconds, seen = [], [], set()
    for core in cores:
        try:
            siblings = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text("ascii")
        except OSError:
            siblings = str(core)
        (seconds if siblings in seen else firsts).append(core)
        seen.add(siblings)
    return firsts + seconds


def share_cores(slots, cores_per_slot):
    """A list of processors for each of the games that run at once. None if there are too few to give each its own, or
    where a process cannot be tied to one.
    """
    cores = available_cores()
    if not hasattr(os, "sched_setaffinity") or slots * cores_per_slot > len(cores):
        return None
    return [cores[slot * cores_per_slot : (slot + 1) * cores_per_slot] for slot in range(slots)]


def command_at(command, place):
    """An engine's command where a pool does its work: its program may have been sent there. Unfit if it is missing."""
    program, *arguments = command
    found = place.files.get(program, program)
    if place.is_remote and shutil.which(found) is None:
        raise Unfit(f"there is no {program} on this worker")
    return [found, *arguments]


def files_of(command, options, *, upload):
    """What goes with an engine to other machines: networks and books that options name, and with `upload` its program."""
    named = [value for name, value in options.items() if name.lower() in FILE_OPTIONS and os.path.isfile(value or "")]
    return [command[0], *named] if upload else named


def folders_of(options):
    """The directories of tables that go with an engine to other machines, as Work.folders has them."""
    named = [value for name, value in options.items() if name.lower() == TABLES_OPTION]
    return {value: table_files(value) for value in named if value and value != "<empty>"}


def options_at(options, place):
    """An engine's options where a pool does its work: files and tables that they name may have been sent there.

    Unfit if tables are missing.
    """
    return {name: option_at(name.lower(), value, place) for name, value in options.items()}


def option_at(name, value, place):
    if name in FILE_OPTIONS:
        return place.files.get(value, value)
    if name == TABLES_OPTION:
        return tables_at(value, place)
    return value


def tables_at(path, place):
    """The directories of tables where a pool does its work. Unfit if one of them is missing there.

    Engines write no path as <empty>.
    """
    if path in place.files or not place.is_remote:
        return place.files.get(path, path)
    missing = [part for part in split_path("" if path == "<empty>" else path or "") if not os.path.isdir(part)]
    if missing:
        raise Unfit(f"there are no tables in {missing[0]} on this worker")
    return path

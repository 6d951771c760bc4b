"""Where tables are looked for."""

import os
from importlib import resources

from book.endgame.endings import DTZ_SUFFIX, WDL_SUFFIX, split


def shipped_directories():
    """The directory of tables that comes with the package, if there is one."""
    directory = resources.files("book.endgame").joinpath("tables")
    return [os.fspath(directory)] if isinstance(directory, os.PathLike) and directory.is_dir() else []


def split_path(text):
    """The directories of a SyzygyPath: separated by ':', on Windows by ';'."""
    return [part.strip() for part in text.split(os.pathsep) if part.strip()]


def table_files(text, suffixes=(WDL_SUFFIX, DTZ_SUFFIX)):
    """The paths of the tables in the directories of a SyzygyPath; of a file that is there twice the first.

    A directory that cannot be read has none.
    """
    found = {}
    for directory in split_path(text):
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        for name in names:
            if is_table(name, suffixes) and os.path.isfile(os.path.join(directory, name)):
                found.setdefault(name, os.path.abspath(os.path.join(directory, name)))
    return list(found.values())


def is_table(name, suffixes):
    ending, suffix = os.path.splitext(name)
    if suffix not in suffixes:
        return False
    try:
        split(ending)
    except ValueError:
        return False
    return True

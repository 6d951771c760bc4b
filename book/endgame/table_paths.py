"""Where tables are looked for."""

import os
from importlib import resources


def shipped_directories():
    """The directory of tables that comes with the package, if there is one."""
    directory = resources.files("book.endgame").joinpath("tables")
    return [os.fspath(directory)] if isinstance(directory, os.PathLike) and directory.is_dir() else []


def split_path(text):
    """The directories of a SyzygyPath: separated by ':', on Windows by ';'."""
    return [part.strip() for part in text.split(os.pathsep) if part.strip()]

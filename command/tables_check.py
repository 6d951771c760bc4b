"""`quetzal tables check`."""

import hashlib
import os
import re

from board.files import open_regular
from book.endgame.endings import DTZ_SUFFIX, WDL_SUFFIX, endings, men
from book.endgame.syzygy import listed_files
from book.endgame.syzygy_file import MappedTable
from command.progress import Progress

MEGABYTE = 1e6
MOST_NAMES = 30  # in a list of what is missing


def add_arguments(parser):
    parser.add_argument("directory", metavar="DIR", help="where the tables are")
    parser.add_argument("--md5", metavar="LIST", help="a list of checksums, as md5sum writes it")


def read_md5_list(path):
    """Checksums by file name, from lines such as md5sum writes."""
    sums = {}
    with open(path, encoding="utf-8", errors="replace", opener=open_regular) as file:
        for line in file:
            found = re.search(r"\b([0-9a-fA-F]{32})\b", line)
            name = re.search(rf"[KQRBNPv]+(?:{re.escape(WDL_SUFFIX)}|{re.escape(DTZ_SUFFIX)})", line)
            if found and name:
                sums[name[0]] = found[1].lower()
    if not sums:
        raise ValueError(f"{path} lists no tables")
    return sums


def md5_of(path):
    with open(path, "rb", opener=open_regular) as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def problem_of(path, sums):
    """What is wrong with a file, or None."""
    try:
        MappedTable(path).check()
        wanted = None if sums is None else sums.get(os.path.basename(path))
        if wanted is not None and md5_of(path) != wanted:
            return "its MD5 is not that of the list"
    except (OSError, ValueError, MemoryError) as error:
        return getattr(error, "strerror", None) or str(error)
    return None


def named(names):
    names = list(names)
    return " ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def run(options):
    """Checks every file; 1 if one is bad or one of the list is not there."""
    sums = None if options.md5 is None else read_md5_list(options.md5)
    found = list(listed_files(options.directory))
    files = {os.path.basename(path) for _, path in found}
    strangers = {file for file in os.listdir(options.directory) if file.endswith((WDL_SUFFIX, DTZ_SUFFIX))} - files
    bad = 0
    for file in sorted(strangers):
        print(f"{file}: this is not the name of a table")
    progress = Progress("checking", "MB", sum(os.path.getsize(path) for _, path in found) / MEGABYTE)
    for _, path in found:
        problem = problem_of(path, sums)
        progress.advance(os.path.getsize(path) / MEGABYTE, os.path.basename(path))
        if problem is not None:
            bad += 1
            progress.say(f"{os.path.basename(path)}: {problem}")
    progress.clear()
    absent = sorted(set(sums or ()) - files)
    if absent:
        print(f"Listed, but not there: {named(absent)}")
    unlisted = sorted(files - set(sums)) if sums is not None else []
    if unlisted:
        print(f"There, but not listed: {named(unlisted)}")
    for count in range(3, max((men(name) for name, _ in found), default=2) + 1):
        for suffix, kind in ((WDL_SUFFIX, "WDL"), (DTZ_SUFFIX, "DTZ")):
            names = endings(count)
            missing = [name for name in names if name + suffix not in files]
            listing = f", missing: {named(missing)}" if missing else ""
            print(f"{count} men, {kind}: {len(names) - len(missing)} of {len(names)}{listing}")
    if not found:
        print("There are no tables.")
    print(f"{len(found)} files: {len(found) - bad} good, {bad} bad")
    return 1 if bad or absent or strangers or not found else 0

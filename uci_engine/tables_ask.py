"""`quetzal tables probe` and `quetzal tables check`."""

import hashlib
import os
import re
import sys

from board import Board, Termination
from book.endings import DTZ_SUFFIX, MOST_MEN, WDL_SUFFIX, ending_of, endings, men
from book.syzygy import Tables, listed_files
from book.syzygy_file import MappedTable
from book.table_paths import shipped_directories, split_path

SIDES = ("White", "Black")
RESULTS = {
    2: "win",
    1: "win, but the fifty-move rule makes it a draw",
    0: "draw",
    -1: "loss, but the fifty-move rule makes it a draw",
    -2: "loss",
}
MOST_NAMES = 30  # in a list of what is missing


# Probing


def open_tables(path):
    """The tables of a SyzygyPath, or those of the package; problems go to stderr."""
    directories = split_path(path) if path else shipped_directories()
    tables = Tables(directories, on_problem=lambda text: print(f"quetzal tables: {text}", file=sys.stderr))
    if not tables.largest:
        raise ValueError(f"there are no tables in {path}" if path else "there are no tables: say where with --path DIR")
    return tables


class Move:
    """A legal move, as the tables see it: the result for who plays it, and the DTZ of the position it leads to."""

    def __init__(self, tables, board, move):
        self.san = board.san(move)
        board.push(move)
        outcome = board.outcome()
        self.is_mate = outcome is not None and outcome.termination is Termination.CHECKMATE
        self.is_stalemate = outcome is not None and outcome.termination is Termination.STALEMATE
        self.is_zeroing = board.halfmove_clock == 0
        result = tables.wdl(board)
        self.result = None if result is None else -result
        self.dtz = tables.dtz(board)
        board.pop()

    def order(self):
        """Best first: the better result, mates, then quick wins and long losses."""
        if self.result is None:
            return (3, 0, 0, self.san)
        distance = abs(self.dtz or 0) if not self.is_zeroing else 0
        return (-self.result, not self.is_mate, distance if self.result > 0 else -distance, self.san)

    def words(self):
        if self.is_mate:
            return "checkmate"
        if self.is_stalemate:
            return "stalemate"
        return "unknown" if self.result is None else RESULTS[self.result]

    def line(self, width):
        dtz = "" if self.dtz is None or self.is_mate else str(abs(self.dtz))
        return (
            f"{self.san:{width}}  {dtz:>4}  {self.words()}{' (zeroes the clock)' if self.is_zeroing else ''}".rstrip()
        )


def probe_lines(tables, board):
    """What a position is worth and what each of its moves does. ValueError where the tables do not know."""
    name = ending_of(board.fen())
    wdl = tables.wdl(board)
    if wdl is None:
        if board.fen().split()[2] != "-":
            raise ValueError("tables know no positions with castling rights")
        if men(name) > MOST_MEN:
            raise ValueError(f"there are {men(name)} men on the board, and no tables for more than {MOST_MEN}")
        raise ValueError(f"no table here knows this position of {name}")
    dtz = tables.dtz(board)
    yield str(board)
    yield ""
    yield f"Ending: {name}, {SIDES[board.turn]} to move"
    yield f"WDL: {wdl} ({RESULTS[wdl]})"
    yield f"DTZ: {'unknown' if dtz is None else dtz}"
    moves = sorted((Move(tables, board, move) for move in board.legal_moves()), key=Move.order)
    if not moves:
        yield "No legal moves: " + ("checkmate" if board.is_check() else "stalemate")
        return
    width = max(len(move.san) for move in moves)
    yield ""
    yield f"{'Move':{width}}   DTZ  result"
    for move in moves:
        yield move.line(width)


def run_probe(options):
    board = Board(options.fen)
    for line in probe_lines(open_tables(options.path), board):
        print(line)


# Checking


def read_md5_list(path):
    """Checksums by file name, from lines such as md5sum writes."""
    sums = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.search(r"\b([0-9a-fA-F]{32})\b", line)
            name = re.search(rf"[KQRBNPv]+(?:{re.escape(WDL_SUFFIX)}|{re.escape(DTZ_SUFFIX)})", line)
            if found and name:
                sums[name[0]] = found[1].lower()
    if not sums:
        raise ValueError(f"{path} lists no tables")
    return sums


def md5_of(path):
    with open(path, "rb") as file:
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


def run_check(options):
    """Checks every file; 1 if one is bad or one of the list is not there."""
    sums = None if options.md5 is None else read_md5_list(options.md5)
    found = list(listed_files(options.directory))
    files = {os.path.basename(path) for _, path in found}
    strangers = {file for file in os.listdir(options.directory) if file.endswith((WDL_SUFFIX, DTZ_SUFFIX))} - files
    is_seen = sys.stderr.isatty()
    bad = 0
    for file in sorted(strangers):
        print(f"{file}: this is not the name of a table")
    for number, (_, path) in enumerate(found, 1):
        if is_seen:
            print(f"\r{number}/{len(found)} {os.path.basename(path):20}", end="", file=sys.stderr)
        problem = problem_of(path, sums)
        if problem is not None:
            bad += 1
            print(f"{os.path.basename(path)}: {problem}")
    if is_seen:
        print(file=sys.stderr)
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

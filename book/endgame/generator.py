"""Makes table files: which endings, in which order, on how many threads, within how much memory."""

import functools
import os
import shutil
import tempfile
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from board.files import open_regular, replace_file
from book.endgame.endings import DTZ_SUFFIX, WDL_SUFFIX, endings, men, normalised, split
from book.endgame.retrograde import Ending
from book.endgame.retrograde_index import PositionIndex, needed, successors
from book.endgame.table_writer import (
    DTZ_MAGIC,
    WDL_MAGIC,
    dtz_file,
    dtz_table,
    largest_table,
    parts,
    wdl_file,
    wdl_table,
)

MOST_MEN = 5
MEGABYTE = 1 << 20
OWN_MEMORY = 64 * MEGABYTE  # the program itself
PAIR_MEMORY = 128 * MEGABYTE  # counting pairs
FIFTY_MOVES = 100
MOST_PLIES = 510
MOST_AT_ONCE = 1 << 22  # positions between two chances to stop
# Shares of an ending's time, for the progress bar.
SOLVING = 0.5


class GenerateError(ValueError):
    """Why tables cannot be made."""


def checked_names(words):
    """The endings that were asked for, spelt as files are. Anything doubtful is refused before work begins."""
    names = []
    for word in words:
        try:
            first, second = split(word)
        except ValueError as error:
            raise GenerateError(f"{error}, and KRPvKR another") from None
        if len(first) + len(second) == 2:
            raise GenerateError(f"'{word}' needs no table: bare kings are a draw")
        name = normalised(word)
        if men(name) > MOST_MEN:
            raise GenerateError(f"'{word}' has {men(name)} men: tables of up to {MOST_MEN} can be made")
        if name in names:
            raise GenerateError(f"'{word}' is named twice" + (f" (it is {name})" if word != name else ""))
        names.append(name)
    return names


def all_endings(most):
    """Every ending with three to so many men."""
    return [name for count in range(3, most + 1) for name in endings(count)]


def is_table(path, magic):
    """A whole file of that kind, as far as a glance can tell."""
    try:
        size = os.path.getsize(path)
        with open(path, "rb", opener=open_regular) as stream:
            return size % 64 == 16 and stream.read(4) == magic
    except OSError:
        return False


def is_done(folder, name):
    return is_table(folder / (name + WDL_SUFFIX), WDL_MAGIC) and is_table(folder / (name + DTZ_SUFFIX), DTZ_MAGIC)


@functools.cache
def _size(name):
    """Numbers that our numbering of an ending has, for one side to move."""
    return PositionIndex(name).size


def positions(name):
    """Numbers of positions, both sides to move together."""
    return 2 * _size(name)


def solving_memory(name):
    """Bytes for both sides' values, the outcomes of smaller endings and those of this one."""
    return OWN_MEMORY + 5 * _size(name) + sum(_size(other) for other in successors(name))


def writing_memory(name, threads):
    """Bytes for the values, the outcomes, and for every thread a table and the counts of its pairs."""
    return OWN_MEMORY + 5 * _size(name) + threads * (2 * largest_table(name) + PAIR_MEMORY)


def resolving_memory(name):
    """Bytes if a smaller ending has to be solved once more while the others wait: after an interruption, or forgotten."""
    others = successors(name)
    outcomes = sum(map(_size, others))
    return max((solving_memory(other) + outcomes - _size(other) for other in others), default=0)


def memory_needed(name, threads):
    return max(solving_memory(name), writing_memory(name, threads), resolving_memory(name))


def disk_needed(name):
    """A generous guess at the size of both files: few endings take more than a bit for a position."""
    return positions(name) // 6 + 4096


class Workers:
    """Threads for the compiled parts, while this one keeps an ear for Ctrl-C and draws the progress."""

    def __init__(self, threads, tick):
        self.threads = threads
        self.tick = tick
        self._pool = ThreadPoolExecutor(threads)

    def run(self, calls, stop):
        """Results of all calls, in order. If one fails or the user interrupts, `stop` is called and all are awaited."""
        futures = [self._pool.submit(call) for call in calls]
        waiting = set(futures)
        try:
            while waiting:
                _, waiting = wait(waiting, timeout=0.2, return_when=FIRST_EXCEPTION)
                failed = [future for future in futures if future.done() and future.exception() is not None]
                if failed:
                    failed[0].result()
                self.tick()
            return [future.result() for future in futures]
        except BaseException:
            stop()
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def over_ranges(self, method, first, last, stop):
        """Calls `method(a, b)` on parts of a range, and returns the results."""
        parts = max(8 * self.threads if self.threads > 1 else 1, (last - first) // MOST_AT_ONCE)
        # Whole multiples of 64 keep threads out of each other's cache lines.
        step = max(64, -(-(last - first) // parts) // 64 * 64 + 64)
        bounds = [(at, min(at + step, last)) for at in range(first, last, step)]
        return self.run([lambda bound=bound: method(*bound) for bound in bounds], stop)

    def close(self):
        self._pool.shutdown()


def solve(ending, workers):
    """Solves all slices of an ending."""
    if ending.slices > 1:
        for level in ending.levels():
            # One call for many small slices: a level of three pawns has hundreds.
            share = max(1, -(-len(level) // (8 * workers.threads)))
            groups = [level[at : at + share] for at in range(0, len(level), share)]
            workers.run([lambda group=group: _solve_all(ending, group) for group in groups], ending.stop)
        return
    size = ending.size
    workers.over_ranges(ending.begin, 0, size, ending.stop)
    workers.over_ranges(ending.settle, 0, size, ending.stop)
    plies = 1
    while plies < MOST_PLIES:
        changed = 0
        if plies == FIFTY_MOVES + 1:
            changed += sum(workers.over_ranges(ending.seed_cursed, 0, size, ending.stop))
        changed += sum(
            workers.over_ranges(lambda first, last, plies=plies: ending.step(plies, first, last), 0, size, ending.stop)
        )
        if changed == 0 and plies > FIFTY_MOVES:
            return
        plies = plies + 1 if changed or plies < 2 else FIFTY_MOVES + 1
    raise OverflowError(f"{ending.name} has wins in more than {MOST_PLIES} plies")


def _solve_all(ending, numbers):
    for number in numbers:
        ending.solve_slice(number)


class Generator:
    """Solves endings and writes their files; keeps what was solved as long as memory allows.

    `report(name, share)` is called several times a second with the share of the ending that is done, from 0 to 1.
    """

    def __init__(self, folder=None, threads=1, memory=3000 * MEGABYTE, report=lambda name, share: None):
        self.folder = None if folder is None else Path(folder)
        self.memory = memory
        self.report = report
        self.threads = threads
        self._workers = Workers(threads, self._tick)
        self._outcomes = {}  # of solved endings
        self._share = lambda: 0.0
        self._name = None

    def _tick(self):
        self.report(self._name, self._share())

    def plan(self, names):
        """What is to be made, after everything that could prevent it has been looked at."""
        folder = self.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise GenerateError(f"cannot write to {folder}: {error.strerror}") from None
        todo = [name for name in needed(names) if not is_done(folder, name)]
        for name in todo:
            self.check_memory(name, memory_needed(name, self.threads))
        space = sum(disk_needed(name) for name in todo)
        free = shutil.disk_usage(folder).free
        if space > free:
            raise GenerateError(
                f"{folder} has {free // MEGABYTE} MB left, the tables may take {-(-space // MEGABYTE)} MB"
            )
        return todo

    def check_memory(self, name, needed):
        if needed > self.memory:
            wanted = -(-needed // MEGABYTE)
            raise GenerateError(
                f"{name} needs {wanted} MB of memory, but only {self.memory // MEGABYTE} are allowed; "
                f"try --memory {wanted}"
            )

    def solved(self, name, keep=()):
        """An ending with all positions solved. What it leads to is solved before, unless it is still remembered.

        The outcomes of the endings to `keep` are not forgotten meanwhile.
        """
        smaller = successors(name)
        keep = {*keep, *smaller}
        for other in smaller:
            if other not in self._outcomes:
                self._remember(self.solved(other, keep))
            self._outcomes[other] = self._outcomes.pop(other)  # used last, forgotten last
        self._make_room(solving_memory(name), smaller, keep)
        ending = Ending(name, {other: self._outcomes[other] for other in smaller})
        self._watch(name, lambda: SOLVING * min(1.0, ending.visited / ending.size))
        solve(ending, self._workers)
        ending.forget_links()
        return ending

    def outcomes(self, name):
        """Who wins in an ending that was solved lately, or None if it has been forgotten."""
        return self._outcomes.get(name)

    def _watch(self, name, share):
        self._name, self._share = name, share

    def _remember(self, ending):
        self._outcomes[ending.name] = ending.outcomes()

    def _make_room(self, wanted, counted, keep):
        """Forgets outcomes, the longest unused first, that memory has no room for; those `counted` are in `wanted`."""
        for name in list(self._outcomes):
            others = sum(found.size for other, found in self._outcomes.items() if other not in counted)
            if others + wanted <= self.memory:
                return
            if name not in keep:
                del self._outcomes[name]

    def tables(self, name, later=()):
        """Solves an ending; returns what its two files hold. `later` are endings still to be made."""
        ending = self.solved(name)
        if any(name in successors(other) for other in later):
            self._remember(ending)
        self._make_room(writing_memory(name, self.threads), (name,), (name,))
        calls = [(kind, *part) for kind in (wdl_table, dtz_table) for part in parts(name)]
        finished = []

        def table(kind, side, file):
            found = kind(ending, side, file, ending.check)
            finished.append(side)
            return found

        self._watch(name, lambda: SOLVING + (1 - SOLVING) * len(finished) / len(calls))
        tables = self._workers.run([lambda call=call: table(*call) for call in calls], ending.stop)
        count = len(parts(name))
        outcomes = wdl_file(name, dict(zip(parts(name), tables[:count], strict=True)))
        distances = dtz_file(name, dict(zip(parts(name), tables[count:], strict=True)))
        return outcomes, distances

    def make(self, name, later=()):
        """Solves an ending and writes its two files; returns their sizes."""
        return self.write(name, *self.tables(name, later))

    def write(self, name, outcomes, distances):
        """The distances last: an ending whose second file is there is complete."""
        write_table(self.folder / (name + WDL_SUFFIX), outcomes)
        write_table(self.folder / (name + DTZ_SUFFIX), distances)
        return len(outcomes), len(distances)

    def close(self):
        self._workers.close()


def write_table(path, data):
    try:
        replace_file(path, data)
    except OSError as error:
        raise GenerateError(f"cannot write {path}: {error.strerror}; no part of it is left") from None

# cython: overflowcheck=False
"""Syzygy endgame tables: finds the files, opens those that are needed, answers who wins and how far it is.

Tables leave out what a short search finds, so probing is a little search: a table may hold anything for a position
whose best move is a capture, and knows nothing of en passant. Results are from the side to move:

     2 won    1 won, but the fifty-move rule saves the opponent ("cursed")    0 drawn    -1 lost, but saved    -2 lost

DTZ, the distance to zeroing, is the number of plies to the next capture or pawn move with best play, with the sign of
the result; cursed wins and blessed losses count from 101. It may be one too high: some tables count moves, not plies.
"""

import os
import threading

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.bits import find_shared, pop_lsb, share
from cython.cimports.board.movegen import ALL_MOVES, QUIET_MOVES, TACTICAL_MOVES, generate
from cython.cimports.board.position import ConstPosition, Position, make_move, pieces
from cython.cimports.board.types import (
    BLACK,
    MAX_MOVES,
    PAWN,
    Move,
    is_capture,
    move_from,
    piece_kind,
    u8,
    u64,
)
from cython.cimports.book.endgame.syzygy_file import (
    DAMAGED,
    DTZ,
    LOSS_IN_PLIES,
    MAPPED,
    STORED_SIDE,
    UNREADABLE,
    WDL,
    WIDE_MAP,
    WIN_IN_PLIES,
    MappedTable,
    Subtable,
    decode,
    read16,
)
from cython.cimports.book.endgame.syzygy_layout import Material, index_of, leading_file, material_key, set_material
from cython.cimports.libc.stdlib import calloc, free

from book.endgame.endings import DTZ_SUFFIX, WDL_SUFFIX, men

_KINDS = {WDL_SUFFIX: WDL, DTZ_SUFFIX: DTZ}

# What the table did not store on this side: whoever asked must look a ply further.
_OTHER_SIDE = cython.declare(cython.int, UNKNOWN + 1)


# Finding a position's value in the files


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _first_slot(key: u64) -> cython.int:
    # Fibonacci hashing: the golden ratio spreads what differs in a few bits only.
    return cython.cast(cython.int, (key * cython.cast(u64, 0x9E3779B97F4A7C15)) >> 51)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _call_open(collection: cython.pointer(Collection), entry: cython.int, kind: cython.int) -> cython.void:
    with cython.gil:
        cython.cast(Tables, collection.owner)._open(entry, kind)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _call_drop(
    collection: cython.pointer(Collection), entry: cython.int, kind: cython.int, value: cython.int
) -> cython.void:
    with cython.gil:
        why = "it is damaged inside" if value != UNREADABLE else "it cannot be read any more"
        cython.cast(Tables, collection.owner)._drop(entry, kind, why)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _look_up(
    collection: cython.pointer(Collection), position: cython.pointer(ConstPosition), kind: cython.int, wdl: cython.int
) -> cython.int:
    """What the file says: the result, or for a known result the DTZ without its sign. UNKNOWN, or _OTHER_SIDE."""
    key: u64 = material_key(position)
    if key == 0:
        return 0  # bare kings
    number: cython.int = _first_slot(key)
    while collection.slots[number].key != key:
        if collection.slots[number].key == 0:
            return UNKNOWN
        number = (number + 1) & (SLOTS - 1)
    entry: cython.pointer(Entry) = cython.address(collection.entries[collection.slots[number].entry])
    if not entry.exists[kind]:
        return UNKNOWN
    file: cython.pointer(TableFile) = cython.cast(
        cython.pointer(TableFile), find_shared(cython.address(entry.files[kind]))
    )
    if file == cython.NULL:
        _call_open(collection, collection.slots[number].entry, kind)
        file = cython.cast(cython.pointer(TableFile), find_shared(cython.address(entry.files[kind])))
    if file == cython.address(collection.broken) or file == cython.NULL:
        return UNKNOWN

    # Seen so that the first-named side is White; with equal sides, so that White is to move.
    is_mirrored: cython.bint = collection.slots[number].is_mirrored
    if file.material.is_symmetric:
        is_mirrored = position.turn == BLACK
    flip: cython.int = 56 if is_mirrored else 0
    side: cython.int = position.turn ^ is_mirrored
    squares: u8[8]
    count: cython.int = 0
    men: u64
    which: cython.int = 0
    if file.material.lead_pawns:
        men = pieces(position, file.material.lead_colour ^ is_mirrored, PAWN)
        while men:
            squares[count] = pop_lsb(cython.address(men)) ^ flip
            count += 1
        which = leading_file(squares, count)
    subtable: cython.pointer(Subtable) = cython.address(file.subtables[which][side if file.sides == 2 else 0])
    if (
        kind == DTZ
        and (subtable.flags & STORED_SIDE) != side
        and not (file.material.is_symmetric and file.material.lead_pawns == 0)
    ):
        return _OTHER_SIDE
    while count < subtable.layout.men:
        code: cython.int = subtable.layout.pieces[count]
        men = pieces(position, (code >> 3) ^ is_mirrored, (code & 7) - 1)
        while men:
            squares[count] = pop_lsb(cython.address(men)) ^ flip
            count += 1
    value: cython.int = decode(subtable, index_of(cython.address(subtable.layout), squares))
    if kind == WDL:
        if 0 <= value <= 4:
            return value - 2
    elif value >= 0:
        # Lists for wins, losses, cursed wins and blessed losses, in this order.
        listed: cython.int = 0 if wdl == 2 else 1 if wdl == -2 else 2 if wdl == 1 else 3
        if subtable.flags & MAPPED:
            if value >= subtable.map_counts[listed]:
                value = DAMAGED
            elif subtable.flags & WIDE_MAP:
                value = read16(subtable.maps[listed] + 2 * value)
            else:
                value = subtable.maps[listed][value]
        if value != DAMAGED:
            if listed >= 2 or not subtable.flags & (WIN_IN_PLIES if listed == 0 else LOSS_IN_PLIES):
                value *= 2
            return value + (101 if listed >= 2 else 1)
    _call_drop(collection, collection.slots[number].entry, kind, value)
    return UNKNOWN


# Win, draw, loss


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_captures(
    collection: cython.pointer(Collection),
    position: cython.pointer(ConstPosition),
    alpha: cython.int,
    beta: cython.int,
) -> cython.int:
    """The result of a position, searched with a window: captures first, then the table. UNKNOWN if any of it is."""
    moves: Move[MAX_MOVES]
    child: Position
    count: cython.int = generate(position, moves, TACTICAL_MOVES)
    captures: cython.int = 0
    index: cython.int
    value: cython.int
    best: cython.int = -2
    for index in range(count):
        if not is_capture(moves[index]):
            continue
        captures += 1
        make_move(position, cython.address(child), moves[index])
        value = _search_captures(collection, cython.address(child), -beta, -alpha)
        if value == UNKNOWN:
            return UNKNOWN
        value = -value
        if value > best:
            best = value
            if value >= beta:
                return value
            if value > alpha:
                alpha = value
    # Where nothing but captures can be played the table is not asked: en passant may be all that there is.
    if captures and captures == count and generate(position, moves, QUIET_MOVES) == 0:
        return best
    value = _look_up(collection, position, WDL, 0)
    if value == UNKNOWN:
        return UNKNOWN
    return best if captures and best > value else value


def probe_wdl(collection, position):
    """-2 to 2 for the side to move, or UNKNOWN."""
    if position.castling_rooks:
        return UNKNOWN
    return _search_captures(cython.cast(cython.pointer(Collection), collection), position, -2, 2)


# Distance to zeroing


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_zeroing(position: cython.pointer(ConstPosition), move: Move) -> cython.bint:
    return is_capture(move) or piece_kind(position.squares[move_from(move)]) == PAWN


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _zeroing_dtz(wdl: cython.int) -> cython.int:
    """The DTZ of a position whose best move zeroes the clock, by its result."""
    if wdl == 2:
        return 1
    if wdl == 1:
        return 101
    if wdl == -1:
        return -101
    return -1 if wdl == -2 else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_dtz(collection: cython.pointer(Collection), position: cython.pointer(ConstPosition)) -> cython.int:
    moves: Move[MAX_MOVES]
    replies: Move[MAX_MOVES]
    child: Position
    count: cython.int = generate(position, moves, ALL_MOVES)
    zeroing: cython.int = 0
    index: cython.int
    value: cython.int
    best: cython.int = -2
    # First the moves that zero the clock: if one of them keeps the result, the distance is known.
    for index in range(count):
        if not _is_zeroing(position, moves[index]):
            continue
        zeroing += 1
        make_move(position, cython.address(child), moves[index])
        value = _search_captures(collection, cython.address(child), -2, 2)
        if value == UNKNOWN:
            return UNKNOWN
        if -value > best:
            best = -value
            if best == 2:
                return 1
    if zeroing and zeroing == count:
        return _zeroing_dtz(best)
    wdl: cython.int = _look_up(collection, position, WDL, 0)
    if wdl == UNKNOWN:
        return UNKNOWN
    if zeroing and best >= wdl:
        wdl = best
        if wdl > 0:
            return _zeroing_dtz(wdl)
    if wdl == 0:
        return 0

    value = _look_up(collection, position, DTZ, wdl)
    if value == UNKNOWN:
        return UNKNOWN
    if value != _OTHER_SIDE:
        return value if wdl > 0 else -value

    # The table has the other side to move: the best of the distances one ply on. Wins are short, losses long.
    shortest: cython.int = UNKNOWN
    for index in range(count):
        make_move(position, cython.address(child), moves[index])
        if _is_zeroing(position, moves[index]):
            value = _search_captures(collection, cython.address(child), -2, 2)
            if value == UNKNOWN:
                return UNKNOWN
            value = _zeroing_dtz(-value)
        else:
            value = _search_dtz(collection, cython.address(child))
            if value == UNKNOWN:
                return UNKNOWN
            value = -value
            if value == 1 and child.checkers and generate(cython.address(child), replies, ALL_MOVES) == 0:
                return 1  # mate
            if value != 0:
                value += 1 if value > 0 else -1
        if (value > 0) == (wdl > 0) and value != 0 and value < shortest:
            shortest = value
    return -1 if shortest == UNKNOWN else shortest  # without a move it is mate


def probe_dtz(collection, position):
    """Plies to the next zeroing move, with the sign of the result; 0 for a draw; UNKNOWN."""
    if position.castling_rooks:
        return UNKNOWN
    return _search_dtz(cython.cast(cython.pointer(Collection), collection), position)


# The collection


def listed_files(directory):
    """The tables in a directory, as pairs of ending and path. OSError if it cannot be read."""
    probe: Material
    for file in sorted(os.listdir(directory)):
        name, suffix = os.path.splitext(file)
        if suffix not in _KINDS:
            continue
        try:
            set_material(cython.address(probe), name)
        except ValueError:
            continue
        yield name, os.path.join(directory, file)


@cython.final
@cython.cclass
class Tables:
    """All tables of some directories; of a file that is there twice the first is taken.

    Files are opened when a position first asks for them. One that cannot be used is reported once, to `on_problem` and
    in `problems`, and its ending is unknown from then on; so is a directory that cannot be read.
    """

    def __cinit__(self):
        self.collection = cython.cast(cython.pointer(Collection), calloc(1, cython.sizeof(Collection)))
        if self.collection == cython.NULL:
            raise MemoryError("no memory for a list of tables")

    def __init__(self, directories, on_problem=None):
        self.collection.owner = cython.cast(cython.p_void, self)
        self.on_problem = on_problem
        self.lock = threading.Lock()
        self.problems = []
        self.paths = []
        self.opened = {}
        self.dropped = []
        self.numbers = {}
        material: Material
        number: cython.int
        for directory in directories:
            try:
                found = list(listed_files(directory))
            except OSError as error:
                self._report(f"no tables from {directory}", error)
                continue
            for name, path in found:
                number = self.numbers.setdefault(name, len(self.paths))
                if number == len(self.paths):
                    self.paths.append(([], []))
                    set_material(cython.address(material), name)
                    self._insert(material.key, number, False)
                    if not material.is_symmetric:
                        self._insert(material.mirrored_key, number, True)
                kind = _KINDS[os.path.splitext(path)[1]]
                self.paths[number][kind].append(path)
                self.collection.entries[number].exists[kind] = True
        self.counts = tuple(sum(bool(both[kind]) for both in self.paths) for kind in (WDL, DTZ))
        self.largest = max((men(name) for name, number in self.numbers.items() if self.paths[number][WDL]), default=0)

    def __dealloc__(self):
        free(self.collection)

    def _insert(self, key, entry, is_mirrored):
        number: cython.int = _first_slot(key)
        while self.collection.slots[number].key != 0:
            number = (number + 1) & (SLOTS - 1)
        self.collection.slots[number].key = key
        self.collection.slots[number].entry = entry
        self.collection.slots[number].is_mirrored = is_mirrored

    def _open(self, entry, kind):
        """Opens an ending's first usable file; called by the thread that needs it, while others may want the same."""
        place: cython.pointer(cython.p_void) = cython.address(self.collection.entries[entry].files[kind])
        with self.lock:
            if find_shared(place) != cython.NULL:
                return
            for path in self.paths[entry][kind]:
                try:
                    table: MappedTable = MappedTable(path)
                except (OSError, ValueError, MemoryError) as error:
                    self._report(f"table {path} is not used", error)
                    continue
                self.opened[entry, kind] = table
                share(place, cython.cast(cython.p_void, cython.address(table.table)))
                return
            share(place, cython.cast(cython.p_void, cython.address(self.collection.broken)))

    def _drop(self, entry, kind, why):
        """A file turned out to be of no use. It stays mapped, as other threads may be reading it."""
        place: cython.pointer(cython.p_void) = cython.address(self.collection.entries[entry].files[kind])
        with self.lock:
            table: MappedTable = self.opened.pop((entry, kind), None)
            if table is None:
                return
            self.dropped.append(table)
            share(place, cython.cast(cython.p_void, cython.address(self.collection.broken)))
            if table.is_cut:
                why = "it was cut short by another program"
            self._report(f"table {table.path} is not used any more", why)

    def drop_cut_files(self) -> None:
        """Stops using files that have become shorter. Reading behind their end is noticed at once, but not in the page
        where they end now: there are zeros, which look like values.
        """
        for (entry, kind), table in list(self.opened.items()):
            if table.is_cut:
                self._drop(entry, kind, "")

    def _report(self, what, why):
        text = f"{what}: {getattr(why, 'strerror', None) or why}"
        self.problems.append(text)
        if self.on_problem is not None:
            self.on_problem(text)

    # Questions

    @property
    def endings(self) -> set:
        """The endings whose results are known."""
        return {name for name, number in self.numbers.items() if self.paths[number][WDL]}

    def wdl(self, board: Board) -> int | None:
        """The result for the side to move, -2 to 2, or None where it is not known."""
        value: cython.int = probe_wdl(self.collection, board.current())
        return None if value == UNKNOWN else value

    def dtz(self, board: Board) -> int | None:
        """Plies to the next zeroing move, below zero for a loss, 0 for a draw, or None where it is not known."""
        value: cython.int = probe_dtz(self.collection, board.current())
        return None if value == UNKNOWN else value

"""The transposition table and the move picker from Python, for tests: the engine itself never comes through here."""

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import ConstPosition, Position, make_move
from cython.cimports.board.types import MAX_MOVES, NO_MOVE, Move, i16, is_tactical, u64
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.search.history import HISTORY_LIMIT, NO_ROW, Histories, MoveContext, quiet_score, reward_quiet
from cython.cimports.search.picker import Picker, next_move, pick_all, pick_tactical
from cython.cimports.search.platform import load_word, store_word
from cython.cimports.search.tt import (
    BUCKET_BYTES,
    BUCKET_ENTRIES,
    EXACT,
    TTEntry,
    TTHit,
    tt_allocate,
    tt_hashfull,
    tt_new_search,
    tt_probe,
    tt_release,
    tt_store,
    tt_wipe,
)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)  # bits that are shifted out are meant to be lost
def _random(state: cython.pointer(u64)) -> u64:
    """Xorshift: enough to try many things in an order that can be repeated. The state must not be 0."""
    value: u64 = state[0]
    value ^= value << 13
    value ^= value >> 7
    value ^= value << 17
    state[0] = value
    return value


@cython.final
@cython.cclass
class TableBench:
    """A transposition table of one's own. `probe` answers with the fields of `TTHit` as a dict."""

    def __cinit__(self, megabytes: int = 1):
        if not tt_allocate(cython.address(self.table), megabytes):
            raise MemoryError(f"no memory for a table of {megabytes} MB")

    def __dealloc__(self):
        tt_release(cython.address(self.table))

    @property
    def size(self) -> int:
        """Bytes."""
        return self.table.buckets * BUCKET_BYTES

    @property
    def buckets(self) -> int:
        return self.table.buckets

    @property
    def generation(self) -> int:
        return self.table.generation

    def resize(self, megabytes: int):
        if not tt_allocate(cython.address(self.table), megabytes):
            raise MemoryError(f"no memory for a table of {megabytes} MB")

    def clear(self, parts: int = 1):
        for part in range(parts):
            tt_wipe(cython.address(self.table), part, parts)

    def new_search(self):
        """What the searcher does before each search."""
        tt_new_search(cython.address(self.table))

    def hashfull(self) -> int:
        return tt_hashfull(cython.address(self.table))

    def store(self, key, *, move=0, score=0, evaluation=0, depth=0, bound=3, ply=0, was_pv=False):
        tt_store(cython.address(self.table), key, ply, move, score, evaluation, depth, bound, was_pv)

    def probe(self, key, *, ply=0, halfmove_clock=0) -> dict:
        return tt_probe(cython.address(self.table), key, ply, halfmove_clock)

    def _place(self, bucket, slot) -> int:
        if not (0 <= bucket < self.buckets and 0 <= slot < BUCKET_ENTRIES):
            raise IndexError("there is no such entry")
        return bucket * BUCKET_ENTRIES + slot

    def words(self, bucket, slot) -> tuple:
        """The two words of an entry: `check` and `data`."""
        place: u64 = self._place(bucket, slot)
        entry: cython.pointer(TTEntry) = self.table.entries + place
        return load_word(cython.address(entry.check)), load_word(cython.address(entry.data))

    def overwrite(self, bucket, slot, check, data):
        """Writes both words as they are, which no search does: to make entries that two writers have torn."""
        place: u64 = self._place(bucket, slot)
        entry: cython.pointer(TTEntry) = self.table.entries + place
        store_word(cython.address(entry.check), check)
        store_word(cython.address(entry.data), data)

    def hammer(self, seed: int, rounds: int, keys: int) -> tuple:
        """Writes and reads entries of few keys that share a bucket, as fast as it goes and without the interpreter lock.

        All fields of what is written follow from the move, so that a mixture of two writes would be seen. Returns how
        often a key was found, and how often what was found did not fit together.
        """
        state: u64 = seed
        left: cython.int = rounds
        number: u64 = keys
        hits: u64 = 0
        wrong: u64 = 0
        key: u64
        noise: u64
        move: cython.int
        found: TTHit
        if seed <= 0 or keys <= 0:
            raise ValueError("seed and keys start at 1")
        with cython.nogil:
            while left > 0:
                left -= 1
                noise = _random(cython.address(state))
                key = 1 + noise % number  # so small that the bucket is always the first
                if noise >> 40 & 1:
                    move = cython.cast(cython.int, noise >> 48) | 1
                    tt_store(
                        cython.address(self.table),
                        key,
                        0,
                        cython.cast(Move, move),
                        move % 20000,
                        -(move % 15000),
                        move % 100,
                        EXACT,
                        (move & 2) != 0,
                    )
                    continue
                found = tt_probe(cython.address(self.table), key, 0, 0)
                if found.hit:
                    hits += 1
                    move = found.move
                    if (
                        found.score != move % 20000
                        or found.evaluation != -(move % 15000)
                        or found.depth != move % 100
                        or found.was_pv != ((move & 2) != 0)
                    ):
                        wrong += 1
        return hits, wrong


@cython.cfunc
def _new_histories(state: cython.pointer(u64)) -> cython.pointer(Histories):
    """Histories full of random values, so that the order of moves is one that no search would find; empty for state 0."""
    histories: cython.pointer(Histories) = cython.cast(cython.pointer(Histories), calloc(1, cython.sizeof(Histories)))
    if histories == cython.NULL:
        raise MemoryError("no memory for histories")
    if state[0] == 0:
        return histories
    entry: cython.pointer(i16) = cython.cast(cython.pointer(i16), histories)
    index: cython.size_t
    for index in range(cython.sizeof(Histories) // cython.sizeof(i16)):
        entry[index] = cython.cast(i16, cython.cast(cython.int, _random(state) % (2 * HISTORY_LIMIT)) - HISTORY_LIMIT)
    return histories


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _any_move(position: cython.pointer(ConstPosition), state: cython.pointer(u64)) -> Move:
    """None, a legal move, or sixteen random bits: what a table or a killer slot may hold."""
    moves: Move[MAX_MOVES]
    count: cython.int
    kind: u64 = _random(state) % 4
    if kind == 0:
        return NO_MOVE
    if kind == 1:
        return cython.cast(Move, _random(state) >> 32 & 0xFFFF)
    count = generate(position, moves, ALL_MOVES)
    return moves[_random(state) % cython.cast(u64, count)] if count else NO_MOVE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_picked(
    position: cython.pointer(ConstPosition),
    depth: cython.int,
    histories: cython.pointer(Histories),
    state: cython.pointer(u64),
) -> u64:
    picker: Picker
    child: Position
    context: MoveContext
    killers: Move[2]
    move: Move
    index: cython.int
    leaves: u64 = 0
    for index in range(3):
        context.rows[index] = cython.address(histories.continuation[_random(state) % (NO_ROW + 1)][0])
    context.threats = _random(state)
    for index in range(2):
        killers[index] = _any_move(position, state)
        if is_tactical(killers[index]):
            killers[index] = NO_MOVE  # only quiet moves become killers
    pick_all(cython.address(picker), position, histories, cython.address(context), _any_move(position, state), killers)
    while True:
        move = next_move(cython.address(picker))
        if move == NO_MOVE:
            return leaves
        if depth == 1:
            leaves += 1
        else:
            make_move(position, cython.address(child), move)
            leaves += _count_picked(cython.address(child), depth - 1, histories, state)


def picker_perft(board: Board, depth: int, seed: int) -> int:
    """Perft with every node's moves taken from the picker, under random hash moves, killers and histories."""
    position: Position = board.current()[0]
    state: u64 = seed
    levels: cython.int = depth
    leaves: u64
    if depth < 1 or seed <= 0:
        raise ValueError("depth and seed start at 1")
    histories: cython.pointer(Histories) = _new_histories(cython.address(state))
    with cython.nogil:
        leaves = _count_picked(cython.address(position), levels, histories, cython.address(state))
    free(histories)
    return leaves


def picked_moves(board: Board, hash_move: int = 0, killers: tuple = (0, 0), seed: int = 0, quiets: int = 1000) -> list:
    """All moves in the picker's order; after `quiets` quiet ones the rest of them is skipped."""
    picker: Picker
    context: MoveContext
    slots: Move[2]
    state: u64 = seed
    histories: cython.pointer(Histories) = _new_histories(cython.address(state))
    for index in range(3):
        context.rows[index] = cython.address(histories.continuation[NO_ROW][0])
    context.threats = 0
    for index in range(2):
        slots[index] = killers[index]
    pick_all(cython.address(picker), board.current(), histories, cython.address(context), hash_move, slots)
    picked = []
    while move := next_move(cython.address(picker)):
        picked.append(move)
        quiets -= not is_tactical(move)
        if quiets <= 0:
            picker.skip_quiets = True
    free(histories)
    return picked


def learned_score(board: Board, move: int, bonus: int, attacked_then: set, attacked_now: set) -> int:
    """A quiet move's score after one reward. The sets are the squares that the other side attacks at the two times."""
    context: MoveContext
    state: u64 = 0
    histories: cython.pointer(Histories) = _new_histories(cython.address(state))
    for index in range(3):
        context.rows[index] = cython.address(histories.continuation[index][0])
    context.threats = sum(1 << square for square in attacked_then)
    reward_quiet(histories, board.current(), cython.address(context), move, bonus)
    context.threats = sum(1 << square for square in attacked_now)
    score = quiet_score(histories, board.current(), cython.address(context), move)
    free(histories)
    return score


def picked_tactical(board: Board, hash_move: int, threshold: int, seed: int = 0) -> list:
    """What quiescence search and ProbCut get to see."""
    picker: Picker
    state: u64 = seed
    histories: cython.pointer(Histories) = _new_histories(cython.address(state))
    pick_tactical(cython.address(picker), board.current(), histories, hash_move, threshold)
    picked = []
    while move := next_move(cython.address(picker)):
        picked.append(move)
    free(histories)
    return picked

"""Storing and finding what was learned about a position. See the .pxd for the layout."""

import cython
from cython.cimports.board.bits import multiply_high, prefetch
from cython.cimports.board.pages import allocate_pages, free_pages
from cython.cimports.board.types import Move, i16, u64
from cython.cimports.libc.string import memset
from cython.cimports.search.parameters import tune
from cython.cimports.search.platform import load_word, store_word
from cython.cimports.search.score import (
    DECIDED,
    MATE,
    MATE_IN_SIGHT,
    TB_WIN,
    is_loss,
    is_win,
)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bucket(table: cython.pointer(cython.const[TranspositionTable]), key: u64) -> cython.pointer(TTEntry):
    return table.entries + multiply_high(key, table.buckets) * BUCKET_ENTRIES


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _move(data: u64) -> Move:
    return cython.cast(Move, data & 0xFFFF)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _depth(data: u64) -> cython.int:
    return cython.cast(cython.int, data >> DEPTH_SHIFT & 0xFF) - 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _generation(data: u64) -> cython.int:
    return cython.cast(cython.int, data >> GENERATION_SHIFT)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _score_from_here(score: cython.int, ply: cython.int) -> cython.int:
    """A mate (or table win) counted from the root becomes one counted from this node."""
    if is_win(score):
        return score + ply
    if is_loss(score):
        return score - ply
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _score_from_root(score: cython.int, ply: cython.int, halfmove_clock: cython.int) -> cython.int:
    """The reverse. A mate that the fifty-move rule would overtake is no more than a promise: just below the mates."""
    if is_win(score):
        if score >= MATE_IN_SIGHT and MATE - score > 99 - halfmove_clock:
            return DECIDED - 1
        if score < MATE_IN_SIGHT and TB_WIN - score > 99 - halfmove_clock:
            return DECIDED - 1
        return score - ply
    if is_loss(score):
        if score <= -MATE_IN_SIGHT and MATE + score > 99 - halfmove_clock:
            return 1 - DECIDED
        if score > -MATE_IN_SIGHT and TB_WIN + score > 99 - halfmove_clock:
            return 1 - DECIDED
        return score + ply
    return score


def tt_probe(table, key, ply, halfmove_clock):
    """What is known about a position; `hit` tells whether anything is."""
    found: TTHit = tt_miss()
    data: u64
    entry: cython.pointer(TTEntry) = _bucket(table, key)
    for _ in range(BUCKET_ENTRIES):
        data = load_word(cython.address(entry.data))
        if load_word(cython.address(entry.check)) ^ data == key and data != 0:
            found.hit = True
            found.move = _move(data)
            found.evaluation = cython.cast(i16, data >> EVALUATION_SHIFT & 0xFFFF)
            found.depth = _depth(data)
            found.bound = cython.cast(cython.int, data >> BOUND_SHIFT & 3)
            found.was_pv = (data >> PV_SHIFT & 1) != 0
            if found.bound != NO_BOUND:
                found.score = _score_from_root(cython.cast(i16, data >> SCORE_SHIFT & 0xFFFF), ply, halfmove_clock)
            return found
        entry += 1
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _worth(data: u64, generation: cython.int) -> cython.int:
    age: cython.int = (generation - _generation(data)) & (GENERATIONS - 1)
    return _depth(data) - AGE_COST * age


def tt_store(table, key, ply, move, score, evaluation, depth, bound, was_pv):
    """Keeps a result, unless the position is already known from a clearly deeper search of this generation."""
    if depth < tune.tt_depth:
        return
    entry: cython.pointer(TTEntry) = _bucket(table, key)
    victim: cython.pointer(TTEntry) = entry
    data: u64
    least: cython.int = 1 << 20
    for _ in range(BUCKET_ENTRIES):
        data = load_word(cython.address(entry.data))
        if load_word(cython.address(entry.check)) ^ data == key:
            if move == 0:
                move = _move(data)
            if bound != EXACT and depth + 4 + 2 * was_pv <= _depth(data) and _generation(data) == table.generation:
                return
            victim = entry
            break
        if _worth(data, table.generation) < least:
            least = _worth(data, table.generation)
            victim = entry
        entry += 1
    stored: cython.int = _score_from_here(score, ply) if bound != NO_BOUND else 0
    data = (
        move
        | (cython.cast(u64, stored) & 0xFFFF) << SCORE_SHIFT
        | (cython.cast(u64, evaluation) & 0xFFFF) << EVALUATION_SHIFT
        | cython.cast(u64, depth + 1) << DEPTH_SHIFT
        | cython.cast(u64, bound) << BOUND_SHIFT
        | cython.cast(u64, was_pv) << PV_SHIFT
        | cython.cast(u64, table.generation) << GENERATION_SHIFT
    )
    store_word(cython.address(victim.data), data)
    store_word(cython.address(victim.check), key ^ data)


def tt_prefetch(table, key):
    prefetch(_bucket(table, key))


def tt_hashfull(table):
    """Per mille of the entries that the current search has written, from a sample of 250 buckets."""
    sample: cython.int = 250 if table.buckets > 250 else cython.cast(cython.int, table.buckets)
    used: cython.int = 0
    index: cython.int
    data: u64
    for index in range(sample * BUCKET_ENTRIES):
        data = load_word(cython.address(table.entries[index].data))
        if data != 0 and _generation(data) == table.generation:
            used += 1
    return used * 1000 // (sample * BUCKET_ENTRIES)


def tt_allocate(table, megabytes):
    """Gives the table a new, empty block of exactly that size. On failure the old one stays and the answer is False."""
    entries: cython.pointer(TTEntry) = cython.cast(cython.pointer(TTEntry), allocate_pages(megabytes << 20))
    if entries == cython.NULL:
        return False
    tt_release(table)
    table.entries = entries
    table.buckets = (megabytes << 20) // BUCKET_BYTES
    table.generation = 0
    return True


def tt_release(table):
    free_pages(table.entries, table.buckets * BUCKET_BYTES)
    table.entries = cython.NULL
    table.buckets = 0


def tt_wipe(table, part, parts):
    """Empties one of `parts` equal parts, so that several threads can share the work."""
    first: u64 = table.buckets * part // parts
    behind: u64 = table.buckets * (part + 1) // parts
    memset(table.entries + first * BUCKET_ENTRIES, 0, (behind - first) * BUCKET_BYTES)
    if part == 0:
        table.generation = 0

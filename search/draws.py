"""What counts as a draw inside the tree, and the search for a move that brings an earlier position back.

Two positions with the same side to move that differ by one reversible move have keys that differ by that move's key.
All such keys (3,668 of them) lie in a cuckoo table, so that a look at the keys of the line finds the move without
generating any. The idea is M. van Kervinck's. A side that stands worse and can force a draw by going back has at least
a draw: the search need not look for it move by move.
"""

import cython
from cython.cimports.board.attacks import BETWEEN, piece_attacks
from cython.cimports.board.bits import has
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import Position, is_insufficient_material, occupied, repetition_distance
from cython.cimports.board.types import KING, KNIGHT, MAX_MOVES, Move, make_piece, u8, u64
from cython.cimports.board.zobrist import PIECE_KEYS, TURN_KEY
from cython.cimports.search.parameters import tune
from cython.cimports.search.score import smaller

_SLOTS = cython.declare(cython.int, 8192)
_KEYS = cython.declare(u64[8192])
_ORIGINS = cython.declare(u8[8192])
_TARGETS = cython.declare(u8[8192])


def is_draw(worker, frame):
    """Fifty moves, insufficient material, or a repetition.

    Inside the tree one repetition is enough: what was right the first time is right the second time. A position from
    the game counts only when it comes for the third time, as the rules say.
    """
    position: cython.pointer(Position) = cython.address(frame.position)
    moves: Move[MAX_MOVES]
    if position.halfmove_clock >= 100:
        # Mate goes before the fifty-move rule.
        return position.checkers == 0 or generate(position, moves, ALL_MOVES) != 0
    if is_insufficient_material(position):
        return True
    reversible: cython.int = smaller(position.halfmove_clock, frame.plies_since_null)
    if reversible < 4:
        return False
    last: cython.int = worker.root_key + frame.ply
    distance: cython.int = repetition_distance(worker.keys, last, reversible)
    if distance == 0:
        return False
    if distance < frame.ply:
        return True
    return repetition_distance(worker.keys, last - distance, reversible - distance) != 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _first_slot(key: u64) -> cython.int:
    return cython.cast(cython.int, key & 8191)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _second_slot(key: u64) -> cython.int:
    return cython.cast(cython.int, key >> 16 & 8191)


@cython.cfunc
@cython.exceptval(check=True)
def _insert(key: u64, origin: cython.int, target: cython.int) -> cython.void:
    """Each key lies in one of its two slots; whoever is in the way moves to its other one."""
    slot: cython.int = _first_slot(key)
    for _ in range(_SLOTS):
        key, _KEYS[slot] = _KEYS[slot], key
        origin, _ORIGINS[slot] = _ORIGINS[slot], origin
        target, _TARGETS[slot] = _TARGETS[slot], target
        if key == 0:
            return
        slot = _second_slot(key) if slot == _first_slot(key) else _first_slot(key)
    raise RuntimeError("the keys do not fit into the cuckoo table")


def _fill_table():
    kind: cython.int
    colour: cython.int
    origin: cython.int
    target: cython.int
    count = 0
    for kind in range(KNIGHT, KING + 1):
        for colour in range(2):
            for origin in range(64):
                for target in range(origin + 1, 64):
                    if has(piece_attacks(kind, origin, 0), target):
                        piece: cython.int = make_piece(colour, kind)
                        _insert(PIECE_KEYS[piece][origin] ^ PIECE_KEYS[piece][target] ^ TURN_KEY, origin, target)
                        count += 1
    return count


def can_repeat(worker, frame):
    """Can the side to move bring back a position of this search's line?"""
    position: cython.pointer(Position) = cython.address(frame.position)
    last: cython.int = worker.root_key + frame.ply
    reversible: cython.int = smaller(
        smaller(position.halfmove_clock, frame.plies_since_null), smaller(tune.cycle_plies, last)
    )
    distance: cython.int = 3
    # Only positions after the root count: one repetition of those is a draw to the search.
    while distance <= reversible and distance < frame.ply:
        key: u64 = worker.keys[last] ^ worker.keys[last - distance]
        slot: cython.int = _first_slot(key)
        if _KEYS[slot] != key:
            slot = _second_slot(key)
        if _KEYS[slot] == key and BETWEEN[_ORIGINS[slot]][_TARGETS[slot]] & occupied(position) == 0:
            return True
        distance += 2
    return False


MOVES_IN_TABLE = _fill_table()

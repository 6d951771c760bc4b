"""Two positions with the same side to move that differ by one reversible move have keys that differ by that move's key.

All such keys (3,668 of them) lie in a cuckoo table, so that a look at the keys of the line finds the move without
generating any. The idea is M. van Kervinck's. A side that stands worse and can force a draw by going back has at least
a draw: the search need not look for it move by move.
"""

import cython
from cython.cimports.board.attacks import BETWEEN, piece_attacks
from cython.cimports.board.bits import has
from cython.cimports.board.position import ConstPosition, occupied
from cython.cimports.board.types import KING, KNIGHT, make_piece, u8, u64
from cython.cimports.board.zobrist import PIECE_KEYS, TURN_KEY

_SLOTS = cython.declare(cython.int, 8192)
_KEYS = cython.declare(u64[8192])
_ORIGINS = cython.declare(u8[8192])
_TARGETS = cython.declare(u8[8192])


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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def can_repeat(
    position: cython.pointer(ConstPosition),
    keys: cython.pointer(cython.const[u64]),
    last: cython.int,
    reversible: cython.int,
    ply: cython.int,
) -> cython.bint:
    """Can the side to move bring back a position of this search's line? keys[last] is the position's own key."""
    distance: cython.int = 3
    if reversible > last:
        reversible = last
    # Only positions after the root count: one repetition of those is a draw to the search.
    while distance <= reversible and distance < ply:
        key: u64 = keys[last] ^ keys[last - distance]
        slot: cython.int = _first_slot(key)
        if _KEYS[slot] != key:
            slot = _second_slot(key)
        if _KEYS[slot] == key and BETWEEN[_ORIGINS[slot]][_TARGETS[slot]] & occupied(position) == 0:
            return True
        distance += 2
    return False


MOVES_IN_TABLE = _fill_table()

"""Retrograde analysis. docs/tables.md tells the story with pictures.

1. *Begin*: every position gets the value of its best capture or pawn move, from endings and slices solved before.
2. *Settle*: positions without another legal move are mate, stalemate or what the capture says.
3. *Step n = 1, 2, 3, …*: whoever can move to a position lost in n - 1 plies wins in n; who can only move to positions won
   in at most n - 1 plies is lost in n. Only positions that were solved in the step before are looked at, and from
   them moves are taken back.
4. After step 100 the fifty-move rule makes wins cursed and losses blessed: captures that lead there count from 101.

What is left at the end is drawn. Steps write only what no other position of the same step asks for, so threads may share
a step without locks, and the result does not depend on their number.
"""

import cython
from cython.cimports.board.attacks import KING_ATTACKS, PAWN_ATTACKS, piece_attacks
from cython.cimports.board.bits import bit, has, pop_lsb
from cython.cimports.board.types import PAWN, WHITE, i64, u8, u16, u64
from cython.cimports.book.endgame.retrograde_index import (
    CAN_BE_BLESSED,
    CAN_LOSE,
    CAPTURE_SHIFT,
    FIFTY_MOVES,
    HOLDS,
    IMPOSSIBLE,
    IS_CURSED,
    IS_LOSS,
    IS_WIN,
    NOBODY,
    PAIR_IS_DIAGONAL,
    PLIES,
    TURN,
    ZEROING_SHIFT,
    Outcomes,
    PositionIndex,
    linked_value,
    position_index,
    squares_at,
    value_of,
)
from cython.cimports.libc.stdlib import free, malloc

from book.endgame.retrograde_index import men_of, name_of, transitions

_NO_MOVE = cython.declare(cython.int, -3)  # worse than any value
_STILL = cython.declare(cython.int, 4096)  # positions between two looks at the stop flag


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The work was told to stop."""


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _after(
    geometry: cython.pointer(cython.const[Geometry]),
    at: cython.size_t,
    scene: cython.pointer(cython.const[Scene]),
    man: cython.int,
    target: cython.int,
) -> cython.size_t:
    """The number after moving a king or piece within the slice."""
    squares: u8[8]
    index: cython.int
    if man < 2 and geometry.pawns == 0:
        for index in range(geometry.pieces):
            squares[index] = scene.squares[index]
        squares[man] = target
        return position_index(geometry, squares)
    shift: cython.int = 6 * (geometry.pieces - 1 - man)
    return at ^ cython.cast(cython.size_t, scene.squares[man] ^ target) << shift


@cython.cclass
class Ending(PositionIndex):
    """One ending, solved or on the way: `outcomes` holds the endings that captures and promotions lead to."""

    def __cinit__(self, name: str, outcomes: dict):
        self._outcomes = list(outcomes.values())
        side: cython.int
        for side in range(2):
            self.values[side] = cython.cast(cython.pointer(u16), malloc(self.size * cython.sizeof(u16)))
            if self.values[side] == cython.NULL:
                raise MemoryError(f"no memory to solve {name}")
        number: cython.int
        for captured, pawn, kind, left in transitions(name):
            link: cython.pointer(Link) = cython.address(
                self.links[NOBODY if captured is None else captured][NOBODY if pawn is None else pawn][
                    "NBRQ".index(kind)
                ]
            )
            there, swapped = name_of([man for man in left if man is not None])
            if there == "KvK":
                continue
            smaller: Outcomes = outcomes[there]
            link.geometry = cython.address(smaller.geometry)
            link.outcomes = smaller.values
            link.is_swapped = swapped
            left = list(left)
            for number, (colour, letter) in enumerate(men_of(there)):
                source = left.index((colour ^ swapped, letter))
                left[source] = None
                link.source[number] = source

    def __dealloc__(self):
        free(self.values[0])
        free(self.values[1])

    # Legality

    def _is_attacked(self, scene, square, colour, missing):
        """Does a man of this colour attack the square? The one called `missing` has been captured."""
        man: cython.int
        for man in range(self.geometry.men):
            if self.geometry.colours[man] != colour or man == missing:
                continue
            if self.geometry.kinds[man] == PAWN:
                if has(PAWN_ATTACKS[colour][scene.squares[man]], square):
                    return True
            elif has(piece_attacks(self.geometry.kinds[man], scene.squares[man], scene.occupied), square):
                return True
        return False

    def _set_scene(self, at, scene):
        """Unpacks a number; False if two men stand on one square."""
        man: cython.int
        squares_at(cython.address(self.geometry), at, scene.squares)
        scene.occupied = 0
        clash: u64 = 0
        for man in range(self.geometry.men):
            clash |= scene.occupied & bit(scene.squares[man])
            scene.occupied |= bit(scene.squares[man])
        return clash == 0

    # Captures and pawn moves

    def _try_zeroing(self, scene, man, target, captured, kind, side):
        """The mover's value of a capture or promotion (`kind` from 0 for a knight; 0 without one), if it is legal."""
        origin: cython.int = scene.squares[man]
        occupied: u64 = scene.occupied
        value: cython.int = _NO_MOVE
        promoted: cython.int = NOBODY
        if self.geometry.kinds[man] == PAWN and (target < 8 or target >= 56):
            promoted = man
        scene.squares[man] = target
        scene.occupied = (occupied ^ bit(origin)) | bit(target)
        if not self._is_attacked(scene, scene.squares[side], side ^ 1, captured):
            value = -linked_value(cython.address(self.links[captured][promoted][kind]), scene.squares, side ^ 1)
        scene.squares[man] = origin
        scene.occupied = occupied
        return value

    def _try_push(self, scene, man, target, side, is_double):
        """The mover's value of a pawn move within this ending, if it is legal."""
        origin: cython.int = scene.squares[man]
        occupied: u64 = scene.occupied
        value: cython.int = _NO_MOVE
        scene.squares[man] = target
        scene.occupied = (occupied ^ bit(origin)) | bit(target)
        if not self._is_attacked(scene, scene.squares[side], side ^ 1, NOBODY):
            value = value_of(self.values[side ^ 1][position_index(cython.address(self.geometry), scene.squares)])
            if is_double:
                value = self._with_en_passant(scene, man, side ^ 1, value)
            value = -value
        scene.squares[man] = origin
        scene.occupied = occupied
        return value

    def _with_en_passant(self, scene, pushed, side, value):
        """Corrects the value for `side` after a double step: the tables know nothing of en passant."""
        man: cython.int
        best: cython.int = _NO_MOVE
        colour: cython.int = side ^ 1
        pawn: cython.int = scene.squares[pushed]
        behind: cython.int = pawn - 8 if colour == WHITE else pawn + 8
        occupied: u64 = scene.occupied
        for man in range(self.geometry.pieces, self.geometry.men):
            if self.geometry.colours[man] != side or not has(PAWN_ATTACKS[colour][behind], scene.squares[man]):
                continue
            scene.occupied = occupied ^ bit(pawn)
            reached: cython.int = self._try_zeroing(scene, man, behind, pushed, 0, side)
            scene.occupied = occupied
            best = reached if reached > best else best
        if best >= value:
            return best
        if value == 0 and best != _NO_MOVE and not self._is_attacked(scene, scene.squares[side], colour, NOBODY):
            # Perhaps a stalemate but for en passant, which then has to be played.
            no_capture: cython.int = _NO_MOVE
            if self._best_zeroing(scene, side, cython.address(no_capture)) == _NO_MOVE and not self._has_quiet_move(
                scene, side
            ):
                return best
        return value

    def _best_zeroing(self, scene, side, best_capture):
        """The value of the best capture or pawn move, -3 if there is none; also that of the best capture alone."""
        man: cython.int
        other: cython.int
        kind: cython.int
        target: cython.int
        value: cython.int
        best: cython.int = _NO_MOVE
        best_capture[0] = _NO_MOVE
        for man in range(self.geometry.men):
            if self.geometry.colours[man] != side:
                continue
            origin: cython.int = scene.squares[man]
            is_pawn: cython.bint = self.geometry.kinds[man] == PAWN
            attacks: u64
            if is_pawn:
                attacks = PAWN_ATTACKS[side][origin]
            else:
                attacks = piece_attacks(self.geometry.kinds[man], origin, scene.occupied)
            for other in range(2, self.geometry.men):
                target = scene.squares[other]
                if self.geometry.colours[other] == side or not has(attacks, target):
                    continue
                for kind in range(4):
                    if kind > 0 and not (is_pawn and (target < 8 or target >= 56)):
                        break
                    value = self._try_zeroing(scene, man, target, other, kind, side)
                    if value > best_capture[0]:
                        best_capture[0] = value
            if not is_pawn:
                continue
            target = origin + 8 if side == WHITE else origin - 8
            if has(scene.occupied, target):
                continue
            if target < 8 or target >= 56:
                for kind in range(4):
                    value = self._try_zeroing(scene, man, target, NOBODY, kind, side)
                    best = value if value > best else best
                continue
            value = self._try_push(scene, man, target, side, False)
            best = value if value > best else best
            if origin >> 3 == 1 if side == WHITE else origin >> 3 == 6:
                target = origin + 16 if side == WHITE else origin - 16
                if not has(scene.occupied, target):
                    value = self._try_push(scene, man, target, side, True)
                    best = value if value > best else best
        return best_capture[0] if best_capture[0] > best else best

    # The four phases

    def _begin(self, first, last):
        scene: Scene
        side: cython.int
        at: cython.size_t
        capture: cython.int
        best: cython.int
        state: cython.int
        for at in range(first, last):
            if (at & (_STILL - 1)) == 0:
                self.visited += _STILL
                if self.stopped:
                    return
            if not self._set_scene(at, cython.address(scene)) or has(KING_ATTACKS[scene.squares[0]], scene.squares[1]):
                self.values[0][at] = IMPOSSIBLE
                self.values[1][at] = IMPOSSIBLE
                continue
            for side in range(2):
                if self._is_attacked(cython.address(scene), scene.squares[side ^ 1], side, NOBODY):
                    self.values[side][at] = IMPOSSIBLE
                    continue
                best = self._best_zeroing(cython.address(scene), side, cython.address(capture))
                state = (capture + 3) << CAPTURE_SHIFT
                if best == 2:
                    state |= IS_WIN
                elif best == 1:
                    state |= IS_CURSED << ZEROING_SHIFT
                elif best == 0:
                    state |= HOLDS << ZEROING_SHIFT
                elif best == -1:
                    state |= CAN_BE_BLESSED << ZEROING_SHIFT
                self.values[side][at] = state

    def _settle(self, first, last):
        scene: Scene
        side: cython.int
        at: cython.size_t
        capture: cython.int
        state: cython.int
        for at in range(first, last):
            if (at & (_STILL - 1)) == 0 and self.stopped:
                return
            for side in range(2):
                state = self.values[side][at]
                if state & IS_WIN or state >> ZEROING_SHIFT != CAN_LOSE or not self._all_quiet_lose(at, side, -1):
                    continue
                self._set_scene(at, cython.address(scene))
                if self._best_zeroing(cython.address(scene), side, cython.address(capture)) != _NO_MOVE:
                    self.values[side][at] = state | IS_LOSS | 1
                elif self._is_attacked(cython.address(scene), scene.squares[side], side ^ 1, NOBODY):
                    self.values[side][at] = state | IS_LOSS
                else:
                    self.values[side][at] = state | HOLDS << ZEROING_SHIFT

    def _seed_cursed(self, first, last):
        """Step 101 brings in what captures and pawn moves win or lose beyond the fifty-move rule."""
        side: cython.int
        at: cython.size_t
        state: cython.int
        changed: i64 = 0
        for at in range(first, last):
            for side in range(2):
                state = self.values[side][at]
                if state & (IS_WIN | IS_LOSS):
                    continue
                if state >> ZEROING_SHIFT == IS_CURSED:
                    self.values[side][at] = state | IS_WIN | FIFTY_MOVES + 1
                    changed += 1
                elif state >> ZEROING_SHIFT == CAN_BE_BLESSED and self._all_quiet_lose(at, side, FIFTY_MOVES):
                    self.values[side][at] = state | IS_LOSS | FIFTY_MOVES + 1
                    changed += 1
        return changed

    def _step(self, plies, first, last):
        """Looks at all positions solved in the step before; returns how many are solved now."""
        side: cython.int
        at: cython.size_t
        state: cython.int
        changed: i64 = 0
        lost: cython.int = IS_LOSS | plies - 1
        # A capture or pawn move that wins is a win in one, though it is marked 0.
        won: cython.int = IS_WIN | (plies - 1 if plies > 1 else PLIES)
        won_at_once: cython.int = IS_WIN if plies == 2 else won
        values: cython.pointer(u16)
        for side in range(2):
            values = self.values[side]
            for at in range(first, last):
                state = values[at] & (PLIES | IS_WIN | IS_LOSS)
                if state == lost:
                    changed += self._retract(at, side ^ 1, plies, True)
                elif state in (won, won_at_once):
                    changed += self._retract(at, side ^ 1, plies, False)
            if self.stopped:
                break
        return changed

    # Moves within the slice

    def _all_quiet_lose(self, at, side, limit):
        """Does every legal move of a king or piece to an empty square lead to a win in at most `limit` plies?"""
        scene: Scene
        man: cython.int
        targets: u64
        geometry: cython.pointer(cython.const[Geometry]) = cython.address(self.geometry)
        self._set_scene(at, cython.address(scene))
        # Kings last: their moves are the expensive ones, and mostly another move says no before.
        for man in range(geometry.pieces - 1, -1, -1):
            if self.geometry.colours[man] != side:
                continue
            targets = piece_attacks(self.geometry.kinds[man], scene.squares[man], scene.occupied) & ~scene.occupied
            if man < 2:
                targets &= ~KING_ATTACKS[scene.squares[side ^ 1]]
            while targets:
                state: cython.int = self.values[side ^ 1][
                    _after(geometry, at, cython.address(scene), man, pop_lsb(cython.address(targets)))
                ]
                if state != IMPOSSIBLE and (not state & IS_WIN or (state & PLIES) > limit):
                    return False
        return True

    def _has_quiet_move(self, scene, side):
        """The same question by the rules alone, for slices that are not begun."""
        man: cython.int
        targets: u64
        occupied: u64 = scene.occupied
        found: cython.bint = False
        for man in range(self.geometry.pieces):
            if self.geometry.colours[man] != side:
                continue
            origin: cython.int = scene.squares[man]
            targets = piece_attacks(self.geometry.kinds[man], origin, occupied) & ~occupied
            while targets and not found:
                scene.squares[man] = pop_lsb(cython.address(targets))
                scene.occupied = (occupied ^ bit(origin)) | bit(scene.squares[man])
                found = not self._is_attacked(scene, scene.squares[side], side ^ 1, NOBODY)
            scene.squares[man] = origin
        scene.occupied = occupied
        return found

    def _retract(self, at, mover, plies, is_win):
        """Takes back every quiet move of `mover` that may have led here, and looks at where it came from."""
        scene: Scene
        turned: Scene
        man: cython.int
        index: cython.int
        origins: u64
        changed: cython.int = 0
        self._set_scene(at, cython.address(scene))
        for man in range(self.geometry.pieces):
            if self.geometry.colours[man] != mover:
                continue
            origins = piece_attacks(self.geometry.kinds[man], scene.squares[man], scene.occupied) & ~scene.occupied
            if man < 2:
                origins &= ~KING_ATTACKS[scene.squares[mover ^ 1]]
            while origins:
                origin: cython.int = pop_lsb(cython.address(origins))
                before: cython.size_t = _after(cython.address(self.geometry), at, cython.address(scene), man, origin)
                changed += self._touch(before, mover, plies, is_win)
                if (
                    man < 2
                    and self.geometry.pawns == 0
                    and PAIR_IS_DIAGONAL[before >> (6 * (self.geometry.pieces - 2))]
                ):
                    # The mirror image has a number of its own.
                    squares_at(cython.address(self.geometry), before, turned.squares)
                    for index in range(2, self.geometry.pieces):
                        turned.squares[index] = TURN[4][turned.squares[index]]
                    before = before >> (6 * (self.geometry.pieces - 2))
                    for index in range(2, self.geometry.pieces):
                        before = before << 6 | turned.squares[index]
                    changed += self._touch(before, mover, plies, is_win)
        return changed

    def _touch(self, at, mover, plies, is_win):
        """A position from which `mover` can reach one that was just solved: is it solved, too?"""
        state: cython.int = self.values[mover][at]
        if state & (IS_WIN | IS_LOSS):
            return 0
        if is_win:
            self.values[mover][at] = state | IS_WIN | plies
            return 1
        zeroing: cython.int = state >> ZEROING_SHIFT
        if zeroing >= HOLDS or (zeroing == CAN_BE_BLESSED and plies <= FIFTY_MOVES):
            return 0
        if not self._all_quiet_lose(at, mover, plies - 1):
            return 0
        self.values[mover][at] = state | IS_LOSS | plies
        return 1

    # For the one who directs the work

    def begin(self, first: cython.size_t, last: cython.size_t):
        with cython.nogil:
            self._begin(first, last)
        self.check()

    def settle(self, first: cython.size_t, last: cython.size_t):
        with cython.nogil:
            self._settle(first, last)
        self.check()

    def seed_cursed(self, first: cython.size_t, last: cython.size_t) -> int:
        changed: i64
        with cython.nogil:
            changed = self._seed_cursed(first, last)
        self.check()
        return changed

    def step(self, plies: cython.int, first: cython.size_t, last: cython.size_t) -> int:
        changed: i64
        with cython.nogil:
            changed = self._step(plies, first, last)
        self.check()
        return changed

    def solve_slice(self, number: cython.size_t):
        """All phases for one slice, after those that its pawn moves lead to."""
        first: cython.size_t = number * self.geometry.slice_size
        last: cython.size_t = first + self.geometry.slice_size
        plies: cython.int = 1
        changed: i64
        with cython.nogil:
            self._begin(first, last)
            self._settle(first, last)
            while plies < PLIES and not self.stopped:
                changed = self._seed_cursed(first, last) if plies == FIFTY_MOVES + 1 else 0
                changed += self._step(plies, first, last)
                if changed and plies > self.plies:
                    self.plies = plies
                if changed == 0 and plies > FIFTY_MOVES:
                    break
                # The next step sees what this one did; step 2 also what captures did.
                plies = plies + 1 if changed or plies < 2 else FIFTY_MOVES + 1
        self.check()
        if plies == PLIES:
            raise OverflowError(f"{self.name} has wins in more than {PLIES} plies")

    def stop(self):
        """Lets all work end soon, with `Stopped`."""
        self.stopped = True

    def check(self):
        if self.stopped:
            raise Stopped(self.name)

    def forget_links(self):
        """Lets go of the smaller endings. Nothing can be solved any more."""
        self._outcomes = []

    def outcomes(self) -> Outcomes:
        """Who wins, for the endings that lead here."""
        found: Outcomes = Outcomes(self.name)
        at: cython.size_t
        size: cython.size_t = self.size
        with cython.nogil:
            for at in range(size):
                found.values[at] = value_of(self.values[0][at]) + 2 | (value_of(self.values[1][at]) + 2) << 4
        return found

    def state(self, side: cython.int, at: cython.size_t) -> int:
        return self.values[side][at]

    def value(self, side: cython.int, squares):
        """(WDL, DTZ) of a position without en passant, None if it is impossible; DTZ to the ply."""
        at: cython.size_t = self.index_of(squares)
        state: cython.int = self.values[side][at]
        if state == IMPOSSIBLE:
            return None
        wdl: cython.int = value_of(state)
        plies: cython.int = max(1, state & PLIES)
        return wdl, plies if wdl > 0 else -plies if wdl < 0 else 0

"""From games to positions that are worth learning from: filtered, packed, each kept once, shuffled."""

from typing import NamedTuple

import cython
from cython.cimports.board.bits import multiply_high, pop_lsb, popcount, prefetch
from cython.cimports.board.position import ConstPosition, king_square, occupied
from cython.cimports.board.types import BLACK, WHITE, i16, u8, u16, u64
from cython.cimports.eval.network_shape import CENTIPAWNS, KingBuckets, set_king_buckets
from cython.cimports.libc.math import log, lround
from cython.cimports.libc.stdlib import calloc, free, malloc, realloc
from cython.cimports.libc.string import memcpy, memset
from cython.cimports.training.quiet import DEFAULT_MOST_SCORE, FATES, IN_OPENING, IS_EARLY, IS_KEPT, fate_of
from cython.cimports.training.records import MOST_PLIES, GameCursor, next_ply, open_game

from eval.king_buckets import ONE_BUCKET
from training.records import RecordError

FATE_NAMES = (
    "kept",
    "opening, not searched",
    "too early in the game",
    "in check",
    "capture or promotion played",
    "score too large",
)
MOST_SCORE = DEFAULT_MOST_SCORE
BYTES_PER_POSITION = cython.sizeof(PackedPosition)
BYTES_PER_RECORD = cython.sizeof(PositionRecord)
MAXIMUM_SHARDS = MOST_SHARDS
_FIRST_SLOTS = cython.declare(u64, 1 << 16)
_AHEAD = cython.declare(cython.int, 16)  # how early a slot's memory is asked for


class TrainingPosition(NamedTuple):
    """A packed position in a form to look at: the men by square, score and result of the side to move."""

    men: dict
    turn: int
    score: int
    result: int
    ply: int


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fate_of(cursor: cython.pointer(GameCursor), most_score: cython.int, from_ply: cython.int) -> cython.int:
    """Why the position before the cursor's move is left out, or IS_KEPT."""
    if cursor.ply <= cursor.opening:
        return IN_OPENING
    if cursor.ply <= from_ply:
        return IS_EARLY
    return fate_of(cython.address(cursor.position), cursor.move, cursor.score, most_score)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _pack(position: cython.pointer(ConstPosition), packed: cython.pointer(PackedPosition)) -> cython.void:
    """Men, kings and turn; score, result and ply are left at 0."""
    rest: u64 = occupied(position)
    man: cython.int = 0
    memset(packed, 0, cython.sizeof(PackedPosition))
    packed.occupied = rest
    packed.turn = position.turn
    packed.kings[WHITE] = king_square(position, WHITE)
    packed.kings[BLACK] = king_square(position, BLACK)
    while rest != 0:
        packed.pieces[man >> 1] |= position.squares[pop_lsb(cython.address(rest))] << (4 * (man & 1))
        man += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _next_random(state: cython.pointer(u64)) -> u64:
    """Splitmix64 (G. Steele, D. Lea and C. Flood's): the same numbers on every machine."""
    state[0] += cython.cast(u64, 0x9E3779B97F4A7C15)
    mixed: u64 = state[0]
    mixed = (mixed ^ (mixed >> 30)) * cython.cast(u64, 0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> 27)) * cython.cast(u64, 0x94D049BB133111EB)
    return mixed ^ (mixed >> 31)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _score_of(expected: cython.double) -> cython.int:
    """The centipawns that say the same; somewhat over 2,000 at most."""
    expected = 0.00001 if expected < 0.00001 else 0.99999 if expected > 0.99999 else expected
    return cython.cast(cython.int, lround(CENTIPAWNS * log(expected / (1 - expected))))


@cython.final
@cython.cclass
class KeySet:
    """The keys of all positions met so far: open addressing, at most three slots in four in use."""

    def __cinit__(self):
        self.slots = cython.cast(cython.pointer(u64), calloc(_FIRST_SLOTS, cython.sizeof(u64)))
        if self.slots == cython.NULL:
            raise MemoryError("no memory for the positions' keys")
        self.mask = _FIRST_SLOTS - 1

    def __dealloc__(self):
        free(self.slots)

    def __len__(self) -> int:
        return self.count

    def add(self, key: int) -> bool:
        """True when the key is new."""
        state: cython.int = self._insert(key)
        if state < 0:
            raise MemoryError("no memory for the positions' keys")
        return state > 0

    def _grow(self):
        """Twice as many slots; False without memory."""
        index: u64
        place: u64
        mask: u64 = 2 * self.mask + 1
        slots: cython.pointer(u64) = cython.cast(cython.pointer(u64), calloc(mask + 1, cython.sizeof(u64)))
        if slots == cython.NULL:
            return False
        for index in range(self.mask + 1):
            if self.slots[index] != 0:
                place = self.slots[index] & mask
                while slots[place] != 0:
                    place = (place + 1) & mask
                slots[place] = self.slots[index]
        free(self.slots)
        self.slots = slots
        self.mask = mask
        return True

    def _insert(self, key):
        """1 when the key was new, 0 when it was known, -1 without memory."""
        if key == 0:
            key = 1  # 0 marks an empty slot
        place: u64 = key & self.mask
        while self.slots[place] != 0:
            if self.slots[place] == key:
                return 0
            place = (place + 1) & self.mask
        self.slots[place] = key
        self.count += 1
        if self.count > (self.mask >> 2) * 3 and not self._grow():
            return -1
        return 1

    def _prefetch(self, key):
        prefetch(cython.address(self.slots[key & self.mask]))


@cython.final
@cython.cclass
class PositionSet:
    """Packed positions in a row; with their keys as long as others may turn out to be the same."""

    def __cinit__(self, *, keyed: bool = False):
        self.is_keyed = keyed

    def __dealloc__(self):
        free(self.positions)
        free(self.keys)

    def __len__(self) -> int:
        return self.count

    def _reserve(self, room):
        """Makes room for that many in all; False when there is no memory."""
        block: cython.p_void
        if room <= self.room:
            return True
        # Half as much again: of a few gigabytes, twice would be too many.
        room = max(room, self.room + self.room // 2, cython.cast(cython.size_t, 1024))
        block = realloc(self.positions, room * cython.sizeof(PackedPosition))
        if block == cython.NULL:
            return False
        self.positions = cython.cast(cython.pointer(PackedPosition), block)
        if self.is_keyed:
            block = realloc(self.keys, room * cython.sizeof(u64))
            if block == cython.NULL:
                return False
            self.keys = cython.cast(cython.pointer(u64), block)
        self.room = room
        return True

    def _add_game(self, cursor, most_score, from_ply, later_share, scores, fates):
        """0 at the proper end of the game, -1 when its bytes make no sense, -2 without memory.

        `scores` has room for those of all plies.
        """
        first: cython.size_t = self.count
        fate: cython.int
        sign: cython.int
        state: cython.int = next_ply(cursor)
        while state > 0:
            scores[cursor.ply - 1] = cursor.score
            fate = _fate_of(cursor, most_score, from_ply)
            fates[fate] += 1
            if fate == IS_KEPT:
                if not self._reserve(self.count + 1):
                    return -2
                packed: cython.pointer(PackedPosition) = cython.address(self.positions[self.count])
                _pack(cython.address(cursor.position), packed)
                sign = -1 if cursor.position.turn == BLACK else 1
                packed.score = sign * cursor.score
                packed.result = sign * cursor.result
                packed.ply = cursor.ply - 1
                self.keys[self.count] = cursor.position.key
                self.count += 1
            state = next_ply(cursor)
        if state == 0 and later_share > 0:
            self._look_ahead(first, scores, cursor.plies, later_share)
        return state

    def _look_ahead(self, first, scores, plies, share):
        """Lets the game's later scores into those of its positions, from place `first` on.

        Going back from the end, what is expected after a ply counts by `share` for the ply before, and its own score by
        the rest: the return of TD(lambda), R. Sutton's (1988).
        """
        place: cython.size_t = self.count
        ply: cython.int = plies
        seen: cython.double
        expected: cython.double = -1
        while place > first:
            ply -= 1
            seen = expected_score(scores[ply] / cython.cast(cython.double, CENTIPAWNS))
            expected = seen if expected < 0 else share * expected + (1 - share) * seen
            if self.positions[place - 1].ply == ply:
                place -= 1
                self.positions[place].score = cython.cast(
                    i16, _score_of(expected if self.positions[place].turn == WHITE else 1 - expected)
                )

    def take(self, other: PositionSet, known: KeySet) -> int:
        """Moves all positions of a keyed set here whose keys are not known yet, and empties it; returns how many came."""
        index: cython.size_t
        state: cython.int = 0
        before: cython.size_t = self.count
        if self.is_keyed or not other.is_keyed:
            raise ValueError("positions are taken from a set with keys into one without")
        with cython.nogil:
            if self._reserve(self.count + other.count):
                for index in range(other.count):
                    if index + _AHEAD < other.count:
                        known._prefetch(other.keys[index + _AHEAD])
                    state = known._insert(other.keys[index])
                    if state < 0:
                        break
                    if state > 0:
                        self.positions[self.count] = other.positions[index]
                        self.count += 1
            else:
                state = -1
        if state < 0:
            raise MemoryError("no memory for more positions")
        other.count = 0
        return self.count - before

    def append(self, other: PositionSet):
        """Copies all positions of another set; both have keys, or neither has."""
        if self.is_keyed != other.is_keyed:
            raise ValueError("both sets must have keys, or neither")
        if not self._reserve(self.count + other.count):
            raise MemoryError("no memory for more positions")
        if other.count > 0:
            memcpy(self.positions + self.count, other.positions, other.count * cython.sizeof(PackedPosition))
            if self.is_keyed:
                memcpy(self.keys + self.count, other.keys, other.count * cython.sizeof(u64))
            self.count += other.count

    # On disk

    def split(self, shards: int) -> list:
        """The positions of a keyed set as records, position and key, in one bytes object for each shard of keys."""
        index: cython.size_t
        number: u64
        place: u64
        wanted: u64 = shards
        if not self.is_keyed or not 0 < shards <= MOST_SHARDS:
            raise ValueError(f"only positions with keys can be split, into 1 to {MOST_SHARDS} shards")
        starts: u64[SHARD_STARTS]
        memset(starts, 0, cython.sizeof(starts))
        records: cython.pointer(PositionRecord) = cython.cast(
            cython.pointer(PositionRecord), malloc((self.count + 1) * cython.sizeof(PositionRecord))
        )
        if records == cython.NULL:
            raise MemoryError("no memory for more positions")
        try:
            with cython.nogil:
                for index in range(self.count):
                    starts[multiply_high(self.keys[index], wanted) + 1] += 1
                for number in range(wanted):
                    starts[number + 1] += starts[number]
                for index in range(self.count):
                    number = multiply_high(self.keys[index], wanted)
                    place = starts[number]
                    starts[number] += 1
                    records[place].position = self.positions[index]
                    records[place].key = self.keys[index]
            # By now each number is where its shard ends.
            found = []
            place = 0
            for number in range(wanted):
                found.append(
                    cython.cast(cython.p_char, records + place)[
                        : (starts[number] - place) * cython.sizeof(PositionRecord)
                    ]
                )
                place = starts[number]
            return found
        finally:
            free(records)

    def take_records(self, data: bytes, known: KeySet) -> int:
        """Adds the positions of records whose keys are not known yet; returns how many came."""
        index: cython.size_t
        count: cython.size_t = len(data) // cython.sizeof(PositionRecord)
        state: cython.int = 0
        before: cython.size_t = self.count
        records: cython.pointer(cython.const[PositionRecord]) = cython.cast(
            cython.pointer(cython.const[PositionRecord]), cython.cast(cython.p_char, data)
        )
        if self.is_keyed or len(data) % cython.sizeof(PositionRecord):
            raise ValueError("whole records are taken into a set without keys")
        with cython.nogil:
            if self._reserve(self.count + count):
                for index in range(count):
                    if index + _AHEAD < count:
                        known._prefetch(records[index + _AHEAD].key)
                    state = known._insert(records[index].key)
                    if state < 0:
                        break
                    if state > 0:
                        self.positions[self.count] = records[index].position
                        self.count += 1
            else:
                state = -1
        if state < 0:
            raise MemoryError("no memory for more positions")
        return self.count - before

    def get_bytes(self, first: int, last: int) -> bytes:
        """Positions first to last as they are in memory."""
        begin: cython.size_t = first
        end: cython.size_t = last
        if not begin <= end <= self.count:
            raise ValueError("these positions are not in the set")
        return cython.cast(cython.p_char, self.positions + begin)[: (end - begin) * cython.sizeof(PackedPosition)]

    def add_bytes(self, data: bytes):
        """Adds what `get_bytes` gave."""
        count: cython.size_t = len(data) // cython.sizeof(PackedPosition)
        if self.is_keyed or len(data) % cython.sizeof(PackedPosition):
            raise ValueError("whole positions are added to a set without keys")
        self.reserve(self.count + count)
        memcpy(self.positions + self.count, cython.cast(cython.p_char, data), len(data))
        self.count += count

    def reserve(self, count: int):
        """Makes room for that many positions in all, which then need not be moved while the set grows."""
        if not self._reserve(count):
            raise MemoryError("no memory for more positions")

    # Order

    def shuffle(self, seed: int):
        """Fisher and Yates' shuffle: the seed alone decides the order."""
        state: u64 = seed
        index: u64
        other: u64
        kept: PackedPosition
        if self.is_keyed:
            raise ValueError("a set with keys keeps its order")
        with cython.nogil:
            index = self.count
            while index > 1:
                other = multiply_high(_next_random(cython.address(state)), index)
                index -= 1
                kept = self.positions[index]
                self.positions[index] = self.positions[other]
                self.positions[other] = kept

    @cython.overflowcheck(False)
    def checksum(self, first: int = 0) -> int:
        """A number that tells other positions, or another order, apart; of those from `first` on."""
        total: u64 = 0
        index: cython.size_t
        begin: cython.size_t = first
        if begin > self.count:
            raise ValueError("these positions are not in the set")
        words: cython.pointer(u64) = cython.cast(cython.pointer(u64), self.positions + begin)
        with cython.nogil:
            for index in range((self.count - begin) * (cython.sizeof(PackedPosition) // cython.sizeof(u64))):
                total = ((total << 7 | total >> 57) ^ words[index]) * cython.cast(u64, 0x9E3779B97F4A7C15)
        return total

    # Looking at them

    def __getitem__(self, index: int) -> TrainingPosition:
        packed: cython.pointer(PackedPosition) = self._at(index)
        rest: u64 = packed.occupied
        men = {}
        man: cython.int = 0
        square: cython.int
        while rest != 0:
            square = pop_lsb(cython.address(rest))
            men[square] = packed.pieces[man >> 1] >> (4 * (man & 1)) & 15
            man += 1
        return TrainingPosition(men, packed.turn, packed.score, packed.result, packed.ply)

    def features(self, index: int, table: tuple = ONE_BUCKET) -> tuple:
        """The inputs that are 1, for the side to move and for the other, by a table of king buckets."""
        buckets: KingBuckets
        mine: u16[MOST_MEN]
        theirs: u16[MOST_MEN]
        set_king_buckets(cython.address(buckets), table)
        men: cython.int = unpack_features(self._at(index), cython.address(buckets), mine, theirs)
        return [mine[man] for man in range(men)], [theirs[man] for man in range(men)]

    def _at(self, index):
        if not 0 <= index < cython.cast(cython.Py_ssize_t, self.count):
            raise IndexError(f"there are {self.count} positions, no number {index}")
        return cython.address(self.positions[index])

    def statistics(self) -> dict:
        """How many positions have which result, number of men and score; results and scores are White's."""
        index: cython.size_t
        score: cython.int
        bar: cython.int
        sign: cython.int
        results: u64[3]
        men: u64[MEN_BARS]
        scores: u64[SCORE_BARS]
        magnitude: u64 = 0
        memset(results, 0, cython.sizeof(results))
        memset(men, 0, cython.sizeof(men))
        memset(scores, 0, cython.sizeof(scores))
        with cython.nogil:
            for index in range(self.count):
                packed: cython.pointer(PackedPosition) = cython.address(self.positions[index])
                sign = -1 if packed.turn == BLACK else 1
                score = sign * packed.score
                results[1 - sign * packed.result] += 1
                men[popcount(packed.occupied)] += 1
                # The middle bar holds -49 to 50.
                bar = (score + SCORE_STEP * SCORE_BARS // 2 - 1) // SCORE_STEP
                bar = 0 if score < -SCORE_STEP * SCORE_BARS // 2 else min(bar, SCORE_BARS - 1)
                scores[bar] += 1
                magnitude += score if score > 0 else -score
        return {
            "results": [results[bar] for bar in range(3)],
            "men": [men[bar] for bar in range(MEN_BARS)],
            "scores": [scores[bar] for bar in range(SCORE_BARS)],
            "score_step": SCORE_STEP,
            "mean_score": cython.cast(cython.double, magnitude) / (self.count if self.count > 0 else 1),
        }


def extract(
    payloads: list,
    held_out_flags: bytes,
    training: PositionSet,
    held_out: PositionSet,
    *,
    most_score: int,
    from_ply: int,
    later_share: float = 0.0,
    first: int = 1,
) -> list:
    """Adds the positions of games to one of two keyed sets, by each game's flag; returns the number of each fate.

    `later_share` is how much of a position's score comes from the plies after it.
    `first` is the first game's number, for the message of the RecordError when a game is damaged.
    """
    fates: u64[FATES]
    index: cython.Py_ssize_t = 0
    state: cython.int = 0
    bound: cython.int = most_score
    start: cython.int = from_ply
    share: cython.double = later_share
    count: cython.Py_ssize_t = len(payloads)
    flags: cython.pointer(cython.const[u8]) = held_out_flags
    payload: bytes
    if len(held_out_flags) != count or not training.is_keyed or not held_out.is_keyed:
        raise ValueError("a flag for every game and two sets with keys are wanted")
    memset(fates, 0, cython.sizeof(fates))
    cursors: cython.pointer(GameCursor) = cython.cast(
        cython.pointer(GameCursor), malloc((count + 1) * cython.sizeof(GameCursor))
    )
    scores: cython.pointer(i16) = cython.cast(cython.pointer(i16), malloc(MOST_PLIES * cython.sizeof(i16)))
    if cursors == cython.NULL or scores == cython.NULL:
        free(cursors)
        free(scores)
        raise MemoryError("no memory to read games")
    try:
        # Setting games up needs the interpreter; all of them first, so that it is asked for once only.
        for index in range(count):
            payload = payloads[index]
            try:
                open_game(payload, cython.address(cursors[index]))
            except RecordError as error:
                raise RecordError(f"game {first + index}: {error}") from error
        with cython.nogil:
            for index in range(count):
                if flags[index] != 0:
                    state = held_out._add_game(cython.address(cursors[index]), bound, start, share, scores, fates)
                else:
                    state = training._add_game(cython.address(cursors[index]), bound, start, share, scores, fates)
                if state < 0:
                    break
        if state == -2:
            raise MemoryError("no memory for more positions")
        if state < 0:
            raise RecordError(f"game {first + index}: ply {cursors[index].ply + 1} cannot be read")
        return [fates[index] for index in range(FATES)]
    finally:
        free(cursors)
        free(scores)

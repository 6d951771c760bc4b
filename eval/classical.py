"""What a position is worth: features counted, weighted and tapered between middlegame and endgame.

Every feature is counted once, by `term`, which both adds its weight and, for a tracing caller, enters the count: the
search, the explained table and the tuner share one definition. Nothing outside the position, the weights and the
caller's pawn cache is read, and only the cache is written, so any number of threads may evaluate at once.
"""

import cython
from cython.cimports.board.attacks import KING_ATTACKS, KNIGHT_ATTACKS, bishop_attacks, rook_attacks
from cython.cimports.board.bits import (
    FILE_A,
    LIGHT_SQUARES,
    RANK_2,
    RANK_3,
    RANK_6,
    RANK_7,
    bit,
    east,
    forward,
    has,
    pop_lsb,
    popcount,
    west,
)
from cython.cimports.board.material import FULL_PHASE, game_phase
from cython.cimports.board.position import ConstPosition, king_square, occupied, pieces
from cython.cimports.board.types import (
    BISHOP,
    BLACK,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    WHITE,
    file_of,
    relative_rank,
    u64,
)
from cython.cimports.eval.endgames import is_known_ending, may_be_known, scale_factor
from cython.cimports.eval.geometry import distance
from cython.cimports.eval.pawns import (
    FORWARD_FILE,
    PAWN_ENTRIES,
    PawnEntry,
    analyse_pawns,
    pawn_cache_key,
)
from cython.cimports.eval.weights import (
    BAD_BISHOP,
    BISHOP_MOBILITY,
    BISHOP_OUTPOST,
    BISHOP_PAIR,
    HANGING,
    KING_ATTACKER,
    KING_DANGER,
    KING_RING,
    KING_THREAT,
    KNIGHT_MOBILITY,
    KNIGHT_OUTPOST,
    MINOR_BEHIND_PAWN,
    MINOR_THREAT,
    MOST_DANGER,
    OUTPOST_IN_REACH,
    PASSED_BLOCKED,
    PASSED_FREE_PATH,
    PASSED_SAFE_STEP,
    PASSED_UNSTOPPABLE,
    PAWN_THREAT,
    PUSH_THREAT,
    QUEEN_MOBILITY,
    ROOK_BEHIND_PASSER,
    ROOK_HALF_OPEN_FILE,
    ROOK_MOBILITY,
    ROOK_ON_SEVENTH,
    ROOK_OPEN_FILE,
    ROOK_THREAT,
    SAFE_CHECK,
    SPACE,
    TEMPO,
    Counts,
    Trace,
    endgame_part,
    i32,
    middlegame_part,
    orientation,
    square_term,
    term,
)
from cython.cimports.libc.string import memset

# What one colour attacks, and what it does near the enemy king.
Side = cython.struct(
    pawns=u64,
    by_knights=u64,
    by_bishops=u64,
    by_rooks=u64,
    by_queens=u64,
    attacked=u64,
    twice=u64,  # attacked by two or more
    mobility_area=u64,
    king_ring=u64,  # of this colour's own king
    king=cython.int,
    danger=cython.int,  # units of danger that this colour makes for the enemy king
)

# Units of danger, fixed so that the evaluation stays linear in its weights: the sum chooses a weight of KING_DANGER.
_ATTACKER_UNITS = cython.declare(cython.int[6], [0, 2, 2, 3, 4, 0])
_CHECK_UNITS = cython.declare(cython.int[6], [0, 3, 2, 4, 4, 0])

_RINGS = cython.declare(u64[64])  # around a king, moved off the edge so that all rings are nine squares
_OUTPOST_RANKS = cython.declare(u64[2])  # the fourth to sixth rank, as the colour counts
_SPACE_SQUARES = cython.declare(u64[2])  # the c- to f-file, second to fourth rank


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _start_side(position: cython.pointer(ConstPosition), us: cython.int, side: cython.pointer(Side)) -> cython.void:
    """Pawns and king; the other pieces follow when both colours' pawn attacks are known."""
    pawns: u64 = pieces(position, us, PAWN)
    left: u64 = forward(us, west(pawns))
    right: u64 = forward(us, east(pawns))
    side.king = king_square(position, us)
    side.pawns = left | right
    side.attacked = side.pawns | KING_ATTACKS[side.king]
    side.twice = left & right | side.pawns & KING_ATTACKS[side.king]
    side.king_ring = _RINGS[side.king] | bit(side.king)
    side.by_knights = 0
    side.by_bishops = 0
    side.by_rooks = 0
    side.by_queens = 0
    side.danger = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _enter_attacks(
    side: cython.pointer(Side),
    enemy: cython.pointer(Side),
    reach: u64,
    kind: cython.int,
    mobility: cython.int,
    counts: Counts,
) -> i32:
    """One piece's attacks: mobility, and pressure on the enemy king."""
    score: i32 = term(counts, mobility + popcount(reach & side.mobility_area), 1)
    ring: u64 = reach & enemy.king_ring
    side.twice |= side.attacked & reach
    side.attacked |= reach
    if ring:
        side.danger += _ATTACKER_UNITS[kind] + popcount(ring)
        score += term(counts, KING_ATTACKER + kind - KNIGHT, 1)
        score += term(counts, KING_RING + kind - KNIGHT, popcount(ring))
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _pieces(
    position: cython.pointer(ConstPosition),
    us: cython.int,
    side: cython.pointer(Side),
    enemy: cython.pointer(Side),
    entry: cython.pointer(PawnEntry),
    counts: Counts,
) -> i32:
    """Knights to queens: where they stand, where they can go, what they stand for."""
    them: cython.int = us ^ 1
    own: u64 = position.colours[us]
    own_pawns: u64 = own & position.kinds[PAWN]
    enemy_pawns: u64 = position.colours[them] & position.kinds[PAWN]
    everything: u64 = occupied(position)
    turn_board: cython.int = orientation(us, side.king)
    wings_differ: cython.int = (side.king ^ enemy.king) >> 2 & 1
    score: i32 = 0
    square: cython.int
    reach: u64
    left: u64

    low_ranks: u64 = RANK_2 | RANK_3 if us == WHITE else RANK_7 | RANK_6
    stuck: u64 = own_pawns & (low_ranks | forward(them, everything))
    side.mobility_area = ~(stuck | own & position.kinds[KING] | enemy.pawns)
    outposts: u64 = _OUTPOST_RANKS[us] & side.pawns & ~entry.spans[them]

    left = own & position.kinds[KNIGHT]
    while left:
        square = pop_lsb(cython.address(left))
        reach = KNIGHT_ATTACKS[square]
        side.by_knights |= reach
        score += square_term(counts, KNIGHT, square ^ turn_board, wings_differ)
        score += _enter_attacks(side, enemy, reach, KNIGHT, KNIGHT_MOBILITY, counts)
        if has(outposts, square):
            score += term(counts, KNIGHT_OUTPOST, 1)
        elif reach & outposts & ~own:
            score += term(counts, OUTPOST_IN_REACH, 1)

    left = own & position.kinds[BISHOP]
    if left & LIGHT_SQUARES and left & ~LIGHT_SQUARES:
        score += term(counts, BISHOP_PAIR, 1)
    while left:
        square = pop_lsb(cython.address(left))
        # Sliders see through their own queen, and rooks through each other: a battery counts.
        reach = bishop_attacks(square, everything ^ (own & position.kinds[QUEEN]))
        side.by_bishops |= reach
        score += square_term(counts, BISHOP, square ^ turn_board, wings_differ)
        score += _enter_attacks(side, enemy, reach, BISHOP, BISHOP_MOBILITY, counts)
        score += term(
            counts,
            BAD_BISHOP,
            popcount(own_pawns & (LIGHT_SQUARES if has(LIGHT_SQUARES, square) else ~LIGHT_SQUARES)),
        )
        if has(outposts, square):
            score += term(counts, BISHOP_OUTPOST, 1)

    left = own & (position.kinds[KNIGHT] | position.kinds[BISHOP]) & forward(them, position.kinds[PAWN])
    score += term(counts, MINOR_BEHIND_PAWN, popcount(left))

    left = own & position.kinds[ROOK]
    while left:
        square = pop_lsb(cython.address(left))
        reach = rook_attacks(square, everything ^ (own & (position.kinds[ROOK] | position.kinds[QUEEN])))
        side.by_rooks |= reach
        score += square_term(counts, ROOK, square ^ turn_board, wings_differ)
        score += _enter_attacks(side, enemy, reach, ROOK, ROOK_MOBILITY, counts)
        file: u64 = FILE_A << file_of(square)
        if file & own_pawns == 0:
            score += term(counts, ROOK_HALF_OPEN_FILE if file & enemy_pawns else ROOK_OPEN_FILE, 1)
        if relative_rank(us, square) == 6 and (
            relative_rank(us, enemy.king) == 7 or enemy_pawns & (RANK_7 if us == WHITE else RANK_2)
        ):
            score += term(counts, ROOK_ON_SEVENTH, 1)

    left = own & position.kinds[QUEEN]
    while left:
        square = pop_lsb(cython.address(left))
        reach = bishop_attacks(square, everything) | rook_attacks(square, everything)
        side.by_queens |= reach
        score += square_term(counts, QUEEN, square ^ turn_board, wings_differ)
        score += _enter_attacks(side, enemy, reach, QUEEN, QUEEN_MOBILITY, counts)
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _king_attack(
    position: cython.pointer(ConstPosition),
    us: cython.int,
    side: cython.pointer(Side),
    enemy: cython.pointer(Side),
    counts: Counts,
) -> i32:
    """Our attack on the enemy king: safe checks, and all units of danger as one step of a table."""
    them: cython.int = us ^ 1
    danger: cython.int = side.danger
    score: i32 = 0
    if danger == 0:
        return 0
    everything: u64 = occupied(position) ^ pieces(position, them, QUEEN)
    # Squares that only the enemy's king or queen guards are weak; where we attack twice, a check there is safe.
    poorly_guarded: u64 = ~enemy.twice & (~enemy.attacked | KING_ATTACKS[enemy.king] | enemy.by_queens)
    safe: u64 = ~position.colours[us] & (~enemy.attacked | poorly_guarded & side.twice)
    straight: u64 = rook_attacks(enemy.king, everything) & safe
    diagonal: u64 = bishop_attacks(enemy.king, everything) & safe
    if KNIGHT_ATTACKS[enemy.king] & safe & side.by_knights:
        danger += _CHECK_UNITS[KNIGHT]
        score += term(counts, SAFE_CHECK + KNIGHT - KNIGHT, 1)
    if diagonal & side.by_bishops:
        danger += _CHECK_UNITS[BISHOP]
        score += term(counts, SAFE_CHECK + BISHOP - KNIGHT, 1)
    if straight & side.by_rooks:
        danger += _CHECK_UNITS[ROOK]
        score += term(counts, SAFE_CHECK + ROOK - KNIGHT, 1)
    if (straight | diagonal) & side.by_queens:
        danger += _CHECK_UNITS[QUEEN]
        score += term(counts, SAFE_CHECK + QUEEN - KNIGHT, 1)
    danger += popcount(side.attacked & poorly_guarded & enemy.king_ring)
    if pieces(position, us, QUEEN) == 0:
        danger //= 2
    return score + term(counts, KING_DANGER + (danger if danger < MOST_DANGER else MOST_DANGER), 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _threats(
    position: cython.pointer(ConstPosition),
    us: cython.int,
    side: cython.pointer(Side),
    enemy: cython.pointer(Side),
    counts: Counts,
) -> i32:
    """What we attack with something cheaper, or what nothing guards."""
    them: cython.int = us ^ 1
    targets: u64 = position.colours[them] & ~position.kinds[KING]
    minors: u64 = side.by_knights | side.by_bishops
    unguarded: u64 = targets & side.attacked & ~enemy.attacked
    not_by_pawn: u64 = targets & ~enemy.pawns
    score: i32 = 0
    kind: cython.int
    if targets & side.pawns & ~position.kinds[PAWN]:
        for kind in range(KNIGHT, QUEEN + 1):
            score += term(counts, PAWN_THREAT + kind - KNIGHT, popcount(targets & side.pawns & position.kinds[kind]))
    attacked: u64 = minors & (not_by_pawn | position.kinds[ROOK] | position.kinds[QUEEN]) & targets
    while attacked:
        score += term(counts, MINOR_THREAT + (position.squares[pop_lsb(cython.address(attacked))] >> 1), 1)
    attacked = side.by_rooks & (not_by_pawn | position.kinds[QUEEN]) & targets
    while attacked:
        score += term(counts, ROOK_THREAT + (position.squares[pop_lsb(cython.address(attacked))] >> 1), 1)
    if KING_ATTACKS[side.king] & unguarded:
        score += term(counts, KING_THREAT, 1)
    while unguarded:
        score += term(counts, HANGING + (position.squares[pop_lsb(cython.address(unguarded))] >> 1), 1)

    # A pawn may step, safely, to where it attacks a piece.
    empty: u64 = ~occupied(position)
    steps: u64 = forward(us, pieces(position, us, PAWN)) & empty
    steps |= forward(us, steps & (RANK_3 if us == WHITE else RANK_6)) & empty
    steps &= ~enemy.pawns & (side.attacked | ~enemy.attacked)
    hit: u64 = forward(us, east(steps) | west(steps)) & targets & ~position.kinds[PAWN] & ~side.pawns
    return score + term(counts, PUSH_THREAT, popcount(hit))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _passers(
    position: cython.pointer(ConstPosition),
    us: cython.int,
    side: cython.pointer(Side),
    enemy: cython.pointer(Side),
    passed: u64,
    counts: Counts,
) -> i32:
    """What pieces have to say about passed pawns; the rest is in the pawn entry."""
    them: cython.int = us ^ 1
    everything: u64 = occupied(position)
    left: u64 = passed & position.colours[us]
    score: i32 = 0
    while left:
        square: cython.int = pop_lsb(cython.address(left))
        rank: cython.int = relative_rank(us, square)
        stop: cython.int = square + 8 if us == WHITE else square - 8
        path: u64 = FORWARD_FILE[us][square]
        if has(position.colours[them], stop):
            score += term(counts, PASSED_BLOCKED + rank, 1)
        elif path & (enemy.attacked | everything) == 0:
            score += term(counts, PASSED_FREE_PATH + rank, 1)
        elif not has(enemy.attacked | everything, stop):
            score += term(counts, PASSED_SAFE_STEP + rank, 1)
        behind: u64 = FORWARD_FILE[them][square] & position.kinds[ROOK]
        if behind:
            behind &= rook_attacks(square, everything)
            if behind & position.colours[us]:
                score += term(counts, ROOK_BEHIND_PASSER, 1)
            if behind & position.colours[them]:
                score += term(counts, ROOK_BEHIND_PASSER + 1, 1)
        # Against king and pawns alone a free pawn runs when the king is too far: the rule of the square.
        if path & everything == 0 and position.colours[them] & ~(position.kinds[PAWN] | position.kinds[KING]) == 0:
            queening: cython.int = file_of(square) | (56 if us == WHITE else 0)
            steps: cython.int = 7 - rank - (1 if rank == 1 else 0)
            if distance(enemy.king, queening) - (0 if position.turn == us else 1) > steps:
                score += term(counts, PASSED_UNSTOPPABLE, 1)
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _space(
    position: cython.pointer(ConstPosition),
    us: cython.int,
    enemy: cython.pointer(Side),
    counts: Counts,
) -> i32:
    """Room in the own half of the centre where no enemy pawn interferes, and its part close behind an own pawn."""
    own_pawns: u64 = pieces(position, us, PAWN)
    room: u64 = _SPACE_SQUARES[us] & ~own_pawns & ~enemy.pawns
    behind: u64 = own_pawns
    behind |= forward(us ^ 1, behind)
    behind |= forward(us ^ 1, forward(us ^ 1, behind))
    return term(counts, SPACE, popcount(room)) + term(counts, SPACE + 1, popcount(room & behind))


def tapered(middlegame, endgame, phase):
    """Between the two by phase, rounded towards zero, so that a mirrored position has exactly the opposite score."""
    return (middlegame * phase + endgame * (FULL_PHASE - phase)) // FULL_PHASE


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _features(
    position: cython.pointer(ConstPosition),
    entry: cython.pointer(PawnEntry),
    white: Counts,
    black: Counts,
) -> i32:
    """The packed sum of everything but pawns and kings, White less Black."""
    sides: Side[2]
    light: cython.pointer(Side) = cython.address(sides[WHITE])
    dark: cython.pointer(Side) = cython.address(sides[BLACK])
    score: i32
    _start_side(position, WHITE, light)
    _start_side(position, BLACK, dark)
    score = _pieces(position, WHITE, light, dark, entry, white)
    score -= _pieces(position, BLACK, dark, light, entry, black)
    score += _king_attack(position, WHITE, light, dark, white)
    score -= _king_attack(position, BLACK, dark, light, black)
    score += _threats(position, WHITE, light, dark, white)
    score -= _threats(position, BLACK, dark, light, black)
    score += _space(position, WHITE, dark, white)
    score -= _space(position, BLACK, light, black)
    if entry.passed:
        score += _passers(position, WHITE, light, dark, entry.passed, white)
        score -= _passers(position, BLACK, dark, light, entry.passed, black)
    if position.turn == WHITE:
        score += term(white, TEMPO, 1)
    else:
        score -= term(black, TEMPO, 1)
    return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _total(position: cython.pointer(ConstPosition), score: i32, phase: cython.int, scale: cython.int) -> cython.int:
    """From the packed sum to a score from White's side."""
    total: cython.int = tapered(middlegame_part(score), endgame_part(score), phase) * scale // FULL_SCALE
    return MOST_SCORE if total > MOST_SCORE else -MOST_SCORE if total < -MOST_SCORE else total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _scale(position: cython.pointer(ConstPosition), score: i32, phase: cython.int) -> cython.int:
    """Who is ahead before scaling is the strong side."""
    strong: cython.int = WHITE if tapered(middlegame_part(score), endgame_part(score), phase) > 0 else BLACK
    return scale_factor(position, strong)


def evaluate(position, cache):
    """Centipawns from the side to move, at most MOST_SCORE either way.

    `cache` belongs to the calling thread; NULL works without one. In check the score means little: ask the search.
    """
    spare: PawnEntry
    entry: cython.pointer(PawnEntry) = cython.address(spare)
    total: cython.int = 0
    if may_be_known(position) and is_known_ending(position, cython.address(total)):
        return total if position.turn == WHITE else -total
    if cache == cython.NULL:
        analyse_pawns(position, entry, cython.NULL)
    else:
        key: u64 = pawn_cache_key(position)
        entry = cython.address(cache.entries[key & (PAWN_ENTRIES - 1)])
        if entry.key != key:
            analyse_pawns(position, entry, cython.NULL)
    score: i32 = entry.score + _features(position, entry, cython.NULL, cython.NULL)
    phase: cython.int = game_phase(position)
    total = _total(position, score, phase, _scale(position, score, phase))
    return total if position.turn == WHITE else -total


def trace_evaluation(position, trace):
    """The same score, from White's side, with all counts written into `trace`."""
    entry: PawnEntry
    known_score: cython.int = 0
    memset(trace, 0, cython.sizeof(Trace))
    trace.known = may_be_known(position) and is_known_ending(position, cython.address(known_score))
    analyse_pawns(position, cython.address(entry), trace)
    score: i32 = entry.score + _features(position, cython.address(entry), trace.counts[WHITE], trace.counts[BLACK])
    trace.phase = game_phase(position)
    trace.scale = _scale(position, score, trace.phase)
    return known_score if trace.known else _total(position, score, trace.phase, trace.scale)


def _fill_tables():
    square: cython.int
    file: cython.int
    rank: cython.int
    for square in range(64):
        file = min(max(square & 7, 1), 6)
        rank = min(max(square >> 3, 1), 6)
        _RINGS[square] = KING_ATTACKS[rank * 8 + file] | bit(rank * 8 + file)
        for colour in range(2):
            rank = relative_rank(colour, square)
            if 3 <= rank <= 5:
                _OUTPOST_RANKS[colour] |= bit(square)
            if 1 <= rank <= 3 and 2 <= (square & 7) <= 5:
                _SPACE_SQUARES[colour] |= bit(square)


_fill_tables()

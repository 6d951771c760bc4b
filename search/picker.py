"""The stages of the move picker; see the .pxd for the idea."""

import cython
from cython.cimports.board.attacks import KNIGHT_ATTACKS, PAWN_ATTACKS, bishop_attacks, rook_attacks
from cython.cimports.board.bits import has
from cython.cimports.board.legality import is_legal, is_pseudo_legal
from cython.cimports.board.movegen import QUIET_MOVES, TACTICAL_MOVES, generate
from cython.cimports.board.position import ConstPosition, king_square, occupied
from cython.cimports.board.see import EXCHANGE_VALUES, see_at_least
from cython.cimports.board.types import (
    BISHOP,
    EN_PASSANT,
    KING,
    KNIGHT,
    PAWN,
    QUEEN,
    ROOK,
    Move,
    is_promotion,
    is_tactical,
    move_flag,
    move_from,
    move_to,
    piece_kind,
    promotion_kind,
    u64,
)
from cython.cimports.search.history import capture_score, quiet_score
from cython.cimports.search.parameters import tune


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _can_play(position: cython.pointer(ConstPosition), move: Move) -> cython.bint:
    return move != 0 and is_pseudo_legal(position, move) and is_legal(position, move)


def pick_all(picker, position, histories, context, hash_move, killers):
    """Starts over all legal moves: for a node of the search, and for a quiescence node in check."""
    picker.position = position
    picker.histories = histories
    picker.context = context
    picker.killers[0] = killers[0] if killers != cython.NULL else 0
    picker.killers[1] = killers[1] if killers != cython.NULL else 0
    picker.hash_move = hash_move if _can_play(position, hash_move) else 0
    picker.stage = HASH_MOVE if picker.hash_move != 0 else GENERATE_TACTICAL
    picker.threshold = tune.good_capture
    picker.only_good = False
    picker.skip_quiets = False
    picker.bad = 0


def pick_tactical(picker, position, histories, hash_move, threshold):
    """Starts over the captures and promotions that win at least `threshold` by static exchange."""
    pick_all(picker, position, histories, cython.NULL, hash_move if is_tactical(hash_move) else 0, cython.NULL)
    if picker.hash_move != 0 and not see_at_least(position, picker.hash_move, threshold):
        picker.hash_move = 0
        picker.stage = GENERATE_TACTICAL
    picker.threshold = threshold
    picker.only_good = True
    picker.skip_quiets = True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _score_tactical(picker: cython.pointer(Picker)) -> cython.void:
    """The most valuable victim first, then what did well before. An underpromotion hardly ever helps."""
    index: cython.int
    for index in range(picker.next, picker.end):
        move: Move = picker.moves[index]
        gain: cython.int = EXCHANGE_VALUES[piece_kind(picker.position.squares[move_to(move)])]
        if move_flag(move) == EN_PASSANT:
            gain = EXCHANGE_VALUES[PAWN]
        if is_promotion(move):
            gain += EXCHANGE_VALUES[QUEEN] if promotion_kind(move) == QUEEN else -EXCHANGE_VALUES[QUEEN]
        picker.scores[index] = 16 * gain + capture_score(picker.histories, picker.position, move)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _score_quiet(picker: cython.pointer(Picker)) -> cython.void:
    """What did well before; and a check that does not lose the piece, which may be mate."""
    position: cython.pointer(ConstPosition) = picker.position
    king: cython.int = king_square(position, position.turn ^ 1)
    checks: u64[6]
    index: cython.int
    checks[PAWN] = PAWN_ATTACKS[position.turn ^ 1][king]
    checks[KNIGHT] = KNIGHT_ATTACKS[king]
    checks[BISHOP] = bishop_attacks(king, occupied(position))
    checks[ROOK] = rook_attacks(king, occupied(position))
    checks[QUEEN] = checks[BISHOP] | checks[ROOK]
    checks[KING] = 0
    for index in range(picker.next, picker.end):
        move: Move = picker.moves[index]
        score: cython.int = quiet_score(picker.histories, position, picker.context, move)
        if has(checks[piece_kind(position.squares[move_from(move)])], move_to(move)) and see_at_least(
            position, move, -75
        ):
            score += tune.check_bonus
        picker.scores[index] = score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _take_best(picker: cython.pointer(Picker)) -> Move:
    """Takes the best of the moves that are left: a selection sort that stops when the node does."""
    best: cython.int = picker.next
    index: cython.int
    for index in range(picker.next + 1, picker.end):
        if picker.scores[index] > picker.scores[best]:
            best = index
    move: Move = picker.moves[best]
    score: cython.int = picker.scores[best]
    picker.moves[best] = picker.moves[picker.next]
    picker.scores[best] = picker.scores[picker.next]
    picker.moves[picker.next] = move
    picker.scores[picker.next] = score
    picker.next += 1
    return move


def next_move(picker):
    """The next move, or 0 when there are no more."""
    move: Move

    if picker.stage == HASH_MOVE:
        picker.stage = GENERATE_TACTICAL
        return picker.hash_move

    if picker.stage == GENERATE_TACTICAL:
        picker.next = 0
        picker.end = generate(picker.position, picker.moves, TACTICAL_MOVES)
        _score_tactical(picker)
        picker.stage = GOOD_TACTICAL

    if picker.stage == GOOD_TACTICAL:
        while picker.next < picker.end:
            move = _take_best(picker)
            if move == picker.hash_move:
                continue
            if see_at_least(picker.position, move, picker.threshold):
                return move
            # The places in front are free: what was taken from them has been played.
            picker.moves[picker.bad] = move
            picker.bad += 1
        picker.stage = NO_MORE if picker.only_good else FIRST_KILLER

    if picker.stage == FIRST_KILLER:
        picker.stage = SECOND_KILLER
        move = picker.killers[0]
        if not picker.skip_quiets and move != picker.hash_move and _can_play(picker.position, move):
            return move
        picker.killers[0] = 0

    if picker.stage == SECOND_KILLER:
        picker.stage = GENERATE_QUIET
        move = picker.killers[1]
        if (
            not picker.skip_quiets
            and move != picker.hash_move
            and move != picker.killers[0]
            and _can_play(picker.position, move)
        ):
            return move
        picker.killers[1] = 0

    if picker.stage == GENERATE_QUIET:
        if not picker.skip_quiets:
            picker.next = picker.bad
            picker.end = picker.bad + generate(picker.position, cython.address(picker.moves[picker.bad]), QUIET_MOVES)
            _score_quiet(picker)
        picker.stage = QUIET_MOVE

    if picker.stage == QUIET_MOVE:
        while not picker.skip_quiets and picker.next < picker.end:
            move = _take_best(picker)
            if move != picker.hash_move and move != picker.killers[0] and move != picker.killers[1]:
                return move
        picker.next = 0
        picker.stage = BAD_TACTICAL

    if picker.stage == BAD_TACTICAL and picker.next < picker.bad:
        picker.next += 1
        return picker.moves[picker.next - 1]

    picker.stage = NO_MORE
    return 0

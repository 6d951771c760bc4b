"""Quiescence search: the leaves of the tree, where only captures, promotions and evasions are looked at.

Its contract and its comments `recorded: …` are those of a node (tree.py). docs/search.md has a section about it.
"""

import cython
from cython.cimports.board.position import Position, key_after
from cython.cimports.board.see import EXCHANGE_VALUES, see_at_least
from cython.cimports.board.types import (
    EN_PASSANT,
    NO_MOVE,
    PAWN,
    Move,
    is_promotion,
    is_tactical,
    move_flag,
    move_to,
    piece_kind,
)
from cython.cimports.eval.evaluator import evaluate
from cython.cimports.search.draws import draw_score, is_draw
from cython.cimports.search.history import Histories, corrected_eval
from cython.cimports.search.limits import enter_node
from cython.cimports.search.parameters import tune
from cython.cimports.search.picker import Picker, next_move, pick_all, pick_tactical
from cython.cimports.search.score import (
    DRAW,
    INFINITE,
    MAX_PLY,
    NO_SCORE,
    is_decided,
    is_loss,
    larger,
    mated_in,
)
from cython.cimports.search.state import Frame, Shared, extend_pv, last_moves, remember, set_move, set_move_context
from cython.cimports.search.tt import (
    LOWER_BOUND,
    NO_BOUND,
    UPPER_BOUND,
    TTHit,
    bound_is_enough,
    tt_prefetch,
    tt_probe,
)


def search_quiet(worker, frame, alpha, beta):
    """Quiescence search: only captures and promotions (in check: every evasion) until the position is quiet.

    The side to move may also stand pat: not to capture at all is nearly always allowed to be best.
    """
    shared: cython.pointer(Shared) = worker.shared
    histories: cython.pointer(Histories) = cython.address(worker.histories)
    position: cython.pointer(Position) = cython.address(frame.position)
    child: cython.pointer(Frame) = frame + 1
    is_pv: cython.bint = beta - alpha > 1
    in_check: cython.bint = position.checkers != 0
    best_score: cython.int = -INFINITE
    best_move: Move = NO_MOVE
    futility_base: cython.int = -INFINITE  # static evaluation plus the delta margin
    raw: cython.int = NO_SCORE
    score: cython.int
    move: Move
    assert -INFINITE <= alpha < beta <= INFINITE

    if not enter_node(worker, frame):  # recorded: quiescence
        return DRAW  # recorded: stopped
    if is_draw(worker, frame):
        return draw_score(worker)  # recorded: draw
    if frame.ply >= MAX_PLY:
        return evaluate(position, worker.workspace, frame.ply) if not in_check else DRAW  # recorded: line too long
    if not tune.use_quiescence:
        return evaluate(position, worker.workspace, frame.ply)  # recorded: static evaluation
    child.ply = frame.ply + 1

    # The transposition table knows leaves, too (unmeasured).
    tt: TTHit = tt_probe(cython.address(shared.tt), position.key, frame.ply, position.halfmove_clock)
    frame.on_pv = tt.was_pv
    if not is_pv and tt.score != NO_SCORE and bound_is_enough(cython.address(tt), beta):
        return tt.score  # recorded: transposition table

    if not in_check:
        raw = tt.evaluation if tt.evaluation != NO_SCORE else evaluate(position, worker.workspace, frame.ply)
        frame.static_eval = corrected_eval(cython.address(shared.corrections), position, last_moves(worker, frame), raw)
        best_score = frame.static_eval
        # On a PV a mate is not taken on the table's word: its line would end here.
        if (
            tt.score != NO_SCORE
            and bound_is_enough(cython.address(tt), best_score)
            and not (is_pv and is_decided(tt.score))
        ):
            best_score = tt.score
        if best_score >= beta:
            if not tt.hit:
                remember(worker, frame, NO_MOVE, 0, raw, -1, NO_BOUND)
            return best_score  # recorded: stand pat
        if best_score > alpha:
            alpha = best_score
        futility_base = frame.static_eval + tune.delta_margin
    else:
        frame.static_eval = NO_SCORE

    picker: Picker
    number: cython.int = 0
    if in_check:
        set_move_context(frame)
        pick_all(cython.address(picker), position, histories, cython.address(frame.context), tt.move, cython.NULL)
    else:
        pick_tactical(cython.address(picker), position, histories, tt.move, 0)
    while True:
        move = next_move(cython.address(picker))
        if move == NO_MOVE:
            break
        number += 1
        if not is_loss(best_score):
            if in_check:
                # One evasion that holds is enough to know that this is no mate: quiet ones can wait.
                if not is_tactical(move):
                    picker.skip_quiets = True
                    continue  # recorded: evasion found
            elif not is_promotion(move):
                # Delta pruning (unmeasured), in the form of Weiss: even winning this piece for nothing does not reach
                # alpha.
                gain: cython.int = EXCHANGE_VALUES[piece_kind(position.squares[move_to(move)])]
                if move_flag(move) == EN_PASSANT:
                    gain = EXCHANGE_VALUES[PAWN]
                if futility_base + gain <= alpha:
                    best_score = larger(best_score, futility_base + gain)
                    continue  # recorded: delta pruning
                # Any piece would do, but the exchange wins none.
                if futility_base <= alpha and not see_at_least(position, move, 1):
                    best_score = larger(best_score, futility_base)
                    continue  # recorded: losing exchange
        tt_prefetch(cython.address(shared.tt), key_after(position, move))
        set_move(worker, frame, move)
        score = -search_quiet(worker, child, -beta, -alpha)
        if worker.stopped:
            return DRAW  # recorded: stopped
        if score > best_score:
            best_score = score
            if score > alpha:
                best_move = move
                if is_pv:
                    extend_pv(frame, move)
                if score >= beta:
                    break  # recorded: cut-off
                alpha = score

    if in_check and number == 0:
        return mated_in(frame.ply)  # recorded: no legal move
    remember(worker, frame, best_move, best_score, raw, 0, LOWER_BOUND if best_score >= beta else UPPER_BOUND)
    return best_score  # recorded: captures searched

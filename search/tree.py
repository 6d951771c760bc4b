"""Principal variation search, told in numbered steps. docs/search.md has a section for each number.

Scores are from the side to move. A node is asked with a window (alpha, beta):
- a returned score <= alpha is an upper bound ("fails low"): the position is worth at most that;
- a score >= beta is a lower bound ("fails high"): worth at least that, which is enough to stop looking;
- a score in between is exact, as far as pruning and reductions allow, and `frame.pv` holds the line behind it.
Bounds may lie outside the window (fail-soft). When the search is stopped the score means nothing and is thrown away.

The figure beside a step is its gain in Elo here, with an error of 95 %, measured by matches of the search with it against
the search without it (docs/strength-log.md has the conditions); a step without a measurement says so. Numbers that no
comment explains were found by tuning: nothing but games speaks for them.

A comment `recorded: …` names what happens on its line, for the copy of this file that records its tree
(scripts/record_search.py); every return of a node has one.
"""

import cython
from cython.cimports.board.position import Position, key_after, key_after_null
from cython.cimports.board.types import KING, NO_MOVE, PAWN, Move, is_tactical, u64
from cython.cimports.eval.evaluator import evaluate
from cython.cimports.search.draws import can_repeat, draw_score, is_draw
from cython.cimports.search.history import (
    Histories,
    Tried,
    capture_score,
    corrected_eval,
    learn_correction,
    note_tried,
    quiet_score,
    update_on_cutoff,
)
from cython.cimports.search.limits import enter_node
from cython.cimports.search.parameters import CAPTURE_REDUCTIONS, QUIET_REDUCTIONS, tune
from cython.cimports.search.picker import Picker, next_move, pick_all, pick_tactical
from cython.cimports.search.quiescence import search_quiet
from cython.cimports.search.root import begin_root_move, find_root_move, finish_root_move
from cython.cimports.search.score import (
    DRAW,
    INFINITE,
    MAX_PLY,
    NO_SCORE,
    clamp,
    is_decided,
    is_loss,
    is_win,
    larger,
    mate_in,
    mated_in,
    smaller,
)
from cython.cimports.search.selectivity import depth_in_hindsight, is_pruned, late_move_reduction
from cython.cimports.search.state import (
    Frame,
    RootMove,
    Shared,
    Worker,
    extend_pv,
    is_improving,
    last_moves,
    remember,
    set_move,
    set_move_context,
    set_null_move,
)
from cython.cimports.search.tb import tb_probe
from cython.cimports.search.tt import (
    EXACT,
    LOWER_BOUND,
    NO_BOUND,
    UPPER_BOUND,
    TTHit,
    bound_is_enough,
    tt_miss,
    tt_prefetch,
    tt_probe,
)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_tt_cutoff(
    tt: cython.pointer(cython.const[TTHit]),
    halfmove_clock: cython.int,
    beta: cython.int,
    depth: cython.int,
) -> cython.bint:
    """Does an earlier search of this position, at least as deep, answer the question of this node?"""
    return (
        tt.score != NO_SCORE
        and tt.depth >= depth
        and bound_is_enough(tt, beta)
        and halfmove_clock < 90  # the key does not know how near the fifty-move rule is
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _search_null_move(
    worker: cython.pointer(Worker),
    frame: cython.pointer(Frame),
    beta: cython.int,
    depth: cython.int,
    evaluation: cython.int,
    cut_node: cython.bint,
) -> cython.int:
    """The score after passing, if it is at least beta and can be trusted; NO_SCORE otherwise.

    The reduction has the form of Weiss's; the verification is Stockfish's.
    """
    reduced: cython.int = depth - (
        tune.null_move_base
        + depth // tune.null_move_divisor
        + smaller(3, (evaluation - beta) // tune.null_move_eval_divisor)
    )
    tt_prefetch(cython.address(worker.shared.tt), key_after_null(cython.address(frame.position)))
    set_null_move(worker, frame)
    score: cython.int = -search_node(worker, frame + 1, -beta, 1 - beta, reduced, not cut_node)  # recorded: null move
    if worker.stopped:
        return DRAW
    if score < beta:
        return NO_SCORE
    if is_win(score):
        score = beta  # a mate behind a pass proves nothing
    if depth < tune.null_move_verification or worker.null_move_floor != 0:
        return score

    # A deep cut is worth a second look: the same search, in which this side may not pass for three quarters of it.
    worker.null_move_floor = frame.ply + 3 * reduced // 4
    verified: cython.int = search_node(worker, frame, beta - 1, beta, reduced, False)  # recorded: verification
    worker.null_move_floor = 0
    return score if verified >= beta else NO_SCORE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_probcut(
    worker: cython.pointer(Worker),
    frame: cython.pointer(Frame),
    hash_move: Move,
    raised: cython.int,
    depth: cython.int,
    raw: cython.int,
    cut_node: cython.bint,
) -> cython.int:
    """The score of a capture that reaches `raised` in a search four plies shallower; NO_SCORE if there is none.

    The quiescence search is asked first: it is cheap, and mostly says no.
    """
    position: cython.pointer(Position) = cython.address(frame.position)
    child: cython.pointer(Frame) = frame + 1
    score: cython.int
    move: Move
    picker: Picker
    pick_tactical(
        cython.address(picker),
        position,
        cython.address(worker.histories),
        hash_move,
        larger(0, raised - frame.static_eval),
    )
    while True:
        move = next_move(cython.address(picker))
        if move == NO_MOVE:
            return NO_SCORE
        tt_prefetch(cython.address(worker.shared.tt), key_after(position, move))
        set_move(worker, frame, move)
        score = -search_quiet(worker, child, -raised, 1 - raised)  # recorded: ProbCut
        if score >= raised:
            score = -search_node(worker, child, -raised, 1 - raised, depth - 4, not cut_node)  # recorded: ProbCut
        if worker.stopped:
            return DRAW
        if score >= raised:
            remember(worker, frame, move, score, raw, depth - 3, LOWER_BOUND)
            return score


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _singular_beta(tt: cython.pointer(cython.const[TTHit]), depth: cython.int) -> cython.int:
    """What no other move may reach, if the hash move is to be singular."""
    return tt.score - tune.singular_margin * depth // 16


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _singular_extension(
    worker: cython.pointer(Worker),
    frame: cython.pointer(Frame),
    tt: cython.pointer(cython.const[TTHit]),
    hash_move: Move,
    beta: cython.int,
    depth: cython.int,
    is_pv: cython.bint,
    cut_node: cython.bint,
) -> cython.int:
    """Searches all moves but the hash move, half as deep, and says by how many plies to extend that one, or MULTI_CUT.

    The idea is that of Anantharaman, Campbell and Hsu (Deep Thought, 1990); this form is Stockfish's.
    """
    lowered: cython.int = _singular_beta(tt, depth)
    frame.excluded = hash_move
    score: cython.int
    score = search_node(worker, frame, lowered - 1, lowered, (depth - 1) // 2, cut_node)  # recorded: singular
    frame.excluded = NO_MOVE

    # None comes near: much depends on the hash move. None comes anywhere near: everything does.
    if score < lowered:
        if (
            not is_pv
            and score < lowered - tune.double_extension_margin
            and frame.double_extensions < tune.double_extension_limit
        ):
            return 2
        return 1

    # Others reach beta as well: there are several good moves, and one is enough to cut.
    if lowered >= beta:
        return MULTI_CUT

    # The hash move is nothing special, and the node will probably fail high without its help.
    if tt.score >= beta:
        return -2
    if cut_node:
        return -1
    return 0


def search_node(worker, frame, alpha, beta, depth, cut_node):
    """The score of a node, searched `depth` plies deep. The contract stands at the top of the file.

    A node with a window wider than one is a PV node. The others are expected to fail high (`cut_node`) or low.
    """
    shared: cython.pointer(Shared) = worker.shared
    histories: cython.pointer(Histories) = cython.address(worker.histories)
    position: cython.pointer(Position) = cython.address(frame.position)
    child: cython.pointer(Frame) = frame + 1
    is_pv: cython.bint = beta - alpha > 1
    is_root: cython.bint = frame.ply == 0
    in_check: cython.bint = position.checkers != 0
    excluded: Move = frame.excluded
    # `go mate` disables unsound pruning: a sacrifice looks like a bad move until it mates.
    may_prune: cython.bint = shared.limits.mate == 0
    score: cython.int
    best_score: cython.int = -INFINITE
    top_score: cython.int = INFINITE  # endgame tables may cap the score
    best_move: Move = NO_MOVE
    move: Move
    assert -INFINITE <= alpha < beta <= INFINITE
    assert not (is_pv and cut_node)

    # Step 1. Quiescence search (unmeasured). Never evaluate in the middle of an exchange: let the captures play out.
    if depth <= 0:
        return search_quiet(worker, frame, alpha, beta)

    if not enter_node(worker, frame):  # recorded: node
        return DRAW  # recorded: stopped

    if not is_root:
        # Step 2. Draws (unmeasured).
        if is_draw(worker, frame):
            return draw_score(worker)  # recorded: draw

        # A side that can go back to an earlier position need not accept less than a draw.
        if alpha < DRAW and can_repeat(worker, frame):
            alpha = draw_score(worker)
            if alpha >= beta:
                return alpha  # recorded: repetition in reach

        # A line must end somewhere.
        if frame.ply >= MAX_PLY:
            return evaluate(position, worker.workspace, frame.ply) if not in_check else DRAW  # recorded: line too long

        # Step 3. Mate-distance pruning (unmeasured). Who has found a mate needs no longer one: the best this node can
        # do is to mate with the next move, the worst is to be mated now.
        if frame.ply >= tune.mate_distance_ply:
            alpha = larger(alpha, mated_in(frame.ply))
            beta = smaller(beta, mate_in(frame.ply + 1))
            if alpha >= beta:
                return alpha  # recorded: mate distance

    # What the children and grandchildren of this node must not inherit from its sisters'.
    child.ply = frame.ply + 1
    child.excluded = NO_MOVE
    child.cutoffs = 0
    frame.reduction = 0
    child.double_extensions = frame.double_extensions
    (child + 1).killers[0] = NO_MOVE
    (child + 1).killers[1] = NO_MOVE

    # Step 4. Transposition table (unmeasured). A position that was searched as deep before needs no second search. PV
    # nodes go on all the same, so that lines are complete. While a move is excluded, the entry is about another node.
    tt: TTHit = tt_miss()
    if excluded == NO_MOVE:
        tt = tt_probe(cython.address(shared.tt), position.key, frame.ply, position.halfmove_clock)
        frame.on_pv = is_pv or tt.was_pv
    if not is_pv and _is_tt_cutoff(cython.address(tt), position.halfmove_clock, beta, depth):
        return tt.score  # recorded: transposition table

    # At the root the best move of the iteration before is the hash move, whatever the table has lost.
    hash_move: Move = tt.move if depth >= tune.hash_move_depth else NO_MOVE
    if is_root and worker.root_depth > 1:
        hash_move = worker.root_moves[worker.pv_index].move

    # Step 5. Endgame tables (unmeasured). The result is known, only the way is not.
    bound: cython.int
    if shared.tb_probe_wdl != cython.NULL and not is_root and excluded == NO_MOVE:
        known_score: cython.int = DRAW
        bound = tb_probe(worker, frame, depth, cython.address(known_score))
        if (
            bound == EXACT
            or (bound == LOWER_BOUND and known_score >= beta)
            or (bound == UPPER_BOUND and known_score <= alpha)
        ):
            remember(worker, frame, NO_MOVE, known_score, NO_SCORE, smaller(MAX_PLY - 1, depth + 6), bound)
            return known_score  # recorded: endgame table
        if is_pv and bound == LOWER_BOUND:
            best_score = known_score
            alpha = larger(alpha, known_score)
        if is_pv and bound == UPPER_BOUND:
            top_score = known_score

    # Step 6. Static evaluation: corrected by experience (unmeasured), and replaced by the transposition table's score
    # where that says more. In check there is none: the side to move has no time to enjoy what it has.
    evaluation: cython.int = NO_SCORE  # the best guess of this node's score
    raw: cython.int = NO_SCORE  # before correction
    improving: cython.bint = False
    if in_check:
        frame.static_eval = NO_SCORE
        frame.correction = 0
    else:
        if excluded == NO_MOVE:
            raw = tt.evaluation
            if raw == NO_SCORE:
                raw = evaluate(position, worker.workspace, frame.ply)
            frame.static_eval = corrected_eval(
                cython.address(shared.corrections), position, last_moves(worker, frame), raw
            )
            frame.correction = larger(frame.static_eval - raw, raw - frame.static_eval)
            if not tt.hit:
                remember(worker, frame, NO_MOVE, 0, raw, -1, NO_BOUND)
        evaluation = frame.static_eval
        if tt.score != NO_SCORE and bound_is_enough(cython.address(tt), evaluation):
            evaluation = tt.score
        improving = is_improving(frame)

        # Hindsight (+10 ± 10). Was the reduction right that led here?
        if not is_root and excluded == NO_MOVE:
            depth = depth_in_hindsight(frame, depth)

    # With nothing but king and pawns zugzwang is common, and every move counts.
    has_pieces: cython.bint = (position.colours[position.turn] & ~(position.kinds[PAWN] | position.kinds[KING])) != 0

    # Steps 7 to 9 prune the whole node, by its evaluation.
    if may_prune and not is_pv and not in_check and excluded == NO_MOVE:
        # Step 7. Razoring (unmeasured). So far below alpha that only captures could help: ask the quiescence search.
        # That the margin grows with the square of the depth is Stockfish's.
        if (
            depth <= tune.razoring_depth
            and evaluation + tune.razoring_base + tune.razoring_slope * depth * depth < alpha
            and not is_loss(alpha)
        ):
            score = search_quiet(worker, frame, alpha, alpha + 1)  # recorded: razoring
            if score <= alpha or worker.stopped:
                return score  # recorded: razoring

        # Step 8. Reverse futility pruning (unmeasured). So far above beta that the opponent's best move will not
        # change it.
        if (
            depth <= tune.reverse_futility_depth
            and evaluation
            - tune.reverse_futility_margin * (depth - improving)
            - tune.reverse_futility_correction * frame.correction // 100
            >= beta
            and not is_loss(beta)
            and not is_win(evaluation)
        ):
            return (evaluation + beta) // 2  # recorded: reverse futility

        # Step 9. Null move (unmeasured). If passing still fails high, a real move would too, unless every move hurts:
        # zugzwang, which needs a bare or pawns-only side to be likely. The conditions have the form of Weiss's.
        if (
            depth >= tune.null_move_depth
            and evaluation >= beta
            and (frame - 1).move != NO_MOVE
            and frame.static_eval >= beta + tune.null_move_margin - tune.null_move_slope * depth
            and has_pieces
            and frame.ply >= worker.null_move_floor
            and not is_loss(beta)
        ):
            score = _search_null_move(worker, frame, beta, depth, evaluation, cut_node)
            if score != NO_SCORE:
                return score  # recorded: null move

    # Step 10. Internal iterative reduction (unmeasured). Without a hash move the ordering is poor: search a ply less,
    # and let the transposition table provide a move for the next time. (E. Schröder's idea.)
    if depth >= tune.internal_reduction_depth and hash_move == NO_MOVE and excluded == NO_MOVE and (is_pv or cut_node):
        depth -= 1

    # Step 11. ProbCut (unmeasured). A capture that beats beta by a margin in a shallow search will beat beta in a deep
    # one, unless the transposition table already says that it will not. (M. Buro's idea, from Othello.)
    if (
        depth >= tune.probcut_depth
        and may_prune
        and not is_pv
        and not in_check
        and excluded == NO_MOVE
        and not is_decided(beta)
    ):
        raised: cython.int = beta + tune.probcut_margin - tune.probcut_improving * improving
        if not (tt.score != NO_SCORE and tt.depth >= depth - 3 and tt.score < raised):
            score = _search_probcut(worker, frame, hash_move, raised, depth, raw, cut_node)
            if score != NO_SCORE:
                return score  # recorded: ProbCut

    # Step 12. The moves, one by one, the most promising first. Killers: +13 ± 34. Attacked squares in the history:
    # +20 ± 12. The rest of the ordering is unmeasured.
    picker: Picker
    tried: Tried
    tried.quiet_count = 0
    tried.capture_count = 0
    number: cython.int = 0  # of moves, with those that are pruned
    old_alpha: cython.int = alpha
    root_move: cython.pointer(RootMove) = cython.NULL
    nodes_before: u64
    set_move_context(frame)
    pick_all(
        cython.address(picker),
        position,
        histories,
        cython.address(frame.context),
        hash_move,
        cython.address(frame.killers[0]),
    )
    while True:
        move = next_move(cython.address(picker))
        if move == NO_MOVE:
            break
        if move == excluded:
            continue  # recorded: excluded
        if is_root:
            root_move = find_root_move(worker, move)
            if root_move == cython.NULL:
                continue
            begin_root_move(worker, move, number + 1)
        number += 1
        nodes_before = worker.nodes

        is_quiet: cython.bint = not is_tactical(move)
        history: cython.int
        reduction: cython.int
        if is_quiet:
            history = quiet_score(histories, position, cython.address(frame.context), move)
            reduction = QUIET_REDUCTIONS[smaller(depth, 63)][smaller(number, 63)]
        else:
            history = capture_score(histories, position, move)
            reduction = CAPTURE_REDUCTIONS[smaller(depth, 63)][smaller(number, 63)]

        # Step 13. Pruning of moves that are unlikely to matter, once something is found that does not lose (unmeasured).
        if (
            may_prune
            and not is_root
            and has_pieces
            and not is_loss(best_score)
            and is_pruned(frame, cython.address(picker), move, number, depth, reduction, history, alpha, improving)
        ):
            continue  # recorded: static exchange

        # Step 14. Singular extension (unmeasured). The transposition table says that the hash move is good. Is it the only
        # one? The line may not grow beyond twice the iteration's depth.
        extension: cython.int = 0
        if (
            depth >= tune.singular_depth
            and move == hash_move
            and not is_root
            and excluded == NO_MOVE
            and tt.depth >= depth - 3
            and (tt.bound & LOWER_BOUND) != 0
            and not is_decided(tt.score)
            and frame.ply < 2 * worker.root_depth
        ):
            extension = _singular_extension(worker, frame, cython.address(tt), move, beta, depth, is_pv, cut_node)
            if worker.stopped:
                return DRAW  # recorded: stopped
            if extension == MULTI_CUT:
                return _singular_beta(cython.address(tt), depth)  # recorded: multi-cut

        # Step 15. Make the move.
        tt_prefetch(cython.address(shared.tt), key_after(position, move))
        set_move(worker, frame, move)
        child.double_extensions = frame.double_extensions + (1 if extension == 2 else 0)
        new_depth: cython.int = depth - 1 + extension

        # Step 16. Late-move reduction (unmeasured). Late moves are searched less deep with a null window.
        score = -INFINITE
        full_search: cython.bint = not is_pv or number > 1
        if depth >= tune.reduction_depth and number > 1 + is_root:
            reduction = late_move_reduction(
                frame, cython.address(picker), move, hash_move, reduction, history, improving, cut_node
            )
            reduced: cython.int = clamp(new_depth - reduction // 1024, 1, new_depth + is_pv)
            frame.reduction = new_depth - reduced
            score = -search_node(worker, child, -alpha - 1, -alpha, reduced, True)  # recorded: reduced
            frame.reduction = 0
            full_search = False

            # The move surprises: by how much decides how deep it is looked at again. (Stockfish's idea.)
            if score > alpha and reduced < new_depth:
                if score > best_score + tune.deeper_margin + 2 * new_depth:
                    new_depth += 1
                elif score < best_score + new_depth:
                    new_depth -= 1
                full_search = new_depth > reduced

        # Step 17. The null window: is the move better than the best so far?
        if full_search:
            score = -search_node(worker, child, -alpha - 1, -alpha, new_depth, not cut_node)  # recorded: null window

        # Step 18. The full window, for the first move of a PV node and for those that turn out better.
        if is_pv and (number == 1 or score > alpha):
            score = -search_node(worker, child, -beta, -alpha, new_depth, False)  # recorded: full window

        if worker.stopped:
            return DRAW  # recorded: stopped

        if is_root:
            finish_root_move(worker, root_move, score, alpha, beta, number == 1, worker.nodes - nodes_before)

        # Step 19. A new best move, perhaps a cut-off.
        if score > best_score:
            best_score = score
            if score > alpha:
                best_move = move
                if is_pv:
                    extend_pv(frame, move)
                if score >= beta:
                    frame.cutoffs += 1
                    break  # recorded: cut-off
                alpha = score
        note_tried(cython.address(tried), move)

    # Step 20. No legal move: mate or stalemate. (With a move excluded it only means that there is no other.)
    if number == 0:
        if excluded != NO_MOVE:
            return alpha  # recorded: no other move
        return mated_in(frame.ply) if in_check else DRAW  # recorded: no legal move

    # Step 21. The score. That a move is far above beta is found by a search which was only asked whether it is above: the
    # less deep, the less is believed (+10 ± 10).
    if best_score > beta and not is_decided(best_score) and not is_loss(beta):
        best_score = (best_score * depth + beta * tune.fail_high_pull) // (depth + tune.fail_high_pull)
    best_score = smaller(best_score, top_score)

    # Step 22. Learn: which move was good here, and how far the static evaluation was off.
    if best_score >= beta and best_move != NO_MOVE:
        update_on_cutoff(
            histories,
            position,
            cython.address(frame.context),
            cython.address(frame.killers[0]),
            best_move,
            depth,
            cython.address(tried),
        )
    if excluded == NO_MOVE:
        bound = LOWER_BOUND if best_score >= beta else EXACT if best_score > old_alpha else UPPER_BOUND
        # A bound on the evaluation's own side of it says nothing about an error, and neither do captures.
        if (
            not in_check
            and not is_tactical(best_move)
            and not is_decided(best_score)
            and not (bound == LOWER_BOUND and best_score <= frame.static_eval)
            and not (bound == UPPER_BOUND and best_score >= frame.static_eval)
        ):
            learn_correction(
                cython.address(shared.corrections),
                position,
                last_moves(worker, frame),
                best_score - frame.static_eval,
                depth,
            )
        # Further MultiPV lines lack the best moves: their result is not the node's.
        if not is_root or worker.pv_index == 0:
            remember(worker, frame, best_move, best_score, raw, depth, bound)
    return best_score  # recorded: moves searched

"""Principal variation search, told in numbered steps. docs/search.md has a section for each number.

Scores are from the side to move. A node is asked with a window (alpha, beta):
- a returned score <= alpha is an upper bound ("fails low"): the position is worth at most that;
- a score >= beta is a lower bound ("fails high"): worth at least that, which is enough to stop looking;
- a score in between is exact, as far as pruning and reductions allow, and `frame.pv` holds the line behind it.
Bounds may lie outside the window (fail-soft). When the search is stopped the score means nothing and is thrown away.
"""

import cython
from cython.cimports.board.bits import popcount
from cython.cimports.board.legality import gives_check
from cython.cimports.board.position import Position, key_after, occupied
from cython.cimports.board.see import see_at_least
from cython.cimports.board.types import KING, NO_MOVE, PAWN, Move, is_tactical, u64
from cython.cimports.eval.evaluator import evaluate
from cython.cimports.libc.string import memcpy
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
from cython.cimports.search.limits import enter
from cython.cimports.search.parameters import CAPTURE_REDUCTIONS, QUIET_REDUCTIONS, tune
from cython.cimports.search.picker import Picker, next_move, pick_all, pick_tactical
from cython.cimports.search.quiescence import search_quiet
from cython.cimports.search.score import (
    DRAW,
    INFINITE,
    MAX_PLY,
    NO_SCORE,
    TABLE_WIN,
    clamp,
    is_decided,
    is_loss,
    is_win,
    larger,
    mate_in,
    mated_in,
    smaller,
)
from cython.cimports.search.state import (
    PROBE_FAILED,
    REPORT_CURRENT,
    Frame,
    RootMove,
    Shared,
    Worker,
    extend_pv,
    find_root_move,
    remember,
    set_move,
    set_move_context,
    set_null_move,
)
from cython.cimports.search.table import (
    EXACT,
    LOWER_BOUND,
    NO_BOUND,
    UPPER_BOUND,
    Found,
    Table,
    bound_is_enough,
    nothing_found,
    prefetch_bucket,
    probe,
)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def search_node(
    worker: cython.pointer(Worker),
    frame: cython.pointer(Frame),
    alpha: cython.int,
    beta: cython.int,
    depth: cython.int,
    cut_node: cython.bint,
) -> cython.int:
    """The score of a node, searched `depth` plies deep. The contract stands at the top of the file.

    A node with a window wider than one is a PV node. The others are expected to fail high (`cut_node`) or low.
    """
    shared: cython.pointer(Shared) = worker.shared
    table: cython.pointer(Table) = cython.address(worker.shared.table)
    histories: cython.pointer(Histories) = cython.address(worker.histories)
    position: cython.pointer(Position) = cython.address(frame.position)
    child: cython.pointer(Frame) = frame + 1
    is_pv: cython.bint = beta - alpha > 1
    is_root: cython.bint = frame.ply == 0
    in_check: cython.bint = position.checkers != 0
    # Who asks for a mate wants no guesses: a sacrifice looks like a bad move until it mates.
    may_guess: cython.bint = shared.limits.mate == 0
    excluded: Move = frame.excluded
    score: cython.int
    best_score: cython.int = -INFINITE
    top_score: cython.int = INFINITE  # tables may cap the score
    best_move: Move = NO_MOVE
    move: Move
    assert -INFINITE <= alpha < beta <= INFINITE
    assert not (is_pv and cut_node)

    # Step 1. The horizon. Never evaluate in the middle of an exchange: let the captures play out.
    if depth <= 0 and tune.use_quiescence:
        return search_quiet(worker, frame, alpha, beta)

    if not enter(worker, frame):
        return DRAW

    if not is_root:
        # Step 2. Draws, and lines that grow without end.
        if is_draw(worker, frame):
            return draw_score(worker)
        # A side that can go back to an earlier position need not accept less than a draw.
        if tune.use_cycles and alpha < DRAW and can_repeat(worker, frame):
            alpha = draw_score(worker)
            if alpha >= beta:
                return alpha
        if frame.ply >= MAX_PLY:
            return evaluate(position, worker.workspace, frame.ply) if not in_check else DRAW
        if depth <= 0:
            return evaluate(position, worker.workspace, frame.ply)

        # Step 3. Mate-distance pruning. Who has found a mate needs no longer one: the best this node can do is to mate
        # with the next move, the worst is to be mated now.
        if tune.use_mate_distance:
            alpha = larger(alpha, mated_in(frame.ply))
            beta = smaller(beta, mate_in(frame.ply + 1))
            if alpha >= beta:
                return alpha

    child.ply = frame.ply + 1
    child.excluded = NO_MOVE
    child.cutoffs = 0
    (child + 1).killers[0] = NO_MOVE
    (child + 1).killers[1] = NO_MOVE
    child.double_extensions = frame.double_extensions

    # Step 4. Transposition table. A position that was searched as deep before needs no second search. PV nodes go on
    # all the same, so that lines are complete; so does everything close to the fifty-move rule, which the key ignores.
    found: Found = nothing_found()
    if tune.use_table and excluded == NO_MOVE:
        found = probe(table, position.key, frame.ply, position.halfmove_clock)
        frame.on_pv = is_pv or found.was_pv
    hash_move: Move = worker.root_moves[worker.pv_index].move if is_root and worker.root_depth > 1 else found.move
    if (
        not is_pv
        and found.score != NO_SCORE
        and found.depth >= depth
        and bound_is_enough(cython.address(found), beta)
        and position.halfmove_clock < 90
    ):
        return found.score

    # Step 5. Endgame tables: the result is known, only the way is not.
    if (
        shared.probe_wdl != cython.NULL
        and not is_root
        and excluded == NO_MOVE
        and position.halfmove_clock == 0
        and position.castling_rooks == 0
        and popcount(occupied(position)) <= shared.probe_men
        and (depth >= shared.probe_depth or popcount(occupied(position)) < shared.probe_men)
    ):
        result: cython.int = shared.probe_wdl(shared.probe_context, position)
        if result != PROBE_FAILED:
            worker.table_hits += 1
            bound: cython.int
            drawish: cython.int = 1 if shared.probe_rule50 else 0
            if result < -drawish:
                score = -TABLE_WIN + frame.ply
                bound = UPPER_BOUND
            elif result > drawish:
                score = TABLE_WIN - frame.ply
                bound = LOWER_BOUND
            else:
                score = DRAW + result
                bound = EXACT
            if bound == EXACT or (bound == LOWER_BOUND and score >= beta) or (bound == UPPER_BOUND and score <= alpha):
                remember(worker, frame, NO_MOVE, score, NO_SCORE, smaller(MAX_PLY - 1, depth + 6), bound)
                return score
            if is_pv:
                if bound == LOWER_BOUND:
                    best_score = score
                    alpha = larger(alpha, score)
                else:
                    top_score = score

    # Step 6. Static evaluation: corrected by experience, and replaced by the table's score where that says more.
    evaluation: cython.int = NO_SCORE  # the best guess of this node's score
    raw: cython.int = NO_SCORE
    improving: cython.bint = False
    if in_check:
        frame.static_eval = NO_SCORE
    else:
        if excluded != NO_MOVE:
            evaluation = frame.static_eval
        else:
            raw = found.evaluation if found.evaluation != NO_SCORE else evaluate(position, worker.workspace, frame.ply)
            frame.static_eval = corrected_eval(histories, position, raw)
            evaluation = frame.static_eval
            if not found.hit:
                remember(worker, frame, NO_MOVE, 0, raw, -1, NO_BOUND)
            if found.score != NO_SCORE and bound_is_enough(cython.address(found), evaluation):
                evaluation = found.score
        if (frame - 2).static_eval != NO_SCORE:
            improving = frame.static_eval > (frame - 2).static_eval
        elif (frame - 4).static_eval != NO_SCORE:
            improving = frame.static_eval > (frame - 4).static_eval

    has_pieces: cython.bint = (position.colours[position.turn] & ~(position.kinds[PAWN] | position.kinds[KING])) != 0

    if may_guess and not is_pv and not in_check and excluded == NO_MOVE:
        # Step 7. Razoring. So far below alpha that only captures could help: ask the quiescence search.
        if (
            tune.use_razoring
            and depth <= tune.razoring_depth
            and evaluation + tune.razoring_base + tune.razoring_slope * depth * depth < alpha
            and not is_loss(alpha)
        ):
            score = search_quiet(worker, frame, alpha, alpha + 1)
            if score <= alpha or worker.stopped:
                return score

        # Step 8. Reverse futility pruning. So far above beta that the opponent's best move will not change it.
        if (
            tune.use_reverse_futility
            and depth <= tune.reverse_futility_depth
            and evaluation - tune.reverse_futility_margin * (depth - improving) >= beta
            and not is_loss(beta)
            and not is_win(evaluation)
        ):
            return (evaluation + beta) // 2

        # Step 9. Null move. If passing still fails high, a real move would too, unless every move hurts: zugzwang,
        # which needs a bare or pawns-only side to be likely; deep cuts are verified by a search without null moves.
        if (
            tune.use_null_move
            and evaluation >= beta
            and (frame - 1).move != NO_MOVE
            and frame.static_eval >= beta + tune.null_move_margin - tune.null_move_slope * depth
            and has_pieces
            and frame.ply >= worker.null_move_floor
            and not is_loss(beta)
        ):
            less: cython.int = (
                tune.null_move_base
                + depth // tune.null_move_divisor
                + smaller(3, (evaluation - beta) // tune.null_move_eval_divisor)
            )
            set_null_move(worker, frame)
            score = -search_node(worker, child, -beta, 1 - beta, depth - less, not cut_node)
            if worker.stopped:
                return DRAW
            if score >= beta:
                if is_win(score):
                    score = beta  # a mate behind a pass proves nothing
                if depth < tune.null_move_verification or worker.null_move_floor != 0:
                    return score
                worker.null_move_floor = frame.ply + 3 * (depth - less) // 4
                verified: cython.int = search_node(worker, frame, beta - 1, beta, depth - less, False)
                worker.null_move_floor = 0
                if verified >= beta:
                    return score

    # Step 10. Internal iterative reduction. Without a hash move the ordering is poor: search a ply less, and let the
    # table provide a move for the next time.
    if (
        tune.use_internal_reduction
        and depth >= tune.internal_reduction_depth
        and hash_move == NO_MOVE
        and excluded == NO_MOVE
        and (is_pv or cut_node)
    ):
        depth -= 1

    picker: Picker
    # Step 11. ProbCut. A capture that beats beta by a margin in a shallow search will beat beta in a deep one.
    if (
        tune.use_probcut
        and may_guess
        and not is_pv
        and not in_check
        and excluded == NO_MOVE
        and depth >= tune.probcut_depth
        and not is_decided(beta)
    ):
        raised: cython.int = beta + tune.probcut_margin - tune.probcut_improving * improving
        if not (found.score != NO_SCORE and found.depth >= depth - 3 and found.score < raised):
            pick_tactical(
                cython.address(picker),
                position,
                histories,
                hash_move,
                larger(0, raised - frame.static_eval),
            )
            while True:
                move = next_move(cython.address(picker))
                if move == NO_MOVE:
                    break
                prefetch_bucket(table, key_after(position, move))
                set_move(worker, frame, move)
                score = -search_quiet(worker, child, -raised, 1 - raised)
                if score >= raised:
                    score = -search_node(worker, child, -raised, 1 - raised, depth - 4, not cut_node)
                if worker.stopped:
                    return DRAW
                if score >= raised:
                    remember(worker, frame, move, score, raw, depth - 3, LOWER_BOUND)
                    return score

    # Step 12. The moves, one by one.
    set_move_context(frame)
    pick_all(
        cython.address(picker),
        position,
        histories,
        cython.address(frame.context),
        hash_move,
        cython.address(frame.killers[0]),
    )
    tried: Tried
    tried.quiet_count = 0
    tried.capture_count = 0
    number: cython.int = 0
    old_alpha: cython.int = alpha
    root_move: cython.pointer(RootMove) = cython.NULL
    nodes_before: u64
    while True:
        move = next_move(cython.address(picker))
        if move == NO_MOVE:
            break
        if move == excluded:
            continue
        if is_root:
            root_move = find_root_move(worker, move)
            if root_move == cython.NULL:
                continue
            worker.current_move = move
            if worker.index == 0 and shared.report != cython.NULL:
                shared.report(shared.report_context, worker, REPORT_CURRENT, number + 1)
        number += 1
        nodes_before = worker.nodes
        is_quiet: cython.bint = not is_tactical(move)
        history: cython.int
        if is_quiet:
            history = quiet_score(histories, position, cython.address(frame.context), move)
        else:
            history = capture_score(histories, position, move)
        reduction: cython.int
        if is_quiet:
            reduction = QUIET_REDUCTIONS[smaller(depth, 63)][smaller(number, 63)]
        else:
            reduction = CAPTURE_REDUCTIONS[smaller(depth, 63)][smaller(number, 63)]

        # Step 13. Pruning of moves that are unlikely to matter, once something is found that does not lose.
        if may_guess and not is_root and has_pieces and not is_loss(best_score):
            likely_depth: cython.int = larger(0, depth - 1 - reduction // 1024)
            if is_quiet:
                # Late-move pruning: the ordering is good enough to trust it with the tail.
                if tune.use_late_move_pruning and number > (tune.late_move_base + depth * depth) // (2 - improving):
                    picker.skip_quiets = True
                    continue
                # Futility: this quiet move will not lift a hopeless evaluation to alpha.
                if (
                    tune.use_futility
                    and not in_check
                    and likely_depth < tune.futility_depth
                    and frame.static_eval + tune.futility_base + tune.futility_slope * likely_depth <= alpha
                    and not gives_check(position, move)
                ):
                    continue
                # History: it has failed too often in this place.
                if (
                    tune.use_history_pruning
                    and likely_depth < tune.history_pruning_depth
                    and history < -tune.history_pruning_slope * depth
                ):
                    continue
                # Exchange: it puts something en prise.
                if tune.use_see_pruning and not see_at_least(
                    position, move, -tune.see_quiet_slope * likely_depth * likely_depth
                ):
                    continue
            elif tune.use_see_pruning and not see_at_least(position, move, -tune.see_capture_slope * depth):
                continue

        # Step 14. Extensions. The line may not grow beyond twice the iteration's depth.
        extension: cython.int = 0
        if frame.ply < 2 * worker.root_depth:
            # Singular: if every other move fails well below the hash move's score, much depends on it. If instead the
            # others reach beta as well, there are several good moves: cut. Else the hash move is nothing special.
            if (
                tune.use_singular_extension
                and not is_root
                and move == hash_move
                and excluded == NO_MOVE
                and depth >= tune.singular_depth
                and found.depth >= depth - 3
                and (found.bound & LOWER_BOUND) != 0
                and not is_decided(found.score)
            ):
                lowered: cython.int = found.score - tune.singular_margin * depth // 16
                frame.excluded = move
                score = search_node(worker, frame, lowered - 1, lowered, (depth - 1) // 2, cut_node)
                frame.excluded = NO_MOVE
                if worker.stopped:
                    return DRAW
                if score < lowered:
                    extension = 1
                    if (
                        not is_pv
                        and score < lowered - tune.double_extension_margin
                        and frame.double_extensions < tune.double_extension_limit
                    ):
                        extension = 2
                elif lowered >= beta:
                    return lowered
                elif found.score >= beta:
                    extension = -2
                elif cut_node:
                    extension = -1
            # Check: the answer is forced, so the ply is cheap, and mates hide behind checks.
            elif (
                tune.use_check_extension
                and depth <= 8
                and gives_check(position, move)
                and see_at_least(position, move, 0)
            ):
                extension = 1

        # Step 15. Make the move.
        prefetch_bucket(table, key_after(position, move))
        set_move(worker, frame, move)
        child.double_extensions = frame.double_extensions + (1 if extension == 2 else 0)
        new_depth: cython.int = depth - 1 + extension

        # Step 16. Late-move reduction. Late moves are searched less deep with a null window; what comes back above
        # alpha is searched again. The ladder counts in 1024ths of a ply.
        score = -INFINITE
        full_search: cython.bint = not is_pv or number > 1
        if tune.use_late_move_reduction and depth >= 3 and number > 1 + is_root:
            # Less at the root, where a sacrifice comes late and matters most.
            if is_root:
                reduction -= tune.reduction_root
            # Less on a principal variation, past or present.
            if frame.on_pv:
                reduction -= tune.reduction_pv
            # More where one good move is expected to be enough.
            if cut_node:
                reduction += tune.reduction_cut_node
            # More when things are not getting better.
            if not improving:
                reduction += tune.reduction_not_improving
            # More when the best move is probably a capture.
            if is_tactical(hash_move) and is_quiet:
                reduction += tune.reduction_table_capture
            # More when the child's moves keep refuting ours.
            if child.cutoffs > 3:
                reduction += tune.reduction_cutoffs
            # Less for a killer, less for a check.
            if move == picker.killers[0] or move == picker.killers[1]:
                reduction -= tune.reduction_killer
            if child.position.checkers:
                reduction -= tune.reduction_check
            # Less for what did well before, more for what did badly.
            reduction -= history * 1024 // tune.reduction_history_divisor
            reduced: cython.int = clamp(new_depth - reduction // 1024, 1, new_depth + is_pv)
            score = -search_node(worker, child, -alpha - 1, -alpha, reduced, True)
            full_search = False
            if score > alpha and reduced < new_depth:
                # The move surprises: how much decides how deep it is looked at again.
                if score > best_score + tune.deeper_margin + 2 * new_depth:
                    new_depth += 1
                elif score < best_score + new_depth:
                    new_depth -= 1
                full_search = new_depth > reduced
        # Step 17. The null window: is the move better than the best so far?
        if full_search:
            score = -search_node(worker, child, -alpha - 1, -alpha, new_depth, not cut_node)
        # Step 18. The full window, for the first move of a PV node and for those that turn out better.
        if is_pv and (number == 1 or score > alpha):
            score = -search_node(worker, child, -beta, -alpha, new_depth, False)

        if worker.stopped:
            return DRAW

        if is_root:
            root_move.nodes += worker.nodes - nodes_before
            if number == 1 or score > alpha:
                root_move.score = score
                root_move.average_score = (
                    score if root_move.average_score == -INFINITE else (score + root_move.average_score) // 2
                )
                root_move.seldepth = worker.seldepth
                root_move.bound = EXACT if alpha < score < beta else LOWER_BOUND if score >= beta else UPPER_BOUND
                root_move.pv[0] = move
                memcpy(cython.address(root_move.pv[1]), child.pv, child.pv_length * cython.sizeof(Move))
                root_move.pv_length = child.pv_length + 1
            else:
                root_move.score = -INFINITE  # only known to be worse: keeps its place behind the best

        # Step 19. A new best move, perhaps a cut-off.
        if score > best_score:
            best_score = score
            if score > alpha:
                best_move = move
                if is_pv:
                    extend_pv(frame, move)
                if score >= beta:
                    frame.cutoffs += 1
                    break
                alpha = score
        note_tried(cython.address(tried), move)

    # Step 20. No legal move: mate or stalemate. (With a move excluded it only means that there is no other.)
    if number == 0:
        if excluded != NO_MOVE:
            return alpha
        return mated_in(frame.ply) if in_check else DRAW

    if best_score > top_score:
        best_score = top_score

    # Step 21. Learn: which move was good here, and how far the static evaluation was off.
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
        if (
            not in_check
            and not is_tactical(best_move)
            and not is_decided(best_score)
            and not (bound == LOWER_BOUND and best_score <= frame.static_eval)
            and not (bound == UPPER_BOUND and best_score >= frame.static_eval)
        ):
            learn_correction(histories, position, best_score - frame.static_eval, depth)
        if not is_root or worker.pv_index == 0:
            remember(worker, frame, best_move, best_score, raw, depth, bound)
    return best_score

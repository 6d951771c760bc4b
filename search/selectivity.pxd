"""What is searched less deep than the rest, or not at all. Inlined into the node.

A comment `recorded: …` names the reason, as in tree.py.
"""
from board.legality cimport gives_check
from board.position cimport Position
from board.see cimport see_at_least
from board.types cimport Move, is_tactical
from search.parameters cimport tune
from search.picker cimport BAD_TACTICAL, Picker
from search.score cimport NO_SCORE, larger
from search.state cimport Frame


cdef inline int depth_in_hindsight(const Frame* frame, int depth) noexcept nogil:
    """How deep to search what a reduced move has led to, now that its evaluation is known. (Found in several open engines.)

    Each evaluation is from the view of its side to move, so their sum is what the move between them has lost.
    """
    cdef const Frame* before = frame - 1
    cdef int lost
    if before.reduction <= 0 or before.static_eval == NO_SCORE:
        return depth
    lost = frame.static_eval + before.static_eval
    if lost < 0 and before.reduction >= tune.hindsight_reduction:
        return depth + 1
    if lost > tune.hindsight_margin and depth >= 2:
        return depth - 1
    return depth


cdef inline bint is_pruned(
    Frame* frame,
    Picker* picker,
    Move move,
    int number,
    int depth,
    int reduction,
    int history,
    int alpha,
    bint improving,
) noexcept nogil:
    """May a move be left out unseen? `number` counts from 1; `reduction` is the one that it would be searched with."""
    cdef Position* position = &frame.position
    cdef int reduced_depth

    # Static exchange (unmeasured): a capture that loses more than the remaining depth can win back. Only those that come
    # behind the quiet moves lose anything.
    if is_tactical(move):
        return (
            picker.stage == BAD_TACTICAL
            and depth <= tune.see_depth
            and not see_at_least(position, move, -tune.see_capture_slope * depth)
        )

    # Late-move pruning (unmeasured): the ordering is good enough to trust it with the tail.
    if number > (tune.late_move_base + depth * depth) // (2 - improving):
        picker.skip_quiets = True
        return True  # recorded: late move

    # Futility pruning (unmeasured): a quiet move will not lift a hopeless evaluation to alpha.
    reduced_depth = larger(0, depth - 1 - reduction // 1024)
    if (
        position.checkers == 0
        and reduced_depth < tune.futility_depth
        and frame.static_eval + tune.futility_base + tune.futility_slope * reduced_depth <= alpha
        and not gives_check(position, move)
    ):
        return True  # recorded: futility

    # History pruning (unmeasured): the move has failed too often in this place.
    if (
        reduced_depth < tune.history_pruning_depth
        and history < -tune.history_pruning_slope * depth
    ):
        return True  # recorded: history

    # Static exchange (unmeasured): a quiet move that puts something en prise.
    return depth <= tune.see_depth and not see_at_least(
        position, move, -tune.see_quiet_slope * reduced_depth * reduced_depth
    )


cdef inline int late_move_reduction(
    Frame* frame,
    const Picker* picker,
    Move move,
    Move hash_move,
    int reduction,
    int history,
    bint improving,
    bint cut_node,
) noexcept nogil:
    """The ladder: from the reduction by depth and number of the move to the one of this move, in 1024ths of a ply.

    Most rungs are found in many engines; the count of cut-offs comes from Stockfish. Each without a figure is unmeasured.
    """
    cdef Frame* child = frame + 1

    # Less at the root, where a sacrifice comes late and matters most.
    if frame.ply == 0:
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

    # More for a quiet move when the best move is probably a capture.
    if is_tactical(hash_move) and not is_tactical(move):
        reduction += tune.reduction_hash_capture

    # More when the child's moves keep refuting ours.
    if child.cutoffs > 3:
        reduction += tune.reduction_cutoffs

    # Less for a killer.
    if move == picker.killers[0] or move == picker.killers[1]:
        reduction -= tune.reduction_killer

    # Less for a check.
    if child.position.checkers:
        reduction -= tune.reduction_check

    # Less where the evaluation had to be corrected by much: it is not to be trusted (+10 ± 10, with the margin of step 8).
    reduction -= tune.reduction_correction * frame.correction

    # Less for what did well before, more for what did badly.
    return reduction - history * 1024 // tune.reduction_history_divisor

"""Every number of the search in one table: name, default, range, step and meaning.

The step is what a tuner should move a number by to change the strength noticeably. At one end of its range a number may
switch its technique off: techniques.py has the table. Two techniques have no such number, and a switch instead.
Starting values follow what public engines report (docs/search.md says which); later ones were measured here.
"""

from typing import NamedTuple

import cython
from cython.cimports.libc.math import log


class Parameter(NamedTuple):
    name: str
    default: int
    least: int
    most: int
    step: int
    meaning: str


NEVER = 255  # as the shallowest depth of a technique: there is no deeper node

TABLE = (
    Parameter("use_quiescence", 1, 0, 1, 1, "quiescence search at the leaves; off: the static evaluation"),
    Parameter("use_threats", 1, 0, 1, 1, "attacked squares in the history"),
    Parameter("tt_depth", -1, -1, NEVER, 1, "shallowest result that is stored; -1: an evaluation"),
    Parameter("hash_move_depth", 1, 1, NEVER, 1, "shallowest node that tries the hash move first"),
    Parameter("draw_noise", 1, 0, 10, 1, "a draw scores this much more or less than zero"),
    Parameter("cycle_plies", 100, 0, 100, 5, "how far back a repetition is seen one move ahead"),
    Parameter("mate_distance_ply", 1, 1, NEVER, 1, "first ply with mate-distance pruning"),
    Parameter("aspiration_depth", 4, 1, NEVER, 1, "first iteration with a window"),
    Parameter("aspiration_window", 14, 4, 60, 3, "half width of the first window"),
    Parameter("reverse_futility_depth", 8, 0, 14, 1, "deepest node"),
    Parameter("reverse_futility_margin", 73, 30, 150, 8, "margin per ply"),
    Parameter("reverse_futility_correction", 50, 0, 200, 15, "more of it by the size of the correction, in per cent"),
    Parameter("razoring_depth", 4, 0, 8, 1, "deepest node"),
    Parameter("razoring_base", 166, 50, 600, 30, "margin at depth 0"),
    Parameter("razoring_slope", 180, 50, 400, 20, "margin per ply, squared"),
    Parameter("null_move_depth", 1, 1, NEVER, 1, "shallowest node"),
    Parameter("null_move_base", 4, 2, 6, 1, "reduction at depth 0"),
    Parameter("null_move_divisor", 4, 2, 8, 1, "plies of depth per further ply of reduction"),
    Parameter("null_move_eval_divisor", 188, 80, 500, 20, "centipawns above beta per further ply of reduction"),
    Parameter("null_move_margin", 148, 0, 400, 20, "static evaluation wanted above beta at depth 0"),
    Parameter("null_move_slope", 20, 0, 50, 3, "less of it per ply of depth"),
    Parameter("null_move_verification", 14, 6, 30, 2, "from this depth on a cut is verified"),
    Parameter("probcut_depth", 5, 3, NEVER, 1, "shallowest node"),
    Parameter("probcut_margin", 204, 80, 400, 20, "above beta"),
    Parameter("probcut_improving", 50, 0, 150, 10, "less of it when improving"),
    Parameter("hindsight_reduction", 3, 1, NEVER, 1, "plies of reduction that a good reply takes a ply back from"),
    Parameter("hindsight_margin", 96, 0, 40000, 20, "sum of two evaluations from which a ply more is saved"),
    Parameter("internal_reduction_depth", 4, 2, NEVER, 1, "shallowest node"),
    Parameter("late_move_base", 3, 1, 1000, 1, "quiet moves at depth 0; 1000 are more than there are"),
    Parameter("futility_depth", 9, 0, 14, 1, "reduced depth less than this"),
    Parameter("futility_base", 96, 20, 300, 15, "margin at depth 0"),
    Parameter("futility_slope", 87, 30, 200, 10, "margin per ply"),
    Parameter("see_depth", NEVER, 0, NEVER, 1, "deepest node"),
    Parameter("see_quiet_slope", 51, 8, 80, 4, "exchange a quiet move may lose, per squared ply"),
    Parameter("see_capture_slope", 80, 30, 200, 10, "exchange a capture may lose, per ply"),
    Parameter("history_pruning_depth", 5, 0, 9, 1, "reduced depth less than this"),
    Parameter("history_pruning_slope", 2500, 500, 8000, 300, "history below minus this, per ply"),
    Parameter("singular_depth", 7, 4, NEVER, 1, "shallowest node"),
    Parameter("singular_margin", 21, 4, 48, 3, "below the score of the hash move, per ply, in 16ths"),
    Parameter("double_extension_margin", 15, 0, 60, 4, "how far the others must fail for two plies"),
    Parameter("double_extension_limit", 8, 0, 20, 1, "double extensions in one line"),
    Parameter("reduction_depth", 2, 2, NEVER, 1, "shallowest node"),
    Parameter("reduction_base", 1556, 0, 2048, 60, "quiet moves: at depth 1 or move 1"),
    Parameter(
        "reduction_divisor", 1719, 1200, 4000, 100, "quiet moves: product of logarithms divided by this, in 1000ths"
    ),
    Parameter("capture_reduction_base", 350, 0, 1500, 60, "captures, likewise"),
    Parameter("capture_reduction_divisor", 3700, 1500, 6000, 150, "captures, likewise"),
    Parameter("reduction_correction", 4, 0, 20, 1, "less per centipawn that the evaluation was corrected by"),
    Parameter("reduction_history_divisor", 8483, 3000, 20000, 600, "history worth one ply"),
    Parameter("reduction_root", 1024, 0, 3072, 100, "less at the root"),
    Parameter("reduction_pv", 1024, 0, 2048, 100, "less on a principal variation"),
    Parameter("reduction_cut_node", 1586, 0, 3072, 100, "more where a cut is expected"),
    Parameter("reduction_not_improving", 961, 0, 2048, 100, "more when the evaluation does not rise"),
    Parameter("reduction_killer", 1024, 0, 2048, 100, "less for killers"),
    Parameter("reduction_check", 2048, 0, 4096, 100, "less for checks"),
    Parameter("reduction_hash_capture", 768, 0, 2048, 100, "more when the hash move is a capture"),
    Parameter("reduction_cutoffs", 768, 0, 2048, 100, "more when the child node fails high often"),
    Parameter("deeper_margin", 50, 10, 150, 10, "a reduced search this much above the best is repeated one ply deeper"),
    Parameter("fail_high_pull", 1, 0, 8, 1, "plies' worth of beta in a score above it"),
    Parameter("good_capture", 0, -3000, 300, 25, "exchange a capture must win to come before the quiet moves"),
    Parameter("killer_depth", 1, 1, NEVER, 1, "shallowest node whose cut-off makes a killer move"),
    Parameter("bonus_slope", 150, 40, 350, 15, "history bonus per ply"),
    Parameter("bonus_offset", 25, -200, 300, 20, "less of it"),
    Parameter("bonus_limit", 1800, 0, 4000, 150, "at most"),
    Parameter("malus_slope", 160, 40, 350, 15, "history malus per ply"),
    Parameter("malus_offset", 0, -200, 300, 20, "less of it"),
    Parameter("malus_limit", 1800, 0, 4000, 150, "at most"),
    Parameter("check_bonus", 16384, 0, 32768, 1500, "added to the history of a quiet check that is safe"),
    Parameter("delta_margin", 166, 50, 400, 15, "captures that cannot come this near to alpha are not tried"),
    Parameter("correction_weight_limit", 96, 16, 256, 12, "how fast a correction learns, in 1024ths"),
    Parameter("correction_pawn_weight", 64, 0, 192, 8, "pawn structure's share, in 128ths"),
    Parameter("correction_minor_weight", 48, 0, 192, 8, "minor pieces' share, in 128ths"),
    Parameter("correction_piece_weight", 64, 0, 192, 8, "each side's pieces' share, in 128ths"),
    Parameter("correction_line_weight", 64, 0, 192, 8, "the last two moves' share, in 128ths"),
    Parameter("time_share", 320, 100, 800, 30, "ten-thousandths of the clock for one move"),
    Parameter("time_increment", 75, 30, 100, 5, "per cent of the increment for one move"),
    Parameter("time_hard", 900, 150, 2000, 80, "hard limit in per cent of the soft one"),
    Parameter("time_rivals", 100, 0, 200, 10, "how much the share of nodes behind the best move counts, in per cent"),
    Parameter("time_stability", 100, 0, 200, 10, "how much it counts that the best move stays the same"),
    Parameter("time_settled", 100, 0, 200, 10, "how much it counts that the score stays the same"),
    Parameter("time_drop", 100, 0, 200, 10, "how much a falling score counts"),
)

_BY_NAME = {parameter.name: parameter for parameter in TABLE}


def _fill_reductions():
    """Later moves and deeper nodes are reduced more, both by the logarithm."""
    depth: cython.int
    number: cython.int
    for depth in range(1, 64):
        for number in range(1, 64):
            product: cython.double = log(depth) * log(number) * 1024
            QUIET_REDUCTIONS[depth][number] = cython.cast(
                cython.int, tune.reduction_base + product * 1000 / tune.reduction_divisor
            )
            CAPTURE_REDUCTIONS[depth][number] = cython.cast(
                cython.int, tune.capture_reduction_base + product * 1000 / tune.capture_reduction_divisor
            )


def values():
    """All parameters as they are now, by name."""
    return dict(tune)


def set_parameter(name, value):
    """Changes one number; ValueError when there is no such parameter or the value is out of its range."""
    if name not in _BY_NAME:
        raise ValueError(f"there is no search parameter '{name}'")
    parameter = _BY_NAME[name]
    if not parameter.least <= value <= parameter.most:
        raise ValueError(f"{name} is {value}, but must lie between {parameter.least} and {parameter.most}")
    block: cython.pointer(cython.int) = cython.cast(cython.pointer(cython.int), cython.address(tune))
    block[TABLE.index(parameter)] = value
    _fill_reductions()


def reset():
    """Back to the defaults."""
    block: cython.pointer(cython.int) = cython.cast(cython.pointer(cython.int), cython.address(tune))
    for index, parameter in enumerate(TABLE):
        block[index] = parameter.default
    _fill_reductions()


# The struct and the table name the same things in the same order, or nothing is safe.
if list(values()) != [parameter.name for parameter in TABLE]:
    raise ImportError("search/parameters.pxd and search/parameters.py disagree")
reset()

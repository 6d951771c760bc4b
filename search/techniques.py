"""The techniques of the search, and the settings that switch each of them off.

For scripts/ablate.py, which measures what they do to the tree, and for the tests, which prove that without those that
guess the search is minimax. What the transposition table holds is not forgotten by switching it off: clear the searcher.
"""

from typing import NamedTuple

from search.parameters import NEVER, reset, set_parameter


class Technique(NamedTuple):
    """`step` is that of search/tree.py and of docs/search.md; 0 stands before the first. `guesses`: it may be wrong."""

    name: str
    step: int
    meaning: str
    guesses: bool
    off: dict


TECHNIQUES = (
    Technique("aspiration", 0, "aspiration windows", True, {"aspiration_depth": NEVER}),
    Technique("quiescence", 1, "quiescence search at the leaves", False, {"use_quiescence": 0}),
    Technique("cycles", 2, "seeing a repetition one move ahead", False, {"cycle_plies": 0}),
    Technique("draw_noise", 2, "draws that score a little more or less than zero", False, {"draw_noise": 0}),
    Technique("mate_distance", 3, "mate-distance pruning", False, {"mate_distance_ply": NEVER}),
    # Internal reductions would wait for a hash move that never comes, and make every node shallower instead.
    Technique(
        "transposition_table", 4, "transposition table", False, {"tt_depth": NEVER, "internal_reduction_depth": NEVER}
    ),
    Technique(
        "hash_move",
        4,
        "trying the hash move first",
        False,
        {"hash_move_depth": NEVER, "internal_reduction_depth": NEVER, "singular_depth": NEVER},
    ),
    Technique(
        "correction",
        6,
        "correction history",
        False,
        {
            "correction_pawn_weight": 0,
            "correction_minor_weight": 0,
            "correction_piece_weight": 0,
            "correction_line_weight": 0,
        },
    ),
    Technique(
        "doubt",
        6,
        "more care where the evaluation was corrected by much",
        True,
        {"reduction_correction": 0, "reverse_futility_correction": 0},
    ),
    Technique("hindsight", 6, "hindsight", True, {"hindsight_reduction": NEVER, "hindsight_margin": 40000}),
    Technique("razoring", 7, "razoring", True, {"razoring_depth": 0}),
    Technique("reverse_futility", 8, "reverse futility pruning", True, {"reverse_futility_depth": 0}),
    Technique("null_move", 9, "null-move pruning", True, {"null_move_depth": NEVER}),
    Technique("internal_reduction", 10, "internal iterative reductions", True, {"internal_reduction_depth": NEVER}),
    Technique("probcut", 11, "ProbCut", True, {"probcut_depth": NEVER}),
    Technique("exchange_order", 12, "losing captures behind the quiet moves", False, {"good_capture": -3000}),
    Technique("killers", 12, "killer moves", False, {"killer_depth": NEVER}),
    Technique("history", 12, "histories of moves", False, {"bonus_limit": 0, "malus_limit": 0}),
    Technique("threats", 12, "attacked squares in the history", False, {"use_threats": 0}),
    Technique("late_move_pruning", 13, "late-move pruning", True, {"late_move_base": 1000}),
    Technique("futility", 13, "futility pruning", True, {"futility_depth": 0}),
    Technique("see_pruning", 13, "pruning by static exchange", True, {"see_depth": 0}),
    Technique("history_pruning", 13, "pruning by history", True, {"history_pruning_depth": 0}),
    Technique("singular_extension", 14, "singular extensions and multi-cut", True, {"singular_depth": NEVER}),
    Technique("late_move_reduction", 16, "late-move reductions", True, {"reduction_depth": NEVER}),
    Technique("fail_high_pull", 21, "drawing scores above beta towards it", False, {"fail_high_pull": 0}),
)

# What decides how long a search lasts, not what it does.
CLOCK_TECHNIQUES = (
    Technique("time_rivals", 0, "more time where many moves compete for nodes", False, {"time_rivals": 0}),
    Technique("time_stability", 0, "less time while the best move stays", False, {"time_stability": 0}),
    Technique("time_settled", 0, "less time while the score stays", False, {"time_settled": 0}),
    Technique("time_drop", 0, "more time when the score falls", False, {"time_drop": 0}),
)

BY_NAME = {technique.name: technique for technique in (*TECHNIQUES, *CLOCK_TECHNIQUES)}


def switch_off(*names):
    """Everything as by default, but without these techniques. KeyError for a name that is none."""
    reset()
    for name in names:
        for parameter, value in BY_NAME[name].off.items():
            set_parameter(parameter, value)

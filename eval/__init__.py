"""What is a position worth? From Python: `evaluate`, `explain`; compiled modules cimport `eval.classical`."""

from eval.api import Evaluator, Explanation, Row, benchmark, evaluate, explain, is_won_pawn_ending, trace
from eval.weights import load_weights
from eval.weights_file import GROUPS, WeightsError

__all__ = [
    "GROUPS",
    "Evaluator",
    "Explanation",
    "Row",
    "WeightsError",
    "benchmark",
    "evaluate",
    "explain",
    "is_won_pawn_ending",
    "load_weights",
    "trace",
]

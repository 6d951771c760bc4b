"""What is a position worth? From Python: `evaluate`, `explain`; compiled modules cimport `eval.evaluator`."""

from eval.api import (
    Evaluator,
    Explanation,
    Row,
    benchmark,
    evaluate,
    evaluate_classical,
    evaluate_network,
    explain,
    is_won_pawn_ending,
    piece_values,
    trace,
)
from eval.evaluator import CLASSICAL, DEFAULT, EMBEDDED, load_evaluation, network_summary, read_evaluation
from eval.network import available_levels, choose_level
from eval.network_file import NetworkError
from eval.weights import load_weights
from eval.weights_file import GROUPS, WeightsError

__all__ = [
    "CLASSICAL",
    "DEFAULT",
    "EMBEDDED",
    "GROUPS",
    "Evaluator",
    "Explanation",
    "NetworkError",
    "Row",
    "WeightsError",
    "available_levels",
    "benchmark",
    "choose_level",
    "evaluate",
    "evaluate_classical",
    "evaluate_network",
    "explain",
    "is_won_pawn_ending",
    "load_evaluation",
    "load_weights",
    "network_summary",
    "piece_values",
    "read_evaluation",
    "trace",
]

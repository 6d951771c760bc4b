"""The explained evaluation: which feature group gives whom how much."""

from board import STARTING_FEN, Board

_NUMBERS = "{:<14}{:>8}{:>7}{:>9}{:>7}{:>9}{:>7}{:>10}"


def eval_table(board):
    """Yields the lines that `quetzal eval` and UCI's `eval` print: centipawns, White's view, at most 80 columns."""
    from eval import GROUPS, explain

    explanation = explain(board)
    yield "{:<14}{:>15}{:>16}{:>26}".format("centipawns", "White", "Black", "White - Black")
    yield _NUMBERS.format("", "mg", "eg", "mg", "eg", "mg", "eg", "tapered")
    for row in explanation.rows:
        # What the ending as a whole adds or takes away belongs to no side and no phase.
        columns = row[1:7] if row.group in GROUPS else [""] * 6
        yield _NUMBERS.format(row.group, *columns, row.tapered)
    sums = [sum(row[column] for row in explanation.rows) for column in range(1, 7)]
    yield "-" * 71
    yield _NUMBERS.format("total", *sums, explanation.total)
    yield ""
    yield f"Middlegame weight {explanation.phase}/24, {_state(explanation)}."


def _state(explanation):
    if explanation.is_known_ending:
        return "a known ending with a score of its own"
    if explanation.scale != 64:
        return f"{explanation.scale}/64 of the score is left in this drawish ending"
    return "nothing scaled down"


def run_eval(options):
    for line in eval_table(Board(options.fen or STARTING_FEN)):
        print(line)

"""The explained evaluation: which feature group gives whom how much."""

_NUMBERS = "{:<14}{:>8}{:>7}{:>9}{:>7}{:>9}{:>7}{:>10}"


def eval_table(board):
    """Yields the lines that `quetzal eval` and UCI's `eval` print: centipawns, White's view, at most 80 columns."""
    from eval import evaluate, network_summary

    if network_summary() is None:
        yield from _classical_table(board)
        return
    yield from _piece_board(board)
    yield ""
    yield "The classical evaluation, which is not in use, for comparison:"
    yield ""
    yield from _classical_table(board)
    yield ""
    yield f"Final evaluation {_signed(_white_view(board, evaluate(board)))} centipawns (White's view, by the network)"


def _white_view(board, score):
    return -score if board.turn else score


def _signed(number):
    return f"{number:+d}" if number else "0"


def _piece_board(board):
    """The network's score, and under each piece what the score would lose without it."""
    from eval import evaluate_network, network_summary, piece_values

    values = piece_values(board)
    pieces = {square: board.piece_at(square) for square in range(64)}
    summary = network_summary()
    inputs = "768" if summary["king_buckets"] == 1 else f"{summary['king_buckets']} x 768 by the king's square"
    several = f", one of {summary['outputs']} by the number of men" if summary["outputs"] > 1 else ""
    yield f"The network's evaluation, ({inputs} -> {summary['neurons']}) x 2 -> 1{several}, and what each piece adds to it:"
    yield ""
    line = "  +" + "-------+" * 8
    for rank in range(7, -1, -1):
        squares = range(8 * rank, 8 * rank + 8)
        yield line
        yield f"{rank + 1} |" + "".join(f"{pieces[square] or '':^7}|" for square in squares)
        yield "  |" + "".join(_cell(pieces[square], values.get(square)) + "|" for square in squares)
    yield line
    yield "   " + "".join(f"{file:^8}" for file in "abcdefgh")
    yield ""
    yield f"The network says {_signed(_white_view(board, evaluate_network(board)))} centipawns (White's view)."
    yield from _schooling(network_summary())


def _schooling(summary):
    """What a network learned from, if its file tells: any text may stand there."""
    match summary:
        case {"data": {"positions": int(positions), "games": int(games)}}:
            yield f"It learned from {positions:,} positions of {games:,} games."


def _cell(piece, value):
    """A value to its own side becomes White's view."""
    if value is None:
        return " " * 7
    return f"{_signed(value if piece.isupper() else -value):^7}"


def _classical_table(board):
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

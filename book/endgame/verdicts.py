"""What endgame tables say of every move, for people."""

from board import Termination

RESULTS = {
    2: "win",
    1: "win, but the fifty-move rule makes it a draw",
    0: "draw",
    -1: "loss, but the fifty-move rule makes it a draw",
    -2: "loss",
}


class Verdict:
    """A legal move, as the tables see it: the result for who plays it, and the DTZ of the position it leads to.

    What is not known is None.
    """

    def __init__(self, tables, board, move):
        self.move = move
        self.san = board.san(move)
        board.push(move)
        outcome = board.outcome()
        self.is_mate = outcome is not None and outcome.termination is Termination.CHECKMATE
        self.is_stalemate = outcome is not None and outcome.termination is Termination.STALEMATE
        self.is_zeroing = board.halfmove_clock == 0
        result = tables.wdl(board)
        self.result = None if result is None else -result
        self.dtz = tables.dtz(board)
        board.pop()

    @property
    def words(self):
        if self.is_mate:
            return "checkmate"
        if self.is_stalemate:
            return "stalemate"
        return "unknown" if self.result is None else RESULTS[self.result]

    def order(self):
        """Best first: the better result, mates, then quick wins and long losses."""
        if self.result is None:
            return (3, 0, 0, self.san)
        distance = abs(self.dtz or 0) if not self.is_zeroing else 0
        return (-self.result, not self.is_mate, distance if self.result > 0 else -distance, self.san)


def verdicts(tables, board):
    """The verdicts on all legal moves, best first."""
    return sorted((Verdict(tables, board, move) for move in board.legal_moves()), key=Verdict.order)

"""Which root moves keep what the position is worth, by endgame tables. Moves of a higher rank are better.

The tables know who wins, and how many plies it takes to the next capture or pawn move (DTZ), which starts the fifty-move
clock again. So a win is safe as long as the clock and the DTZ together stay below a hundred, and a loss is saved when
they can be brought above.
"""

from typing import NamedTuple

from board import Termination

WON = 1 << 18  # the rank of a safe win; between this and half of it wins that ask for care
CURSED = 1 << 17  # around here the fifty-move rule decides
LAST_SAFE = 99  # plies of clock and DTZ together; tables may be off by one
# Up to here the search chooses among the winning moves: it sees mates, where DTZ-optimal play gives pieces away to reset
# the clock. Beyond, or when a position has come again, the shortest way is taken.
AT_EASE = 60


class Ranking(NamedTuple):
    """Ranks and results (-2 to 2, as the clock stands) of all legal moves; `by_distance` if DTZ was known for all."""

    ranks: dict
    results: dict
    by_distance: bool

    @property
    def best_result(self):
        return self.results[max(self.ranks, key=self.ranks.get)]


def rank_by_distance(dtz, clock, has_repeated=False):
    """The rank and the result of a move that leaves us, before it is made, with this DTZ."""
    if dtz == 0:
        return 0, 0
    total = abs(dtz) + clock
    if dtz > 0:
        if total > LAST_SAFE:
            return CURSED - min(total, CURSED - 1), 1
        if total <= AT_EASE and not has_repeated:
            return WON, 2
        return WON - total, 2
    # Among lost moves the search may choose, unless the fifty-move rule comes into sight: then the longest way is best.
    if -2 * dtz + clock <= LAST_SAFE:
        return -WON, -2
    return min(-CURSED + total, -1), -2 if total <= LAST_SAFE else -1


def rank_without_rule(dtz):
    """The same if the fifty-move rule is not in force."""
    if dtz == 0:
        return 0, 0
    if dtz > 0:
        return (WON if dtz <= AT_EASE else max(WON - dtz, 1)), 2
    return (-WON if dtz >= -LAST_SAFE // 2 else -WON - dtz), -2


def dtz_before(result):
    """The DTZ of playing a zeroing move with this result."""
    return {2: 1, 1: 101, 0: 0, -1: -101, -2: -1}[result]


def distance_of(tables, board, move):
    """The DTZ if this move is played, counted from before it; None if it is not known. The game's own draws count."""
    board.push(move)
    try:
        outcome = board.outcome()
        if outcome is not None and outcome.termination is Termination.CHECKMATE:
            return 1
        if outcome is not None:
            return 0
        if board.halfmove_clock == 0:
            result = tables.wdl(board)
            return None if result is None else dtz_before(-result)
        dtz = tables.dtz(board)
        if dtz is None or dtz == 0:
            return dtz
        return -dtz + (1 if dtz < 0 else -1)
    finally:
        board.pop()


def has_repeated(board):
    """Has any position come twice since the last capture or pawn move?"""
    board = board.copy()
    seen = {board.key}
    for _ in range(min(board.halfmove_clock, board.ply)):
        board.pop()
        if board.key in seen:
            return True
        seen.add(board.key)
    return False


def rank_moves(tables, board, rule50=True):
    """A Ranking of the legal moves, or None where the tables cannot tell."""
    if tables.wdl(board) is None:
        return None
    board = board.copy()
    moves = board.legal_moves()
    if not moves:
        return None
    distances = {move: distance_of(tables, board, move) for move in moves}
    if None not in distances.values():
        clock, repeated = board.halfmove_clock, has_repeated(board)
        ranked = {
            move: rank_by_distance(dtz, clock, repeated) if rule50 else rank_without_rule(dtz)
            for move, dtz in distances.items()
        }
        return Ranking(
            {move: rank for move, (rank, _) in ranked.items()},
            {move: result for move, (_, result) in ranked.items()},
            True,
        )
    results = {}
    for move in moves:
        board.push(move)
        result = tables.wdl(board)
        outcome = board.outcome()
        board.pop()
        if outcome is not None and outcome.winner is None:
            result = 0
        if result is None:
            return None
        results[move] = -result if rule50 or abs(result) != 1 else -2 * result
    return Ranking(dict(results), results, False)

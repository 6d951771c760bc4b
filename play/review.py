"""A game reviewed: every position of its main line searched, every move judged.

    from search import Limits, Searcher
    from play.annotation import annotate
    from play.review import Reviewer

    reviewer = Reviewer(Searcher(megabytes=16), Limits(nodes=20_000))
    review = reviewer.review(game, progress=lambda done, total: …, cancelled=stop.is_set)
    review.as_json()           # a plain dict for a page, see `Review`
    annotate(game, review)     # evaluations, glyphs and better lines into the chess.pgn tree

A review runs in the thread that asks for it, and the search beside it without the interpreter lock; a Searcher serves one
review at a time. With one search thread and a limit of nodes or depth the same game always gets the same review.
"""

from typing import NamedTuple

from board import Board
from play.searching import DEFAULTS, Cancelled, search
from play.verdicts import (
    BRILLIANT,
    ONLY,
    ONLY_MARGIN,
    SACRIFICE,
    SIDES,
    WORST,
    Evaluation,
    Totals,
    Verdict,
    error_of,
    phase_of,
    white_evaluation,
)
from uci_engine.report import line_text, san_line

LINE_PLIES = 12  # of a better line; what comes later is guesswork
SCOUT_SHARE = 8  # a look whether a move is the only one costs so much less than a search
CONFIRM_FACTOR = 8  # and the second look at a blunder so much more


class GameError(ValueError):
    """A game that cannot be reviewed; the text says why."""


class Review(NamedTuple):
    """What is known of a game: the evaluation of its first position, a verdict on each move, each side's totals."""

    start: Evaluation
    verdicts: tuple

    @property
    def sides(self):
        """The totals of White and Black."""
        totals = (Totals(), Totals())
        for verdict in self.verdicts:
            totals[verdict.turn].add(verdict)
        return totals

    def as_json(self):
        """{"start": evaluation, "moves": [verdict, …], "white": totals, "black": totals}; evaluations from White's side."""
        return {
            "start": self.start.as_json(),
            "moves": [verdict.as_json() for verdict in self.verdicts],
            **{side: totals.as_json() for side, totals in zip(SIDES, self.sides, strict=True)},
        }


class Reviewer:
    """Reviews games one after the other with one Searcher, each search within `limits` (search.Limits).

    `endgame` (uci_engine.endgame.Endgame) makes judgements of few men exact.
    """

    def __init__(self, searcher, limits, endgame=None):
        self.searcher = searcher
        self.limits = limits
        self.endgame = endgame

    def review(self, game, progress=None, cancelled=None):
        """The Review of a chess.pgn.Game, or None if `cancelled()` became true. GameError if it cannot be searched.

        `progress(done, total)` is called from this thread after each step.
        """
        board, moves = main_line(game)
        self.searcher.clear()  # what was learned from another game must not change this one's verdicts
        self.searcher.multipv = 1
        if self.endgame is not None:
            self.endgame.equip(self.searcher, DEFAULTS)
        try:
            return Judging(self, board, moves, progress, cancelled).review()
        except Cancelled:
            return None

    def search(self, board, limits, cancelled=None):
        return search(self.searcher, board, limits, endgame=self.endgame, cancelled=cancelled)


class Judging:
    """The review of one game while it is made. `board` stands at the end of the main line."""

    def __init__(self, reviewer, board, moves, progress, cancelled):
        self.reviewer = reviewer
        self.board = board
        self.moves = moves
        self.progress = progress
        self.cancelled = cancelled
        self.results = []
        self.evaluations = []
        self.confirmed = set()  # the plies of positions that were searched again
        self.captured_on = None  # the square where the last move has captured
        self.steps = 0

    def step(self):
        self.steps += 1
        if self.progress is not None:
            self.progress(self.steps, 2 * len(self.moves) + 1)

    def review(self):
        # From the end to the beginning: what the table keeps of a position helps to judge the move that led there.
        for left in range(len(self.moves), -1, -1):
            result = self.search(self.reviewer.limits)
            self.results.append(result)
            self.evaluations.append(white_evaluation(self.board, result.info))
            self.step()
            if left:
                self.board.pop()
        self.results.reverse()
        self.evaluations.reverse()
        while self.confirm():
            pass
        verdicts = []
        for ply, move in enumerate(self.moves):
            verdicts.append(self.verdict(ply, move))
            self.play(move)
            self.step()
        return Review(self.evaluations[0], tuple(verdicts))

    def confirm(self):
        """Searches the positions before and after each blunder longer, unless that is done. False if nothing was left.

        To call a move a blunder is to accuse somebody. With what the longer searches find another move may be called one.
        """
        before = len(self.confirmed)
        for ply, move in enumerate(self.moves):
            is_blunder = error_of(self.loss(ply, move)) == WORST
            self.board.push(move)
            if is_blunder:
                self.search_again(ply + 1)
                self.board.pop()
                if self.search_again(ply):
                    self.look_behind_best(ply)
                self.board.push(move)
        for _ in self.moves:
            self.board.pop()
        return len(self.confirmed) > before

    def search_again(self, ply):
        """Searches the position on the board longer; False if that is done already."""
        if ply in self.confirmed:
            return False
        self.confirmed.add(ply)
        result = self.search(confirming(self.reviewer.limits))
        self.results[ply] = result
        self.evaluations[ply] = white_evaluation(self.board, result.info)
        return True

    def look_behind_best(self, ply):
        """Is the better move as good as it looks? Whoever chooses among many takes the one that is overrated most."""
        best, told = self.results[ply].best, self.evaluations[ply]
        if not best or told.is_mate:
            return
        turn, weight = self.board.turn, self.board.phase
        self.board.push(best)
        behind = white_evaluation(self.board, self.search(confirming(self.reviewer.limits)).info)
        self.board.pop()
        if behind.expected(turn, weight) < told.expected(turn, weight):
            self.evaluations[ply] = behind

    def loss(self, ply, move):
        """Expected points that a move loses; `board` is the position before it."""
        if move == self.results[ply].best:
            return 0.0
        before, after = self.evaluations[ply : ply + 2]
        # The phase of one position for both scores: that pieces go off the board is no loss.
        turn, weight = self.board.turn, self.board.phase
        return max(0.0, before.expected(turn, weight) - after.expected(turn, weight))

    def play(self, move):
        target, men = self.board.uci(move)[2:4], self.board.men
        self.board.push(move)
        self.captured_on = target if self.board.men < men else None

    def search(self, limits):
        return self.reviewer.search(self.board, limits, self.cancelled)

    def verdict(self, ply, move):
        """Judges a move; `board` is the position before it."""
        board, result = self.board, self.results[ply]
        before, after = self.evaluations[ply : ply + 2]
        turn, weight = board.turn, board.phase
        is_forced = len(board.legal_moves()) == 1
        loss = self.loss(ply, move)
        grade = error_of(loss)
        if move == result.best and not is_forced and self.is_only_move(move, before.expected(turn, weight)):
            grade, _ = ONLY if board.see(move, -SACRIFICE + 1) else BRILLIANT
        best_uci = tuple(line_text(board, result.info.pv[:LINE_PLIES]))
        return Verdict(
            ply,
            board.fullmove_number,
            turn,
            board.uci(move),
            board.san(move),
            phase_of(board),
            is_forced,
            before,
            after,
            loss,
            grade,
            tuple(san_line(board, best_uci)),
            best_uci,
        )

    def is_only_move(self, move, expected):
        """Is every other move a mistake at least? Not asked where the move is plain: it mates, takes back, wins material."""
        takes_back = self.board.uci(move)[2:4] == self.captured_on
        if expected < ONLY_MARGIN or takes_back or self.board.see(move, 100) or is_mate_in_one(self.board, move):
            return False
        others = tuple(other for other in self.board.legal_moves() if other != move)
        limits = self.reviewer.limits
        for wanted in (scouting(limits), limits):
            info = self.search(wanted._replace(moves=others)).info
            second = white_evaluation(self.board, info).expected(self.board.turn, self.board.phase)
            if expected - second < ONLY_MARGIN:
                return False
        return True


def is_mate_in_one(board, move):
    board = board.copy()
    board.push(move)
    return board.is_check() and not board.legal_moves()


def scouting(limits):
    """Limits for a short look before a search of full length."""
    return limits._replace(
        nodes=None if limits.nodes is None else max(1, limits.nodes // SCOUT_SHARE),
        movetime=None if limits.movetime is None else max(1, limits.movetime // SCOUT_SHARE),
        depth=None if limits.depth is None else max(1, limits.depth - 4),
    )


def confirming(limits):
    """Limits for a second look that has to find what the first one missed."""
    return limits._replace(
        nodes=None if limits.nodes is None else CONFIRM_FACTOR * limits.nodes,
        movetime=None if limits.movetime is None else CONFIRM_FACTOR * limits.movetime,
        depth=None if limits.depth is None else limits.depth + 3,
    )


def main_line(game):
    """A board at the end of a game's main line, and its moves. GameError if the search cannot follow it."""
    if game.errors:
        raise GameError(str(game.errors[0]))
    try:
        start = game.board()
        if start.uci_variant != "chess":
            raise GameError(f"{start.uci_variant} is another game")
        board = Board(start.fen(en_passant="fen"), chess960=start.chess960)
        moves = []
        for move in game.mainline_moves():
            if not move:
                raise GameError("a null move cannot be judged")
            moves.append(board.parse_uci(move.uci()))
            board.push(moves[-1])
    except GameError:
        raise
    except ValueError as error:
        raise GameError(str(error)) from None
    return board, moves

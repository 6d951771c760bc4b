"""How a move is judged: by the expected points that it gives away. docs/play.md explains the numbers."""

from typing import NamedTuple

from uci_engine.wdl import expectation

# Expected points that a move has to lose to be called so, worst first, and the PGN standard's glyph (NAG) for it.
ERRORS = (("blunder", 0.30, 4), ("mistake", 0.20, 2), ("inaccuracy", 0.10, 6))
# Praise: the only move that is no mistake, and one that gives up material besides.
ONLY, BRILLIANT = ("only move", 1), ("brilliant", 3)
ONLY_MARGIN = 0.20  # expected points that every other move loses
SACRIFICE = 200  # centipawns of a static exchange: more than a pawn

NAGS = {name: nag for name, _, nag in ERRORS} | dict((ONLY, BRILLIANT))

PHASES = ("opening", "middlegame", "endgame")
OPENING_MOVES = 12
ENDGAME_PHASE = 8  # of 24: two rooks each, or a queen each, or less


class Evaluation(NamedTuple):
    """What a search says of a position, from White's side: centipawns, or moves to mate when `is_mate` is set.

    A position that is mate has `is_mate` and a score of 0; `points`, White's expected ones, then tell who won.
    """

    score: int
    is_mate: bool
    points: float
    depth: int
    nodes: int

    def expected(self, turn, weight):
        """The points that the side `turn` (0 White, 1 Black) may expect, as if the board's phase were `weight`."""
        white = self.points if self.is_mate else expectation(False, self.score, weight)
        return white if turn == 0 else 1 - white

    def as_json(self):
        name = "mate" if self.is_mate else "cp"
        return {name: self.score, "points": round(self.points, 4), "depth": self.depth, "nodes": self.nodes}


def white_evaluation(board, info):
    """A search's result for the position on the board, seen from White's side."""
    sign = 1 if board.turn == 0 else -1
    points = expectation(info.is_mate, info.score, board.phase)
    return Evaluation(
        sign * info.score, bool(info.is_mate), points if sign == 1 else 1 - points, info.depth, info.nodes
    )


class Verdict(NamedTuple):
    """One move of a game, judged. `best` is the better line in SAN, `best_uci` the same in UCI's notation."""

    ply: int  # from 0, the first move of the game
    number: int  # of the move, as it is printed
    turn: int  # 0 White, 1 Black
    uci: str
    san: str
    phase: str
    is_forced: bool
    before: Evaluation
    after: Evaluation
    loss: float  # expected points, from 0 to 1
    grade: str | None  # a key of NAGS, or None for a move that deserves no word
    best: tuple
    best_uci: tuple

    @property
    def nag(self):
        return NAGS.get(self.grade)

    @property
    def is_error(self):
        return self.grade in ERROR_NAMES

    @property
    def accuracy(self):
        return move_accuracy(self.loss)

    def as_json(self):
        plain = {name: value for name, value in self._asdict().items() if name not in ("before", "after", "turn")}
        return {
            **plain,
            "side": SIDES[self.turn],
            "loss": round(self.loss, 4),
            "accuracy": round(self.accuracy, 1),
            "nag": self.nag,
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "best": list(self.best),
            "best_uci": list(self.best_uci),
        }


ERROR_NAMES = tuple(name for name, _, _ in ERRORS)
WORST = ERROR_NAMES[0]
SIDES = ("white", "black")


def error_of(loss):
    """The name of an error that loses so many expected points; None if it is none."""
    return next((name for name, least, _ in ERRORS if loss >= least), None)


def move_accuracy(loss):
    """Per cent, from 100 for a move that loses nothing to 0 for one that turns a sure win into a sure loss."""
    return 100 * (1 - loss) ** 2


def phase_of(board):
    if board.phase <= ENDGAME_PHASE:
        return "endgame"
    return "opening" if board.fullmove_number <= OPENING_MOVES else "middlegame"


class Totals:
    """The verdicts on one side, summed up; of a game, or of a player's games together. Forced moves do not count."""

    def __init__(self):
        self.accuracies = 0.0
        self.grades = dict.fromkeys(NAGS, 0)
        self.phases = {phase: [0, 0.0] for phase in PHASES}  # moves, and the points that they lost

    def add(self, verdict):
        if verdict.is_forced:
            return
        self.accuracies += verdict.accuracy
        if verdict.grade is not None:
            self.grades[verdict.grade] += 1
        phase = self.phases[verdict.phase]
        phase[0] += 1
        phase[1] += verdict.loss

    def sums(self):
        """All of it as plain data, without rounding."""
        return {"accuracies": self.accuracies, "grades": self.grades, "phases": self.phases}

    def add_sums(self, sums):
        """Adds the `sums` of another one."""
        self.accuracies += sums["accuracies"]
        for grade, count in sums["grades"].items():
            self.grades[grade] += count
        for phase, (moves, lost) in sums["phases"].items():
            self.phases[phase][0] += moves
            self.phases[phase][1] += lost

    @property
    def moves(self):
        return sum(moves for moves, _ in self.phases.values())

    @property
    def accuracy(self):
        """The mean over the moves; None without one that counts."""
        return self.accuracies / self.moves if self.moves else None

    @property
    def loss(self):
        """Expected points that a move lost on average."""
        return sum(lost for _, lost in self.phases.values()) / self.moves if self.moves else None

    def phase_loss(self, phase):
        moves, lost = self.phases[phase]
        return lost / moves if moves else None

    def as_json(self):
        def rounded(number, digits):
            return None if number is None else round(number, digits)

        return {
            "moves": self.moves,
            "accuracy": rounded(self.accuracy, 1),
            "loss": rounded(self.loss, 4),
            "grades": dict(self.grades),
            "phases": {
                phase: {"moves": moves, "loss": rounded(self.phase_loss(phase), 4)}
                for phase, (moves, _) in self.phases.items()
            },
        }

"""Suites of positions whose solutions are known, as EPD files have them: what is asked, and what an answer is worth.

| operation | the answer is right if |
|---|---|
| bm | the move is one of these |
| am | the move is none of these |
| dm | a mate in so many moves, or fewer, is announced |
| c0 | the move has the most points: "f5=10, Be5+=2", as the Strategic Test Suite writes them |
| ce | (no right or wrong: the distance of the score is averaged) |
"""

import itertools
from typing import NamedTuple

import chess

from board.files import open_regular
from board.messages import brief_reason

LONGEST_LINE = 1 << 16
ASKED = ("bm", "am", "dm", "c0", "ce")


class Problem(NamedTuple):
    """One position and what is asked about it."""

    path: str
    line: int
    name: str
    board: chess.Board
    best: tuple  # of moves
    avoid: tuple
    mate: int | None
    points: dict  # from move to points
    score: int | None  # centipawns, for the side to move

    @property
    def has_solution(self):
        return bool(self.best or self.avoid or self.mate is not None or self.points)

    @property
    def most_points(self):
        return max(self.points.values(), default=0)

    def is_right(self, move, mate=None):
        """Does a move, with the announced mate in so many moves, solve it?"""
        if self.best and move not in self.best:
            return False
        if self.avoid and move in self.avoid:
            return False
        if self.points and not self.best and self.points.get(move, 0) < self.most_points:
            return False
        return self.mate is None or (mate is not None and 0 < mate <= self.mate)

    def wanted(self):
        """The solution in words."""

        def sans(moves):
            return " ".join(self.board.san(move) for move in moves)

        parts = []
        if self.best:
            parts.append(sans(self.best))
        elif self.points:
            parts.append(sans(move for move, points in self.points.items() if points == self.most_points))
        if self.avoid:
            parts.append(f"anything but {sans(self.avoid)}")
        if self.mate is not None:
            parts.append(f"mate in {self.mate}")
        return ", ".join(parts)


def read_suites(paths, on_problem, *, chess960=False):
    """The problems of EPD files. A line that is none is told to `on_problem` as text with its place, and passed over."""
    found = []
    for path in paths:
        with open(path, "rb", opener=open_regular) as file:
            for number in itertools.count(1):
                data = file.readline(LONGEST_LINE)
                if not data:
                    break
                if len(data) == LONGEST_LINE and not data.endswith(b"\n"):
                    while data and not data.endswith(b"\n"):
                        data = file.readline(LONGEST_LINE)
                    on_problem(f"{path}:{number}: longer than {LONGEST_LINE} bytes; it is passed over")
                    continue
                text = data.decode("utf-8", "replace").strip().removeprefix("\ufeff")
                if not text or text.startswith("#"):
                    continue
                try:
                    found.append(read_problem(path, number, text, chess960))
                except ValueError as error:
                    on_problem(f"{path}:{number}: {brief_reason(error)}; it is passed over")
    return found


class Chess960Board(chess.Board):
    """python-chess reads the moves of an EPD on a new board of the same class, and forgets whether it is Chess960."""

    def __init__(self, fen=chess.STARTING_FEN, *, chess960=True):
        super().__init__(fen, chess960=chess960)


def read_problem(path, number, text, chess960=False):
    """One line of EPD. ValueError says what is wrong with it."""
    board = Chess960Board() if chess960 else chess.Board()
    operations = board.set_epd(text)
    if not board.is_valid():
        raise ValueError(f"no position of a game: {board.status()!r}")
    points = {}
    if isinstance(operations.get("c0"), str):
        points = read_points(board, operations["c0"])
    problem = Problem(
        str(path),
        number,
        str(operations.get("id") or f"line {number}"),
        board,
        moves_of(operations, "bm"),
        moves_of(operations, "am"),
        number_of(operations, "dm"),
        points,
        number_of(operations, "ce"),
    )
    if not problem.has_solution and problem.score is None:
        raise ValueError(f"it asks nothing: there is none of {', '.join(ASKED)}")
    return problem


def moves_of(operations, name):
    moves = operations.get(name, ())
    if not isinstance(moves, list | tuple) or not all(isinstance(move, chess.Move) for move in moves):
        raise ValueError(f"{name} has no moves")
    if name in operations and not moves:
        raise ValueError(f"{name} has no moves")
    return tuple(moves)


def number_of(operations, name):
    number = operations.get(name)
    if number is not None and not isinstance(number, int):
        raise ValueError(f"{name} has no number")
    return number


def read_points(board, text):
    """Points by move; nothing for a comment that is just a comment. ValueError for moves that are not legal."""
    pairs = [part.strip().rpartition("=") for part in text.split(",") if part.strip()]
    if not pairs or not all(move and points.strip().isdecimal() for move, _, points in pairs):
        return {}
    return {board.parse_san(move.strip()): int(points) for move, _, points in pairs}


class Attempt(NamedTuple):
    """What an engine answered. Times in milliseconds; `solved_at` is where the right answer came to stay."""

    move: chess.Move | None
    score: int | None = None
    mate: int | None = None
    depth: int | None = None
    nodes: int | None = None
    time: float = 0.0
    solved_at: float | None = None
    failure: str | None = None
    kind: str | None = None  # of the failure, one of arena.engine.KINDS


class Course:
    """Follows a search, and knows since when its answer has been right."""

    def __init__(self, problem):
        self.problem = problem
        self.right_since = None

    def note(self, milliseconds, move, mate):
        """The search prefers a move now, and has announced a mate or not."""
        if not self.problem.is_right(move, mate):
            self.right_since = None
        elif self.right_since is None:
            self.right_since = milliseconds

    def solved_at(self, milliseconds, move, mate):
        """The final answer counts, even if nothing was heard of it before."""
        if not self.problem.has_solution:
            return None
        self.note(milliseconds, move, mate)
        return self.right_since


class Score:
    """The attempts of one engine, summed up."""

    def __init__(self, name):
        self.name = name
        self.attempts = []  # pairs of problem and attempt

    def add(self, problem, attempt):
        self.attempts.append((problem, attempt))

    @property
    def asked(self):
        """How many had a solution."""
        return sum(problem.has_solution for problem, _ in self.attempts)

    @property
    def solved(self):
        return sum(attempt.solved_at is not None for _, attempt in self.attempts)

    @property
    def points(self):
        return sum(problem.points.get(attempt.move, 0) for problem, attempt in self.attempts)

    @property
    def most_points(self):
        return sum(problem.most_points for problem, _ in self.attempts)

    @property
    def score_error(self):
        """The mean distance from `ce`, in centipawns; None where no position has one. A mate counts as 100 pawns."""
        errors = [
            abs(problem.score - centipawns(attempt))
            for problem, attempt in self.attempts
            if problem.score is not None and attempt.failure is None
        ]
        return sum(errors) / len(errors) if errors else None

    @property
    def solution_time(self):
        """The mean time to solution of what was solved, in milliseconds."""
        times = [attempt.solved_at for _, attempt in self.attempts if attempt.solved_at is not None]
        return sum(times) / len(times) if times else None

    def misses(self):
        for problem, attempt in self.attempts:
            if problem.has_solution and attempt.solved_at is None:
                yield problem, attempt

    def as_json(self):
        return {
            "engine": self.name,
            "positions": len(self.attempts),
            "asked": self.asked,
            "solved": self.solved,
            "points": self.points,
            "most_points": self.most_points,
            "score_error": self.score_error,
            "solution_milliseconds": self.solution_time,
            "attempts": [attempt_json(problem, attempt) for problem, attempt in self.attempts],
        }


def centipawns(attempt):
    if attempt.mate is not None:
        return 10_000 if attempt.mate > 0 else -10_000
    return attempt.score or 0


def attempt_json(problem, attempt):
    return {
        "file": problem.path,
        "line": problem.line,
        "id": problem.name,
        "fen": problem.board.fen(),
        "wanted": problem.wanted(),
        "move": None if attempt.move is None else problem.board.uci(attempt.move),
        "san": played(problem, attempt),
        "solved": attempt.solved_at is not None if problem.has_solution else None,
        "points": problem.points.get(attempt.move, 0) if problem.points else None,
        "score": attempt.score,
        "mate": attempt.mate,
        "depth": attempt.depth,
        "nodes": attempt.nodes,
        "milliseconds": round(attempt.time),
        "solution_milliseconds": None if attempt.solved_at is None else round(attempt.solved_at),
        "failure": attempt.failure,
    }


def played(problem, attempt):
    return None if attempt.move is None else problem.board.san(attempt.move)

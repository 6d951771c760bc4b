"""Who answers the positions of a suite: this engine in this process, or any UCI engine through the arena's client."""

import dataclasses
import threading
import time

import chess

from arena.engine import EngineFailure, EngineProcess, parse_info
from arena.options import check_rules, make_engine
from arena.preflight import check_engines, problems_of
from arena.processes import command_at, files_of, folders_of, options_at
from arena.settings import Rules
from arena.transcript import Transcript
from board import Board
from play.searching import DEFAULTS, Answer, search
from play.suite import Attempt, Course
from pool.containment import end_process
from pool.tasks import Cancelled, Doer, Work
from search import Limits, Searcher
from uci_engine.endgame import Endgame

OWN = "own"
_GRACE = 30.0  # seconds beyond a limit of time before an engine is given up


class Following(Answer):
    """Hears every line of a search in this process."""

    def __init__(self, course, problem, board):
        super().__init__()
        self.course, self.problem, self.board = course, problem, board

    def on_info(self, info):
        if info.multipv == 1 and info.bound == "exact" and info.pv:
            move = self.problem.board.parse_uci(self.board.uci(info.pv[0]))
            self.course.note(info.milliseconds, move, info.score if info.is_mate else None)


class OwnWork(Work):
    """Positions for this engine."""

    def __init__(self, name, limits, megabytes):
        self.name = name
        self.limits = limits
        self.megabytes = megabytes

    def open(self, place):
        return OwnEngine(self.name, self.limits, self.megabytes)

    def label(self, task):
        return task.name


class OwnEngine(Doer):
    """This engine. One for each slot."""

    def __init__(self, name, limits, megabytes):
        self.name = name
        self.limits = Limits(**limits)
        self.searcher = Searcher(megabytes=megabytes)
        self.endgame = Endgame("", lambda text: None)
        self.cancel = threading.Event()

    def do(self, task, say):
        return self.solve(task, self.cancel.is_set)

    def solve(self, problem, cancelled=None):
        """The Attempt at a problem; Cancelled if it is not wanted any more."""
        self.searcher.clear()
        self.endgame.equip(self.searcher, DEFAULTS)
        board = Board(problem.board.fen(en_passant="fen"), chess960=problem.board.chess960)
        course = Course(problem)
        started = time.perf_counter()
        answer = Following(course, problem, board)
        result = search(self.searcher, board, self.limits, endgame=self.endgame, cancelled=cancelled, answer=answer)
        elapsed = 1000 * (time.perf_counter() - started)
        info = result.info
        if result.best == 0:
            return Attempt(None, failure="there is no legal move", time=elapsed)
        move = problem.board.parse_uci(board.uci(result.best))
        mate = info.score if info.is_mate else None
        solved_at = course.solved_at(info.milliseconds, move, mate)
        score = None if info.is_mate else info.score
        return Attempt(move, score, mate, info.depth, info.nodes, elapsed, solved_at)

    def give_up(self):
        self.cancel.set()

    def close(self):
        self.searcher.close()


class FollowedProcess(EngineProcess):
    """An engine process whose lines are followed while it thinks."""

    follow = None  # takes a line and its moment

    def deliver(self, line, moment):
        follow = self.follow
        if follow is not None and line is not None and line[:4] == "info" and " score " in line:
            follow(line, moment)
        super().deliver(line, moment)


class UciWork(Work):
    """Positions for any UCI engine; with `upload` its program goes to the workers of a cluster."""

    def __init__(self, settings, limits, *, chess960=False, move_seconds=Rules.move_seconds, upload=False):
        """`move_seconds` are for each position where the limits have no time."""
        self.settings = settings
        self.name = settings.name
        self.limits = limits
        movetime = limits.get("movetime")
        seconds = move_seconds if movetime is None else movetime / 1000 + _GRACE
        self.rules = Rules(chess960=chess960, move_seconds=seconds)
        self.upload = upload

    def files(self):
        return files_of(self.settings.command, self.settings.options, upload=self.upload)

    def folders(self):
        return folders_of(self.settings.options)

    def settings_at(self, place):
        command, options = command_at(self.settings.command, place), options_at(self.settings.options, place)
        return dataclasses.replace(self.settings, command=command, options=options)

    def open(self, place):
        return UciEngine(self.settings_at(place), self.limits, self.rules)

    def check(self, place):
        return problems_of([self.settings_at(place)], self.rules)

    def label(self, task):
        return task.name


class UciEngine(Doer):
    """Any UCI engine. It is started when it is first asked, and again after it has failed."""

    def __init__(self, settings, limits, rules):
        self.settings = settings
        self.name = settings.name
        self.go = "go " + " ".join(f"{name} {value}" for name, value in limits.items())
        self.rules = rules
        self.process = None
        self.cancel = threading.Event()

    def do(self, task, say):
        attempt = None if self.cancel.is_set() else self.solve(task)
        if self.cancel.is_set():
            raise Cancelled
        return attempt

    def solve(self, problem):
        """The Attempt at a problem."""
        course = Course(problem)
        started = time.perf_counter()
        begun = None
        try:
            if self.process is None:
                self.process = FollowedProcess(self.settings, self.rules)
                self.process.greet()
            self.process.new_game(Transcript())
            started = time.perf_counter()
            self.process.follow = lambda line, moment: self.follow(course, problem, line, 1000 * (moment - started))
            begun = self.process.begin(f"position fen {problem.board.fen(en_passant='fen')}", self.go)
            answer = self.process.answer(begun, None)
            self.process.follow = None
            move = legal_move(problem.board, answer.move)
        except EngineFailure as failure:
            elapsed = 1000 * (time.perf_counter() - started)
            is_late = begun is not None and failure.kind == "stall"
            if not (is_late and self.stops()):
                self.close()
            return Attempt(None, failure=str(failure), kind=failure.kind, time=elapsed)
        found = parse_info(answer.info)
        solved_at = course.solved_at(answer.elapsed, move, found.get("mate"))
        return Attempt(
            move,
            found.get("score"),
            found.get("mate"),
            found.get("depth"),
            found.get("nodes"),
            answer.elapsed,
            solved_at,
        )

    def stops(self):
        """Ends a search that has taken too long. Does the engine hear that, and is fit for the next position?"""
        self.process.follow = None
        try:
            self.process.stop_search()
        except EngineFailure:
            return False
        return True

    def follow(self, course, problem, line, milliseconds):
        """In the reading thread: a line that says nothing of the best move, or nonsense, is passed over."""
        if (" multipv " in line and " multipv 1 " not in line) or "bound" in line:
            return
        found = parse_info(line)
        if "pv" not in found:
            return
        try:
            move = problem.board.parse_uci(found["pv"].split()[0])
        except ValueError:
            return
        course.note(milliseconds, move, found.get("mate"))

    def give_up(self):
        """From another thread: ends the process, and so the search that somebody waits for."""
        self.cancel.set()
        process = self.process
        if process is not None:
            end_process(process.process)

    def close(self):
        if self.process is not None:
            self.process.leave()
            self.process = None


def legal_move(board, text):
    try:
        move = board.parse_uci(text)
    except ValueError:
        raise EngineFailure("illegal move", f"played the illegal move {text[:20]}") from None
    if move == chess.Move.null():
        raise EngineFailure("illegal move", "played no move")
    return move


def solvers(
    commands,
    limits,
    *,
    megabytes,
    options,
    chess960,
    move_seconds=Rules.move_seconds,
    cluster=None,
    upload=False,
):
    """The work for each engine. ValueError if a program is missing or does not start; on a cluster, its workers look."""
    rules = Rules(chess960=chess960, move_seconds=move_seconds)
    check_rules(rules)
    found = []
    for command in commands:
        if command == OWN:
            found.append(OwnWork("Quetzal", limits, megabytes))
        else:
            settings = make_engine(command, options={"Hash": str(megabytes), **options})
            found.append(UciWork(settings, limits, chess960=chess960, move_seconds=move_seconds, upload=upload))
    settings = [work.settings for work in found if isinstance(work, UciWork)]
    if settings and cluster is None:
        check_engines(settings, rules)
    return found

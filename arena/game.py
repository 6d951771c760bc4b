"""One game between two engines, from the opening to a result with a reason."""

import datetime
import time

from arena.adjudication import Adjudicator
from arena.control import Clock, go_words
from arena.engine import KINDS, EngineFailure, parse_info
from board import Board

NAMES = ("White", "Black")
MOVETIME_MARGIN = 100.0  # milliseconds that engines commonly take beyond a movetime


def result_text(points):
    return {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"}[points]


def read_move(board, text):
    """A move in UCI's notation, tolerating its case and the other way to write castling; MoveError otherwise."""
    try:
        return board.parse_uci(text)
    except ValueError as error:
        lowered = text.lower()
        for move in board.legal_moves():
            if board.uci(move) == lowered:
                return move
        other = Board(board.fen(shredder=True), chess960=not board.chess960)
        try:
            move = other.parse_uci(lowered)
            return board.parse_san(other.san(move))
        except ValueError:
            raise error from None


class GameClocks:
    """Both clocks, each with its engine's own control."""

    def __init__(self, engines, rules, scale=1.0):
        self.sides = []
        for engine in engines:
            control = engine.settings.parsed_control().scaled(scale)
            margin = rules.margin
            if margin is None:
                margin = 0.0 if control.movetime is None else MOVETIME_MARGIN
            self.sides.append(Clock(control, margin))

    def go(self, turn, *, ponder=False):
        return f"go {'ponder ' if ponder else ''}{go_words(self.sides, turn)}"


class Game:
    """Plays and keeps the record. `engines` are (White, Black), both ready for a new game."""

    def __init__(self, engines, opening, rules, *, tables=None, scale=1.0, on_move=None):
        self.engines = engines
        self.rules = rules
        self.opening = opening
        self.board = Board(opening.fen, chess960=rules.chess960)
        self.fen = self.board.fen(shredder=rules.chess960)
        is_standard = self.fen == Board().fen() and not rules.chess960
        self.start = "position startpos" if is_standard else f"position fen {self.fen}"
        self.moves = []
        for move in opening.moves:
            self.board.push(read_move(self.board, move))
            self.moves.append(move)
        self.clocks = GameClocks(engines, rules, scale)
        self.adjudicator = Adjudicator(rules, tables)
        self.thoughts = []
        self.on_move = on_move
        self.overheads = []  # milliseconds between an engine's move and the start of its opponent's clock
        self.guess = [None, None]  # the reply that a side would like to ponder on
        self.expected = [None, None]  # the reply that a pondering side waits for
        self.last_moment = None

    def position(self, more=()):
        moves = [*self.moves, *more]
        return f"{self.start} moves {' '.join(moves)}" if moves else self.start

    def play(self):
        """Plays to the end: (points of White, reason, termination, side that failed or None, its failure)."""
        while True:
            outcome = self.board.outcome()
            if outcome is not None:
                points = {None: 0.5, 0: 1.0, 1: 0.0}[outcome.winner]
                if outcome.winner is None:
                    return points, f"draw by {outcome.termination.value}", "normal", None, None
                return points, f"{NAMES[outcome.winner]} mates", "normal", None, None
            side = self.board.turn
            number = self.board.fullmove_number
            try:
                thought = self.one_move(side)
            except EngineFailure as failure:
                return float(side == 1), f"{NAMES[side]} {describe(failure)}", KINDS[failure.kind], side, failure
            verdict = self.adjudicator.judge(self.board, side, thought, number)
            if verdict is not None:
                return verdict[0], verdict[1], "adjudication", None, None

    def start_clock(self, side):
        """Gets the side to move thinking, and returns the moment where its clock starts."""
        engine = self.engines[side]
        expected, self.expected[side] = self.expected[side], None
        if engine.is_pondering:
            if expected == self.moves[-1]:
                return engine.ponder_hit()
            moment = engine.ponder_miss()
            engine.begin(self.position(), self.clocks.go(side))
            return moment
        return engine.begin(self.position(), self.clocks.go(side))

    def one_move(self, side):
        engine, clock = self.engines[side], self.clocks.sides[side]
        started = self.start_clock(side)
        if self.last_moment is not None:
            self.overheads.append(1000 * (started - self.last_moment))
        self.ponder(side ^ 1)
        answer = engine.answer(started, clock.allowance())
        self.last_moment = answer.moment
        try:
            move = read_move(self.board, answer.move)
        except ValueError:
            said = answer.move[:20].encode("ascii", "backslashreplace").decode()
            raise EngineFailure("illegal move", f"plays {said}, which is illegal") from None
        text = self.board.uci(move)
        clock.charge(answer.elapsed)
        self.board.push(move)
        self.moves.append(text)
        thought = parse_info(answer.info)
        thought["time"] = round(answer.elapsed, 1)
        if clock.left is not None:
            thought["left"] = round(clock.left)
        self.thoughts.append(thought)
        self.guess[side] = answer.ponder if engine.settings.ponder else None
        if self.on_move is not None:
            self.on_move(text, thought)
        return thought

    def ponder(self, side):
        """Lets the side that is not to move think about the reply that it expects, if that is a move and no last one."""
        guess, self.guess[side] = self.guess[side], None
        if guess is None:
            return
        board = self.board.copy()
        try:
            text = board.uci(read_move(board, guess))
        except ValueError:
            return
        board.push_uci(text)
        if board.outcome() is None:
            self.expected[side] = text
            self.engines[side].begin_ponder(self.position([text]), self.clocks.go(side, ponder=True))


def describe(failure):
    """A failure as the end of a sentence that begins with the side."""
    if failure.kind == "time":
        return f"loses on time ({failure})"
    if failure.kind == "stall":
        return f"stalls ({failure})"
    return str(failure)


def play_game(plan, engines, opening, rules, *, tables=None, scale=1.0, on_move=None):
    """Plays a game between engines that are ready, and returns its record and the failure, if there was one."""
    began = datetime.datetime.now(datetime.UTC)
    started = time.perf_counter()
    game = Game(engines, opening, rules, tables=tables, scale=scale, on_move=on_move)
    points, reason, termination, side, failure = game.play()
    record = {
        **plan,
        "white": engines[0].name,
        "black": engines[1].name,
        "result": result_text(points),
        "points": points,
        "reason": reason,
        "termination": termination,
        "failed": None if side is None else engines[side].name,
        "failure": None if failure is None else failure.kind,
        "fen": game.fen,
        "opening": opening.name,
        "book_plies": len(opening.moves),
        "moves": game.moves,
        "thoughts": game.thoughts,
        "began": began.isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - started, 3),
        "overhead": [len(game.overheads), round(sum(game.overheads), 3), round(max(game.overheads, default=0.0), 3)],
        "controls": [engine.settings.control for engine in engines],
    }
    return record, failure


def record_of_failed_start(plan, names, controls, opening, side, failure):
    """The record of a game that one engine lost before it began."""
    points = float(side == 1)
    return {
        **plan,
        "white": names[0],
        "black": names[1],
        "result": result_text(points),
        "points": points,
        "reason": f"{NAMES[side]} {describe(failure)}",
        "termination": KINDS[failure.kind],
        "failed": names[side],
        "failure": failure.kind,
        "fen": opening.fen,
        "opening": opening.name,
        "book_plies": len(opening.moves),
        "moves": list(opening.moves),
        "thoughts": [],
        "began": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seconds": 0.0,
        "overhead": [0, 0.0, 0.0],
        "controls": list(controls),
    }

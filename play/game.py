"""A game between a person and the engine: its moves, its clock, and how it ends. Nothing here thinks."""

import chess
import chess.pgn

from play.clock import Clock
from play.storage import new_name

RESULTS = {None: "*", 1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
SIDES = ("White", "Black")
LEVELS = (800, 3000)  # the range of UCI_Elo
MOST_PLIES = 2_000
MOST_HOURS = 24
MOVE_MILLISECONDS = 1_000  # for a move without a clock, unless the game says otherwise

_AUTOMATIC = {
    chess.Termination.STALEMATE: "stalemate",
    chess.Termination.INSUFFICIENT_MATERIAL: "insufficient material",
    chess.Termination.SEVENTYFIVE_MOVES: "seventy-five moves without a capture or a pawn move",
    chess.Termination.FIVEFOLD_REPETITION: "fivefold repetition",
}


def whole_number(value, least, most, name):
    """A number that a page has sent; ValueError if it is none of these."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} is a whole number from {least} to {most}")
    return value


def start_board(fen, chess960):
    """The board of a start position; ValueError with the reason if there is no such game."""
    if fen is None or fen == "":
        return chess.Board(chess960=chess960)
    if not isinstance(fen, str) or len(fen) > 200:
        raise ValueError("the start position is no FEN")
    board = chess.Board(fen, chess960=chess960)
    if not board.is_valid():
        raise ValueError("no game can begin with this position")
    return board


def play_moves(board, moves):
    """Plays moves in UCI's notation on the board; ValueError if one is illegal."""
    if not isinstance(moves, list) or len(moves) > MOST_PLIES:
        raise ValueError(f"moves are a list of at most {MOST_PLIES}")
    for text in moves:
        if not isinstance(text, str):
            raise ValueError("moves are texts")
        move = board.parse_uci(text)
        if not move:
            raise ValueError("a null move is no move")
        board.push(move)
    return board


class Game:
    """One game. `person` is the side of the person; `level` a rating or None for all it has; `control` base and
    increment in milliseconds or None, `movetime` the milliseconds for a move without a clock; `scores` has the engine's
    evaluation from White's side for each ply, or None.
    """

    def __init__(self, settings, now=None):
        """ValueError says which of the settings is wrong."""
        self.id = settings.get("id") or new_name()
        self.began = settings.get("began") or self.id[:15]
        self.chess960 = bool(settings.get("chess960"))
        self.board = start_board(settings.get("fen"), self.chess960)
        self.fen = self.board.fen() if not self.chess960 else self.board.shredder_fen()
        play_moves(self.board, settings.get("moves", []))
        self.person = whole_number(settings.get("person", 0), 0, 1, "the colour")
        level = settings.get("level")
        self.level = None if level is None else whole_number(level, *LEVELS, "the level")
        self.book = bool(settings.get("book", True))
        self.movetime = whole_number(
            settings.get("movetime", MOVE_MILLISECONDS), 50, 60_000, "the thinking time in milliseconds"
        )
        control = settings.get("control")
        self.clock = None
        if control is not None:
            if not isinstance(control, list) or len(control) != 2:
                raise ValueError("a clock is a base and an increment")
            base = whole_number(control[0], 1_000, MOST_HOURS * 3_600_000, "the clock's milliseconds")
            increment = whole_number(control[1], 0, 3_600_000, "the increment's milliseconds")
            self.clock = Clock(base, increment, settings.get("left"), **({"now": now} if now else {}))
        self.points = settings.get("points")  # of White
        self.reason = settings.get("reason", "")
        self.scores = list(settings.get("scores", []))
        self.judge()

    def record(self):
        """All of it, as it is stored and given back to `Game`."""
        return {
            "id": self.id,
            "began": self.began,
            "fen": self.fen,
            "chess960": self.chess960,
            "moves": self.moves,
            "person": self.person,
            "level": self.level,
            "book": self.book,
            "movetime": self.movetime,
            "control": None if self.clock is None else [self.clock.base, self.clock.increment],
            "left": None if self.clock is None else self.clock.both(),
            "points": self.points,
            "reason": self.reason,
            "scores": self.scores,
        }

    @property
    def moves(self):
        return [move.uci() for move in self.board.move_stack]

    @property
    def turn(self):
        """0 if White is to move."""
        return 0 if self.board.turn else 1

    @property
    def is_over(self):
        return self.points is not None

    @property
    def is_persons_turn(self):
        return not self.is_over and self.turn == self.person

    @property
    def claim(self):
        """The draw that whoever is to move can claim, as text; None if there is none."""
        if self.is_over:
            return None
        if self.board.is_repetition(3):
            return "threefold repetition"
        if self.board.halfmove_clock >= 100:
            return "fifty moves without a capture or a pawn move"
        return None

    def parse(self, text):
        """A move as people type it: SAN or UCI's notation. ValueError if it is none here."""
        if not isinstance(text, str) or len(text) > 12:
            raise ValueError("this is no move")
        text = text.strip()
        for read in (self.board.parse_san, self.board.parse_uci, lambda each: self.board.parse_san(each.capitalize())):
            try:
                move = read(text)
            except ValueError:
                continue
            if move:
                return move
        raise ValueError(f"{text or 'nothing'} is no legal move here")

    def push(self, move, score=None):
        """Plays a move of the side to move, whose clock is pressed."""
        if self.is_over:
            raise ValueError("the game is over")
        side = self.turn
        if self.clock is not None and self.clock.has_fallen:
            self.flag()
            return
        self.scores += [None] * (len(self.board.move_stack) - len(self.scores))
        self.board.push(move)
        self.scores.append(score)
        if self.clock is not None:
            self.clock.press(side)
        self.judge()

    def take_back(self):
        """Back to the person's last decision; the clocks keep what they show. ValueError if there is none."""
        own = [ply for ply in range(len(self.board.move_stack)) if self._side_at(ply) == self.person]
        if not own:
            raise ValueError("there is no move to take back")
        while len(self.board.move_stack) > own[-1]:
            self.board.pop()
        del self.scores[own[-1] :]
        self.points, self.reason = None, ""
        if self.clock is not None:
            self.clock.start(self.turn)

    def _side_at(self, ply):
        first = self.turn if len(self.board.move_stack) % 2 == 0 else 1 - self.turn
        return first if ply % 2 == 0 else 1 - first

    # How it ends

    def end(self, points, reason):
        self.points, self.reason = points, reason
        if self.clock is not None:
            self.clock.stop()

    def judge(self):
        """Ends the game if the rules say so, without anybody's claim."""
        outcome = None if self.is_over else self.board.outcome()
        if outcome is None:
            if not self.is_over and len(self.board.move_stack) >= MOST_PLIES:
                self.end(0.5, f"draw by its length: no game here is longer than {MOST_PLIES:,} plies")
            return
        if outcome.termination is chess.Termination.CHECKMATE:
            side = 0 if outcome.winner else 1
            self.end(1.0 - side, f"{SIDES[side]} mates")
        else:
            self.end(0.5, f"draw by {_AUTOMATIC[outcome.termination]}")

    def flag(self):
        """Ends the game if a flag has fallen: against a bare king, or what else can never mate, time does not lose."""
        if self.is_over or self.clock is None or not self.clock.has_fallen:
            return
        side = self.clock.running
        if self.board.has_insufficient_material(side != 0):
            self.end(0.5, f"{SIDES[side]}'s time is up, but {SIDES[1 - side]} cannot mate")
        else:
            self.end(float(side), f"{SIDES[side]}'s time is up")

    def resign(self):
        self._demand_running()
        self.end(float(self.person), f"{SIDES[self.person]} resigns")

    def agree(self):
        self._demand_running()
        self.end(0.5, "draw by agreement")

    def claim_draw(self):
        claim = self.claim
        if claim is None:
            raise ValueError("no draw can be claimed")
        self.end(0.5, f"draw by {claim}")

    def _demand_running(self):
        if self.is_over:
            raise ValueError("the game is over")

    # For others

    def engine_name(self):
        return "Quetzal" if self.level is None else f"Quetzal (level {self.level})"

    def pgn(self):
        """The game as PGN, with the engine's evaluations."""
        root = self.board.root()
        game = chess.pgn.Game()
        if self.chess960 or root.fen() != chess.STARTING_FEN:
            game.setup(root)
        players = ["Person", self.engine_name()]
        headers = game.headers
        headers["Event"], headers["Site"], headers["Round"] = "Game against Quetzal", "?", "-"
        headers["Date"] = f"{self.began[:4]}.{self.began[4:6]}.{self.began[6:8]}"
        headers["White"], headers["Black"] = players if self.person == 0 else players[::-1]
        headers["Result"] = RESULTS[self.points]
        if self.clock is not None:
            headers["TimeControl"] = f"{self.clock.base // 1000}+{self.clock.increment / 1000:g}"
        if self.reason:
            headers["Termination"] = self.reason
        node = game
        for ply, move in enumerate(self.board.move_stack):
            node = node.add_variation(move)
            score = self.scores[ply] if ply < len(self.scores) else None
            if score is not None:
                node.comment = f"[%eval {eval_text(score)}]"
        return str(game) + "\n"


def eval_text(score):
    """{"cp": 35} or {"mate": -3}, from White's side, as PGN writes it in comments."""
    return f"{score['cp'] / 100:.2f}" if "cp" in score else f"#{score['mate']}"

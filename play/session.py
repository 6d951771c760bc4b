"""What a page or a terminal can do: play a game, have a position analysed. One session is one person at one engine.

Every method may be called by any thread and returns at once; what takes time happens in the thinker, and `state` tells
how far it is. The thinker is only called with the session's lock held, never the other way round.
"""

import contextlib
import threading

from play.game import Game, play_moves, start_board, whole_number
from play.storage import Store
from play.thinker import Thinker, Wish
from uci_engine.go import GoParameters

HINT_MILLISECONDS = 1_000
MOST_LINES = 5
MOST_THREADS = 256
MOST_HASH = 65_536
MOST_TABLE_MEN = 7  # the engine asks tables with so many; 0 is never
DRAW_SCORE = 0  # centipawns: whoever has more does not agree to a draw, nor claim one
DRAW_FROM = 20  # plies: before, nobody agrees
MESSAGES = 20


def score_of(info, turn):
    """The score of an `info` from White's side, as {"cp": 35} or {"mate": -3}."""
    (kind, number), *_ = info["score"].items()
    return {kind: -number if turn else number}


def is_no_better(score, side):
    """Does this score, from White's side, promise this side nothing? An unknown one is no reason to stop playing."""
    if score is None:
        return False
    ((kind, number),) = score.items()
    own = -number if side else number
    return own <= (DRAW_SCORE if kind == "cp" else 0)


class Session:
    """`store` keeps games; `settings` are options of the engine as text; `thinker` makes what thinks."""

    def __init__(self, store=None, settings=None, thinker=Thinker):
        self.lock = threading.RLock()
        self.store = Store() if store is None else store
        self.thinker = thinker(settings, self.say)
        self.settings = {
            "Threads": 1,
            "Hash": 16,
            "Tables": True,
            **{name: int(value) for name, value in (settings or {}).items() if value.isdigit()},
        }
        self.messages = []  # the last ones
        self.said = 0  # how many there were
        self.version = 0  # counts changes, so that a page asks only for news
        self.game = None
        self.hint = None
        self.answer = ""  # what the engine says to an offer
        self.timer = None
        self.analysis = None
        self._open_last()

    def say(self, text):
        """A message for the person."""
        with self.lock:
            self.messages = [*self.messages[-MESSAGES + 1 :], text]
            self.said += 1
            self.version += 1

    def note(self):
        """Something is new that the session itself does not know."""
        with self.lock:
            self.version += 1

    def close(self):
        with self.lock:
            self._stop_timer()
            if self.game is not None and self.game.clock is not None:
                self.game.clock.stop()
            self._save()
        self.thinker.close()

    # Games

    def _open_last(self):
        """Goes on with the game that was not finished."""
        for name in self.store.names()[:1]:
            with contextlib.suppress(ValueError, OSError):
                game = self._load(name)
                if not game.is_over:
                    self._begin(game)

    def _load(self, name):
        record = self.store.load(name)
        try:
            return Game(record)
        except (ValueError, TypeError, AttributeError, KeyError, IndexError):
            raise ValueError(f"the file of game {name} is damaged") from None

    def new_game(self, settings):
        """Begins a game; ValueError says which setting is wrong."""
        fields = ("fen", "chess960", "person", "level", "book", "control", "movetime", "moves")
        game = Game({name: settings[name] for name in fields if name in settings})
        with self.lock:
            self._leave()
            self._begin(game)

    def open_game(self, name):
        game = self._load(name)
        with self.lock:
            self._leave()
            self._begin(game)

    def delete_game(self, name):
        with self.lock:
            self.store.delete(name)
            if self.game is not None and self.game.id == name:
                self._leave(save=False)
                self.game = None
            self.version += 1

    def games(self):
        """All that are kept, the newest first, each in short."""
        found = []
        for name in self.store.names():
            try:
                record = self.store.load(name)
                found.append(
                    {
                        "id": name,
                        "plies": len(record["moves"]),
                        **{key: record[key] for key in ("began", "person", "level", "points", "reason", "chess960")},
                    }
                )
            except (ValueError, OSError, KeyError, TypeError):
                found.append({"id": name, "damaged": True})
        return found

    def pgn(self, name):
        return self._load(name).pgn()

    def _leave(self, save=True):
        self.thinker.cancel("move")
        self.thinker.cancel("hint")
        self._stop_timer()
        if self.game is not None and self.game.clock is not None:
            self.game.clock.stop()
        if save:
            self._save()

    def _begin(self, game):
        with self.lock:
            self.game = game
            self.hint, self.answer = None, ""
            if game.clock is not None and not game.is_over:
                game.clock.start(game.turn)
            self._changed()

    def _save(self):
        if self.game is None:
            return
        try:
            self.store.save(self.game.record())
        except OSError as error:
            self.say(f"the game cannot be kept: {error.strerror or error}")

    def _changed(self):
        """The position is another one, or the game is over: keep it, and let the engine move if it is to."""
        self.version += 1
        self.hint = None
        self.thinker.cancel("hint")
        self._save()
        self._watch_flag()
        game = self.game
        if game.is_over or game.is_persons_turn:
            self.thinker.cancel("move")
            return
        if game.claim is not None and is_no_better(self._last_score(), game.turn):
            game.claim_draw()
            self._changed()
            return
        self._think()

    def _last_score(self):
        return next((score for score in reversed(self.game.scores) if score is not None), None)

    def _watch_flag(self):
        self._stop_timer()
        game = self.game
        if game.is_over or game.clock is None:
            return
        wait = game.clock.left(game.turn) / 1000 + 0.005
        self.timer = threading.Timer(min(wait, threading.TIMEOUT_MAX), self._flag, (game,))
        self.timer.daemon = True
        self.timer.start()

    def _stop_timer(self):
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _flag(self, game):
        with self.lock:
            if self.game is not game or game.is_over:
                return
            game.flag()
            if game.is_over:
                self._changed()
            else:
                self._watch_flag()

    def _think(self):
        game = self.game
        turn, seen = game.turn, {}
        if game.clock is None:
            parameters = GoParameters(movetime=game.movetime)
        else:
            white, black = game.clock.both()
            parameters = GoParameters(wtime=white, btime=black, winc=game.clock.increment, binc=game.clock.increment)
        options = {"UCI_Chess960": "true" if game.chess960 else "false", "OwnBook": "true" if game.book else "false"}
        if game.level is not None:
            options |= {"UCI_LimitStrength": "true", "UCI_Elo": str(game.level)}
        plies = len(game.board.move_stack)

        def on_info(info):
            if info.get("multipv", 1) == 1:
                seen["score"] = score_of(info, turn)

        def on_end(move):
            with self.lock:
                if self.game is not game or game.is_over or len(game.board.move_stack) != plies:
                    return
                if move is None:
                    self.say("the engine found no move")
                    return
                game.push(game.board.parse_uci(move), seen.get("score"))
                self._changed()

        self.thinker.ask("move", Wish(game.fen, tuple(game.moves), options, parameters, on_info, on_end))

    def _own_turn(self):
        if self.game is None:
            raise ValueError("there is no game")
        if self.game.is_over:
            raise ValueError("the game is over")
        if not self.game.is_persons_turn:
            raise ValueError("it is not your turn")
        return self.game

    def move(self, text, ply=None):
        """Plays a move of the person, in SAN or UCI's notation. `ply` is where the page thinks that the game stands."""
        with self.lock:
            game = self._own_turn()
            if ply is not None and ply != len(game.board.move_stack):
                raise ValueError("the game has gone on meanwhile")
            game.push(game.parse(text))
            self.answer = ""
            self._changed()

    def take_back(self):
        with self.lock:
            if self.game is None:
                raise ValueError("there is no game")
            self.thinker.cancel("move")
            self.game.take_back()
            self.answer = ""
            self._changed()

    def resign(self):
        with self.lock:
            if self.game is None:
                raise ValueError("there is no game")
            self.game.resign()
            self._changed()

    def offer_draw(self):
        """The engine agrees if its last search promised it nothing, and not in the opening."""
        with self.lock:
            game = self._own_turn()
            if len(game.board.move_stack) >= DRAW_FROM and is_no_better(self._last_score(), 1 - game.person):
                game.agree()
                self._changed()
            else:
                self.answer = "Quetzal declines the draw"
                self.version += 1

    def claim_draw(self):
        with self.lock:
            self._own_turn().claim_draw()
            self._changed()

    def ask_hint(self):
        """Looks for a good move for the person, with full strength."""
        with self.lock:
            game = self._own_turn()
            plies = len(game.board.move_stack)
            options = {"UCI_Chess960": "true" if game.chess960 else "false"}

            def on_end(move):
                with self.lock:
                    if self.game is game and len(game.board.move_stack) == plies and not game.is_over:
                        self.hint = move
                        self.version += 1

            parameters = GoParameters(movetime=HINT_MILLISECONDS)
            wish = Wish(game.fen, tuple(game.moves), options, parameters, lambda _: None, on_end)
            self.thinker.ask("hint", wish)

    # Analysis

    def analyse(self, wanted):
        """Analyses a position until it is stopped or its limit is reached; ValueError says what is wrong with it."""
        chess960 = bool(wanted.get("chess960"))
        board = start_board(wanted.get("fen"), chess960)
        fen = board.shredder_fen() if chess960 else board.fen()
        play_moves(board, wanted.get("moves", []))
        lines = whole_number(wanted.get("lines", 1), 1, MOST_LINES, "the number of lines")
        nodes = wanted.get("nodes")
        if nodes is not None:
            nodes = whole_number(nodes, 1, 10**12, "the number of nodes")
        turn = 0 if board.turn else 1
        analysis = {"fen": fen, "moves": [move.uci() for move in board.move_stack], "lines": [], "running": True}
        most = min(lines, board.legal_moves.count())
        found = []  # the lines of one depth, which are shown together: older ones beside them could have the same move

        def on_info(info):
            if "bound" in info:
                return
            number = info["multipv"] = info.get("multipv", 1)
            info["score"] = score_of(info, turn)
            if turn and "wdl" in info:
                info["wdl"] = info["wdl"][::-1]
            with self.lock:
                found[number - 1 :] = [info]
                if number >= most:
                    # A new list, so that who reads the old one at this moment reads something whole.
                    analysis["lines"] = list(found)
                    self.version += 1

        def on_end(_):
            with self.lock:
                analysis["running"] = False
                self.version += 1

        options = {
            "UCI_Chess960": "true" if chess960 else "false",
            "UCI_AnalyseMode": "true",
            "UCI_ShowWDL": "true",
            "MultiPV": str(lines),
        }
        parameters = GoParameters(infinite=True) if nodes is None else GoParameters(nodes=nodes)
        moves = tuple(analysis["moves"])
        wish = Wish(fen, moves, options, parameters, on_info, on_end, is_fresh=nodes is not None)
        with self.lock:
            self.analysis = analysis
            self.version += 1
            self.thinker.ask("analysis", wish)

    def stop_analysis(self):
        with self.lock:
            self.thinker.cancel("analysis")
            if self.analysis is not None:
                self.analysis["running"] = False
            self.version += 1

    def set_engine(self, wanted):
        """Threads and memory for whatever is thought about, and whether it may ask endgame tables.

        Where these are is not for a page to say: it could name what only hangs when it is opened.
        """
        threads = whole_number(
            wanted.get("threads", self.settings["Threads"]), 1, MOST_THREADS, "the number of threads"
        )
        megabytes = whole_number(wanted.get("hash", self.settings["Hash"]), 1, MOST_HASH, "the table's megabytes")
        tables = wanted.get("tables", self.settings["Tables"])
        if not isinstance(tables, bool):
            raise ValueError("endgame tables are asked or not")
        men = MOST_TABLE_MEN if tables else 0
        with self.lock:
            self.settings |= {"Threads": threads, "Hash": megabytes, "Tables": tables}
            self.thinker.change({"Threads": str(threads), "Hash": str(megabytes), "SyzygyProbeLimit": str(men)})
            if self.game is not None and not self.game.is_over and not self.game.is_persons_turn:
                self._think()  # the search begins again, but its clock has gone on
            self.version += 1

    # What a page may ask for

    def requests(self):
        """What can be done in games, by the names that pages use. Each takes the page's data; ValueError says what is wrong."""
        return {
            "game/new": self.new_game,
            "game/move": lambda data: self.move(data.get("move"), data.get("ply")),
            "game/take-back": lambda _: self.take_back(),
            "game/resign": lambda _: self.resign(),
            "game/offer-draw": lambda _: self.offer_draw(),
            "game/claim-draw": lambda _: self.claim_draw(),
            "game/hint": lambda _: self.ask_hint(),
        }

    # What a page shows

    def state(self):
        """Everything that changes by itself, in a form that JSON knows."""
        with self.lock:
            return {
                "version": self.version,
                "game": None if self.game is None else self._game_state(),
                "analysis": self.analysis,
                "settings": dict(self.settings),
                "messages": self.messages,
                "said": self.said,
            }

    def _game_state(self):
        game = self.game
        return {
            **game.record(),
            "running": None if game.clock is None else game.clock.running,
            "claim": game.claim if game.is_persons_turn else None,
            "thinking": not game.is_over and not game.is_persons_turn,
            "hint": self.hint,
            "answer": self.answer,
            "engine": game.engine_name(),
        }

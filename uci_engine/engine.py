"""The one object behind the protocol: it owns the position, the search and the options."""

import random
import time

from board import STARTING_FEN, Board
from board.memory import available_megabytes
from search import Limits, Searcher
from uci_engine.go import at_least, known_moves, search_limits
from uci_engine.lag import Lag
from uci_engine.options import find, options
from uci_engine.report import Reply, Reporter, info_text
from uci_engine.streams import DialogueLog
from uci_engine.strength import FULL_SKILL, handicap, skill_elo
from uci_engine.text import board_lines, one_line

SHORT_LOOK = 20_000  # nodes, a few hundredths of a second


class Engine:
    """Everything a GUI can ask for, in Python. `write` takes finished lines of text."""

    def __init__(self, write):
        self.write = write
        self.options = options()
        self.values = {option.name: option.default for option in self.options}
        self.board = Board()
        self.problem = None  # why the position cannot be searched
        self.rng = random.Random()
        self.held_answer = None  # answers a `go` without a search, when that has to wait for `stop`
        self.searcher_or_none = None
        self.threads_tried = self.threads_told = 1
        self.lag = Lag()
        self.opening_or_none = None
        self.endgame = None

    def say(self, text):
        self.write(f"info string {one_line(text)}")

    # Getting ready

    @property
    def searcher(self):
        """Built when first needed: a dialogue without memory for it still knows its position."""
        if self.searcher_or_none is None:
            self.searcher_or_none = self.new_searcher()
        return self.searcher_or_none

    def new_searcher(self):
        """With a smaller table where there is no room for the one that was asked for."""
        wanted = megabytes = self.values["Hash"]
        while True:
            try:
                searcher = Searcher(megabytes=megabytes, threads=self.values["Threads"])
            except MemoryError:
                if megabytes == 1:
                    raise
                megabytes //= 2
                continue
            if megabytes != wanted:
                self.say(f"no memory for a table of {wanted} MB, it gets {megabytes} MB")
            self.threads_tried = self.values["Threads"]
            return searcher

    @property
    def is_ready(self):
        """Is everything loaded that the next `go` needs?"""
        has_engine = self.searcher_or_none is not None and self.endgame is not None
        return has_engine and (not self.values["OwnBook"] or self.opening.is_loaded)

    def get_ready(self):
        """Loads what is still missing, so that no search pays for it."""
        if self.searcher_or_none is None:
            self.searcher_or_none = self.new_searcher()
        if self.endgame is None:
            self.set_tables(self.values["SyzygyPath"])
        if self.values["OwnBook"]:
            self.opening.ready()

    # Options

    def set_option(self, name, text):
        """Sets an option from its text. ValueError or MemoryError, and the old value stays, when that cannot be."""
        option = find(self.options, name)
        if option is None:
            raise ValueError(f"there is no option '{name[:80]}'")
        value = option.parse(text)
        if option.apply is not None:
            option.apply(self, value)
        self.values[option.name] = value

    def set_hash(self, megabytes):
        if megabytes == self.searcher.megabytes:
            return
        available = available_megabytes()
        if available is not None and megabytes > available + self.searcher.megabytes:
            raise MemoryError(f"no memory for a table of {megabytes} MB, it keeps {self.searcher.megabytes} MB")
        self.searcher.set_hash(megabytes)

    def set_threads(self, count):
        """As many search threads as there is memory for. What had no room is not tried again before every move."""
        self.searcher.set_threads(count)
        self.threads_tried = count
        self.tell_threads()

    def tell_threads(self):
        if self.searcher.threads < self.threads_tried != self.threads_told:
            self.threads_told = self.threads_tried
            self.say(f"no memory for {self.threads_tried} search threads, there are {self.searcher.threads}")

    def set_overhead(self, milliseconds):
        self.searcher.overhead = milliseconds

    def set_chess960(self, is_chess960):
        """How castling is written in the game on the board changes with it."""
        if self.board.ply == 0:
            self.board = Board(self.board.fen(shredder=True), chess960=is_chess960)

    def set_book(self, path):
        self.opening.open(path)

    def set_evaluation(self, path):
        """Evaluates with another network or other weights. All that was remembered came from the old ones."""
        from eval import load_evaluation

        try:
            load_evaluation(path)
        except OSError as error:
            raise ValueError(f"EvalFile: {path}: {error.strerror}") from error
        self.searcher.clear()

    def set_tables(self, path):
        from uci_engine.endgame import Endgame

        self.endgame = Endgame(path, self.say)

    def set_log(self, path):
        log = DialogueLog(path) if path else None
        old, self.write.log = self.write.log, log
        if old is not None:
            old.close()

    def clear(self):
        self.searcher.clear()

    # Position

    def set_position(self, fen, moves):
        """Sets up a game. If anything is wrong with it the position is marked invalid until the next good one."""
        try:
            board = Board(STARTING_FEN if fen is None else fen, chess960=self.values["UCI_Chess960"])
            for text in moves:
                board.push_uci(text)
        except ValueError as error:
            self.problem = str(error)
            raise
        self.board = board
        self.problem = None

    def flip(self):
        """Exchanges the colours: a good evaluation does not care."""
        self.board = self.board.mirrored()
        self.problem = None

    def describe(self):
        """The lines of the `d` command."""
        yield from board_lines(self.board)
        if self.problem is not None:
            yield f"The last position was refused: {self.problem}"

    # Searching

    def handicap(self):
        """How much weaker to play, or None. Analysis is always done with full strength."""
        values = self.values
        if values["UCI_AnalyseMode"]:
            return None
        if values["UCI_LimitStrength"]:
            return handicap(values["UCI_Elo"])
        return handicap(skill_elo(values["Skill Level"])) if values["Skill Level"] < FULL_SKILL else None

    def go(self, parameters, finished, arrived=None):
        """Starts a search; `finished` is called when its bestmove is written. `arrived` is when the `go` came."""

        def answered():
            self.lag.answered()
            finished()

        reply = Reply(self.write, answered)
        try:
            if self.problem is not None:
                self.answer(parameters, reply, (f"info string no search: {one_line(self.problem)}",), Board(), ())
            elif not self.play_from_book(parameters, reply):
                self.start(parameters, reply, arrived)
        except Exception as error:
            # No memory, no thread: whatever it is, the GUI waits for a move.
            self.say(f"no search: {type(error).__name__}: {error}")
            self.answer(parameters, reply, (), self.board.copy(), self.short_look(parameters))

    def short_look(self, parameters):
        """A line for a `go` that no search could be started for: what this thread sees by itself in a moment."""
        moves = known_moves(self.board, parameters.searchmoves, lambda text: None)  # what is wrong was said
        try:
            self.searcher.set_threads(1)
            self.threads_tried = 1
            return self.searcher.think(
                self.board, Limits(nodes=SHORT_LOOK, depth=at_least(1, parameters.depth), moves=moves)
            ).info.pv
        except Exception:
            return (moves or self.board.legal_moves())[:1]

    def start(self, parameters, reply, arrived=None):
        self.get_ready()
        weakness = self.handicap()
        lines = self.values["MultiPV"]
        threads = self.values["Threads"]
        reporter = Reporter(
            self.board.copy(),
            reply,
            shown=lines,
            show_wdl=self.values["UCI_ShowWDL"],
            handicap=weakness,
            rng=self.rng,
        )
        if weakness is None:
            self.endgame.equip(self.searcher, self.values)
            ranking, probe = self.endgame.rank(self.board, self.values)
        else:
            lines = max(lines, weakness.lines)
            threads = 1  # more would see more
            self.searcher.set_tables(None)  # a beginner does not know them
            ranking, probe = None, False
        if self.searcher.threads != threads != self.threads_tried:
            self.set_threads(threads)
        self.searcher.multipv = lines
        limits = search_limits(
            parameters,
            self.board,
            moves=known_moves(self.board, parameters.searchmoves, self.say),
            spent=0.0 if arrived is None else (time.monotonic() - arrived) * 1000,
            soft_nodes=None if weakness is None else weakness.nodes,
            ranking=ranking,
            probe=probe,
        )
        move = 2 * self.board.fullmove_number + self.board.turn
        self.searcher.note_wait(self.lag.started(move, limits, arrived))
        self.begin(limits, reporter)
        self.tell_threads()

    def begin(self, limits, reporter):
        """Lets the search run beside this thread; the reporter hears its end. What has no threads runs it here instead."""
        self.searcher.start(self.board, limits, reporter)

    @property
    def opening(self):
        """The opening book; most games do without one, so nothing of it is loaded before it is wanted."""
        if self.opening_or_none is None:
            from uci_engine.opening import Opening

            self.opening_or_none = Opening(self.say)
        return self.opening_or_none

    def play_from_book(self, parameters, reply):
        """Answers a `go` without a search, if OwnBook is on and the book has a move for this game."""
        values = self.values
        if not values["OwnBook"] or values["UCI_AnalyseMode"] or values["MultiPV"] > 1:
            return False
        from uci_engine.opening import line_info

        if not parameters.is_move_of_game or self.board.fullmove_number > values["BookDepth"]:
            return False
        if values["UCI_Chess960"]:
            self.opening.say_once("OwnBook: books are for standard chess, with UCI_Chess960 none is used")
            return False
        try:
            found = self.opening.find(self.board, values["BookVariety"], self.rng)
            if found is None:
                return False
            line, reason = found
            weight = self.board.phase if values["UCI_ShowWDL"] else None
            info = info_text(self.board, line_info(self.board, line, self.searcher), weight)
        except Exception as error:
            # A book is a help, never a reason not to think.
            self.opening.say_once(f"no book move: {type(error).__name__}: {error}")
            return False
        self.answer(parameters, reply, (f"info string {one_line(reason)}", info), self.board.copy(), line)
        return True

    def answer(self, parameters, reply, texts, board, line):
        """Answers a `go` without a search, but an endless one not before its `stop` or `ponderhit`."""

        def answer():
            for text in texts:
                self.write(text)
            reply.bestmove(board, line)

        if parameters.is_endless:
            self.held_answer = answer
        else:
            answer()

    def stop(self):
        if self.held_answer is not None:
            answer, self.held_answer = self.held_answer, None
            answer()
        if self.searcher_or_none is not None:
            self.searcher.stop()

    def ponderhit(self):
        if self.held_answer is not None:
            self.stop()
        if self.searcher_or_none is not None:
            self.searcher.ponderhit()

    def new_game(self):
        self.lag = Lag()
        self.searcher.clear()

    def close(self):
        self.stop()
        if self.searcher_or_none is not None:
            self.searcher.close()
        if self.opening_or_none is not None:
            self.opening_or_none.close()

"""The one object behind the protocol: it owns the position, the search and the options."""

import random
import time

from board import STARTING_FEN, Board
from search import Limits, Searcher
from uci_engine.memory import available_megabytes
from uci_engine.options import ABOUT, by_name, options
from uci_engine.report import Reporter
from uci_engine.streams import DialogueLog
from uci_engine.strength import handicap
from uci_engine.wdl import phase

BOUNDS = {"depth", "nodes", "mate", "movetime", "wtime", "btime"}
MOST_MATE = 1000  # moves; nobody waits for longer mates


def is_endless(wishes):
    """Does only a `stop` (or a `ponderhit`) end this search? A bare `go` is as good as infinite."""
    return "infinite" in wishes or "ponder" in wishes or not wishes.keys() & BOUNDS


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
        self.searcher = Searcher(megabytes=self.values["Hash"], threads=self.values["Threads"])
        self.opening_or_none = None
        self.endgame = None  # tables are looked for when they are first wanted

    # Options

    def set_option(self, name, text):
        """Sets an option from its text. ValueError or MemoryError, and the old value stays, when that cannot be."""
        option = by_name(self.options).get("".join(name.lower().split()))
        if option is None:
            raise ValueError(f"there is no option '{name}'")
        value = option.parse(text)
        if option.apply == "set_parameter":
            self.set_parameter(option.name, value)
        elif option.apply is not None:
            getattr(self, option.apply)(*(() if option.kind == "button" else (value,)))
        self.values[option.name] = value

    def set_hash(self, megabytes):
        if megabytes == self.searcher.megabytes:
            return
        available = available_megabytes()
        if available is not None and megabytes > available + self.searcher.megabytes:
            raise MemoryError(f"no memory for a table of {megabytes} MB, it keeps {self.searcher.megabytes} MB")
        self.searcher.set_hash(megabytes)

    def set_threads(self, count):
        self.searcher.set_threads(count)

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
        from uci_engine.protocol import one_line

        self.endgame = Endgame(path, lambda text: self.write(f"info string {one_line(text)}"))

    def set_parameter(self, name, value):
        from search.parameters import set_parameter

        set_parameter(name, value)

    def set_log(self, path):
        log = DialogueLog(path) if path else None
        old, self.write.log = self.write.log, log
        if old is not None:
            old.close()

    def keep_about(self, text):
        """Not an error, GUIs send back what they were told; but the text stays."""
        if text != ABOUT:
            raise ValueError("UCI_EngineAbout is there to be read")

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
        placement, turn, castling, passed, *rest = self.board.fen(shredder=True).split()
        placement = "/".join(reversed(placement.swapcase().split("/")))
        if passed != "-":
            passed = passed[0] + str(9 - int(passed[1]))
        fen = " ".join((placement, "b" if turn == "w" else "w", castling.swapcase(), passed, *rest))
        self.set_position(fen, ())

    def describe(self):
        """The lines of the `d` command."""
        board = self.board
        yield from str(board).splitlines()
        yield ""
        yield f"Fen: {board.fen()}"
        yield f"Key: {board.key:016X}"
        if self.problem is not None:
            yield f"The last position was refused: {self.problem}"

    # Searching

    def limits(self, wishes):
        """Search limits for the side to move, from the words of a `go` command as a dict."""
        colour, other = ("w", "b") if self.board.turn == 0 else ("b", "w")
        moves = None
        if wishes.get("searchmoves"):
            moves = tuple(self.parse_known_moves(wishes["searchmoves"]))
        # A GUI that gives only the other clock has a reason that we do not know; guessing is better than no limit.
        remaining = wishes.get(f"{colour}time", wishes.get(f"{other}time"))
        limits = Limits(
            depth=max(1, wishes["depth"]) if "depth" in wishes else None,
            nodes=max(1, wishes["nodes"]) if "nodes" in wishes else None,
            mate=max(1, min(wishes["mate"], MOST_MATE)) if "mate" in wishes else None,
            movetime=max(1, wishes["movetime"]) if "movetime" in wishes else None,
            remaining=max(1, remaining) if remaining is not None else None,
            increment=max(0, wishes.get(f"{colour}inc", 0)),
            moves_to_go=max(0, wishes.get("movestogo", 0)),
            infinite="infinite" in wishes,
            ponder="ponder" in wishes,
            moves=moves,
        )
        return limits._replace(infinite=True) if is_endless(wishes) and not limits.ponder else limits

    def parse_known_moves(self, texts):
        """The legal moves among the texts; an illegal one is no reason to think about nothing."""
        for text in texts:
            try:
                yield self.board.parse_uci(text)
            except ValueError:
                self.write(f"info string '{text}' is not a legal move here, passed over")

    def handicap(self):
        """How much weaker to play, or None. Analysis is always done with full strength."""
        if not self.values["UCI_LimitStrength"] or self.values["UCI_AnalyseMode"]:
            return None
        return handicap(self.values["UCI_Elo"])

    def go(self, wishes, finished, arrived=None):
        """Starts a search; `finished` is called when its bestmove has been written. `arrived` is the moment of the wish."""
        try:
            if self.problem is not None:
                self.refuse(wishes, f"no search: {self.problem}", finished)
            elif not self.play_from_book(wishes, finished):
                self.start(self.limits(wishes), finished, arrived)
        except Exception as error:
            # No memory, no thread: whatever it is, the GUI waits for a move.
            moves = self.board.legal_moves()
            self.write(f"info string no search: {type(error).__name__}: {error}")
            self.write(f"bestmove {self.board.uci(moves[0]) if moves else '(none)'}")
            finished()

    def start(self, limits, finished, arrived=None):
        weakness = self.handicap()
        lines = self.values["MultiPV"]
        threads = self.values["Threads"]
        reporter = Reporter(
            self.board.copy(),
            self.write,
            finished,
            shown=lines,
            show_wdl=self.values["UCI_ShowWDL"],
            handicap=weakness,
            rng=self.rng,
        )
        if weakness is not None:
            limits = limits._replace(soft_nodes=weakness.nodes)
            lines = max(lines, weakness.lines)
            threads = 1  # more would see more
        if self.searcher.threads != threads:
            self.searcher.set_threads(threads)
        self.searcher.multipv = lines
        if weakness is None:
            limits = self.with_tables(limits)
        else:
            self.searcher.set_tables(None)  # a beginner does not know them
        if arrived is not None:
            limits = limits._replace(spent=(time.monotonic() - arrived) * 1000)
        self.searcher.start(self.board, limits, reporter)

    @property
    def opening(self):
        """The opening book; most games do without one, so nothing of it is loaded before it is wanted."""
        if self.opening_or_none is None:
            from uci_engine.opening import Opening
            from uci_engine.protocol import one_line

            self.opening_or_none = Opening(lambda text: self.write(f"info string {one_line(text)}"))
        return self.opening_or_none

    def play_from_book(self, wishes, finished):
        """Answers a `go` without a search, if OwnBook is on and the book has a move for this game."""
        values = self.values
        if not values["OwnBook"] or values["UCI_AnalyseMode"] or values["MultiPV"] > 1:
            return False
        from uci_engine.opening import answer_lines, is_playing
        from uci_engine.protocol import one_line

        if not is_playing(wishes) or self.board.fullmove_number > values["BookDepth"]:
            return False
        if values["UCI_Chess960"]:
            self.opening.say_once("OwnBook: books are for standard chess, with UCI_Chess960 none is used")
            return False
        try:
            found = self.opening.find(self.board, values["BookVariety"], self.rng)
            if found is None:
                return False
            line, reason = found
            weight = phase(self.board.fen()) if values["UCI_ShowWDL"] else None
            info, best = answer_lines(self.board, line, self.searcher, weight)
        except Exception as error:
            # A book is a help, never a reason not to think.
            self.opening.say_once(f"no book move: {type(error).__name__}: {error}")
            return False
        self.answer(wishes, (f"info string {one_line(reason)}", info, best), finished)
        return True

    def with_tables(self, limits):
        """The limits with what endgame tables say of the root; the search may ask them, too."""
        if self.endgame is None:
            self.set_tables(self.values["SyzygyPath"])
        self.endgame.equip(self.searcher, self.values)
        return self.endgame.rank(self.board, limits, self.values)

    def refuse(self, wishes, reason, finished):
        """Answers a `go` that cannot be searched."""
        self.answer(wishes, (f"info string {reason}", "bestmove (none)"), finished)

    def answer(self, wishes, lines, finished):
        """Answers a `go` without a search, but an endless one not before its `stop` or `ponderhit`."""

        def answer():
            for line in lines:
                self.write(line)
            finished()

        if is_endless(wishes):
            self.held_answer = answer
        else:
            answer()

    def stop(self):
        if self.held_answer is not None:
            answer, self.held_answer = self.held_answer, None
            answer()
        self.searcher.stop()

    def ponderhit(self):
        if self.held_answer is not None:
            self.stop()
        self.searcher.ponderhit()

    def new_game(self):
        self.searcher.clear()

    def close(self):
        self.stop()
        self.searcher.close()
        if self.opening_or_none is not None:
            self.opening_or_none.close()

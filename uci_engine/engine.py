"""The one object behind the protocol: it owns the position, the search and the options."""

import os

from board import STARTING_FEN, Board
from search import Limits, Searcher
from uci_engine.options import OPTIONS, by_name, tuning_options
from uci_engine.report import Reporter


class Engine:
    """Everything a GUI can ask for, in Python. `write` takes finished lines of text."""

    def __init__(self, write):
        self.write = write
        self.options = OPTIONS + (tuning_options() if os.environ.get("QUETZAL_TUNING") == "1" else ())
        self.values = {option.name: option.default for option in self.options}
        self.board = Board()
        self.problem = None  # why the position cannot be searched
        self.searcher = Searcher(megabytes=self.values["Hash"], threads=self.values["Threads"])

    # Options

    def set_option(self, name, text):
        """Sets an option from its text. ValueError or MemoryError, and the old value stays, when that cannot be."""
        option = by_name(self.options).get(name.lower().replace(" ", ""))
        if option is None:
            raise ValueError(f"there is no option '{name}'")
        value = option.parse(text)
        if option.apply == "set_parameter":
            self.set_parameter(option.name, value)
        elif option.apply is not None:
            getattr(self, option.apply)(*(() if option.kind == "button" else (value,)))
        self.values[option.name] = value

    def set_hash(self, megabytes):
        self.searcher.set_hash(megabytes)

    def set_threads(self, count):
        self.searcher.set_threads(count)

    def set_multipv(self, count):
        self.searcher.multipv = count

    def set_overhead(self, milliseconds):
        self.searcher.overhead = milliseconds

    def set_parameter(self, name, value):
        from search.parameters import set_parameter

        set_parameter(name, value)

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

    # Searching

    def limits(self, wishes):
        """Search limits for the side to move, from the words of a `go` command as a dict."""
        colour = "wb"[self.board.turn]
        moves = None
        if "searchmoves" in wishes:
            moves = tuple(self.parse_known_moves(wishes["searchmoves"]))
        remaining = wishes.get(f"{colour}time")
        has_limit = any(
            word in wishes for word in ("depth", "nodes", "mate", "movetime", "wtime", "btime", "ponder", "infinite")
        )
        return Limits(
            depth=max(1, wishes["depth"]) if "depth" in wishes else None,
            nodes=max(1, wishes["nodes"]) if "nodes" in wishes else None,
            mate=wishes.get("mate"),
            movetime=max(1, wishes["movetime"]) if "movetime" in wishes else None,
            remaining=max(1, remaining) if remaining is not None else None,
            increment=max(0, wishes.get(f"{colour}inc", 0)),
            moves_to_go=max(0, wishes.get("movestogo", 0)),
            infinite="infinite" in wishes or not has_limit,
            ponder="ponder" in wishes,
            moves=moves,
        )

    def parse_known_moves(self, texts):
        """The legal moves among the texts; an illegal one is no reason to think about nothing."""
        for text in texts:
            try:
                yield self.board.parse_uci(text)
            except ValueError:
                self.write(f"info string '{text}' is not a legal move here, passed over")

    def go(self, wishes, finished):
        """Starts a search; `finished` is called when its bestmove has been written."""
        if self.problem is not None:
            self.write(f"info string no search: {self.problem}")
            self.write("bestmove (none)")
            finished()
            return
        reporter = Reporter(self.board.copy(), self.write, finished)
        self.searcher.start(self.board, self.limits(wishes), reporter)

    def stop(self):
        self.searcher.stop()

    def ponderhit(self):
        self.searcher.ponderhit()

    def new_game(self):
        self.searcher.clear()

    def close(self):
        self.searcher.close()

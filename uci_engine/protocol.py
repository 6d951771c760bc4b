"""UCI on two streams. Reading, thinking and writing never wait for each other.

A reader thread turns lines into events, a writer thread empties a queue of finished lines, and the dispatcher between
them answers. What must not change under a running search (`position`, `setoption`, the next `go` …) waits in line until
that search's `bestmove` is out; `stop`, `isready` and `quit` are answered at once.
"""

import queue
import threading

from uci_engine import __version__

GREETING = (f"id name Quetzal {__version__}", "id author The Quetzal authors")
NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime", "perft")
FLAGS = ("infinite", "ponder")


class Writer:
    """One thread that writes whole lines and flushes; callers never wait for a GUI that does not read."""

    def __init__(self, sink):
        self.sink = sink
        self.reader_left = False
        self.lines = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.run, name="writer", daemon=True)
        self.thread.start()

    def __call__(self, line):
        self.lines.put(line)

    def run(self):
        while (line := self.lines.get()) is not None:
            try:
                self.sink.write(line + "\n")
                self.sink.flush()
            except (OSError, ValueError):
                self.reader_left = True
                return

    def close(self):
        """Writes what is left, but does not wait for ever."""
        self.lines.put(None)
        self.thread.join(timeout=0.1)


def parse_go(words):
    """The parameters of `go` as a dict. Words that mean nothing here are passed over."""
    wishes = {}
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in FLAGS:
            wishes[word] = True
        elif word in NUMBERS:
            try:
                wishes[word] = max(-(10**15), min(int(words[index]), 10**15))
                index += 1
            except (IndexError, ValueError):
                continue
        elif word == "searchmoves":
            moves = wishes.setdefault(word, [])
            while index < len(words) and words[index] not in (*FLAGS, *NUMBERS):
                moves.append(words[index])
                index += 1
    return wishes


class Session:
    """One GUI's dialogue with the engine."""

    def __init__(self, write):
        self.write = write
        self.events = queue.SimpleQueue()
        self.waiting = []
        self.searching = False
        self.engine_or_none = None

    @property
    def engine(self):
        """Built when first needed, so that `uci` is answered at once."""
        if self.engine_or_none is None:
            from uci_engine.engine import Engine

            self.engine_or_none = Engine(self.write)
        return self.engine_or_none

    def run(self):
        """Answers events until `quit`."""
        while True:
            event = self.events.get()
            if event is None:
                break
            if event is True:
                self.searching = False
                while self.waiting and not self.searching:
                    self.handle(self.waiting.pop(0))
            elif not self.receive(event):
                break
        if self.engine_or_none is not None:
            self.engine_or_none.close()

    def receive(self, line):
        """Takes a line from the GUI; False when the dialogue is over."""
        words = line.split()
        while words and words[0] not in self.COMMANDS and words[0] != "quit":
            words.pop(0)
        if not words:
            return True
        if words[0] == "quit":
            return False
        if self.searching and words[0] not in self.AT_ONCE:
            self.waiting.append(words)
        else:
            self.handle(words)
        return True

    def handle(self, words):
        try:
            self.COMMANDS[words[0]](self, words[1:])
        except (ValueError, MemoryError) as error:
            self.write(f"info string {error}")

    def uci(self, _words):
        from uci_engine.options import OPTIONS

        options = OPTIONS if self.engine_or_none is None and not self.is_tuning() else self.engine.options
        for line in (*GREETING, *(option.declaration() for option in options), "uciok"):
            self.write(line)

    @staticmethod
    def is_tuning():
        import os

        return os.environ.get("QUETZAL_TUNING") == "1"

    def isready(self, _words):
        if not self.searching:
            _ = self.engine
        self.write("readyok")

    def setoption(self, words):
        name, _, value = " ".join(words).partition(" value ")
        if not name.startswith("name "):
            raise ValueError("setoption wants 'name NAME', then perhaps 'value VALUE'")
        self.engine.set_option(name.removeprefix("name ").removesuffix(" value").strip(), value.strip())

    def ucinewgame(self, _words):
        self.engine.new_game()

    def position(self, words):
        cut = words.index("moves") if "moves" in words else len(words)
        setup, moves = words[:cut], words[cut + 1 :]
        if setup[:1] == ["startpos"]:
            self.engine.set_position(None, moves)
        elif setup[:1] == ["fen"]:
            self.engine.set_position(" ".join(setup[1:]), moves)
        else:
            raise ValueError("position wants 'startpos' or 'fen FEN', then perhaps 'moves ...'")

    def explain(self, _words):
        from uci_engine.eval_table import eval_table

        for line in eval_table(self.engine.board):
            self.write(line)

    def go(self, words):
        wishes = parse_go(words)
        if "perft" in wishes:
            from uci_engine.perft import report

            for line in report(self.engine.board, wishes["perft"], per_move=True):
                self.write(line)
            return
        self.searching = True
        self.engine.go(wishes, lambda: self.events.put(True))

    def stop(self, _words):
        if self.searching:
            self.engine.stop()

    def ponderhit(self, _words):
        if self.searching:
            self.engine.ponderhit()

    def ignore(self, _words):
        pass

    def show(self, _words):
        board = self.engine.board
        for line in (*str(board).splitlines(), "", f"Fen: {board.fen()}", f"Key: {board.key:016X}"):
            self.write(line)

    COMMANDS = {  # noqa: RUF012
        "uci": uci,
        "debug": ignore,
        "isready": isready,
        "setoption": setoption,
        "register": ignore,
        "ucinewgame": ucinewgame,
        "position": position,
        "go": go,
        "stop": stop,
        "ponderhit": ponderhit,
        "d": show,
        "eval": explain,
    }
    AT_ONCE = ("uci", "debug", "isready", "register", "stop", "ponderhit")


def serve(source, sink):
    """Answers until `quit` or the end of the input; returns the exit status."""
    writer = Writer(sink)
    session = Session(writer)

    def read():
        for line in source:
            session.events.put(line)
        session.events.put(None)

    threading.Thread(target=read, name="reader", daemon=True).start()
    session.run()
    writer.close()
    # As the shell counts a program that wrote to a closed pipe.
    return 141 if writer.reader_left else 0

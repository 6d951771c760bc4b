"""UCI on two pipes. Reading, thinking and writing never wait for each other.

A reader thread turns lines into events, a writer thread empties a queue of finished lines, and the dispatcher between
them answers. What must not change under a running search (`position`, `setoption`, the next `go` …) waits in line until
that search's `bestmove` is out; `stop`, `isready` and `quit` are answered at once. What may take long (options that load
files or fill memory, getting ready) is done beside the dispatcher, by a thread for such work: everything else waits in
line for it, `isready` too, but not `quit`. Nothing polls: whoever waits sleeps.
"""

import os
import queue
import re
import signal
import threading
import time
from collections import Counter, deque

from uci_engine import __version__
from uci_engine.streams import Writer, read_lines
from uci_engine.text import one_line

GREETING = (f"id name Quetzal {__version__}", "id author The Quetzal authors")

# How long slow work and what waits behind it may delay the end: hardly at all when a GUI says `quit`, for a while when
# the whole input was a script, whose answers somebody waits for. A script's `quit` comes right behind what is slow.
QUIT_SECONDS = 0.5
SCRIPT_SECONDS = 20.0

END = object()
QUIT = object()
FINISHED = object()

_WORD = re.compile(r"\S+")

HELP = """Quetzal is a UCI chess engine: a chess GUI talks to it over a pipe. UCI's own commands are
  uci, isready, ucinewgame, debug on|off, setoption name NAME [value VALUE],
  position startpos|fen FEN [moves MOVE ...], stop, ponderhit, quit,
  go [depth N] [nodes N] [movetime MS] [wtime MS] [btime MS] [winc MS] [binc MS]
     [movestogo N] [mate N] [searchmoves MOVE ...] [infinite] [ponder]
and beyond UCI there are
  d            the board, its FEN and its key
  eval         what the position is worth, and why
  flip         the same position with colours changed
  go perft N   the number of move sequences of that length
  bench [N]    fixed positions to depth N; the node count is the search's signature
  compiler     version and build
  help         this text
"quetzal --help" in a shell lists what the command line can do.""".splitlines()


def parse_option(text):
    """Name and value of a `setoption`, which may both have blanks in them; ValueError when there is no name."""
    words = text.split()
    lower = [word.lower() for word in words]
    if lower[:1] != ["name"] or lower[1:2] in ([], ["value"]):
        raise ValueError("usage: setoption name NAME [value VALUE]")
    if "value" not in lower:
        return " ".join(words[1:]), ""
    name = " ".join(words[1 : lower.index("value")])
    value = re.search(r"\svalue\b(?=\s|$)", text, re.IGNORECASE)
    return name, text[value.end() :].strip()


class Session:
    """One GUI's dialogue with the engine. `write` takes lines and must not block."""

    def __init__(self, write):
        self.write = write
        self.events = queue.SimpleQueue()
        self.waiting = deque()  # commands in line behind what is running
        self.in_line = Counter()  # how many of each command these are
        self.is_busy = False  # a search, a count or slow work is running
        self.is_working = False  # it is slow work
        self.is_stopping = False  # it was told to end
        self.is_over = False
        self.arrived = time.monotonic()  # when the line in work reached the process
        self.debug = False
        self.cancel = None  # ends a count
        self.work_began = self.quit_came = 0.0  # when the slow work did, and a `quit` during it
        self.deadline = None  # of a `quit` that waits for slow work
        self.engine_or_none = None
        self.cannot_get_ready = False  # a search will say why; asking again would not help

    @property
    def engine(self):
        """Built when first needed, so that `uci` is answered at once."""
        if self.engine_or_none is None:
            from uci_engine.engine import Engine

            self.engine_or_none = Engine(self.write)
        return self.engine_or_none

    def say(self, text):
        self.write(f"info string {one_line(text)}")

    # The life of a dialogue

    def run(self):
        """Answers events until `quit` or the end of the input."""
        while self.step():
            pass
        self.close()

    def run_once(self, line):
        """Answers a single command and waits until that is done."""
        self.receive(line)
        while self.is_busy and self.step():
            pass
        self.close()

    def step(self):
        try:
            seconds = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
            event = self.events.get(timeout=seconds)
        except queue.Empty:
            return False  # slow work had its time
        if event is QUIT or self.is_over:
            return False
        if event is END:
            was_told_later = self.quit_came - self.work_began > QUIT_SECONDS
            self.accept("quit", "")
            if self.deadline is not None and not was_told_later:
                self.deadline = time.monotonic() + SCRIPT_SECONDS
        elif event is FINISHED:
            self.go_on()
        else:
            line, self.arrived = event
            self.receive(line)
        return not self.is_over

    def deliver(self, line):
        """Puts a line in front of the dispatcher, from any thread. A clock in the GUI runs from this moment."""
        self.events.put((line, time.monotonic()))

    def quit(self):
        """Ends the dialogue, from any thread or signal handler."""
        self.is_over = True
        self.events.put(QUIT)

    def close(self):
        self.is_over = True
        if self.cancel is not None:
            self.cancel.set()
        if self.engine_or_none is not None and not self.is_working:
            self.engine_or_none.close()

    # Lines

    def receive(self, line):
        """Takes a line from the GUI. Unknown words before a command are passed over, as the specification wants."""
        log = getattr(self.write, "log", None)
        if log is not None:
            log(">", one_line(line))
        for match in _WORD.finditer(line):
            word = match[0]
            if word.startswith("#"):
                return
            if word in self.COMMANDS:
                self.accept(word, line[match.end() :])
                return
            if self.debug:
                self.say(f"unknown word '{word[:80]}'")

    def accept(self, word, rest):
        """Carries out a command now, or puts it in line behind the search that is running."""
        if self.is_busy and not self.may_go_ahead(word):
            self.waiting.append((word, rest))
            self.in_line[word] += 1
        elif word == "ucinewgame" or (word == "setoption" and self.is_slow_option(rest)):
            self.beside(lambda: self.carry_out(word, rest))
        elif word in self.NEED_ENGINE and not self.is_ready:
            self.waiting.appendleft((word, rest))
            self.in_line[word] += 1
            self.beside(self.get_ready)
        else:
            self.carry_out(word, rest)

    def is_slow_option(self, rest):
        from uci_engine.options import find, options

        try:
            option = find(options(), parse_option(rest)[0])
        except ValueError:
            return False
        return option is not None and option.is_slow

    def carry_out(self, word, rest):
        try:
            self.COMMANDS[word](self, rest)
        except (ValueError, MemoryError, OSError) as error:
            self.say(str(error) or f"no memory for '{word}'")
        except Exception as error:
            # Whatever went wrong, the GUI's game goes on.
            self.say(f"internal error at '{word}': {type(error).__name__}: {error}")
        else:
            return
        if word == "go" and not self.is_busy:
            # Without memory for so much as the rules there is no move, but the GUI is not left waiting for one.
            self.write("bestmove (none)")

    def may_go_ahead(self, word):
        """May a command overtake the search that is running?

        `stop` and `ponderhit` belong to the last `go` before them. If the running search was stopped already and
        another `go` is in line, they are meant for that one. Slow work is not overtaken by what tells of its end.
        """
        if word in ("stop", "ponderhit"):
            return not (self.in_line["go"] and (self.is_stopping or self.is_working))
        if self.is_working and word in ("isready", "quit"):
            if word == "quit" and self.deadline is None:
                self.quit_came = time.monotonic()
                self.deadline = self.quit_came + QUIT_SECONDS
            return False
        return word in self.AT_ONCE

    def go_on(self):
        """The search is over: what was waiting is next, in its order, until something runs again."""
        self.is_busy = self.is_working = self.is_stopping = False
        self.arrived = time.monotonic()
        self.cancel = None
        while self.waiting and not self.is_busy and not self.is_over:
            word, rest = self.waiting.popleft()
            self.in_line[word] -= 1
            self.accept(word, rest)
        if self.is_busy and not self.is_working:
            self.overtake()

    def overtake(self):
        """Brings forward what is in line and concerns the search that has just been begun from there.

        A `stop` behind several searches ends them all, each as it begins. Nothing here looks at the line again and
        again: a GUI may have put thousands of commands into it.
        """
        if self.in_line["ponderhit"]:
            self.ponderhit("")
        if self.in_line["stop"]:
            self.stop("")
        if not any(self.in_line[word] for word in self.AT_ONCE):
            return
        waiting, self.waiting = self.waiting, deque()
        for word, rest in waiting:
            if word in self.AT_ONCE and not self.is_over:
                self.in_line[word] -= 1
                self.carry_out(word, rest)
            else:
                self.waiting.append((word, rest))

    # Commands

    def uci(self, _rest):
        from uci_engine.options import options

        for line in (*GREETING, *(option.declaration() for option in options()), "uciok"):
            self.write(line)

    def isready(self, _rest):
        self.write("readyok")

    def set_debug(self, rest):
        words = rest.split()
        if words[:1] in (["on"], ["off"]):
            self.debug = words[0] == "on"

    def setoption(self, rest):
        self.cannot_get_ready = False
        self.engine.set_option(*parse_option(rest))

    def ucinewgame(self, _rest):
        self.engine.new_game()

    def position(self, rest):
        words = rest.split()
        cut = words.index("moves") if "moves" in words else len(words)
        setup, moves = words[:cut], words[cut + 1 :]
        if setup[:1] == ["startpos"]:
            self.engine.set_position(None, moves)
        elif setup[:1] == ["fen"]:
            self.engine.set_position(" ".join(setup[1:]), moves)
        else:
            self.engine.problem = "usage: position startpos|fen FEN [moves MOVE ...]"
            raise ValueError(self.engine.problem)

    def go(self, rest):
        from uci_engine.go import parse_go, problem_of

        words = rest.split()
        parameters = parse_go(words)
        if parameters.perft is not None:
            from uci_engine.perft import report

            board, depth = self.engine.board.copy(), parameters.perft
            self.in_background(lambda is_cancelled: report(board, depth, per_move=True, is_cancelled=is_cancelled))
            return
        engine = self.engine
        if words and parameters.has_no_limit:
            problem = problem_of(words)
            if problem is not None:
                self.say(f"no limit was understood, so only 'stop' ends this search: {problem}")
        self.is_busy = True
        if self.debug:
            self.say(parameters)
        engine.go(parameters, lambda: self.events.put(FINISHED), self.arrived)

    def stop(self, _rest):
        if self.cancel is not None:
            self.cancel.set()
        elif self.is_busy:
            self.is_stopping = True
            self.engine.stop()

    def ponderhit(self, _rest):
        if self.is_busy and self.cancel is None:
            self.engine.ponderhit()

    def end(self, _rest):
        self.quit()

    def ignore(self, _rest):
        """For `register`: Quetzal belongs to everybody."""

    def show(self, _rest):
        for line in self.engine.describe():
            self.write(line)

    def explain(self, _rest):
        from uci_engine.eval_table import eval_table

        for line in eval_table(self.engine.board):
            self.write(line)

    def flip(self, _rest):
        self.engine.flip()

    def bench(self, rest):
        from uci_engine.bench import DEFAULT_DEPTH, lines

        words = rest.split()
        depth = int(words[0]) if words else DEFAULT_DEPTH
        if not 1 <= depth <= 100:
            raise ValueError("bench takes a depth from 1 to 100")
        self.in_background(lambda is_cancelled: lines(depth, is_cancelled=is_cancelled))

    def compiler(self, _rest):
        from uci_engine.build import describe

        for line in describe().splitlines():
            self.write(line)

    def help(self, _rest):
        for line in HELP:
            self.write(line)

    @property
    def is_ready(self):
        return self.cannot_get_ready or (self.engine_or_none is not None and self.engine_or_none.is_ready)

    def get_ready(self):
        try:
            self.engine.get_ready()
        except Exception as error:
            self.cannot_get_ready = True
            self.say(f"not everything could be loaded: {type(error).__name__}: {error}")

    def beside(self, work):
        """Does slow work in another thread; what comes meanwhile waits in line."""
        self.is_busy = self.is_working = True
        self.work_began = time.monotonic()

        def run():
            work()
            self.events.put(FINISHED)

        start_thread(run, "work")

    def in_background(self, produce):
        """Writes the lines that `produce(is_cancelled)` yields, from another thread: counts may take hours."""
        self.is_busy = True
        self.cancel = cancel = threading.Event()

        def work():
            try:
                for line in produce(cancel.is_set):
                    self.write(line)
            except Exception as error:
                self.say(error)
            finally:
                self.events.put(FINISHED)

        start_thread(work, "count")

    COMMANDS = {  # noqa: RUF012
        "uci": uci,
        "debug": set_debug,
        "isready": isready,
        "setoption": setoption,
        "register": ignore,
        "ucinewgame": ucinewgame,
        "position": position,
        "go": go,
        "stop": stop,
        "ponderhit": ponderhit,
        "quit": end,
        "d": show,
        "eval": explain,
        "flip": flip,
        "bench": bench,
        "compiler": compiler,
        "help": help,
    }
    AT_ONCE = ("uci", "debug", "isready", "register", "quit", "help", "compiler")
    # All that runs for a while is among them, so that an `isready` that comes meanwhile finds everything loaded.
    NEED_ENGINE = ("isready", "position", "go", "d", "eval", "flip", "bench")


def start_thread(work, name):
    """Does something beside the dispatcher; without memory for a thread the dispatcher does it, deaf but alive."""
    try:
        threading.Thread(target=work, name=name, daemon=True).start()
    except RuntimeError:
        work()


def is_terminal(descriptor):
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def on_signals(actions):
    """Calls `actions[number]()` whenever that signal comes.

    A thread waits for them. Python runs ordinary handlers in the main thread, but a signal that comes just before that
    thread goes to sleep would be noticed only when the next command wakes it.
    """
    if not hasattr(signal, "sigwait"):
        for number, action in actions.items():
            signal.signal(number, lambda *_, action=action: action())
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, actions)

    def watch():
        while True:
            actions[signal.sigwait(actions)]()

    threading.Thread(target=watch, name="signals", daemon=True).start()


def serve(source, sink):
    """Answers until `quit`, the end of the input or SIGTERM; then the process ends."""
    session = Session(None)
    actions = {signal.SIGTERM: session.quit}
    if is_terminal(source):
        actions[signal.SIGINT] = session.quit
    else:
        # Ctrl-C in a shell reaches every process there, also the engine of a GUI that handles it well.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    on_signals(actions)
    session.write = writer = Writer(sink, on_broken=session.quit)

    def read():
        read_lines(source, session.deliver, on_long=lambda size: session.say(f"a line of {size:,} bytes was refused"))
        session.events.put(END)

    threading.Thread(target=read, name="reader", daemon=True).start()
    session.run()
    leave(writer)


def leave(writer):
    """Writes what is left and ends the process. Threads that still read, wait or do slow work are not waited for:
    while the interpreter takes itself apart, one that wakes up is made to exit, which the C library may answer with an
    abort when memory is short.
    """
    writer.close()
    # As the shell counts a program that wrote to a closed pipe.
    os._exit(141 if writer.is_broken else 0)


def answer_once(line, sink, *, fen=None, options=(), translate=None):
    """One command from the command line. Ctrl-C asks for the result so far. Then the process ends.

    `options` are pairs of name and text. `translate` yields what to write for each line of the answer.
    """
    session = Session(None)
    on_signals({signal.SIGTERM: session.quit, signal.SIGINT: lambda: session.deliver("stop")})
    session.write = writer = Writer(sink, on_broken=session.quit)
    if translate is not None:

        def write(line):
            for each in translate(line):
                writer(each)

        session.write = write
    for name, text in options:
        session.engine.set_option(name, text)
    if fen is not None:
        session.engine.set_position(fen, ())
    session.get_ready()
    session.arrived = time.monotonic()  # loading is not thinking
    session.run_once(line)
    leave(writer)

"""An engine at the board: started, greeted, told to think, and judged by the clock and by what it says."""

import collections
import contextlib
import os
import re
import subprocess
import threading
import time
from typing import NamedTuple

from arena.client import ContainedClient, EngineEndedError
from arena.declarations import fitting
from arena.text import visible
from arena.transcript import Transcript

_MOST_WAITING, _WAITING_SIZE = 10_000, 1 << 22  # lines that nobody asked for, and their characters
_MOST_ANNOUNCED = 1 << 20  # characters of names and options
_MOST_COMPLAINTS = 200  # last lines of stderr
_COMPLAINTS_SIZE = 1 << 16  # and their bytes
_FAREWELL_SECONDS = 1.0
_STOP_SECONDS = 5.0

# Numbers of more digits mean nothing, and Python refuses to read those of thousands.
_NUMBER = {
    name: re.compile(rf"\b{name}\s+([0-9]{{1,{digits}}})(?![0-9])") for name, digits in (("depth", 6), ("nodes", 18))
}
_SCORE = re.compile(r"\bscore\s+(?:(cp)\s+([+-]?[0-9]{1,9})|mate\s+([+-]?[0-9]{1,4}))(?![0-9])")
_LINE = re.compile(r"\bpv((?:\s+[a-h][1-8][a-h][1-8][nbrq]?\b){1,8})")  # the rest of a long line tells nobody much

MATE_SCORE = 100_000  # centipawns that a mate counts, less one for each move


class EngineFailure(Exception):  # noqa: N818 - the engine's mistake, not ours
    """The engine did something that costs it the game. `kind` is one of KINDS, the text says what happened."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


# What the PGN standard calls them.
KINDS = {
    "start": "abandoned",
    "option": "abandoned",  # one that it does not take
    "out": "abandoned",  # not played any more: see conduct.py
    "stall": "abandoned",
    "crash": "abandoned",
    "disconnect": "abandoned",
    "time": "time forfeit",
    "illegal move": "rules infraction",
}


class Answer(NamedTuple):
    """A move as the engine wrote it, what it would like to ponder on, how long it took, and when it came."""

    move: str
    ponder: str | None
    elapsed: float  # milliseconds
    moment: float
    info: str | None


def parse_info(line):
    """Score, figures and best line of an `info` line: score in centipawns or mate in moves, from the engine's own side."""
    if line is None:
        return {}
    found = {}
    score = _SCORE.search(line)
    if score is not None:
        if score[1] is not None:
            found["score"] = int(score[2])
        else:
            found["mate"] = int(score[3])
    for name, pattern in _NUMBER.items():
        number = pattern.search(line)
        if number is not None:
            found[name] = int(number[1])
    moves = _LINE.search(line)
    if moves is not None:
        found["pv"] = " ".join(moves[1].split())
    return found


def centipawns(thought):
    """One number for a score of either kind, or None."""
    if "mate" in thought:
        mate = thought["mate"]
        return MATE_SCORE - mate if mate > 0 else -MATE_SCORE - mate
    return thought.get("score")


class EngineProcess(ContainedClient):
    """One engine process over any number of games. What goes wrong is raised as EngineFailure."""

    ignores_case = True

    def __init__(self, settings, rules):
        self.settings = settings
        self.name = settings.name
        self.transcript = self.greeting = Transcript()  # what is said before the first game stays with the engine
        self.rules = rules
        self.info = None  # the last line with a score, of the best move
        self.announced = {}
        self.warnings = []
        self.announced_size = 0
        self.stderr_end = b""
        self.is_pondering = False
        self.delivered = self.taken = 0  # characters of all lines; each number is written by one thread only
        self.has_lost = False  # lines that nobody asked for
        try:
            super().__init__(
                settings.command,
                patience=rules.startup_seconds,
                stderr=subprocess.PIPE,
                cwd=settings.directory,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:  # ValueError: a NUL in the command
            raise EngineFailure("start", f"did not start: {visible(str(error))}") from None
        self.lines = collections.deque(maxlen=0)  # the transcript has them, game by game
        self.complaining = threading.Thread(target=self.read_complaints, daemon=True)
        self.complaining.start()

    # Reading happens in two threads of their own.

    def deliver(self, line, moment):
        """Every line of the engine enters here. What may be shown is cleaned here, once; the transcript cleans its own.

        Thoughts are remembered, not queued, so that a flood of them neither costs memory nor delays the move. Nothing of
        them is shown but numbers and moves, so that the many that nobody looks at need no cleaning.
        """
        if line is None:
            self.inbox.put((None, moment))
            return
        self.transcript.add(moment, self.name, ">", line)
        if line[:4] == "info":
            is_best = " score " in line and (" multipv " not in line or " multipv 1 " in line)
            # A bound is only worth keeping while there is nothing better.
            if is_best and (self.info is None or "bound" not in line) and not line.startswith("info string"):
                self.info = line
        elif self.has_room_for(line):
            line = visible(line)
            self.delivered += len(line)
            self.inbox.put((line, moment))
        elif not self.has_lost:
            self.has_lost = True
            self.warnings.append(
                f"{self.name} writes more than {_MOST_WAITING} lines or {_WAITING_SIZE} characters that nobody asked for; "
                "the rest is not heard"
            )

    def has_room_for(self, line):
        """What ends a flood is heard, or a flood of options would keep an engine from starting where we are slow."""
        waiting = self.inbox.qsize()
        if line.strip() in ("uciok", "readyok"):
            return waiting < 2 * _MOST_WAITING
        return waiting < _MOST_WAITING and self.delivered - self.taken < _WAITING_SIZE

    def next_line(self, timeout=None):
        line = super().next_line(timeout)
        self.taken += len(line or "")
        return line

    def read_complaints(self):
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self.process.stderr.fileno(), 65536):
                self.stderr_end = (self.stderr_end + data)[-_COMPLAINTS_SIZE:]

    def complaints(self):
        """The last lines of its error output."""
        lines = self.stderr_end.decode("utf-8", "replace").split("\n")
        return [visible(line) for line in lines[:-1] + ([lines[-1]] if lines[-1] else [])][-_MOST_COMPLAINTS:]

    # Talking

    def send(self, *lines):
        """Writes lines at once and returns the moment before: from here on the engine can know them."""
        moment = time.perf_counter()
        for line in lines:
            self.transcript.add(moment, self.name, "<", line)
        try:
            super().send(*lines)
        except TimeoutError as error:
            raise EngineFailure("stall", str(error)) from None
        except EngineEndedError:
            raise self.ended() from None
        return moment

    def ended(self):
        """Why there is no more output: the process ended, or it closed its output and lives on."""
        try:
            status = self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            return EngineFailure("disconnect", "closed its output")
        self.complaining.join(1.0)  # its last words are worth waiting for
        if status < 0:
            return EngineFailure("crash", f"crashed with signal {-status}")
        return EngineFailure("crash", f"ended with status {status}")

    def expect(self, word, seconds, kind, complaint):
        """The words of the first line that begins with `word`, in any case, and when it came; other lines pass."""
        deadline = time.perf_counter() + seconds
        while True:
            try:
                line = self.next_line(deadline - time.perf_counter())
            except TimeoutError:
                raise EngineFailure(kind, complaint) from None
            if line is None:
                raise self.ended()
            if self.begins(line, word):
                return line.split(), self.moment
            if word == "uciok":
                self.heard(line)

    def heard(self, line):
        """Lines of the greeting that say what the engine can do."""
        words = line.split(maxsplit=2)
        if words[:2] == ["id", "name"]:
            self.announce("id name", " ".join(words[2:]))
        elif words[:2] == ["option", "name"]:
            name, _, rest = line.split("name", 1)[1].partition(" type ")
            self.announce(name.strip().lower(), rest.strip())

    def announce(self, name, text):
        self.announced_size += len(name) + len(text)
        if self.announced_size <= _MOST_ANNOUNCED:
            self.announced[name] = text
        elif not self.warnings:
            self.warnings.append(f"{self.name} announces more than {_MOST_ANNOUNCED} characters; the rest is not heard")

    def greet(self):
        """From the start of the process to the first `readyok`."""
        seconds = self.rules.startup_seconds
        complaint = f"did not start: no uciok in {seconds:g} s"
        try:
            self.send("uci")
            self.expect("uciok", seconds, "start", complaint)
        except EngineFailure as failure:
            raise EngineFailure(
                "start", str(failure) if str(failure) == complaint else f"did not start: {failure}"
            ) from None
        self.set_options()
        self.ping(self.rules.startup_seconds)

    def set_options(self):
        options = dict(self.settings.options)
        if self.rules.chess960:
            if "uci_chess960" not in self.announced:
                raise EngineFailure("start", "does not play Chess960")
            options["UCI_Chess960"] = "true"
        if self.settings.ponder and "ponder" in self.announced:
            options.setdefault("Ponder", "true")
        for name, value in options.items():
            if name.lower() not in self.announced:
                self.warnings.append(f"{self.name} has no option {name}")
                continue
            try:
                value = fitting(self.announced[name.lower()], value)
            except ValueError as error:
                raise EngineFailure("option", f"does not take option {name}: {error}") from None
            self.send(f"setoption name {name}" + ("" if value is None else f" value {value}"))

    def ping(self, seconds=None):
        seconds = self.rules.ping_seconds if seconds is None else seconds
        self.send("isready")
        self.expect("readyok", seconds, "stall", f"no readyok in {seconds:g} s")

    def new_game(self, transcript):
        """Gets ready for another game; what is said from now on goes to a new transcript."""
        self.transcript = transcript
        self.info = None
        self.is_pondering = False
        self.send("ucinewgame")
        self.ping()

    # Thinking

    def begin(self, position, go):
        """Starts a search; the moment is where its clock starts."""
        self.info = None
        return self.send(position, go)

    def begin_ponder(self, position, go):
        self.is_pondering = True
        return self.begin(position, go)

    def ponder_hit(self):
        self.is_pondering = False
        return self.send("ponderhit")

    def ponder_miss(self):
        """Ends pondering for nothing. The clock runs from the `stop`: being slow to stop costs time."""
        self.is_pondering = False
        return self.stop_search()

    def stop_search(self):
        """Ends a search whose move is not wanted; the moment of the `stop`."""
        moment = self.send("stop")
        self.expect("bestmove", _STOP_SECONDS, "stall", f"no bestmove {_STOP_SECONDS:g} s after stop")
        return moment

    def answer(self, started, allowance):
        """Waits for the move of a search that started at a moment; `allowance` in milliseconds or None."""
        if allowance is None:
            seconds = self.rules.move_seconds
            kind, complaint = "stall", f"no move in {seconds:g} s"
        else:
            seconds = allowance / 1000
            kind, complaint = "time", f"no move in {seconds:.3f} s"
        # The reading thread may be a little late to tell what it read in time.
        left = seconds + 0.05 - (time.perf_counter() - started)
        words, moment = self.expect("bestmove", left, kind, complaint)
        elapsed = max(0.0, 1000 * (moment - started))
        if allowance is not None and elapsed > allowance:
            raise EngineFailure("time", f"moved after {elapsed / 1000:.3f} s with {allowance / 1000:.3f} s left")
        if len(words) < 2:
            raise EngineFailure("illegal move", "bestmove without a move")
        ponder = words[3] if len(words) >= 4 and words[2].lower() == "ponder" else None
        return Answer(words[1], ponder, elapsed, moment, self.info)

    def stop_pondering(self):
        """At the end of a game: a search that goes on would spoil the next one."""
        if self.is_pondering:
            self.ponder_miss()

    # Leaving

    def leave(self):
        """Asks the engine to quit, and ends it if it does not."""
        self.patience = _FAREWELL_SECONDS
        with contextlib.suppress(EngineFailure, OSError):
            self.send("quit")
            self.close_input()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_FAREWELL_SECONDS)
        self.end()

    def end(self):
        """Ends the process and everything that it started."""
        self.patience = _FAREWELL_SECONDS
        self.__exit__()

    def is_alive(self):
        return self.process.poll() is None

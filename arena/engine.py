"""An engine at the board: started, greeted, told to think, and judged by the clock and by what it says."""

import collections
import contextlib
import os
import re
import subprocess
import threading
import time
from typing import NamedTuple

from arena.client import Client, EngineEndedError
from arena.processes import containment, end_group
from arena.transcript import Transcript

_MOST_WAITING = 10_000  # lines that nobody asked for
_MOST_COMPLAINTS = 200  # last lines of stderr
_FAREWELL_SECONDS = 1.0
_STOP_SECONDS = 5.0

_NUMBER = {name: re.compile(rf"\b{name}\s+(\d+)") for name in ("depth", "nodes")}
_SCORE = re.compile(r"\bscore\s+(cp|mate)\s+([+-]?\d+)")
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
        found["mate" if score[1] == "mate" else "score"] = int(score[2])
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


class EngineProcess(Client):
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
        self.complaints = collections.deque(maxlen=_MOST_COMPLAINTS)
        self.is_pondering = False
        try:
            super().__init__(
                settings.command,
                patience=rules.startup_seconds,
                stderr=subprocess.PIPE,
                cwd=settings.directory,
                **containment(),
            )
        except OSError as error:
            raise EngineFailure("start", f"did not start: {error}") from None
        self.lines = collections.deque(maxlen=0)  # the transcript has them, game by game
        self.complaining = threading.Thread(target=self.read_complaints, daemon=True)
        self.complaining.start()

    # Reading happens in two threads of their own.

    def deliver(self, line, moment):
        """Thoughts are remembered, not queued, so that a flood of them neither costs memory nor delays the move."""
        if line is None:
            self.inbox.put((None, moment))
            return
        self.transcript.add(moment, self.name, ">", line)
        if line[:4] == "info":
            is_best = " score " in line and (" multipv " not in line or " multipv 1 " in line)
            # A bound is only worth keeping while there is nothing better.
            if is_best and (self.info is None or "bound" not in line):
                self.info = line
        elif self.inbox.qsize() < _MOST_WAITING:
            self.inbox.put((line, moment))

    def read_complaints(self):
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self.process.stderr.fileno(), 65536):
                self.complaints.extend(data.decode("utf-8", "replace").splitlines())

    # Talking

    def send(self, *lines):
        """Writes lines at once and returns the moment before: from here on the engine can know them."""
        moment = time.perf_counter()
        for line in lines:
            self.transcript.add(moment, self.name, "<", line)
        try:
            super().send(*lines)
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
        try:
            *passed, line = self.until(word, seconds)
        except TimeoutError:
            raise EngineFailure(kind, complaint) from None
        except EngineEndedError:
            raise self.ended() from None
        for each in passed:
            self.heard(each)
        return line.split(), self.moment

    def heard(self, line):
        """Lines of the greeting that say what the engine can do."""
        words = line.split()
        if words[:2] == ["id", "name"]:
            self.announced["id name"] = " ".join(words[2:])
        elif words[:2] == ["option", "name"]:
            name, _, rest = line.split("name", 1)[1].partition(" type ")
            self.announced[name.strip().lower()] = rest.strip()

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
            if self.announced[name.lower()].split()[:1] == ["button"]:
                self.send(f"setoption name {name}")
            else:
                self.send(f"setoption name {name} value {value}")

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
        with contextlib.suppress(EngineFailure, OSError):
            self.send("quit")
            self.close_input()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_FAREWELL_SECONDS)
        self.end()

    def end(self):
        """Ends the process and everything that it started."""
        end_group(self.process.pid)
        self.patience = _FAREWELL_SECONDS
        self.__exit__()

    def is_alive(self):
        return self.process.poll() is None

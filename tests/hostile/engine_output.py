"""Games against engines that write anything at all, from a seed: whatever comes, it costs them their own game and no more.

python tests/hostile/engine_output.py [--seed N] [--seconds S] [--keep DIR] | --replay FILE

The engines are threads at the other end of real pipes, so that thousands of games fit into a minute. What a game with a
problem was told is kept as a file that replays it.
"""

import collections
import contextlib
import io
import json
import os
import random
import re
import subprocess
import sys
import threading

import chess.pgn
from fuzzing import KEEP, cases, command_line, keep_failure, kept_failure

from arena.engine import EngineFailure, EngineProcess
from arena.formats import check_record
from arena.game import play_game, record_of_failed_start
from arena.openings import START
from arena.pgn import game_text
from arena.players import log_of
from arena.settings import EngineSettings, Rules
from arena.transcript import Transcript
from board import Board

DESCRIPTION = {"name": "hostile", "rules": {"chess960": False}}
PLAN = {"game": 0, "pair": 0, "round": 1, "players": [0, 1]}
LONGEST_LOG = 16_000_000
LONGEST_PIECE = 200_000

# Seconds: hostile engines are not waited for, the honest one must never fail.
SHORT, LONG = 0.3, 120.0


class ThreadProcess:
    """What an EngineProcess needs of a process, with a thread in its place that answers lines by `script(line)`."""

    def __init__(self, script):
        self.script = script
        self.pid = -1
        self.returncode = None
        theirs, ours = os.pipe()
        self.stdin, self.input = os.fdopen(ours, "wb"), os.fdopen(theirs, "rb")
        ours, theirs = os.pipe()
        self.stdout, self.output = os.fdopen(ours, "rb"), theirs
        ours, self.errors = os.pipe()
        self.stderr = os.fdopen(ours, "rb")
        self.thread = threading.Thread(target=self.live, daemon=True)
        self.thread.start()

    def live(self):
        """Until the end of the input, `quit`, or an answer that is a status: the end of the process."""
        status = 0
        with contextlib.suppress(OSError):
            for line in self.input:
                if line.strip() == b"quit":
                    break
                for piece in self.script(line):
                    if isinstance(piece, int):
                        status = piece
                        return self.finish(status)
                    while piece:
                        piece = piece[os.write(self.output, piece) :]
        return self.finish(status)

    def finish(self, status):
        self.returncode = status
        os.close(self.output)
        os.close(self.errors)
        self.input.close()

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        self.thread.join(timeout)
        if self.thread.is_alive():
            raise subprocess.TimeoutExpired("thread", timeout)
        return self.returncode


class ThreadEngine(EngineProcess):
    def __init__(self, name, script, seconds):
        self.script = script
        rules = Rules(startup_seconds=seconds, ping_seconds=seconds, move_seconds=seconds, most_moves=8)
        super().__init__(EngineSettings(name, [name], "nodes=1"), rules)

    def spawn(self, command, **popen):
        return ThreadProcess(self.script)

    def end(self):
        """Closing both pipes ends the thread, whether it reads or writes."""
        self.close_input()
        self.may_read.set()
        self.process.wait(LONG)
        self.reader.join(LONG)
        self.complaining.join(LONG)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()


# Scripts


class Honest:
    """Plays any legal move."""

    def __init__(self, rng):
        self.rng = rng
        self.board = Board()

    def __call__(self, line):
        words = line.split()
        if words == [b"uci"]:
            return [b"id name Honest\noption name Hash type spin default 1 min 1 max 8\nuciok\n"]
        if words == [b"isready"]:
            return [b"readyok\n"]
        if words[:1] == [b"position"]:
            self.board = Board()
            for move in words[3:]:
                self.board.push_uci(move.decode())
        elif words[:1] == [b"go"]:
            return [b"info depth 1 score cp 3 nodes 1\n", b"bestmove " + self.move() + b"\n"]
        return []

    def move(self):
        return self.board.uci(self.rng.choice(self.board.legal_moves())).encode()


NUMBERS = [b"0", b"-1", b"1", b"9" * 25, b"9" * 5000, b"-" + b"9" * 5000, b"1e999", b"nan", b"0x10", b"", b"+", b"1.5"]
NUMBERS += ["\u0665".encode(), "\u00b2".encode(), b"2147483648", b"18446744073709551616", b"1_000"]
WORDS = [
    b"info",
    b"depth",
    b"score",
    b"cp",
    b"mate",
    b"nodes",
    b"pv",
    b"multipv",
    b"string",
    b"bestmove",
    b"ponder",
    b"e2e4",
]
WORDS += [
    b"lowerbound",
    b"option",
    b"name",
    b"type",
    b"spin",
    b"default",
    b"min",
    b"max",
    b"var",
    b"id",
    b"(none)",
    b"0000",
]
WORDS += [
    b"uciok",
    b"readyok",
    b"}",
    b"{",
    b"%",
    b";",
    b'"',
    b"\\",
    b"[White",
    b"\x1b[2J",
    b"\x1b]0;x\x07",
    b"\x00",
    b"\x9b",
]
WORDS += [
    b"\xff",
    b"\xed\xa0\x80",
    b"\xe2\x80\xae",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\x0b",
    b"\x1c",
    b"\r",
    b"\t",
    b"\xef\xbb\xbf",
]
SPACES = [b" ", b" ", b" ", b"  ", b"\t", b" \r", b""]


class Hostile(Honest):
    """Often right, so that games go on, and wrong in between in every way that a stream of bytes can be."""

    def __init__(self, rng):
        super().__init__(rng)
        self.wrath = rng.choice((0.01, 0.1, 0.5))  # how often
        self.sent = []

    def __call__(self, line):
        pieces = super().__call__(line)
        if self.rng.random() < self.wrath:
            nonsense = b"".join(self.nonsense() for _ in range(self.rng.choice((1, 3, 20))))
            pieces.insert(self.rng.randrange(len(pieces) + 1), nonsense)
        if line.startswith(b"go") and self.rng.random() < self.wrath:
            pieces = [*pieces[:-1], *self.wrong_move()]
        if self.rng.random() < self.wrath / 10:
            pieces = self.fail(pieces)
        pieces = [part for piece in pieces for part in self.cut(piece)]
        self.sent.append(pieces)
        return pieces

    def cut(self, piece):
        """A line may come in parts."""
        if isinstance(piece, int) or self.rng.random() < 0.9:
            return [piece]
        middle = self.rng.randrange(len(piece) + 1)
        return [piece[:middle], piece[middle:]]

    def fail(self, pieces):
        """The end of the process, silence, or a line without an end."""
        how = self.rng.randrange(4)
        if how == 0:
            return [self.rng.choice((0, 1, 3, -6, -9, -11))]
        if how == 1:
            return [*pieces, self.rng.choice((0, 1))]
        return [b"x" * self.rng.choice((1, 70_000))] if how == 2 else []

    def wrong_move(self):
        move = self.move()
        score = b"info depth %b score %b %b nodes %b\n" % (
            self.rng.choice(NUMBERS),
            self.rng.choice((b"cp", b"mate")),
            self.rng.choice(NUMBERS),
            self.rng.choice(NUMBERS),
        )
        return [
            score,
            self.rng.choice(
                (
                    b"bestmove " + move.upper() + b"\r\n",
                    b"BESTMOVE  " + move + b" ponder " + self.word() + b"\n",
                    b"bestmove " + move + b"\nbestmove " + move + b"\n",
                    b"bestmove " + move + b" " + self.rng.choice(WORDS) * 20_000 + b"\n",
                    b"bestmove\t" + move + b"\x00\n",
                    b"bestmove\n",
                    b"bestmove " + self.word() + self.word() + b"\n",
                    b"bestmove " + bytes(self.rng.randrange(256) for _ in range(8)) + b"\n",
                    b"bestmove " + move[:2] * 3 + b"\n",
                    b"bestmove " + self.rng.choice((b"}", b"{", b"}{", b"%", b"$1", b"*", b'"', b"\x1b[2J")) + b" x\n",
                    b"bestmove " + move + b"q\n",
                )
            ),
        ]

    def word(self):
        return self.rng.choice(self.rng.choice((WORDS, WORDS, NUMBERS)))

    def nonsense(self):
        kind = self.rng.randrange(8)
        if kind == 0:
            return bytes(self.rng.randrange(256) for _ in range(self.rng.randrange(200))) + b"\n"
        if kind == 1:
            return b"\n" * self.rng.choice((1, 1000))
        if kind == 2:
            word = self.word()
            times = self.rng.choice((10, 1000, 30_000))
            return word * min(times, LONGEST_PIECE // (len(word) + 1)) + b"\n"
        if kind == 3:
            return b"option name " + self.word() + b" type " + self.word() + b" min " + self.rng.choice(NUMBERS) + b"\n"
        if kind == 4:
            numbers = [self.rng.choice(NUMBERS) for _ in range(4)]
            return b"info depth %b score cp %b nodes %b multipv %b pv e2e4\n" % tuple(numbers)
        if kind == 5:
            return b"info depth 5 score mate %b string %b\n" % (self.rng.choice(NUMBERS), self.word())
        if kind == 6:
            return self.rng.choice((b"readyok\n", b"uciok\n", b"id name " + self.word() + b"\n"))
        parts = (self.word() + self.rng.choice(SPACES) for _ in range(self.rng.randrange(30)))
        return b"".join(parts) + b"\n"


class Recorded:
    """The answers of a game that was kept, in their order."""

    def __init__(self, sent):
        self.sent = sent
        self.next = iter(sent)

    def __call__(self, line):
        return next(self.next, [])


# One game


def play(script, seed):
    """A game of a hostile script against an honest engine: the record, the hostile one's failure or None, the log."""
    rng = random.Random(seed)
    side = rng.randrange(2)
    transcript = Transcript()
    engines = []
    try:
        for number in (0, 1):
            if number == side:
                engines.append(ThreadEngine("hostile", script, SHORT))
            else:
                engines.append(ThreadEngine("honest", Honest(random.Random(rng.random())), LONG))
        for number, engine in enumerate(engines):
            try:
                engine.greet()
                engine.new_game(transcript)
            except EngineFailure as failure:
                names, controls = [each.name for each in engines], [each.settings.control for each in engines]
                record = record_of_failed_start(PLAN, names, controls, START, number, failure)
                return record, failure, log_of(record, engines, transcript, failure)
        record, failure = play_game(PLAN, engines, START, engines[0].rules)
        log = "" if failure is None else log_of(record, engines, transcript, failure)
        return record, failure, log
    finally:
        for engine in engines:
            engine.end()


def check_game(record, failure, log):
    """AssertionError or ValueError if anything of the hostile engine has got through."""
    check_record(record, [record["white"], record["black"]])
    assert json.loads(json.dumps(record)) == record, "the record does not survive JSON"
    assert failure is None or record["failed"] == "hostile", f"{record['failed']} failed: {record['reason']}"
    assert all(value.isprintable() for value in record.values() if isinstance(value, str)), "control characters"
    assert len(log) <= LONGEST_LOG, "the log is too long"
    assert all(line.isprintable() for line in log.split("\n")), "control characters in the log"
    text = game_text(record, DESCRIPTION)
    file = io.StringIO(text)
    game = chess.pgn.read_game(file)
    assert not game.errors, game.errors
    assert [move.uci() for move in game.mainline_moves()] == record["moves"], "the PGN has other moves"
    assert chess.pgn.read_game(file) is None, "the PGN has two games"
    outside = re.sub(r"\{[^{}]*\}", " ", text.split("\n\n")[1]).split()
    words = [word for word in outside if not re.fullmatch(r"[0-9]+\.+", word)]
    assert len(words) == len(record["moves"]) + 1, f"the PGN has {words} outside comments"
    assert set(game.headers) == HEADERS, f"the PGN has tags {sorted(set(game.headers) ^ HEADERS)}"


HEADERS = {"Event", "Site", "Date", "Round", "White", "Black", "Result", "PlyCount", "Termination", "TimeControl"}
HEADERS |= {"GameNumber"}


def problem_with(script, seed):
    """What is wrong after a game of this script, or None; and the record."""
    try:
        record, failure, log = play(script, seed)
        check_game(record, failure, log)
    except Exception as error:
        return f"{type(error).__name__}: {error}", None
    return None, record


# Many games


def replay(path):
    """Plays a kept game again; what is still wrong, or None."""
    kept = kept_failure(path)
    if "sent" not in kept:
        return problem_with(Hostile(random.Random(kept["case"])), kept["case"])[0]
    return problem_with(Recorded(kept["sent"]), kept["seed"])[0]


def run(seed, seconds, keep=KEEP, most=None):
    """Plays until the time is over, or so many games; counts of games, answers, bytes, ways to lose, and problems."""
    counts = collections.Counter(games=0, answers=0, bytes=0, problems=0)
    for case in cases("engine-output", seed, seconds, keep, most):
        script = Hostile(random.Random(case))
        problem, record = problem_with(script, case)
        counts["games"] += 1
        counts["answers"] += len(script.sent)
        counts["bytes"] += sum(len(piece) for each in script.sent for piece in each if isinstance(piece, bytes))
        if problem is not None:
            counts["problems"] += 1
            keep_failure(keep, f"engine-output-{case}", problem, seed=case, sent=script.sent)
        else:
            counts[f"lost: {record['failure']}" if record["failure"] else "not lost by a failure"] += 1
    return dict(counts)


if __name__ == "__main__":
    sys.exit(command_line(__doc__.splitlines()[0], run, replay))

"""A dialogue with a real engine that no GUI would lead, from a seed: it lives, stays ready, and answers every go once.

python tests/hostile/dialogue.py [--seed N] [--seconds S] [--keep DIR] | --replay FILE

Lines come in bursts, as they are and damaged. After each burst the counts must be right: one `readyok` for every
`isready`, one `bestmove` for every `go`, and that legal on the board that python-chess has, or `(none)` where there is
no move to be had.
"""

import contextlib
import os
import random
import re
import sys
import tempfile
import time

import chess
from fuzzing import KEEP, cases, command_line, keep_failure, kept_failure
from gui import Gui
from support import ALL_FENS

COMMANDS = (
    "uci debug isready setoption register ucinewgame position go stop ponderhit quit d eval flip bench compiler help"
)
COMMANDS = frozenset(COMMANDS.split())
READY_SECONDS = 30.0
STOP_SECONDS = 30.0
STOP_AGAIN_SECONDS = 0.01
MOST_KILOBYTES = 1_000_000
BURSTS = 100  # to one process
FENS = [fen for fen, is_chess960 in ALL_FENS if not is_chess960]

GO = (
    "depth 1",
    "depth 3",
    "nodes 1",
    "nodes 500",
    "nodes 3000",
    "movetime 1",
    "movetime 15",
    "wtime 20 btime 20",
    "wtime 50 btime 10 winc 5 binc 5",
    "wtime 0 btime -1 winc -5",
    "wtime 60 btime 60 movestogo 1",
    "mate 2 nodes 2000",
    "depth 0",
    "nodes -1",
    "movetime 99999999999999999999999999 nodes 100",
    "nodes 300 searchmoves e2e5 a1a1",
    "nodes 300 searchmoves e2e4 d2d4",
    "depth 2 searchmoves",
    "depth x nodes 50",
    "infinite",
    "ponder wtime 50 btime 50",
    "",
    "infinite depth 2",
    "ponder nodes 10",
)
# Values that cost too much time or memory to be asked for at random are left out.
OPTIONS = (
    "MultiPV value 1",
    "MultiPV value 4",
    "Hash value 1",
    "Hash value 3",
    "Threads value 1",
    "Threads value 2",
    "Threads value 4",
    "Clear Hash",
    "UCI_ShowWDL value true",
    "UCI_LimitStrength value true",
    "UCI_LimitStrength value false",
    "UCI_Elo value 900",
    "Ponder value true",
    "Move Overhead value 0",
    "OwnBook value true",
    "OwnBook value false",
    "BookFile value {directory}/pipe",
    "BookFile value {directory}",
    "BookFile value <empty>",
    "EvalFile value {directory}/pipe",
    "EvalFile value {directory}/none",
    "SyzygyPath value {directory}",
    "SyzygyPath value <empty>",
    "SyzygyProbeLimit value 0",
    "SyzygyProbeLimit value 7",
    "Debug Log File value {directory}/pipe",
    "Hash value x",
    "Hash value -1",
    "Threads value 0",
    "Threads value 99999999999999999999999",
    "Nothing value 1",
    "UCI_Opponent value \x1b[2J " + "x" * 1000,
    "",
)
NOISE = (
    "",
    " ",
    "joho",
    "xboard",
    "debug on",
    "debug off",
    "register later",
    "go_",
    "GO depth 1",
    "isready_",
    "\t",
    "d",
)
NOISE += (
    "# go depth 1",
    "compiler",
    "eval",
    "help",
    "uci",
    "setoption",
    "setoption name",
    "setoption value",
    "\udcff\udcfe",
)
NOISE += (
    "\x00",
    "position",
    "position fen",
    "position startpos moves",
    "position startpos moves e2e5",
    "ucinewgame",
    "flip",
)
NOISE += ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "position fen " + "x" * 5000, "x " * 3000, "stop " * 100)
LETTERS = "abcdefgh12345678KQkqnrw/- \t.\x00\x1b\u00e9\u2028\udcff"


class Burst:
    """Lines to send, and what has to come back. `searches` has a board for every `go`, None where nobody can tell."""

    def __init__(self, rng, directory, board):
        self.rng = rng
        self.directory = directory
        self.board = board
        self.lines, self.searches = [], []
        self.ready = self.greetings = 0
        for _ in range(rng.randrange(1, 40)):
            self.add(*self.line())

    def line(self):
        """A line, and the board that it sets up for certain."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.3:
            return self.damaged(*self.position())
        if kind < 0.5:
            return self.damaged("go " + rng.choice(GO), None)
        if kind < 0.6:
            return rng.choice(("stop", "ponderhit", "stop", "isready")), None
        if kind < 0.7:
            return "setoption name " + rng.choice(OPTIONS).replace("{directory}", self.directory), None
        if kind < 0.75:
            return rng.choice(("go perft 2", "go perft 0", "bench 1", "go perft 3")), None
        return self.damaged(rng.choice(NOISE), None)

    def position(self):
        rng = self.rng
        board = chess.Board() if rng.random() < 0.3 else chess.Board(rng.choice(FENS))
        text = "startpos" if board.fen() == chess.STARTING_FEN else f"fen {board.fen()}"
        moves = []
        for _ in range(rng.choice((0, 0, 1, 3, 10, 80))):
            legal = list(board.legal_moves)
            if not legal:
                break
            board.push(rng.choice(legal))
            moves.append(board.peek().uci())
        return f"position {text}" + (f" moves {' '.join(moves)}" if moves else ""), board

    def damaged(self, line, board):
        """One in five is changed; nobody knows then which position it sets up."""
        rng = self.rng
        if rng.random() < 0.8:
            return line, board
        letters = list(line)
        for _ in range(rng.choice((1, 1, 3))):
            place = rng.randrange(len(letters) + 1)
            letters[place : place + rng.randrange(3)] = rng.choices(LETTERS, k=rng.randrange(3))
        return "".join(letters).replace("perft", "per"), None

    def add(self, line, board):
        words = re.findall(r"\S+", line)
        words = words[: next((index for index, word in enumerate(words) if word.startswith("#")), len(words))]
        command = next((word for word in words if word in COMMANDS), None)
        if command == "quit":
            return
        self.lines.append(line)
        if command == "go" and "perft" not in words:
            self.searches.append(self.board)
        elif command in ("position", "flip"):
            self.board = board
        self.ready += command == "isready"
        self.greetings += command == "uci"


class Talk:
    """An engine, and what it was sent."""

    def __init__(self, directory):
        self.directory = directory
        with contextlib.suppress(FileExistsError):
            os.mkfifo(os.path.join(directory, "pipe"))
        self.gui = Gui(cwd=directory)
        self.board = chess.Board()
        self.sent = []
        self.greet()

    def greet(self):
        self.gui.ask("uci", until="uciok")
        self.gui.ready(READY_SECONDS)

    def close(self):
        self.gui.__exit__(None, None, None)

    def check(self, lines, searches, ready, greetings):
        """Sends a burst and reads until all is answered; AssertionError, TimeoutError or EngineEndedError if not."""
        gui = self.gui
        self.sent.append(lines)
        gui.lines.clear()
        gui.send(*lines, "isready")
        seen = {"readyok": 0, "uciok": 0}
        moves = []

        def read(timeout):
            line = gui.next_line(timeout)
            assert line is not None, f"the engine ended with {gui.process.wait(10)}"
            first, *rest = line.split(" ")
            if first in ("info", "bestmove"):
                assert line.isprintable(), f"control characters in {line[:200]!r}"
                assert "internal error" not in line, line[:500]
            if first in seen:
                seen[first] += 1
            elif first == "bestmove":
                moves.append(rest[0])

        deadline = time.monotonic() + READY_SECONDS
        stopped, answered = 0.0, -1
        while seen["readyok"] <= ready or len(moves) < len(searches):
            # An endless search holds up what waits behind it; each `stop` ends one, unless it comes too early.
            if len(moves) > answered or time.monotonic() - stopped > STOP_AGAIN_SECONDS:
                gui.send("stop")
                stopped, answered = time.monotonic(), len(moves)
            with contextlib.suppress(TimeoutError):
                read(STOP_AGAIN_SECONDS)
                deadline = max(deadline, time.monotonic() + STOP_SECONDS) if moves else deadline
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"{seen['readyok']} of {ready + 1} readyok, {len(moves)} of {len(searches)} bestmove"
                )
        gui.send("isready")
        while seen["readyok"] <= ready + 1:
            read(READY_SECONDS)
        assert seen["readyok"] == ready + 2, "too many readyok"
        assert seen["uciok"] == greetings, f"{seen['uciok']} uciok instead of {greetings}"
        assert len(moves) == len(searches), f"{len(moves)} bestmove instead of {len(searches)}"
        for move, board in zip(moves, searches, strict=True):
            check_move(move, board)
        assert memory(gui.process.pid) < MOST_KILOBYTES, f"{memory(gui.process.pid)} kB of memory"
        return len(moves)


def check_move(move, board):
    if board is None:
        assert re.fullmatch(r"\(none\)|[a-h][1-8][a-h][1-8][nbrq]?", move), f"bestmove {move!r}"
    elif any(board.legal_moves):
        assert move != "(none)" and chess.Move.from_uci(move) in board.legal_moves, f"bestmove {move} in {board.fen()}"
    else:
        assert move == "(none)", f"bestmove {move} where there is none"


def memory(pid):
    """Kilobytes of a process that are in memory; 0 where the system does not tell."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("VmRSS:")), 0)
    return 0


def replay(path):
    """Leads a kept dialogue again; what is still wrong, or None."""
    kept = kept_failure(path)
    with tempfile.TemporaryDirectory(prefix="quetzal-hostile-") as directory:
        talk = Talk(directory)
        try:
            for lines, fens, ready, greetings in kept["bursts"]:
                lines = [line.decode("utf-8", "surrogateescape").replace("{directory}", directory) for line in lines]
                boards = [None if fen is None else chess.Board(fen) for fen in fens]
                talk.check(lines, boards, ready, greetings)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            talk.close()
    return None


def run(seed, seconds, keep=KEEP, most=None):
    """Talks until the time is over, or so many bursts; counts of lines, searches and problems."""
    counts = {"bursts": 0, "lines": 0, "searches": 0, "problems": 0}
    talk = None
    kept = []
    with tempfile.TemporaryDirectory(prefix="quetzal-hostile-") as directory:
        try:
            for case in cases("dialogue", seed, seconds, keep, most):
                if talk is None or len(talk.sent) >= BURSTS:
                    if talk is not None:
                        talk.close()
                    talk, kept = Talk(directory), []
                burst = Burst(random.Random(case), directory, talk.board)
                talk.board = burst.board
                lines = [
                    line.replace(directory, "{directory}").encode("utf-8", "surrogateescape") for line in burst.lines
                ]
                fens = [None if board is None else board.fen() for board in burst.searches]
                kept.append([lines, fens, burst.ready, burst.greetings])
                counts["bursts"] += 1
                counts["lines"] += len(lines)
                counts["searches"] += len(fens)
                try:
                    talk.check(burst.lines, burst.searches, burst.ready, burst.greetings)
                except Exception as error:
                    counts["problems"] += 1
                    keep_failure(keep, f"dialogue-{case}", f"{type(error).__name__}: {error}", bursts=kept)
                    talk.close()
                    talk = None
        finally:
            if talk is not None:
                talk.close()
    return counts


if __name__ == "__main__":
    sys.exit(command_line(__doc__.splitlines()[0], run, replay))

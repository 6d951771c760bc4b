"""Random sequences of commands, as no GUI would send them: the engine lives, and every go gets one legal bestmove.

The engine's process is started once and every sequence begins with `ucinewgame`. In CI there are a few sequences; the
long run is `QUETZAL_LONG=1 pytest tests/uci_engine/test_machine.py`, at least 5,000 of them (QUETZAL_LONG=N for N).
"""

import os

import chess
from gui import Gui
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from support import ALL_FENS, scaled

LONG = int(os.environ.get("QUETZAL_LONG", "0"))
SEQUENCES = max(LONG, 5000) if LONG else scaled(100)
STEPS = 20

FENS = [
    chess.STARTING_FEN,
    "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
    "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "k7/8/8/8/8/8/1r6/K7 w - - 0 1",
    "8/P5k1/8/8/8/8/8/K7 w - - 98 80",
    *[fen for fen, is_chess960 in ALL_FENS[:40] if not is_chess960],
]
SHORT = [
    "depth 1",
    "depth 3",
    "nodes 1",
    "nodes 500",
    "movetime 1",
    "movetime 10",
    "wtime 20 btime 20",
    "wtime 0 btime -1 winc -5",
    "wtime 50 btime 50 movestogo 1",
    "mate 1 depth 4",
    "depth 0",
    "nodes 200 searchmoves 0000",
    "depth 2 searchmoves e2e4 a2a3",
]
ENDLESS = ["infinite", "ponder wtime 30 btime 30", "", "infinite depth 2", "ponder depth 1"]
NOISE = [
    "joho",
    "xboard",
    "debug on",
    "debug off",
    "register later",
    "go_",
    "\udcff\udcfe",
    "setoption name Hash value x",
    "setoption name Nothing value 1",
    "setoption",
    "d",
    "eval",
    "compiler",
    "uci",
    "# remark",
]
OPTIONS = [
    "MultiPV value 1",
    "MultiPV value 3",
    "Hash value 1",
    "Hash value 2",
    "Threads value 1",
    "Threads value 2",
    "Clear Hash",
    "UCI_ShowWDL value true",
    "UCI_LimitStrength value true",
    "UCI_LimitStrength value false",
    "UCI_Elo value 900",
    "UCI_Elo value 2200",
    "Ponder value true",
    "Move Overhead value 0",
]


class Commands(RuleBasedStateMachine):
    """The model: which searches were asked for and not answered yet, each with its position."""

    gui = None

    @initialize()
    def new_game(self):
        if Commands.gui is None:
            Commands.gui = Gui()
        self.board = chess.Board()
        self.is_valid = True
        self.searches = []  # the boards of the unanswered ones, None where there is no legal move
        self.gui.send("ucinewgame", "position startpos")
        for option in ("MultiPV value 1", "UCI_LimitStrength value false", "Threads value 1"):
            self.gui.send(f"setoption name {option}")

    def collect(self):
        """Waits for every answer that has to come."""
        while self.searches:
            board = self.searches.pop(0)
            move = self.gui.until("bestmove")[-1].split()[1]
            if board is None:
                assert move == "(none)"
            else:
                assert chess.Move.from_uci(move) in board.legal_moves, f"{move} in {board.fen()}"

    @rule(fen=st.sampled_from(FENS), data=st.data())
    def position(self, fen, data):
        board = chess.Board(fen)
        moves = []
        for _ in range(data.draw(st.integers(0, 4))):
            legal = sorted(board.legal_moves, key=chess.Move.uci)
            if not legal:
                break
            moves.append(data.draw(st.sampled_from(legal)).uci())
            board.push_uci(moves[-1])
        self.gui.send(f"position fen {fen}" + (f" moves {' '.join(moves)}" if moves else ""))
        self.board, self.is_valid = board, True

    @rule(text=st.sampled_from(["fen 8/8/8/8/8/8/8/8 w - - 0 1", "startpos moves e2e5", "fen", "", "fen x y z"]))
    def bad_position(self, text):
        self.gui.send(f"position {text}")
        self.is_valid = False

    def target(self):
        """The board on which the bestmove has to be legal; None if there cannot be one."""
        if not self.is_valid or not any(self.board.legal_moves):
            return None
        return self.board.copy()

    @rule(words=st.sampled_from(SHORT))
    def go(self, words):
        self.gui.send(f"go {words}")
        self.searches.append(self.target())

    @rule(words=st.sampled_from(ENDLESS), end=st.sampled_from(["stop", "stop", "ponderhit"]), wait=st.booleans())
    def go_and_stop(self, words, end, wait):
        """An endless search is always stopped; commands in between wait for it."""
        self.collect()
        self.gui.send(f"go {words}")
        if wait:
            self.gui.ready()
        self.searches.append(self.target())
        if end == "ponderhit" and words.startswith("ponder"):
            self.gui.send("ponderhit")
        else:
            self.gui.send("stop")

    @rule()
    def late_stop(self):
        """When everything is answered it must do nothing."""
        self.collect()
        self.gui.send("stop", "ponderhit", "stop")

    @rule(option=st.sampled_from(OPTIONS))
    def set_option(self, option):
        self.gui.send(f"setoption name {option}")

    @rule(noise=st.sampled_from(NOISE))
    def noise(self, noise):
        self.gui.send(noise)

    @rule(text=st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30))
    def any_text(self, text):
        if not {"go", "quit", "stop", "position", "bench", "flip", "ponderhit", "setoption"} & set(text.split()):
            self.gui.send(text)

    @rule()
    def ucinewgame(self):
        self.gui.send("ucinewgame")

    @rule()
    def isready(self):
        """Bestmoves may come before the answer, so they are collected first."""
        self.collect()
        lines = self.gui.ready()
        assert not any(line.startswith("bestmove") for line in lines)

    @invariant()
    def it_lives(self):
        assert Commands.gui is None or Commands.gui.process.poll() is None

    def teardown(self):
        if Commands.gui is None or not hasattr(self, "searches"):
            return
        self.collect()
        assert not any(line.startswith("bestmove") for line in self.gui.ready()), "a bestmove too many"


def test_sequences():
    try:
        run_state_machine_as_test(
            Commands,
            settings=settings(
                max_examples=SEQUENCES,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                derandomize=not LONG,
                suppress_health_check=list(HealthCheck),
            ),
        )
        Commands.gui.quit()
    finally:
        if Commands.gui is not None:
            Commands.gui.__exit__()
            Commands.gui = None

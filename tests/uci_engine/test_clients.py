"""Other programs as clients: python-chess, and Debian's polyglot, which makes an xboard engine of a UCI engine."""

import os
import shutil
import subprocess
import sys
import threading

import chess
import chess.engine
import pytest
from support import DATA

COMMAND = [sys.executable, "-m", "uci_engine"]
POLYGLOT = shutil.which("polyglot") or shutil.which("/usr/games/polyglot")


@pytest.fixture
def engine():
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=60, cwd=DATA) as engine:
        yield engine


def test_python_chess_plays_a_game(engine):
    board = chess.Board()
    while not board.is_game_over(claim_draw=True) and board.ply() < 60:
        result = engine.play(board, chess.engine.Limit(nodes=300), info=chess.engine.INFO_ALL)
        assert result.move in board.legal_moves
        assert result.info["pv"][0] == result.move
        assert result.ponder is None or result.ponder in after(board, result.move).legal_moves
        board.push(result.move)
    assert board.ply() == 60 or board.is_game_over(claim_draw=True)


def after(board, move):
    board = board.copy()
    board.push(move)
    return board


def test_python_chess_plays_with_clocks_and_ponders(engine):
    board = chess.Board()
    limit = chess.engine.Limit(white_clock=2, black_clock=2, white_inc=0.01, black_inc=0.01)
    for _ in range(6):
        result = engine.play(board, limit, ponder=True)
        board.push(result.move)
    assert board.ply() == 6


def test_python_chess_analyses(engine):
    board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    infos = engine.analyse(board, chess.engine.Limit(depth=6), multipv=3)
    assert [info["multipv"] for info in infos] == [1, 2, 3]
    assert infos[0]["score"].relative >= infos[1]["score"].relative >= infos[2]["score"].relative
    assert len({info["pv"][0] for info in infos}) == 3
    (only,) = engine.analyse(board, chess.engine.Limit(depth=4), root_moves=[chess.Move.from_uci("a2a3")], multipv=1)
    assert only["pv"][0].uci() == "a2a3"
    with engine.analysis(board) as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 6:
                break
    assert analysis.wait().move in board.legal_moves


def test_python_chess_plays_chess960(engine):
    board = chess.Board("bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w EGeg - 0 1", chess960=True)
    for _ in range(12):
        board.push(engine.play(board, chess.engine.Limit(nodes=200)).move)
    assert board.is_valid()


def test_python_chess_sees_chances(engine):
    engine.configure({"UCI_ShowWDL": True})
    info = engine.analyse(chess.Board(), chess.engine.Limit(depth=5))
    wins, draws, losses = info["wdl"].relative
    assert wins + draws + losses == 1000
    assert min(wins, draws, losses) > 50


def test_python_chess_limits_the_strength(engine):
    engine.configure({"UCI_LimitStrength": True, "UCI_Elo": 900})
    board = chess.Board()
    for _ in range(20):
        result = engine.play(board, chess.engine.Limit(white_clock=1, black_clock=1), info=chess.engine.INFO_ALL)
        assert result.info["pv"][0] == result.move
        board.push(result.move)
    assert board.ply() == 20


@pytest.mark.skipif(POLYGLOT is None or os.name == "nt", reason="polyglot is not installed")
def test_polyglot_plays(tmp_path):
    """xboard's language in, UCI behind: the adapter understands our options, scores and moves."""
    ini = tmp_path / "polyglot.ini"
    ini.write_text(
        "[PolyGlot]\n"
        f"EngineDir = {DATA}\n"
        f"EngineCommand = {sys.executable} -m uci_engine\n"
        "EngineName = Quetzal\nLog = false\n"
        "[Engine]\nHash = 8\nMultiPV = 1\n",
        encoding="ascii",
    )
    with subprocess.Popen(
        [POLYGLOT, str(ini)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=tmp_path
    ) as process:
        killer = threading.Timer(60, process.kill)
        killer.start()
        try:
            board = chess.Board()
            print("xboard\nprotover 2\nnew\nst 1\nusermove e2e4", file=process.stdin, flush=True)
            board.push_uci("e2e4")
            for reply in ("g1f3", None):
                for line in process.stdout:
                    assert not line.startswith(("Error", "Illegal")), line
                    if line.startswith("move "):
                        board.push_uci(line.split()[1])
                        break
                if reply is not None:
                    print(f"usermove {reply}", file=process.stdin, flush=True)
                    board.push_uci(reply)
            assert board.ply() == 4
            print("quit", file=process.stdin, flush=True)
            process.wait(30)
        finally:
            killer.cancel()
            if process.poll() is None:
                process.kill()


def test_the_installed_command_is_an_executable():
    """Some GUIs take nothing but one file, and start it without a search path."""
    command = os.path.join(os.path.dirname(sys.executable), "quetzal")
    if not os.path.exists(command):
        pytest.skip("the command is not installed in this environment")
    done = subprocess.run([command], input=b"uci\nquit\n", capture_output=True, env={}, cwd=os.sep, timeout=60)
    assert done.returncode == 0
    assert b"uciok\n" in done.stdout

"""Endgame tables over the real process, and `quetzal tables`."""

import hashlib
import os
import re
import shutil

import chess
import chess.syzygy
import pytest
from gui import Gui
from support import quetzal
from tables import DIRECTORY

from board import Board
from book.endgame.syzygy import Tables

FOUND = "info string endgame tables from SyzygyPath: 35 WDL and 35 DTZ, up to 4 men"
KBNVK = "8/8/8/4k3/8/8/8/KBN5 w - - 0 1"
MANY = "8/5k2/8/3pp3/8/8/2RPP3/4K3 w - - 0 1"  # seven men: tables only inside the search
QUIET_DRAW = "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1"
# A win from here takes more than 40 plies (the longest of this ending is mate in 33): with the clock at 60 it is too late.
LATE = "8/8/8/4k3/8/8/8/KBN5 w - - 60 100"


@pytest.fixture
def gui():
    with Gui() as gui:
        gui.ready()
        yield gui
        gui.quit()


def tell(gui, *lines):
    gui.send(*lines)
    return gui.ready()[:-1]


def set_path(gui, path=DIRECTORY):
    return tell(gui, f"setoption name SyzygyPath value {path}")


def search(gui, fen, command):
    """All lines of a search, its last info line as a dict, and the move."""
    gui.send(f"position fen {fen}")
    lines = gui.ask(command, until="bestmove")
    last = [line for line in lines if line.startswith("info depth")][-1]
    numbers = {name: int(value) for name, value in re.findall(r"(tbhits|cp|mate|depth) (-?\d+)", last)}
    return lines, numbers, lines[-1].split()[1]


def test_a_win_by_tables_is_shown_and_kept(gui):
    assert set_path(gui) == [FOUND]
    _, numbers, move = search(gui, KBNVK, "go depth 6")
    assert 30000 < numbers["cp"] < 31700  # below every mate
    assert numbers["tbhits"] >= len(list(chess.Board(KBNVK).legal_moves))
    with chess.syzygy.open_tablebase(str(DIRECTORY)) as reference:
        board = chess.Board(KBNVK)
        board.push_uci(move)
        assert reference.probe_wdl(board) == -2


@pytest.mark.skipif(os.name == "nt", reason="Windows refuses to cut a file that is mapped")
@pytest.mark.parametrize("length", [0, 100, 30_000])
def test_a_file_that_is_cut_short_under_the_engine(gui, tmp_path, length):
    """Said once, before or during the search; the engine goes on without it."""
    for source in DIRECTORY.glob("K[BNPR]*.rtb?"):
        shutil.copyfile(source, tmp_path / source.name)
    large = sorted((path for path in tmp_path.iterdir() if path.stat().st_size > 70_000), key=lambda path: path.name)
    assert len(large) > 5
    set_path(gui, tmp_path)
    pawns = "8/2k5/3p4/8/8/4P3/5K2/7N w - - 0 1"
    ask = [(fen, "go nodes 30000") for fen in (KBNVK, pawns, "8/8/3k4/3p4/8/4P3/5K2/8 w - - 0 1")]
    for fen, command in ask:
        search(gui, fen, command)
    gui.send(f"position fen {pawns}", "setoption name Clear Hash", "go infinite")
    gui.until("info depth 5")
    for path in large:
        os.truncate(path, length)
    lines = gui.ready()
    gui.send("stop")
    lines += gui.until("bestmove")
    for fen, command in ask * 2:
        lines += search(gui, fen, command)[0]
    said = [line for line in lines if "is not used any more" in line]
    assert said and all("cut short" in line for line in said)
    assert len(set(said)) == len(said)


def test_a_win_that_the_clock_spoils_is_no_win(gui):
    set_path(gui)
    _, numbers, _ = search(gui, LATE, "go depth 4")
    assert numbers["cp"] == 1
    tell(gui, "setoption name Syzygy50MoveRule value false")
    _, numbers, _ = search(gui, LATE, "go depth 4")
    assert numbers["cp"] > 30000


def test_a_draw_by_tables(gui):
    set_path(gui)
    _, numbers, _ = search(gui, QUIET_DRAW, "go depth 8")
    assert numbers["cp"] == 0


def test_mates_go_before_tables(gui):
    set_path(gui)
    _, numbers, move = search(gui, "7k/8/5K2/8/8/8/8/6Q1 w - - 0 1", "go depth 6")
    assert (numbers.get("mate"), "cp" in numbers) == (1, False)
    assert move == "g1g7"


@pytest.mark.parametrize("threads", [1, 2])
def test_the_search_asks_tables_inside_the_tree(gui, threads):
    tell(gui, f"setoption name Threads value {threads}")
    set_path(gui)
    _, numbers, _ = search(gui, MANY, "go nodes 300000")
    assert numbers["tbhits"] > 0


def test_the_limits_of_probing(gui):
    set_path(gui)
    for name, value in (("SyzygyProbeLimit", 3), ("SyzygyProbeLimit", 0)):
        tell(gui, f"setoption name {name} value {value}")
        _, numbers, _ = search(gui, KBNVK, "go depth 4")
        assert numbers["tbhits"] == 0 and numbers["cp"] < 30000
    assert "7, 8 does not" in tell(gui, "setoption name SyzygyProbeLimit value 8")[0]


def test_castling_rights_are_not_in_tables(gui):
    set_path(gui)
    _, numbers, _ = search(gui, "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "go depth 1")
    assert numbers["tbhits"] == 0


def test_several_directories(gui, tmp_path):
    for place, names in (("one", ("KQvK", "KRvK")), ("two", ("KQvK", "KQvKR"))):
        (tmp_path / place).mkdir()
        for name in names:
            shutil.copy(DIRECTORY / f"{name}.rtbw", tmp_path / place)
    told = set_path(gui, os.pathsep.join((str(tmp_path / "one"), str(tmp_path / "two"))))
    assert told == ["info string endgame tables from SyzygyPath: 3 WDL and 0 DTZ, up to 4 men"]
    _, numbers, _ = search(gui, "8/8/8/4k3/8/2r5/8/KQ6 w - - 0 1", "go depth 4")
    assert numbers["cp"] > 30000  # no DTZ: by results


def test_bad_paths_and_files_are_said_once_and_play_goes_on(gui, tmp_path):
    told = set_path(gui, tmp_path / "nowhere")
    assert len(told) == 2
    assert "no tables from" in told[0] and "nowhere" in told[0]
    assert "0 WDL and 0 DTZ" in told[1]
    shutil.copytree(DIRECTORY, tmp_path / "some")
    broken = tmp_path / "some" / "KBNvK.rtbw"
    broken.chmod(0o644)
    broken.write_bytes(broken.read_bytes()[:1000])
    assert len(set_path(gui, tmp_path / "some")) == 1
    spoken = []
    for _ in range(2):
        lines, numbers, move = search(gui, KBNVK, "go depth 6")
        spoken += [line for line in lines if "KBNvK" in line]
        assert numbers["cp"] < 30000 and chess.Move.from_uci(move) in chess.Board(KBNVK).legal_moves
    assert len(spoken) == 1 and "is not used: 1000 bytes" in spoken[0]
    _, numbers, _ = search(gui, "8/8/8/4k3/8/8/8/KQ6 w - - 0 1", "go depth 2")
    assert numbers["tbhits"] > 0


def test_limited_strength_does_without(gui):
    set_path(gui)
    tell(gui, "setoption name UCI_LimitStrength value true")
    _, numbers, _ = search(gui, KBNVK, "go depth 3")
    assert numbers["tbhits"] == 0


def test_a_mate_drive_over_the_process(gui):
    """Bishop and knight against the longest defence, fast: mate within fifty moves, without a third repetition."""
    set_path(gui)
    tables = Tables([DIRECTORY])
    board = Board(KBNVK)
    moves = []
    while board.outcome() is None:
        if board.turn == 0:
            gui.send(f"position fen {KBNVK} moves {' '.join(moves)}")
            move = board.parse_uci(gui.ask("go nodes 1000", until="bestmove")[-1].split()[1])
        else:
            move = max(board.legal_moves(), key=lambda move: distance_after(tables, board, move))
        moves.append(board.uci(move))
        board.push(move)
    assert board.outcome().result == "1-0"


def distance_after(tables, board, move):
    board.push(move)
    distance = tables.dtz(board)
    board.pop()
    return distance


# The commands


def test_probe_says_what_public_sites_say():
    run = quetzal("tables", "probe", "--syzygy-path", str(DIRECTORY), "--fen", "8/8/8/4k3/8/2r5/8/KQ6 w - - 0 1")
    assert run.returncode == 0 and run.stderr == ""
    board = chess.Board("8/8/8/4k3/8/2r5/8/KQ6 w - - 0 1")
    with chess.syzygy.open_tablebase(str(DIRECTORY)) as reference:
        assert "Ending: KQvKR, White to move" in run.stdout
        assert f"WDL: {reference.probe_wdl(board)} (win)" in run.stdout
        assert f"DTZ: {reference.probe_dtz(board)}\n" in run.stdout
        rows = {
            san: (int(dtz), words)
            for san, dtz, words in re.findall(r"^(\S+)\s+(\d+)  ((?:win|draw|loss).*)$", run.stdout, re.MULTILINE)
        }
        assert set(rows) == {board.san(move) for move in board.legal_moves}
        for move in list(board.legal_moves):
            san = board.san(move)
            board.push(move)
            words = {-2: "win", 0: "draw", 2: "loss"}[reference.probe_wdl(board)]
            assert rows[san] == (abs(reference.probe_dtz(board)), words)
            board.pop()
    assert next(iter(rows)) in ("Kb2", "Qg1") and list(rows.values())[-1][1] == "loss"


def test_probe_ends_of_the_game():
    run = quetzal("tables", "probe", "--syzygy-path", str(DIRECTORY), "--fen", "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")
    assert "WDL: -2 (loss)" in run.stdout and "checkmate" in run.stdout
    run = quetzal("tables", "probe", "--syzygy-path", str(DIRECTORY), "--fen", "7k/8/5K2/8/8/8/8/6Q1 w - - 0 1")
    assert re.search(r"^Qg7#\s+checkmate$", run.stdout, re.MULTILINE)
    assert re.search(r"^Qg6\s+0  stalemate$", run.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (("--fen", "8/8/8/8"), "rank"),
        (("--fen", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"), "castling"),
        (("--fen", "4k3/8/8/8/8/8/8/RRR1K3 w - - 0 1"), "KRRRvK"),
        (("--fen", chess.STARTING_FEN), "castling"),
    ],
)
def test_probe_refuses(arguments, reason):
    run = quetzal("tables", "probe", "--syzygy-path", str(DIRECTORY), *arguments)
    assert run.returncode == 2 and run.stdout == ""
    assert reason in run.stderr


def test_probe_without_tables(tmp_path):
    run = quetzal("tables", "probe", "--syzygy-path", str(tmp_path))
    assert run.returncode == 2 and "no tables" in run.stderr


def test_check_of_a_good_directory(tmp_path):
    listing = tmp_path / "md5"
    listing.write_text(
        "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.name}\n" for path in DIRECTORY.glob("*.rtb?"))
    )
    run = quetzal("tables", "check", str(DIRECTORY), "--md5", str(listing))
    assert run.returncode == 0, run.stdout
    assert "70 files: 70 good, 0 bad" in run.stdout
    assert "4 men, DTZ: 30 of 30" in run.stdout


def test_check_finds_what_is_wrong(tmp_path):
    for name in ("KQvK", "KRvK", "KBvKN"):
        shutil.copy(DIRECTORY / f"{name}.rtbw", tmp_path)
    (tmp_path / "KXvK.rtbw").write_bytes(b"?")
    (tmp_path / "KRvK.rtbw").chmod(0o644)
    (tmp_path / "KRvK.rtbw").write_bytes(b"?" * 80)
    contents = bytearray((tmp_path / "KQvK.rtbw").read_bytes())
    contents[-20] ^= 1
    listing = tmp_path / "md5"
    listing.write_text(f"{hashlib.md5(contents).hexdigest()} *KQvK.rtbw\n{'0' * 32}  KPvK.rtbw\n")
    run = quetzal("tables", "check", str(tmp_path), "--md5", str(listing))
    assert run.returncode == 1
    assert "KXvK.rtbw: this is not the name of a table" in run.stdout
    assert "KRvK.rtbw: it does not begin as a table does" in run.stdout
    assert "KQvK.rtbw: its MD5 is not that of the list" in run.stdout
    assert "Listed, but not there: KPvK.rtbw" in run.stdout
    assert "There, but not listed: KBvKN.rtbw KRvK.rtbw" in run.stdout
    assert "3 men, WDL: 2 of 5, missing: KBvK KNvK KPvK" in run.stdout
    assert "3 files: 1 good, 2 bad" in run.stdout


def test_check_of_what_is_no_directory(tmp_path):
    assert quetzal("tables", "check", str(tmp_path)).returncode == 1
    run = quetzal("tables", "check", str(tmp_path / "nowhere"))
    assert run.returncode == 2 and "nowhere" in run.stderr

"""`go`, `d`, `flip` and `compiler` from a shell: checked arguments, a FEN without quotes, SAN and JSON."""

import json
import re

import chess
import pytest
from support import quetzal

from command.arguments import join_fen
from uci_engine import _build

START = chess.STARTING_FEN
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
EN_PASSANT = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3"


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("go", "depth", "4"), "bestmove "),
        (("go", "--threads", "2", "depth", "4", "--hash", "32"), "bestmove "),
        (("go", "perft", "3"), "Nodes searched: 8902"),
        (("go", "depth", "2", "--fen", MATE_IN_ONE), "bestmove a1a8"),
        (("go", "depth", "2", "--fen", MATE_IN_ONE, "--san"), "bestmove Ra8#"),
        (("go", "--fen", *MATE_IN_ONE.split(), "depth", "2"), "bestmove a1a8"),
        (("go", "depth", "3", "--eval-file", ""), "bestmove "),
        (("go", "depth", "2", "--chess960", "--fen", "k7/8/8/8/8/8/8/4K2R w H - 0 1"), "bestmove "),
        (("d",), f"Fen: {START}"),
        (("d", "--fen", *EN_PASSANT.split()), f"Fen: {EN_PASSANT}"),
        (("flip", "--fen", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"), "Fen: 4k2r/8/8/8/8/8/8/4K3 b k - 0 1"),
        (("compiler",), "compiler "),
        (("help",), "engine against engine"),
        (("help", "uci"), "and beyond UCI"),
        (("help", "book", "build"), "usage: quetzal book build"),
    ],
)
def test_what_is_understood(arguments, wanted):
    result = quetzal(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert any(line.startswith(wanted) for line in result.stdout.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("d", "--fen", "nonsense"), "quetzal d: "),
        (("d", "--fen"), "expected one argument"),
        (("d", "--fen", ""), "the FEN is empty"),
        (("go", "depth", "1", "--fen", ""), "the FEN is empty"),
        (("eval", "--fen", ""), "the FEN is empty"),
        (("d", *START.split()), "a position goes behind --fen"),
        (("d", "--fen", *START.split(), "8"), "'8' is not understood"),
        (("d", "--fen", START.split()[0], "w", "KQxq", "-", "0", "1"), "'KQxq' is not understood"),
        (("go", "depht", "5"), "did you mean 'depth'?"),
        (("go", "depth", "abc"), "depth takes a whole number, not 'abc'"),
        (("go", "depth", "0"), "depth is at least 1"),
        (("go", "movetime", "-5"), "movetime is at least 1"),
        (("go", "depth", "3", "--thread", "x"), "invalid positive value: 'x'"),
        (("go", "depth", "3", "--threads", "9999"), "Threads lies between 1 and 256"),
        (("go", "depth", "3", "--multipv", "0"), "0 is less than 1"),
        (("go", "depth", "3", "--eval-file", "/no/such.qnn"), "/no/such.qnn: No such file"),
        (("go", "depth", "3", "--searchmoves", "e2e4"), "'--searchmoves' is not understood"),
        (("go", "ponder"), "ponder belongs to games"),
        (("go", "perft", "3", "--json"), "neither --san nor --json"),
        (("flip", "depth"), "'depth' is not understood"),
        (("compiler", "gcc"), "'gcc' is not understood"),
    ],
)
def test_what_is_refused(arguments, message):
    result = quetzal(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["d", "--fen", *START.split()], ["d", "--fen", START]),
        (["d", "--fen", START], ["d", "--fen", START]),
        ([f"--fen={START.split()[0]}", "b", "-", "-"], [f"--fen={START.split()[0]} b - -"]),
        (["--fen", *START.split()[:4], "depth", "5"], ["--fen", " ".join(START.split()[:4]), "depth", "5"]),
        (["perft", "--fen", *START.split(), "3"], ["perft", "--fen", START, "3"]),
        (["--fen", " ".join(START.split()[:3]), "-", "0", "1", "2"], ["--fen", START, "2"]),
        (["--fen"], ["--fen"]),
        (["--fen", "startpos", "w"], ["--fen", "startpos", "w"]),
    ],
)
def test_a_fen_is_put_together_again(words, joined):
    assert join_fen(words) == joined


def moves_of(report):
    return [line for line in report.stdout.splitlines() if " pv " in line]


def test_lines_in_san_are_those_in_uci():
    """One thread and a fixed depth give the same lines twice; python-chess translates."""
    limits = ("go", "depth", "8", "--threads", "1", "--multipv", "3", "--fen", EN_PASSANT)
    plain, san = quetzal(*limits), quetzal(*limits, "--san")
    assert len(moves_of(plain)) == len(moves_of(san)) > 10
    for one, other in zip(moves_of(plain), moves_of(san), strict=True):
        board, found = chess.Board(EN_PASSANT), []
        for text in one.split(" pv ")[1].split():
            found.append(board.san(chess.Move.from_uci(text)))
            board.push_uci(text)
        assert other.split(" pv ")[1].split() == found
    board = chess.Board(EN_PASSANT)
    best, ponder = plain.stdout.split()[-3], plain.stdout.split()[-1]
    move = board.parse_san(san.stdout.split()[-3])
    assert move.uci() == best
    board.push(move)
    assert board.parse_san(san.stdout.split()[-1]).uci() == ponder


def test_json_of_a_search():
    result = quetzal("go", "depth", "6", "--multipv", "2", "--threads", "1", "--json")
    (line,) = result.stdout.splitlines()
    found = json.loads(line)
    assert found["fen"] == START
    board = chess.Board()
    assert board.parse_san(found["san"]) == chess.Move.from_uci(found["bestmove"])
    assert [each["multipv"] for each in found["lines"]] == [1, 2]
    for each in found["lines"]:
        assert each["depth"] == 6
        assert set(each["score"]) <= {"cp", "mate"}
        assert len(each["pv"]) == len(each["san"]) > 0
        assert min(each[name] for name in ("nodes", "nps", "hashfull", "tbhits", "time")) >= 0
    assert found["lines"][0]["pv"][:2] == [found["bestmove"], found["ponder"]]


def test_json_of_a_game_that_is_over():
    fen = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"
    found = json.loads(quetzal("go", "depth", "3", "--json", "--fen", fen).stdout)
    assert (found["bestmove"], found["ponder"], found["san"]) == (None, None, None)
    assert found["lines"][0]["score"] == {"mate": 0}
    position = json.loads(quetzal("d", "--json", "--fen", fen).stdout)
    assert position["outcome"] == {"result": "1-0", "reason": "checkmate"}
    assert position["check"] is True
    assert position["moves"] == []


def test_json_of_a_position():
    found = json.loads(quetzal("d", "--json", "--fen", EN_PASSANT).stdout)
    board = chess.Board(EN_PASSANT)
    assert (found["fen"], found["turn"], found["outcome"]) == (EN_PASSANT, "white", None)
    assert sorted(found["moves"]) == sorted(move.uci() for move in board.legal_moves)
    assert sorted(found["san"]) == sorted(board.san(move) for move in board.legal_moves)
    flipped = json.loads(quetzal("flip", "--json", "--fen", EN_PASSANT).stdout)
    assert flipped["fen"] == board.mirror().fen()


def test_json_of_the_build():
    found = json.loads(quetzal("compiler", "--json").stdout)
    assert (found["commit"], found["profile"].split(",")[0]) == (_build.COMMIT, _build.PROFILE)


def test_several_lines_and_tables():
    result = quetzal("go", "depth", "4", "--multipv", "4", "--syzygy-path", "/nowhere")
    assert "info string endgame tables from SyzygyPath: 0 WDL" in result.stdout
    assert {int(number) for number in re.findall(r" multipv (\d)", result.stdout)} == {1, 2, 3, 4}

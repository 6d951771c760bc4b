"""Won endings are won without tables, against a defender who knows the tables and loses as slowly as he can."""

import chess
import chess.syzygy
import play_endings
import pytest
from tables import DIRECTORY


@pytest.mark.parametrize(
    ("fen", "most_moves", "nodes"),
    [
        pytest.param("8/8/8/4k3/8/8/8/KQ6 w - - 0 1", 20, 60_000, id="KQK"),
        pytest.param("8/8/8/4k3/8/8/8/KR6 w - - 0 1", 30, 60_000, id="KRK"),
        pytest.param("8/8/8/4k3/8/8/8/KBB5 w - - 0 1", 40, 60_000, id="KBBK"),
        pytest.param("8/8/8/4k3/8/8/8/KBN5 w - - 0 1", 50, 200_000, id="KBNK"),
        pytest.param("8/8/8/3k4/8/8/8/1KBN4 w - - 0 1", 50, 200_000, id="KBNK, the other bishop"),
        pytest.param("8/8/8/3kr3/8/8/8/KQ6 w - - 0 1", 50, 1_000_000, id="KQKR"),
        pytest.param("8/8/8/4kr2/8/8/8/K2Q4 w - - 0 1", 50, 1_000_000, id="KQKR, another start"),
        pytest.param("8/8/4k3/8/4K3/8/4P3/8 w - - 0 1", 40, 60_000, id="KPK"),
    ],
)
def test_won_endings_are_won(fen, most_moves, nodes):
    """At less than a second a move. Queen against rook is the hard one: perfect play takes up to 35 moves of the fifty."""
    with play_endings.open_tables([DIRECTORY]) as tables:
        assert tables.probe_wdl(chess.Board(fen)) == 2, "the position is no win"
    ended = play_endings.play(play_endings.Start("", fen, nodes, (str(DIRECTORY),)))
    assert ended.is_won
    assert ended.moves <= most_moves


def test_starts_are_won_and_repeat_themselves():
    with play_endings.open_tables([DIRECTORY]) as tables:
        fens = play_endings.won_starts("KQvKR", 12, 1, tables)
        assert len(set(fens)) == 12
        for fen in fens:
            board = chess.Board(fen)
            assert board.is_valid() and board.turn == chess.WHITE
            assert (tables.probe_wdl(board), tables.probe_dtz(board) >= 5) == (2, True)
        assert play_endings.won_starts("KQvKR", 12, 1, tables) == fens
        assert not set(play_endings.won_starts("KQvKR", 12, 2, tables)) & set(fens)


def test_who_knows_the_tables_delays_the_loss():
    board = chess.Board("8/8/8/4k3/8/8/8/KQ6 b - - 0 1")
    with play_endings.open_tables([DIRECTORY]) as tables:
        best = play_endings.best_defence(board, tables)
        distances = {}
        for move in list(board.legal_moves):
            board.push(move)
            distances[move] = tables.probe_dtz(board)
            board.pop()
        assert distances[best] == max(distances.values()) > min(distances.values())
    with play_endings.open_tables([]) as nothing:
        assert play_endings.best_defence(board, nothing) is None


def test_the_script_prints_what_came_of_the_starts(capsys):
    assert play_endings.main(["KQvK", "--starts", "2", "--nodes", "20000"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("| KQvK | 2 | 2 |")
    # At one node a move nobody mates with bishop and knight: it says so.
    assert play_endings.main(["KBNvK", "--starts", "1", "--nodes", "1"]) == 1
    assert "not won: " in capsys.readouterr().err
    assert play_endings.main(["KQQvKQ", "--starts", "1"]) == 2

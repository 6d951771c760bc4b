"""Games with variations on their way to the page and back."""

import io
import json
import time

import chess
import chess.pgn
import pytest

from play.pgn_tree import MOST_NODES, game_of, list_games, nodes_of, read_game

ANNOTATED = """\
[Event "Test"]
[White "Anderssen"]
[Black "Kieseritzky"]
[Result "1-0"]

{the Immortal Game} 1. e4 e5 2. f4 exf4 3. Bc4 (3. Nf3 g5 (3... d6 {quiet}) 4. h4) 3... Qh4+ $6 {[%clk 0:01:00] a
check} 4. Kf1 b5 5. Bxb5 1-0
"""


def same(one, other):
    """Two games without their layout."""
    exporter = chess.pgn.StringExporter(headers=False)
    return one.accept(exporter) == other.accept(chess.pgn.StringExporter(headers=False))


def test_there_and_back():
    game, problems = read_game(ANNOTATED)
    assert problems == []
    tree = json.loads(json.dumps(nodes_of(game)))
    assert same(game_of(tree), game)
    assert tree["headers"]["White"] == "Anderssen"
    assert tree["comment"] == "the Immortal Game"
    # The main line comes first, so the first node of each parent is the main move.
    mains, parent = [], -1
    while (found := next((index for index, node in enumerate(tree["nodes"]) if node[0] == parent), None)) is not None:
        mains.append(tree["nodes"][found][1])
        parent = found
    assert mains == [move.uci() for move in game.mainline_moves()]


def test_chess960_and_other_starts():
    board = chess.Board.from_chess960_pos(17)
    game = chess.pgn.Game()
    game.setup(board)
    move = next(iter(board.legal_moves))
    game.add_variation(move)
    tree = nodes_of(read_game(str(game))[0])
    assert tree["chess960"]
    again = game_of(tree)
    assert again.board() == board
    assert [each.uci() for each in again.mainline_moves()] == [move.uci()]


def test_several_games_are_listed_by_their_places():
    text = ANNOTATED + "\n" + ANNOTATED.replace("Anderssen", "Other")
    games = list_games(text)
    assert [headers["White"] for _, headers in games] == ["Anderssen", "Other"]
    second = text[games[1][0] :]
    assert read_game(second)[0].headers["White"] == "Other"


def test_places_are_those_of_javascript():
    """Which counts 16-bit units: two for an emoji, and one for half of one, which no text should have."""
    first, second = '[White "😀\ud83d"]\n\n1. e4 {🦜🦜} *\n\n', '[White "Ö"]\n\n1. d4 *\n'
    (_, _), (place, headers) = list_games(first + second)
    assert headers["White"] == "Ö"
    units = (first + second).encode("utf-16-le", "surrogatepass")
    assert units[2 * place :].decode("utf-16-le") == second


def test_broken_games_are_read_as_far_as_they_go():
    game, problems = read_game("1. e4 e5 2. Qh8 Nc6")
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4", "e7e5"]
    assert "Qh8" in problems[0]
    for text in ("", "   ", "1. Qh8"):
        with pytest.raises(ValueError, match=r"[a-z]{3}"):
            read_game(text)


KNIGHTS = "1. Nf3 Nf6 2. Ng1 Ng8 "


@pytest.mark.parametrize(
    "text, reason",
    [
        ("1. e4 " + "{a}" * 500_000, "comments"),
        ("1. e4 " + "{}" * 500_000, "comments"),
        (KNIGHTS * 800 + "( Ng8 " * 1_500, "within each other"),
        (KNIGHTS * 1_000 + "() " * 500_000, "variations"),
        (KNIGHTS * 10_000, "moves"),
        (f"1. e4 ${'9' * 5_000}", "digits"),
    ],
)
def test_hostile_games_are_refused_soon(text, reason):
    """Whatever fits into a request: who pastes it must not block the program for minutes."""
    began = time.process_time()
    with pytest.raises(ValueError, match=reason):
        read_game(text)
    assert time.process_time() - began < 20


def test_braces_in_tags_are_no_comments():
    game, problems = read_game('[Event "a } b"]\n[Site "c; { d"]\n\n1. e4 {x} e5 ; y } z\n% } 2. a3\n2. d4 {y} d5 *\n')
    assert (game.headers["Event"], game.headers["Site"], problems) == ("a } b", "c; { d", [])
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4", "e7e5", "d2d4", "d7d5"]


@pytest.mark.parametrize(
    "tree",
    [
        {"nodes": 5},
        {"nodes": [[-1, "e2e4", ""]]},
        {"nodes": [[0, "e2e4", "", []]]},
        {"nodes": [[-2, "e2e4", "", []]]},
        {"nodes": [[-1, "e2e5", "", []]]},
        {"nodes": [[-1, "0000", "", []]]},
        {"nodes": [[-1, 7, "", []]]},
        {"nodes": [["x", "e2e4", "", []]]},
        {"nodes": [[-1, "e2e4", "x" * 6000, []]]},
        {"nodes": [[-1, "e2e4", None, []]]},
        {"nodes": [[]] * (MOST_NODES + 1)},
        {"headers": []},
        {"headers": ["x"]},
        {"fen": "x"},
        {"comment": 5},
    ],
)
def test_trees_that_are_none(tree):
    if tree == {"headers": []}:  # as good as none
        assert not game_of(tree).variations
        return
    with pytest.raises(ValueError, match=r"[a-z]{3}"):
        game_of(tree)


def test_comments_cannot_end_themselves():
    tree = {"nodes": [[-1, "e2e4", '} 1-0 [Event "x"] {', [1, 999, "x"]]], "headers": {"White": 'a"]\n[Black "b'}}
    game = chess.pgn.read_game(io.StringIO(str(game_of(tree))))
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4"]
    assert game.headers["Black"] == "?"
    assert game.next().nags == {1}


def test_long_games_take_time_proportional_to_their_length():
    knights = ["g1f3", "g8f6", "f3g1", "f6g8"]
    nodes = [[index - 1, knights[index % 4], "", []] for index in range(4_000)]
    game = game_of({"nodes": nodes})
    assert nodes_of(game)["nodes"] == nodes

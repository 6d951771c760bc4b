"""The page of a reviewed collection in a browser: players, games, errors with their better lines, on both sizes."""

import axe
import chess
import pytest

from play.collection_page import page
from play.collection_summary import Summary
from play.verdicts import PHASES

SETTINGS = {"program": "Quetzal", "games": ["/a/<b>games.pgn"], "limits": {"nodes": 20000}, "only": None}
SCREENS = [(1400, 900), (390, 844)]
FOOLS_MATE = "f2f3 e7e5 g2g4 d8h4"


def totals(accuracies, moves, **grades):
    names = ("blunder", "mistake", "inaccuracy", "only move", "brilliant")
    phases = {phase: [0, 0.0] for phase in PHASES}
    phases["opening"] = [moves, 0.5]
    return {"accuracies": accuracies, "grades": {name: grades.get(name, 0) for name in names}, "phases": phases}


def record(white, black):
    return {
        "file": "games.pgn",
        "number": 1,
        "line": 1,
        "digest": "x",
        "pgn": "…",
        "white": white,
        "black": black,
        "result": "0-1",
        "event": "Fool's mate",
        "date": "1900.01.01",
        "fen": chess.STARTING_FEN,
        "moves": FOOLS_MATE.split(),
        "sans": ["f3", "e5", "g4", "Qh4#"],
        "scores": ["0.20", "-0.60", "-0.50", "#-1", "#"],
        "points": [0.55, 0.4, 0.42, 0.0, 0.0],
        "marks": [
            {"ply": 0, "grade": "inaccuracy", "loss": 0.15, "best": ["e4"], "best_uci": ["e2e4", "e7e5", "g1f3"]},
            {"ply": 2, "grade": "blunder", "loss": 0.42, "best": ["d4"], "best_uci": ["d2d4", "zz"]},
        ],
        "sides": [totals(120.0, 2, blunder=1, inaccuracy=1), totals(200.0, 2)],
    }


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    records = [record("Anna <i>", "Bert"), {"digest": "y", "broken": "no game"}, record("Carl", "Anna <i>")]
    summary = Summary()
    for each in records:
        summary.add(each)
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page(records, SETTINGS, summary), encoding="utf-8")
    return f"file://{path}"


@pytest.fixture(params=SCREENS, ids=["desktop", "phone"])
def window(chromium, address, request):
    chromium.emulate(*request.param)
    chromium.open("about:blank")
    chromium.open(address)
    yield chromium
    assert chromium.complaints() == []


def cells(window, selector):
    return window.run(
        "return [...document.querySelectorAll(arguments[0])].map((row) => [...row.cells].map((cell) => cell.textContent))",
        selector,
    )


def pieces(window):
    placed = window.run(
        "return [...document.querySelectorAll('#board [data-piece]')]"
        ".map((node) => [node.dataset.piece, node.getAttribute('transform')])"
    )
    shown = chess.Board(None)
    for letter, place in placed:
        x, y = (int(part) // 45 for part in place[len("translate(") : -1].split())
        shown.set_piece_at(chess.square(x, 7 - y), chess.Piece.from_symbol(letter))
    return shown.board_fen()


def after(*sans):
    board = chess.Board()
    for san in sans:
        board.push_san(san)
    return board.board_fen()


def test_players_and_games_are_listed(window):
    assert window.text("#title") == "<b>games.pgn"
    assert "20,000 nodes a position" in window.text("#subtitle")
    anna, bert, carl = cells(window, "#players tbody tr")
    assert anna[:4] == ["Anna <i>", "2", "4", "80.0"]  # (120 + 200) / 4
    assert (bert[0], carl[0]) == ("Bert", "Carl")
    assert carl[4:7] == ["1", "0", "1"]
    rows = cells(window, "#games tbody tr")
    assert [row[1:4] for row in rows] == [["Anna <i>", "Bert", "0-1"], ["Carl", "Anna <i>", "0-1"]]
    assert "broken games" in window.text("#figures")
    window.run("const f = document.getElementById('filter'); f.value = 'carl'; f.dispatchEvent(new Event('input'));")
    assert len(cells(window, "#games tbody tr")) == 1


def test_a_game_is_stepped_through(window):
    window.run("document.querySelector('#games tbody tr').click()")
    assert pieces(window) == after()
    window.press("ArrowRight")
    assert pieces(window) == after("f3")
    assert "inaccuracy: 15 hundredths" in window.text("#verdict")
    window.press("e")
    assert pieces(window) == after("f3", "e5", "g4")
    assert window.text("#moves .now") == "g4??"
    # The better line is followed on the board as far as it is legal, and left again.
    buttons = window.run("return document.querySelectorAll('#line button').length")
    assert buttons == 1
    window.run("document.querySelector('#line button').click()")
    assert pieces(window) == after("f3", "e5", "d4")
    window.press("ArrowLeft")
    assert pieces(window) == after("f3", "e5", "g4")
    window.press("ArrowRight")
    assert "mate" in window.text("#verdict")
    assert window.run("return document.getElementById('plot').getAttribute('aria-valuenow')") == "4"
    window.press("Escape")
    assert window.run("return document.getElementById('viewer').hidden")


def test_a_place_can_be_linked(chromium, address):
    chromium.open("about:blank")
    chromium.open(f"{address}#game=2&ply=1")
    assert pieces(chromium) == after("f3")
    assert "Carl" in chromium.text("#game-title")


def test_nothing_is_wider_than_the_screen(window):
    window.run("document.querySelector('#games tbody tr').click()")
    assert window.run("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_use_it(chromium, address, theme):
    _, missing = axe.source()
    if missing is not None:
        pytest.skip(missing)
    chromium.emulate(1400, 900, theme)
    chromium.open("about:blank")
    chromium.open(address)
    chromium.run("document.querySelector('#games tbody tr').click(); goTo(3);")
    assert axe.problems(chromium) == []

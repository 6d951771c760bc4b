"""The report page as people meet it: on a large screen and on a phone, in light and dark, with mouse, keyboard and reader."""

import io
from types import SimpleNamespace

import axe
import chess
import chess.pgn
import pytest

from arena.figures import MINUS, elo_text
from arena.journal import slim
from arena.match import MatchSchedule
from arena.openings import START, Supply
from arena.report import compact_games, frame, overview, page
from arena.statistics import estimate

SCREENS = [(1400, 900), (390, 844)]
THEMES = ["light", "dark"]


def moves(text):
    return text.split()


FOOLS_MATE = moves("f2f3 e7e5 g2g4 d8h4")
SCHOLARS_MATE = moves("e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7")
KNIGHTS = moves("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8")
# So many ways to lose a move each, so that no two games have the same moves.
PREFIXES = [
    moves(f"{white}{there} {black}{back} {there}{white} {back}{black}")
    for white, there in (("g1", "f3"), ("g1", "h3"), ("b1", "c3"), ("b1", "a3"))
    for black, back in (("g8", "f6"), ("g8", "h6"), ("b8", "c6"), ("b8", "a6"))
]
LONG = moves(
    "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 c1g5 e7e6 f2f4 b8d7 d1f3 d8c7 e1c1 b7b5 f1b5 a6b5 d4b5 c7b8"
)


def thoughts(played, **special):
    """A third of a pawn for whoever moves, the clock running down, and the moves of the game as the line."""
    found = []
    for ply, _ in enumerate(played, 1):
        thought = {"score": 33, "depth": 9, "nodes": 1000 * ply, "time": 50.0, "left": 60_000 - 500 * ply}
        thought["pv"] = " ".join(played[ply - 1 : ply + 5])
        found.append({**thought, **special.get(f"at{ply}", {})})
        if "mate" in found[-1]:
            del found[-1]["score"]
    return found


def game(number, played, points, reason, **more):
    return {
        "game": number,
        "pair": number // 2,
        "round": number // 2 + 1,
        "players": [0, 1] if number % 2 == 0 else [1, 0],
        "points": points,
        "reason": reason,
        "failure": None,
        "failed": None,
        "fen": chess.STARTING_FEN,
        "opening": "",
        "book_plies": 0,
        "moves": played,
        "thoughts": thoughts(played),
        "began": "2024-05-06T07:08:09+00:00",
        "overhead": [len(played), 1.0, 0.5],
        **more,
    }


def contest(records, **more):
    """A finished match of these games, as `Run` would hold it."""
    engines = [{"name": name, "control": "60+1", "rating": None} for name in ("First", "Second")]
    rules = {"chess960": False}
    description = {"kind": "match", "name": "First - Second", "games": len(records), "engines": engines, "rules": rules}
    description |= {"openings": {"path": None}, "sprt": None, **more}
    journal = SimpleNamespace(description=description, records=records, full_records=lambda: iter(records))
    schedule = MatchSchedule(description, Supply([START]))
    for record in records:
        schedule.record(slim(record))
    return SimpleNamespace(journal=journal, schedule=schedule)


def write(file, run):
    data = {
        **frame(run),
        **overview(run),
        "games": compact_games(run.journal),
        "running": [],
        "live": False,
        "over": True,
    }
    file.write_text(page(data), encoding="utf-8")
    return f"file://{file}"


RECORDS = [
    game(0, FOOLS_MATE, 0.0, "Black mates", thoughts=thoughts(FOOLS_MATE, at3={"mate": -1}, at4={"mate": 1})),
    game(1, LONG, 0.5, "draw by agreement"),
    game(2, SCHOLARS_MATE, 1.0, "White mates", thoughts=thoughts(SCHOLARS_MATE, at7={"mate": 1, "pv": "h5f7 e8e7 zz"})),
    game(3, KNIGHTS, 0.5, "draw by threefold repetition"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    sprt = {"elo0": 0, "elo1": 10, "alpha": 0.05, "beta": 0.05, "normalized": False}
    return write(tmp_path_factory.mktemp("page") / "report.html", contest(RECORDS, sprt=sprt))


@pytest.fixture
def window(chromium, report):
    """The page anew on a large screen, with a clipboard that the test can read."""
    show(chromium, report)
    yield chromium
    assert chromium.complaints() == []


def show(window, address, screen=(1400, 900), theme="light"):
    window.emulate(*screen, theme)
    window.open("about:blank")
    window.open(address)
    window.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")


def all_of(window, selector, what):
    return window.run(f"return [...document.querySelectorAll(arguments[0])].map((node) => {what})", selector)


def heads(window, selector):
    return all_of(window, f"{selector} th", "node.textContent")


def tile(window, label):
    tiles = dict(all_of(window, ".figure", "[node.children[1].textContent, node.children[0].textContent]"))
    (found,) = [text for text in tiles if text.startswith(label)]
    return tiles[found], found


def board(window):
    placed = all_of(window, "#board [data-piece]", "[node.dataset.piece, node.getAttribute('transform')]")
    shown = chess.Board(None)
    for letter, place in placed:
        x, y = (int(part) // 45 for part in place[len("translate(") : -1].split())
        shown.set_piece_at(chess.square(x, 7 - y), chess.Piece.from_symbol(letter))
    return shown.board_fen()


def after(played):
    found = chess.Board()
    for move in played:
        found.push_uci(move)
    return found


# Figures


def test_elo_comes_with_its_interval(window):
    """In the same words as on the terminal, and beside the likelihood that belongs to it."""
    known = estimate([0, 1, 0, 1, 0])
    assert elo_text(known) == f"0.0, 95 % from {MINUS}∞ to +∞"
    assert tile(window, "Elo") == ("0.0", f"Elo, 95 % from {MINUS}∞ to +∞")
    assert tile(window, "likelihood")[0] == "50.0 %"
    assert window.text("#standings-table").count(elo_text(known)) == 2


def test_elo_of_many_games(chromium, tmp_path):
    """Both sides of the table say the same as the figure above it, with the sign changed."""
    records = [
        game(number, [*PREFIXES[number // 2], *LONG], (1.0, 0.5, 0.5)[number % 3], "ended") for number in range(32)
    ]
    run = contest(records)
    known = estimate(run.schedule.tally.pentanomial)
    assert sum(run.schedule.tally.pentanomial) == 16
    assert known.error is not None
    show(chromium, write(tmp_path / "many.html", run))
    assert run.schedule.summary()["texts"]["elo"] == elo_text(known)
    value, label = tile(chromium, "Elo")
    assert f"{value} ({label.removeprefix('Elo, ')})" == elo_text(known)
    shown = chromium.text("#standings-table")
    assert elo_text(known) in shown
    assert elo_text(estimate(run.schedule.tally.pentanomial[::-1])) in shown


def test_elo_without_end(chromium, tmp_path):
    """All lost: nothing but the upper end is known."""
    records = [game(number, [*PREFIXES[number // 2], *FOOLS_MATE], float(number % 2), "mates") for number in range(16)]
    show(chromium, write(tmp_path / "lost.html", contest(records)))
    lost = estimate([8, 0, 0, 0, 0])
    text = f"{MINUS}∞, 95 % from {MINUS}∞ to {MINUS}{-lost.elo_high:.0f}"
    assert tile(chromium, "Elo") == (f"{MINUS}∞", f"Elo{text.removeprefix(f'{MINUS}∞')}")
    assert text in chromium.text("#standings-table")
    assert tile(chromium, "likelihood")[0] == "below 0.1 %"
    assert "0.0 %" not in chromium.text("#figures")


def test_repeated_games_are_marked(chromium, tmp_path):
    """They stand in the list and in the score, but the sample is smaller, and the page says so."""
    records = [game(number, FOOLS_MATE, float(number % 2), "mates") for number in range(8)]
    show(chromium, write(tmp_path / "same.html", contest(records)))
    assert "6 games with the moves of an earlier one, not in the statistics" in chromium.text("#notes")
    assert "1 pair with the same moves in both games" in chromium.text("#notes")
    assert tile(chromium, "pairs")[0] == "1 · 0 · 0 · 0 · 0"
    marked = [text for text in all_of(chromium, "#games td.ended", "node.textContent") if "earlier game" in text]
    assert len(marked) == 6


def test_bars_are_shares_of_all_games(window):
    widths = all_of(window, "#result-bars .bar u", "[node.getBoundingClientRect().width, node.parentNode.clientWidth]")
    for (width, whole), share in zip(widths, (0.25, 0.5, 0.25), strict=True):
        assert width == pytest.approx(share * whole, abs=1)
    assert all_of(window, "#result-bars .bar", "node.innerText.split('\\n')") == [
        ["White won", "1 (25 %)"],
        ["drawn", "2 (50 %)"],
        ["Black won", "1 (25 %)"],
    ]
    assert sum(width / whole for width, whole in all_of(
        window, "#reason-bars .bar u", "[node.getBoundingClientRect().width, node.parentNode.clientWidth]"
    )) == pytest.approx(1, abs=0.01)  # fmt: skip


@pytest.mark.parametrize("plot", ["#score-plot", "#llr-plot", "#eval-plot", "#clock-plot"])
def test_legends_name_what_is_drawn(window, plot):
    window.click("#games a[href='#game=2']")
    lines = all_of(
        window, f"{plot} svg path[fill='none']", "[node.getAttribute('stroke'), node.getAttribute('stroke-dasharray')]"
    )
    drawn = {(colour, "line" if dashes == "none" else "dashed") for colour, dashes in lines}
    drawn |= {
        (colour, "band")
        for colour in all_of(window, f"{plot} svg path:not([fill='none'])", "node.getAttribute('fill')")
    }
    if all_of(window, f"{plot} svg .zero", "1") and plot == "#score-plot":
        drawn.add(("var(--soft)", "dashed"))
    named = all_of(window, f"{plot} .legend i", "[node.style.getPropertyValue('--sign'), node.className]")
    assert {tuple(sign) for sign in named} == drawn


def test_columns_without_content_are_left_out(chromium, window, tmp_path):
    assert "failures" not in heads(window, "#standings-table")
    assert "opening" not in heads(window, "#games")
    lost = game(0, FOOLS_MATE[:2], 0.0, "White loses on time", failure="time", failed="First", opening="Barnes")
    show(chromium, write(tmp_path / "failed.html", contest([lost, *RECORDS[1:]])))
    assert "failures" in heads(chromium, "#standings-table")
    assert "opening" in heads(chromium, "#games")


def test_numbers_on_axes_are_distinct(window):
    for plot in ("#score-plot", "#llr-plot", "#length-plot", "#rating-plot"):
        for anchor in ("end", "middle"):
            texts = all_of(window, f"{plot} svg text[text-anchor='{anchor}']", "node.textContent")
            assert len(texts) == len(set(texts))


# The viewer


def test_links_lead_to_the_board(chromium, report):
    for screen in SCREENS:
        show(chromium, f"{report}#game=2&ply=20", screen)
        assert board(chromium) == after(LONG[:20]).board_fen()
        top, height = chromium.run("return [document.querySelector('#board').getBoundingClientRect().top, innerHeight]")
        assert 0 <= top < height / 2
    chromium.run("location.hash = 'game=3&ply=2'")
    chromium.wait_for("return view.game.g === 3", 10)
    assert board(chromium) == after(SCHOLARS_MATE[:2]).board_fen()
    chromium.run("location.hash = 'game=99'; location.hash = 'game=x&ply=-3'")
    assert chromium.run("return view.game.g") == 3


def test_escape_closes(window):
    window.click("#games a[href='#game=2']")
    assert "#game=2" in window.run("return location.hash")
    window.press("Escape")
    assert window.run("return document.querySelector('#viewer').hidden")
    assert window.run("return location.hash") == ""
    assert window.run("return document.activeElement.getAttribute('href')") == "#game=2"


def test_mates_are_said_with_the_side(window):
    window.click("#games a[href='#game=1']")
    window.click("#moves button[data-ply='3']")
    assert window.text("#thought").startswith("mate in 1 for Black")
    window.click("#last")
    assert window.text("#thought").startswith("mate in 1 for Black")
    window.click("#next-game")
    window.click("#next-game")
    window.click("#last")
    assert window.text("#thought").startswith("mate in 1 for White")


def test_check_is_shown(window):
    checked = "return [...document.querySelectorAll('#board .check')].map((node) => [node.getAttribute('x'), node.getAttribute('y')])"
    window.click("#games a[href='#game=1']")
    window.click("#last")
    assert window.run(checked) == [["180", "315"]]  # e1
    assert "in check" in window.run("return document.querySelector('#board svg').getAttribute('aria-label')")
    window.click("#back")
    assert window.run(checked) == []


def test_the_best_line_is_shown_and_can_be_followed(window):
    window.click("#games a[href='#game=2']")
    window.click("#moves button[data-ply='4']")
    line = chess.Board()
    for move in LONG[:3]:
        line.push_uci(move)
    expected = line.variation_san([chess.Move.from_uci(move) for move in LONG[3:9]])
    assert expected == "2...d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3"
    assert " ".join(window.text("#line").split()).replace("... ", "...") == expected
    window.click("#line button[data-step='2']")
    assert board(window) == after(LONG[:6]).board_fen()
    window.press("ArrowRight")
    assert board(window) == after(LONG[:7]).board_fen()
    window.press("Escape")
    assert board(window) == after(LONG[:4]).board_fen()
    assert not window.run("return document.querySelector('#viewer').hidden")


def test_an_illegal_move_ends_a_line(window):
    window.click("#games a[href='#game=3']")
    window.click("#last")
    assert window.text("#line").split() == ["4.", "Qxf7#"]


def test_the_bar_of_evaluations(window):
    share = "const [part] = document.querySelector('#eval-bar').children; return parseFloat(part.style.height)"
    window.click("#games a[href='#game=1']")
    assert window.run(share) == 50
    window.click("#next")  # a third of a pawn for White
    assert 50 < window.run(share) < 60
    window.click("#last")  # Black mates
    assert window.run(share) < 1
    assert window.run("return document.querySelector('#eval-bar').getAttribute('aria-label')").startswith(
        "evaluation mate in 1"
    )


def test_copying(window):
    window.click("#games a[href='#game=2']")
    window.click("#moves button[data-ply='17']")  # castled
    window.click("#copy-fen")
    window.wait_for("return window.copied", 10)
    assert window.run("return window.copied") == after(LONG[:17]).fen()
    window.run("window.copied = ''")
    window.click("#copy-pgn")
    window.wait_for("return window.copied", 10)
    read = chess.pgn.read_game(io.StringIO(window.run("return window.copied")))
    assert read.errors == []
    assert [move.uci() for move in read.mainline_moves()] == LONG
    names = ("Event", "Date", "Round", "White", "Black", "Result")
    assert [read.headers[name] for name in names] == ["First - Second", "2024.05.06", "1", "Second", "First", "1/2-1/2"]


def test_from_game_to_game(window):
    window.click("#games a[href='#game=1']")
    assert window.run("return document.querySelector('#previous-game').disabled")
    window.click("#next-game")
    assert "game 2" in window.text("#game-note")
    window.press("n")
    assert "game 3" in window.text("#game-note")
    window.press("p")
    assert "game 2" in window.text("#game-note")


def test_the_cross_table_leads_to_games(window):
    window.run("document.querySelector('#cross-table button').click()")
    assert window.run("return document.querySelector('#filter-engine').value") in ("0", "1")
    assert window.run("return document.querySelector('#filter-opponent').value") in ("0", "1")
    assert len(all_of(window, "#games tbody tr", "1")) == 4
    top, height = window.run("return [document.querySelector('#games').getBoundingClientRect().top, innerHeight]")
    assert top < height
    window.click("#filter-clear")
    assert window.run("return document.querySelector('#filter-engine').value") == ""


# Keyboard and theme


def test_everything_works_by_keyboard(window):
    window.run("document.querySelector(\"#games a[href='#game=2']\").focus()")
    window.press("Enter")
    assert board(window) == chess.Board().board_fen()
    for _ in range(3):
        window.press("ArrowRight")
    assert board(window) == after(LONG[:3]).board_fen()
    window.press("ArrowLeft")
    window.run("document.querySelector('#eval-plot').focus()")
    window.press("ArrowRight")
    assert window.run("return document.querySelector('#eval-plot').getAttribute('aria-valuenow')") == "3"
    assert window.run("return document.querySelector('#eval-plot').getAttribute('aria-valuetext')").startswith("2. Nf3")
    window.run("document.querySelector('#filter-text').focus()")
    window.press("f")
    assert window.run("return view.flipped") is False
    window.click("#filter-clear")
    # From the first thing to the last.
    window.run("document.querySelector('#theme').focus()")
    visited = []
    for _ in range(80):
        visited.append(window.run("const at = document.activeElement; return at.id || at.dataset.key || at.tagName"))
        window.press("Tab")
        if visited[-1] == "game 1":
            break
    assert {
        "theme",
        "next",
        "copy-pgn",
        "close",
        "eval-plot",
        "filter-engine",
        "filter-text",
        "game 1",
        "game 4",
    } <= set(visited)


def test_the_theme_is_the_systems_until_it_is_chosen(chromium, report):
    name = "return document.documentElement.dataset.theme"
    for theme in THEMES:
        show(chromium, report, theme=theme)
        assert chromium.run(name) == theme
    chromium.click("#theme")
    assert chromium.run(name) == "light"
    show(chromium, report, theme="dark")
    assert chromium.run(name) == "light"  # remembered
    chromium.click("#theme")
    assert chromium.run(name) == "dark"
    show(chromium, report, theme="light")
    assert chromium.run(name) == "light"  # the system's again


def test_discs_are_black_and_white_in_every_theme(chromium, report):
    for theme in THEMES:
        show(chromium, f"{report}#game=2", theme=theme)
        colours = dict(all_of(chromium, ".player .disc", "[node.className, getComputedStyle(node).backgroundColor]"))
        light, dark = (
            sum(map(int, colours[f"disc {side}"][len("rgb(") : -1].split(","))) for side in ("white", "black")
        )
        assert light > 3 * 240
        assert dark < 3 * 40


# Phones and readers

SMALL_TEXT = """
const small = [];
for (const node of document.querySelectorAll("body *")) {
  const box = node.getBoundingClientRect();
  if (!box.width || ![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
  const scale = node instanceof SVGElement ? node.getScreenCTM().a : 1;
  const size = scale * parseFloat(getComputedStyle(node).fontSize);
  if (size < 10.99) small.push([node.tagName, node.textContent.slice(0, 20), size]);
}
return small;
"""


@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_is_too_small_to_read(chromium, report, screen):
    show(chromium, f"{report}#game=2&ply=5", screen)
    assert chromium.run(SMALL_TEXT) == []


def test_phones(chromium, report):
    show(chromium, f"{report}#game=2&ply=5", SCREENS[1])
    controls = all_of(chromium, "button, select, input", "[node.id, node.offsetWidth, node.offsetHeight]")
    assert [each for each in controls if each[1] and min(each[1:]) < 44] == []
    assert chromium.run("return document.documentElement.scrollWidth <= innerWidth")
    # A table that is too wide fades out where it goes on, until it is scrolled to its end.
    box = "const box = document.querySelector('#standings-table');"
    assert chromium.run(box + "return [box.dataset.more, box.scrollWidth > box.clientWidth]") == ["right", True]
    assert chromium.run(box + "return getComputedStyle(box).maskImage") != "none"
    chromium.run(box + "box.scrollLeft = 10000")
    chromium.wait_for(box + "return box.dataset.more === 'left'", 10)
    # Games are cards: nothing of them is beyond the edge.
    assert chromium.run(
        "return [...document.querySelectorAll('#games td')].every((cell) => cell.getBoundingClientRect().right <= innerWidth)"
    )
    lines = chromium.run(
        "return document.querySelector('#theme').getClientRects().length + ' ' + document.querySelector('#theme').offsetHeight"
    )
    assert lines == "1 44"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("screen", SCREENS)
def test_accessibility(chromium, report, screen, theme):
    _, missing = axe.source()
    if missing is not None:
        pytest.skip(missing)
    show(chromium, report, screen, theme)
    assert axe.problems(chromium) == []
    show(chromium, f"{report}#game=2&ply=5", screen, theme)
    assert axe.problems(chromium) == []

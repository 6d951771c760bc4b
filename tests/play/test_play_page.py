"""The page as people use it: games, analysis, review and the inside of the search, in a real browser."""

import time

import axe
import chess
import pytest
from desk import Hands

from board import Board
from play.pages import PlayServer
from play.session import Session
from play.storage import Store
from search import Limits, Searcher

SCREENS = [(1400, 900), (390, 844)]
SCHOLARS_MATE = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0"


class Desk(Hands):
    """The program and the browser that shows its page."""

    def __init__(self, window, directory, screen):
        super().__init__(window)
        self.directory, self.screen = directory, screen
        self.port = 0
        self.page = None

    def serve(self):
        self.page = PlayServer(Session(Store(self.directory)), self.port)
        self.page.start()
        self.port = self.page.server.port

    def show(self, tab="play", screen=None, scheme="light"):
        self.window.emulate(*(screen or self.screen), scheme)
        self.window.open("about:blank")  # another fragment alone would load nothing
        self.window.open(f"{self.page.address}#{tab}")
        self.window.run("localStorage.clear()")
        self.window.open("about:blank")
        self.window.open(f"{self.page.address}#{tab}")
        self.wait("news.state !== null")

    def close(self):
        self.page.close()

    def new_game(self, **settings):
        """A game with settings that the form may not have, such as a short clock."""
        self.page.session.new_game({"level": 800, "book": False, **settings})
        self.wait(f"play.game && play.game.id === '{self.page.session.game.id}'")

    def placed(self):
        """The men on the screen as a FEN has them."""
        return self.window.run("return fenOf(desk.board.shown.position).split(' ')[0]")


@pytest.fixture
def desk(request, chromium, tmp_path):
    """On a large screen; tests of what a small one makes difficult run on both."""
    opened = Desk(chromium, tmp_path, getattr(request, "param", SCREENS[0]))
    opened.serve()
    opened.show()
    yield opened
    chromium.open("about:blank")  # a page whose program is gone complains
    complaints = chromium.complaints()
    opened.close()
    assert complaints == []


on_both_screens = pytest.mark.parametrize("desk", SCREENS, indirect=True, ids=["large", "phone"])


def best_move(searcher, fen, moves):
    board = Board(fen)
    for move in moves:
        board.push_uci(move)
    return board.uci(searcher.think(board, Limits(nodes=20_000)).best)


@pytest.mark.parametrize("screen", SCREENS)
def test_a_whole_game_to_mate(desk, screen):
    """From the form to the end, against the weakest level; the moves are those of a search, so the person wins."""
    desk.show(screen=screen)
    desk.window.run("byId('level').value = 800; byId('control').value = ''; byId('book').checked = false")
    desk.window.click("#new-form button[type=submit]")
    desk.wait("play.game !== null")
    searcher = Searcher(megabytes=16)
    for _ in range(100):
        moves = desk.moves()
        if desk.window.run("return play.game.points !== null"):
            break
        move = best_move(searcher, chess.STARTING_FEN, moves)
        desk.type(move)
        desk.wait(f"play.moves.length > {len(moves)}")
        desk.answered(len(moves) + 2)
    searcher.close()
    assert desk.window.text("#game-status") == "You win: White mates"
    board = chess.Board()
    for move in desk.moves():
        board.push(board.parse_uci(move))
    assert board.is_checkmate()
    assert desk.placed() == board.board_fen()


def test_two_clicks_and_legal_targets(desk):
    desk.new_game(person=0)
    desk.click("g1")
    assert desk.window.run("return document.querySelectorAll('.target').length") == 2
    desk.click("g1")  # put back
    assert desk.window.run("return document.querySelectorAll('.target').length") == 0
    desk.click("g1", "f3")
    desk.answered(2)
    assert desk.moves()[0] == "g1f3"
    desk.click("f3", "f6")  # not a legal move
    time.sleep(0.2)
    assert len(desk.moves()) == 2


def test_castling_by_dragging(desk):
    desk.new_game(fen="4k3/8/8/8/8/8/3PPPPP/4K2R w K - 0 1")
    desk.drag("e1", "g1")
    desk.answered(2)
    assert desk.moves()[0] == "e1g1"
    assert "4k3" not in desk.placed().split("/")[7]
    assert desk.window.run("return desk.board.shown.position.squares[5]") == "R"


def test_castling_in_chess960_takes_the_rook(desk):
    desk.new_game(fen="4k3/8/8/8/8/8/3PPPPP/1R3K1R w HB - 0 1", chess960=True)
    desk.drag("f1", "h1")
    desk.answered(2)
    assert desk.moves()[0] == "f1h1"
    assert desk.window.run("return [desk.board.shown.position.squares[6], desk.board.shown.position.squares[5]]") == [
        "K",
        "R",
    ]


def test_en_passant(desk):
    desk.new_game(fen="4k3/7p/8/3pP3/8/8/8/4K3 w - d6 0 2")
    desk.drag("e5", "d6")
    desk.answered(2)
    assert desk.moves()[0] == "e5d6"
    assert desk.window.run("return desk.board.shown.position.squares[35]") is None


@on_both_screens
def test_promotion_asks_for_the_piece(desk):
    desk.new_game(fen="8/P6k/8/8/8/8/7p/K7 w - - 0 1")
    desk.click("a7", "a8")
    desk.wait("!document.querySelector('.promotion').hidden")
    names = desk.window.run(
        "return [...document.querySelectorAll('.promotion button')].map((each) => each.getAttribute('aria-label'))"
    )
    assert names == ["queen", "rook", "bishop", "knight"]
    desk.window.click(".promotion button:nth-child(4)")
    desk.answered(2)
    assert desk.moves()[0] == "a7a8n"


def test_taking_back(desk):
    desk.new_game()
    desk.type("e4")
    desk.answered(2)
    desk.window.click("#take-back")
    desk.wait("play.moves.length === 0")
    assert desk.placed() == chess.STARTING_BOARD_FEN
    assert desk.window.text("#game-status") == "Your move"


def test_a_draw_by_repetition(desk):
    """Black's king has two squares and nothing else to move, so the game cannot end in another way."""
    desk.new_game(fen="7k/4P2p/4P2P/8/8/8/8/7K w - - 0 1")
    for _ in range(8):
        plies = len(desk.moves())
        if desk.window.run("return play.game.points !== null"):
            break
        if desk.window.run("return Boolean(play.game.claim)"):
            desk.window.click("#claim-draw")
            desk.wait("play.game.points !== null")
            break
        desk.type("Kg1" if desk.page.session.game.board.king(chess.WHITE) == chess.H1 else "Kh1")
        desk.wait(f"play.moves.length > {plies}")
        desk.answered(plies + 2)
    assert desk.window.text("#game-status").startswith("Draw: draw by ")
    assert "repetition" in desk.window.text("#game-status")


def test_a_flag_falls_while_one_looks(desk):
    desk.new_game(control=[1_500, 0])
    assert desk.window.text("#player-bottom .clock").endswith(" s")
    desk.wait("play.game.points !== null")
    assert desk.window.text("#game-status") == "Quetzal wins: White's time is up"
    assert desk.window.text("#player-bottom .clock") == "0.00 s"


def test_an_illegal_move_is_answered_in_words(desk):
    desk.new_game()
    desk.type("Ke2")
    desk.wait("!byId('message').hidden")
    assert desk.window.text("#message") == "Ke2 is no legal move here"
    desk.window.complaints()  # browsers write every refused request to the console


def test_a_reload_in_the_middle(desk):
    desk.new_game(control=[600_000, 0])
    desk.type("e4")
    desk.answered(2)
    before = desk.moves()
    desk.window.open(desk.page.address)
    desk.wait("news.state !== null && play.moves.length >= 2")
    assert desk.moves() == before
    desk.type("Nf3")
    desk.answered(4)
    assert len(desk.moves()) == 4


def test_the_program_is_restarted_in_the_middle(desk):
    desk.new_game(control=[600_000, 0])
    desk.type("e4")
    desk.answered(2)
    before = desk.moves()
    desk.close()
    desk.wait("!news.isOnline")
    assert desk.window.text("#state") == "no connection"
    desk.window.complaints()
    desk.serve()
    desk.wait("news.isOnline")
    desk.wait("play.moves.length === 2 && isPersonsTurn()")
    assert desk.moves() == before
    desk.type("Nf3")
    desk.answered(4)
    assert desk.moves()[:3] == [*before, "g1f3"]
    desk.window.complaints()


def test_games_are_listed_opened_and_deleted(desk):
    desk.new_game()
    desk.page.session.resign()
    desk.new_game(person=1)
    desk.window.run("byId('games-box').open = true")
    desk.wait("document.querySelectorAll('#games li').length === 2")
    desk.window.run("window.confirm = () => true")
    desk.window.click("#games li:nth-child(2) button:nth-of-type(1)")
    desk.wait("play.game.points === 0")
    desk.window.click("#games li:nth-child(1) button:nth-of-type(3)")
    desk.wait("document.querySelectorAll('#games li').length === 1")


def test_the_board_is_played_with_the_keyboard(desk):
    desk.new_game()
    desk.window.run("desk.board.area.focus()")
    for key in ("ArrowUp", "Enter", "ArrowUp", "ArrowUp", "Enter"):  # from e1 to e2, and on to e4
        desk.window.press(key)
    desk.answered(2)
    assert desk.moves()[0] == "e2e4"


def san_lines(window):
    return window.run(
        "return [...document.querySelectorAll('.engine-line')].map((line) => "
        "[...line.querySelectorAll('.best-line button')].map((each) => each.textContent))"
    )


@on_both_screens
def test_analysis_shows_legal_lines_and_follows_the_tree(desk):
    desk.show("analyse")
    desk.window.click("#engine")
    desk.wait("document.querySelectorAll('.engine-line').length === 3")
    # Lines come one by one: for a moment the first of a depth stands beside the others of the depth before.
    first = "[...document.querySelectorAll('.engine-line')].map((line) => line.querySelector('.best-line button').textContent)"
    desk.wait(f"new Set({first}).size === 3")
    for line in san_lines(desk.window):
        board = chess.Board()
        for san in line:
            board.push_san(san)
        assert board.move_stack
    desk.drag("e2", "e4")
    desk.type("c5")
    desk.wait("byId('opening').textContent === 'Sicilian'")
    desk.wait("currentLines() !== null")
    for line in san_lines(desk.window):
        board = chess.Board("rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
        for san in line:
            board.push_san(san)
    desk.window.click("#engine")
    desk.wait("!news.state.analysis.running")
    # A second move from the same position is a variation, and is kept over a reload.
    desk.window.click("#back")
    desk.drag("e7", "e5")
    assert desk.window.text("#tree").split() == ["1.", "e4", "c5", "1...", "e5"]
    desk.window.open("about:blank")
    desk.window.open(f"{desk.page.address}#analyse")
    desk.wait("news.state !== null")
    assert desk.window.text("#tree").split() == ["1.", "e4", "c5", "1...", "e5"]


def test_a_line_is_shown_on_the_board_when_pointed_at(desk):
    desk.show("analyse")
    desk.window.click("#engine")
    desk.wait("document.querySelectorAll('.engine-line').length === 3")
    desk.window.click("#engine")
    desk.wait("!news.state.analysis.running")
    san = san_lines(desk.window)[0][:2]
    board = chess.Board()
    for each in san:
        board.push_san(each)
    desk.window.run("document.querySelectorAll('.engine-line .best-line button')[1].focus()")
    assert desk.placed() == board.board_fen()
    desk.window.run("document.activeElement.blur()")
    assert desk.placed() == chess.STARTING_BOARD_FEN


def test_the_button_of_the_engine_tells_what_runs(desk):
    desk.show("analyse")
    desk.window.click("#engine")
    desk.wait("news.state.analysis && news.state.analysis.running")
    desk.window.open("about:blank")
    desk.window.open(f"{desk.page.address}#analyse")
    desk.wait("news.state !== null")
    assert desk.window.text("#engine") == "engine: on"
    desk.window.click("#engine")
    desk.wait("!news.state.analysis.running")
    desk.window.click("#engine")
    desk.wait("news.state.analysis.running")
    desk.close()
    desk.wait("!news.isOnline")
    desk.serve()
    desk.wait("news.isOnline && news.state.analysis && news.state.analysis.running")
    assert desk.window.text("#engine") == "engine: on"
    desk.window.complaints()


def test_the_engine_may_go_without_tables(desk):
    desk.show("analyse")
    desk.window.run("openText('8/8/8/3k4/3b4/8/8/R3K3 w - - 0 1')")
    desk.wait("analysis.tree.root.position.number === 1 && analysis.tree.fen.startsWith('8/')")
    desk.window.click("#engine")
    desk.wait("currentLines() && currentLines().lines.every((line) => line.score.cp === 0)")  # as the tables say
    desk.window.click("#use-tables")
    desk.wait("!news.state.settings.Tables && currentLines() && currentLines().lines[0].score.cp > 0")
    desk.window.click("#engine")
    assert not desk.window.run("return byId('use-tables').checked")


def test_messages_are_shown_however_many_there_were(desk):
    for number in range(25):
        desk.page.session.say(f"message {number}")
    desk.wait("byId('message').textContent.endsWith('message 24')")
    desk.page.session.say("one more")
    desk.wait("byId('message').textContent === 'one more'")


def test_a_game_among_others_that_is_broken(desk):
    """It is found behind letters that JavaScript counts twice, and what is wrong with it stays to be read."""
    desk.show("analyse")
    text = '[White "A"]\n\n1. e4 {😀😀} *\n\n[White "B"]\n\n1. d4 d5 2. Ke5 *'
    desk.window.run("openText(arguments[0])", text)
    desk.wait("document.querySelectorAll('#set-up-games button').length === 2")
    desk.window.click("#set-up-games li:nth-child(2) button")
    desk.wait("analysis.tree.headers.White === 'B' && analysis.factsOf === analysis.tree.now")
    assert desk.window.run("return analysis.tree.mainLine().map((node) => node.san)") == ["d4", "d5"]
    assert desk.window.text("#message").startswith("This game is read as far as it goes")
    desk.window.run("openText('1. c4')")
    desk.wait("byId('message').hidden")


def focus(window):
    return window.run("return document.activeElement.closest('#tree, #game-moves') && document.activeElement.innerText")


def test_the_keyboard_stays_in_the_list_of_moves(desk):
    desk.new_game()
    desk.type("e4")
    desk.answered(2)
    desk.window.run("document.querySelector('#game-moves button').focus()")
    desk.window.press("Enter")
    assert focus(desk.window) == "e4"
    desk.window.press("ArrowRight")
    assert focus(desk.window) not in (None, "e4")
    desk.show("analyse")
    desk.window.run("openText('1. e4 e5 2. Nf3')")
    desk.wait("analysis.tree.mainLine().length === 3")
    assert desk.window.run("return document.querySelectorAll('#tree button[tabindex=\"0\"]').length") == 1
    desk.window.run("document.querySelectorAll('#tree button')[1].focus()")
    desk.window.press("Enter")
    assert focus(desk.window) == "e5"
    desk.window.press("ArrowRight")
    assert "Nf3" in focus(desk.window)
    desk.window.press("Home")
    assert focus(desk.window) is not None


def test_tables_and_reasons(desk):
    desk.show("analyse")
    desk.window.run("openText('7k/8/5K2/8/8/8/8/Q7 w - - 0 1')")
    desk.wait("!byId('tables-box').hidden")
    desk.window.run("byId('tables-box').open = true; byId('why-box').open = true; byId('values').click()")
    assert desk.window.text("#verdict") == "White to move: win"
    desk.wait("document.querySelectorAll('.value').length === 1")
    first = desk.window.text("#tables tbody tr button")
    desk.window.click("#tables tbody tr button")
    desk.wait("analysis.tree.now.move !== null")
    assert desk.window.text("#tree").split()[-1] == first


def begin_review(desk):
    desk.show("review")
    desk.window.run("byId('review-nodes').value = '20000'; openText(arguments[0])", SCHOLARS_MATE)
    desk.wait("analysis.tree.mainLine().length === 7")


@on_both_screens
def test_a_review_of_a_known_game(desk):
    begin_review(desk)
    desk.window.click("#review-start")
    desk.wait("review.found !== null && !byId('review-plot').hidden")
    errors = desk.window.text("#review-errors")
    assert "blunder 3... Nf6" in errors
    desk.window.run("[...document.querySelectorAll('#review-errors button')].pop().click()")
    assert "Nf6, blunder" in desk.window.text("#review-move")
    board = chess.Board()
    for san in ("e4", "e5", "Qh5", "Nc6", "Bc4", "Nf6"):
        board.push_san(san)
    assert desk.placed() == board.board_fen()
    desk.window.click("#review-analyse")
    assert "Nf6??" in desk.window.text("#tree")


def test_moves_behind_a_reviewed_game_have_no_verdict(desk):
    """Nor have variations, and a move keeps its verdict when another one becomes the main line."""
    begin_review(desk)
    desk.window.run("analysis.tree.remove(analysis.tree.end())")  # the game without its mate
    desk.window.click("#review-start")
    desk.wait("review.found !== null")
    desk.window.click("#last")
    assert "Nf6, blunder" in desk.window.text("#review-move")
    assert desk.window.run("return reviewedEvaluation().mate") == 1
    desk.type("a3")  # instead of the mate
    assert "a3" in desk.window.text("#tree")
    assert desk.window.text("#review-move") == ""
    assert desk.window.run("return reviewedEvaluation()") is None
    desk.window.click("#first")
    desk.type("d4")
    desk.window.click("#review-analyse")
    desk.window.click("#promote")
    assert desk.window.run("return analysis.tree.mainLine().map((node) => node.san)") == ["d4"]
    assert desk.window.run("return reviewedEvaluation()") is None
    desk.window.click("#tab-review")
    desk.window.run("[...document.querySelectorAll('#review-errors button')].pop().click()")
    assert "Nf6, blunder" in desk.window.text("#review-move")
    desk.window.click("#first")
    desk.type("e4")
    desk.window.run("byId('delete').click()")  # with all that was judged
    assert desk.window.run("return [...judgedLine(), ...document.querySelectorAll('#review-errors button')]") == []
    assert desk.window.run("return news.isOnline")


HOLD_REVIEW = """
    const fetchNow = window.fetch, held = new Promise((release) => { window.release = release; });
    window.fetch = async (...words) => { if (words[0] === "review.json") await held; return fetchNow(...words); };
"""


@pytest.mark.parametrize("other", [False, True])
def test_a_review_takes_nothing_away(desk, other):
    """Not what was added or deleted while it ran, and not another game that was opened."""
    begin_review(desk)
    desk.window.run(HOLD_REVIEW)
    desk.window.click("#review-start")
    desk.window.run("goToNode(analysis.tree.root)")
    desk.type("d4")
    desk.window.run("const { tree } = analysis; tree.remove(tree.end(tree.root)); goToNode(tree.root)")
    if other:
        desk.window.run("openText('1. c4 c5 2. Nc3')")
        desk.wait("analysis.tree.mainLine().length === 3")
    desk.window.run("window.release()")
    desk.wait("review.found !== null")
    if other:
        assert desk.window.run("return analysis.tree.mainLine().map((node) => node.san)") == ["c4", "c5", "Nc3"]
        assert desk.window.run("return byId('review-plot').hidden")
        desk.window.click("#review-open")
    shown = desk.window.text("#tree")
    assert "d4" in shown
    assert "Nf6??" in shown
    assert "Qxf7" not in shown
    assert desk.window.run("return byId('review-open').hidden && !byId('review-plot').hidden")


@on_both_screens
def test_inside_the_search(desk):
    desk.show("inside")
    values = []
    desk.window.run("byId('tree-depth').value = 3")
    for technique in ("minimax", "alphabeta-bad", "alphabeta-good", "engine"):
        desk.window.run(
            "byId('technique').value = arguments[0]; byId('technique').dispatchEvent(new Event('change'))", technique
        )
        desk.window.click("#record")
        desk.wait(f"inside.runs.has('{technique}') && !byId('record').disabled")
        values.append(desk.window.run(f"return inside.runs.get('{technique}').value"))
    assert values[0] == values[1] == values[2]
    assert "8,902" in desk.window.text("#tree-summary")
    assert desk.window.run("return document.querySelectorAll('#compared tbody tr').length") == 4
    before = desk.window.run("return document.querySelectorAll('.node').length")
    desk.window.click(".node[aria-expanded=false]")
    desk.wait(f"document.querySelectorAll('.node').length > {before}")
    desk.window.run("byId('iterate-depth').value = 6")
    desk.window.click("#iterate")
    desk.wait("document.querySelectorAll('#iterations tbody tr').length === 6")


def test_start_positions_of_chess960_are_pythons(desk):
    numbers = [0, 1, 17, 518, 534, 692, 959]
    found = desk.window.run("return arguments[0].map(startOf960)", numbers)
    for number, fen in zip(numbers, found, strict=True):
        assert fen == chess.Board.from_chess960_pos(number).shredder_fen()


@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_is_wider_than_the_screen(desk, screen):
    for tab in ("play", "analyse", "review", "inside"):
        desk.show(tab, screen)
        desk.new_game(control=[600_000, 0])
        assert desk.window.run("return document.documentElement.scrollWidth <= innerWidth"), tab


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_a_checker_of_accessibility_finds_nothing(desk, screen, scheme):
    _, missing = axe.source()
    if missing:
        pytest.skip(missing)
    for tab in ("play", "analyse", "review", "inside"):
        desk.show(tab, screen, scheme)
        desk.window.run("for (const each of document.querySelectorAll('details')) each.open = true")
        time.sleep(0.3)
        assert axe.problems(desk.window) == [], tab

"""OwnBook through the pipes: when the book answers, with what words, and when it is silent."""

import books
import chess
import chess.polyglot
import pytest
from gui import Gui

from book.opening.polyglot import default_book

GO = "go wtime 60000 btime 60000"


@pytest.fixture(scope="module")
def gui():
    with Gui() as gui:
        gui.ready()
        yield gui
        gui.quit()


@pytest.fixture
def fresh(gui):
    """All options that matter here at a known value, the own book on."""
    gui.send(
        "setoption name OwnBook value true",
        "setoption name BookFile value <empty>",
        "setoption name BookVariety value 0",
        "setoption name BookDepth value 40",
        "setoption name MultiPV value 1",
        "setoption name UCI_AnalyseMode value false",
        "setoption name UCI_Chess960 value false",
        "setoption name UCI_ShowWDL value false",
    )
    gui.ready()
    return gui


def play(gui, position="startpos", go=GO):
    return gui.ask(f"position {position}", go, until="bestmove")


def is_from_book(lines):
    return any(line.startswith("info string") and " from " in line and "book" in line for line in lines)


def use(gui, path):
    gui.send(f"setoption name BookFile value {path}")
    return gui.ready()[:-1]


def test_it_is_off_by_default():
    with Gui() as gui:
        lines = gui.ask("uci", until="uciok")
        assert "option name OwnBook type check default false" in lines
        assert "option name BookFile type string default <empty>" in lines
        assert not is_from_book(play(gui, go="go depth 2"))
        gui.quit()


def test_the_own_book_answers_at_once(fresh):
    lines = play(fresh)
    *others, info, best = lines
    assert is_from_book(others) and len(lines) == 3
    assert "Quetzal's own book" in others[0]
    words = best.split()
    board = chess.Board()
    with default_book() as book, chess.polyglot.open_reader(book.path) as reader:
        assert words[1] == reader.find(board).move.uci()
        board.push_uci(words[1])
        reply = reader.find(board)
    assert words[2:] == ["ponder", reply.move.uci()]
    fields = info.split()
    assert "score" in fields and fields[fields.index("pv") + 1 :][:2] == [words[1], words[3]]
    for text in fields[fields.index("pv") + 2 :]:
        board.push_uci(text)


def test_a_whole_opening_is_played_from_the_book(fresh):
    """At most variety, both sides: legal moves all the way until the book knows no more."""
    fresh.send("setoption name BookVariety value 100")
    for _ in range(3):
        board = chess.Board()
        while True:
            lines = play(fresh, "startpos moves " + " ".join(move.uci() for move in board.move_stack), "go depth 1")
            if not is_from_book(lines):
                break
            board.push_uci(lines[-1].split()[1])
        assert len(board.move_stack) >= 6


@pytest.mark.parametrize(
    "go", ["go movetime 50", "go depth 1", "go nodes 10", GO, "go btime 100 wtime 100 movestogo 3"]
)
def test_every_way_to_play_uses_the_book(fresh, go):
    assert is_from_book(play(fresh, go=go))


@pytest.mark.parametrize("go", ["go depth 2 searchmoves e2e4 d2d4", "go mate 1 nodes 100"])
def test_questions_are_not_answered_from_the_book(fresh, go):
    assert not is_from_book(play(fresh, go=go))


@pytest.mark.parametrize("option", ["UCI_AnalyseMode value true", "MultiPV value 2", "OwnBook value false"])
def test_analysis_does_not_use_the_book(fresh, option):
    fresh.send(f"setoption name {option}")
    assert not is_from_book(play(fresh, go="go depth 2"))


def test_infinite_analysis_does_not_use_the_book(fresh):
    fresh.send("position startpos", "go infinite")
    fresh.ready()
    assert not is_from_book(fresh.ask("stop", until="bestmove"))


@pytest.mark.parametrize("end", ["ponderhit", "stop"])
def test_pondering_waits_with_the_book_move(fresh, end):
    fresh.send("position startpos moves e2e4 e7e5", "go ponder wtime 60000 btime 60000")
    assert fresh.silent(0.3, "bestmove")
    lines = fresh.ask(end, until="bestmove")
    assert is_from_book(lines) and lines[-2].startswith("info depth ")


def test_chess960_has_no_book_and_says_so_once(fresh):
    fresh.send("setoption name UCI_Chess960 value true")
    first, second = (play(fresh, go="go depth 2") for _ in range(2))
    assert sum("UCI_Chess960" in line for line in first) == 1
    assert not any("UCI_Chess960" in line for line in second)
    assert not is_from_book(first + second)


def test_the_depth_of_the_book(fresh):
    fresh.send("setoption name BookDepth value 1")
    assert is_from_book(play(fresh))
    assert is_from_book(play(fresh, "startpos moves e2e4"))
    assert not is_from_book(play(fresh, "startpos moves e2e4 e7e5", "go depth 2"))
    fresh.send("setoption name BookDepth value 0")
    assert not is_from_book(play(fresh, go="go depth 2"))


def test_chances_are_shown_with_a_book_move(fresh):
    fresh.send("setoption name UCI_ShowWDL value true")
    info = play(fresh)[-2].split()
    assert sum(map(int, info[info.index("wdl") + 1 :][:3])) == 1000


def test_a_book_of_ones_own(fresh, tmp_path):
    path = books.write(tmp_path / "a b.bin", books.entry("", "a2a3", 5), books.entry("a2a3", "h7h6", 2))
    assert use(fresh, path) == []
    lines = play(fresh)
    assert "a b.bin" in lines[0] and lines[-1] == "bestmove a2a3 ponder h7h6"
    # What the book does not know is searched.
    assert not is_from_book(play(fresh, "startpos moves e2e4", "go depth 2"))


def test_castling_and_promotion_from_a_book(fresh, tmp_path):
    castles = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"
    promotes = "8/4P1k1/8/8/8/P7/8/K7 w - - 0 1"
    use(fresh, books.write(tmp_path / "c.bin", books.entry(castles, "e1a1"), books.entry(promotes, "e7e8n")))
    assert play(fresh, f"fen {castles}")[-1] == "bestmove e1c1"
    assert play(fresh, f"fen {promotes}")[-1] == "bestmove e7e8n"


def test_illegal_moves_and_weights_of_zero_are_not_played(fresh, tmp_path):
    path = tmp_path / "bad.bin"
    use(
        fresh,
        books.write(path, books.entry("", "e2e5", 900), books.entry("", "g1f3", 1), books.entry("e2e4", "e7e5", 0)),
    )
    assert play(fresh)[-1] == "bestmove g1f3"
    lines = play(fresh, "startpos moves e2e4", "go depth 2")
    assert any("weight 0" in line for line in lines) and not is_from_book(lines)


def test_a_book_does_not_repeat_into_a_draw(fresh, tmp_path):
    """The book goes back and forth; where that would repeat a position of the game, Quetzal thinks."""
    there = "startpos moves g1f3 g8f6 f3g1"
    path = books.write(tmp_path / "r.bin", books.entry("g1f3 g8f6 f3g1", "f6g8", 10), books.entry("", "g1f3", 10))
    use(fresh, path)
    lines = play(fresh, there, "go depth 2")
    assert not is_from_book(lines) and any("would repeat" in line for line in lines)
    # The same position set up without the game behind it may be played.
    fen = "rnbqkb1r/pppppppp/5n2/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 3 2"
    assert play(fresh, f"fen {fen}")[-1].startswith("bestmove f6g8")


def test_odd_files_are_named_and_the_game_goes_on(fresh, tmp_path):
    empty, text, cut = tmp_path / "empty.bin", tmp_path / "text.bin", tmp_path / "cut.bin"
    empty.write_bytes(b"")
    text.write_bytes(b"this is not a book\n" * 100)
    books.write(cut, books.entry("", "b2b3"))
    cut.write_bytes(cut.read_bytes() + b"12345")
    for path, word in ((empty, "empty"), (text, "no Polyglot book"), (tmp_path / "none.bin", "cannot be opened")):
        (line,) = use(fresh, path)
        assert line.startswith("info string") and word in line and str(path) in line
        assert is_from_book(play(fresh))  # the book before stays
    (line,) = use(fresh, cut)
    assert "cut off" in line
    assert play(fresh)[-1] == "bestmove b2b3"


def test_a_file_cut_short_by_another_program(fresh, tmp_path):
    path = books.write(tmp_path / "b.bin", books.entry("", "b2b3"))
    use(fresh, path)
    path.write_bytes(b"")
    lines = play(fresh, go="go depth 2")
    assert any("cut short" in line for line in lines)
    assert not any("cut short" in line for line in play(fresh, go="go depth 2"))
    use(fresh, "<empty>")
    assert is_from_book(play(fresh))

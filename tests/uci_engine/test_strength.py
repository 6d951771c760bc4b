"""Playing weaker: the ladder, the choice of moves, and what a weak player still sees."""

import itertools
import random
import re

import chess
import pytest
from gui import Gui
from support import ROOT, scaled

from board import Board
from search import Info, Limits, Searcher
from uci_engine.strength import LADDER, VISIBLE, LineCollector, choose, handicap, skill_elo, value
from uci_engine.wdl import wdl, wdl_of


def line(score, number=1, is_mate=False):
    return Info(5, 5, number, score, is_mate, "exact", 100, 100, 0, 0, 1, (number,))


def test_the_ladder_rises():
    assert (LADDER[0].elo <= 800, LADDER[-1].elo) == (True, 3000)
    for low, high in itertools.pairwise(LADDER):
        assert low.elo < high.elo
        assert low.handicap.nodes <= high.handicap.nodes
        assert low.handicap.lines >= high.handicap.lines
        assert low.handicap.spread > high.handicap.spread


def test_between_two_rungs_nothing_jumps():
    for elo in range(800, 3000, 10):
        weaker, stronger = handicap(elo), handicap(elo + 10)
        assert weaker.nodes <= stronger.nodes <= max(weaker.nodes * 1.7, weaker.nodes + 30)
        assert weaker.spread >= stronger.spread
        assert weaker.lines >= stronger.lines >= 1


def test_the_choice_is_bounded():
    """Never a move that is seen to lose more than the spread, and never more than a piece."""
    rng = random.Random(1)
    lines = [line(50, 1), line(20, 2), line(-60, 3), line(-350, 4), line(-900, 5)]
    for spread in (0.0, 40.0, 120.0, 420.0, 2000.0):
        chosen = {choose(lines, spread, rng) for _ in range(2000)}
        assert 0 in chosen
        assert all(50 - lines[index].score <= min(spread, VISIBLE) for index in chosen)


def test_better_moves_are_likelier():
    rng = random.Random(2)
    lines = [line(0, 1), line(-60, 2), line(-120, 3)]
    picks = [choose(lines, 150.0, rng) for _ in range(3000)]
    assert picks.count(0) > 2 * picks.count(1) > 2 * picks.count(2) > 0


def test_mates_are_not_overlooked():
    rng = random.Random(3)
    lines = [line(2, 1, True), line(900, 2), line(-1, 3, True)]
    assert {choose(lines, 2000.0, rng) for _ in range(500)} == {0}
    assert value(line(1, 1, True)) > value(line(5, 1, True)) > value(line(9000)) > value(line(-3, 1, True))
    assert value(line(-5, 1, True)) > value(line(-1, 1, True))


@pytest.mark.parametrize("elo", [800, 1200])
def test_no_queen_is_given_away(elo):
    """The weakest level, many times, where most moves lose the queen."""
    weakness = handicap(elo)
    searcher = Searcher(megabytes=1)
    searcher.multipv = weakness.lines
    for fen in (
        "rnb1kbnr/pppp1ppp/8/4p1q1/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 3",  # the bishop on c1 attacks the queen
        "rnbqkb1r/pppp1ppp/5n2/4p2Q/4P3/8/PPPP1PPP/RNB1KBNR w KQkq - 2 3",  # the knight on f6 does
    ):
        for seed in range(scaled(30)):
            collector = LineCollector()
            result = searcher.think(Board(fen), Limits(soft_nodes=weakness.nodes), collector)
            lines = collector.final_lines(result)
            chosen = lines[choose(lines, weakness.spread, random.Random(seed))]
            board = chess.Board(fen)
            board.push_uci(Board(fen).uci(chosen.pv[0]))
            queen = board.pieces(chess.QUEEN, not board.turn)
            assert not any(
                board.is_capture(move)
                and move.to_square in queen
                and not board.attackers(not board.turn, move.to_square)
                for move in board.legal_moves
            )
    searcher.close()


def test_strength_and_lines_go_together():
    """With MultiPV the played move heads the last set of lines; without the option nothing is weakened."""
    with Gui() as gui:
        gui.send("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 1000")
        for count in (1, 3):
            gui.send(f"setoption name MultiPV value {count}")
            for moves in ("", "e2e4", "e2e4 e7e5", "d2d4 d7d5 c2c4"):
                lines = gui.ask(f"position startpos moves {moves}", "go wtime 1000 btime 1000", until="bestmove")
                shown = [text for text in lines if " multipv " in text][-count:]
                assert [int(re.search(r"multipv (\d+)", text)[1]) for text in shown] == list(range(1, count + 1))
                assert shown[0].split(" pv ")[1].split()[0] == lines[-1].split()[1]
                assert len({text.split(" pv ")[1].split()[0] for text in shown}) == count
        gui.send("setoption name MultiPV value 1", "setoption name UCI_AnalyseMode value true")
        lines = gui.ask("position startpos", "go depth 9", until="bestmove")
        assert any(" depth 9 " in text for text in lines)
        gui.quit()


def test_levels_differ_in_what_they_see():
    """The same clock, different levels: the nodes that are searched rise with the rating."""
    with Gui() as gui:
        gui.send("setoption name UCI_LimitStrength value true")
        counts = []
        for elo in (900, 1600, 2100):
            gui.send("ucinewgame", f"setoption name UCI_Elo value {elo}")
            lines = gui.ask("position startpos moves e2e4", "go movetime 20000", until="bestmove")
            counts.append(int(re.search(r" nodes (\d+)", lines[-2])[1]))
        assert counts[0] < counts[1] < counts[2]
        gui.quit()


def nodes_of(gui, *options):
    """Nodes of a search whose clock would allow far more, from a fresh state."""
    gui.send("ucinewgame", *(f"setoption name {option}" for option in options))
    lines = gui.ask("position startpos moves e2e4", "go movetime 20000", until="bestmove")
    return int(re.search(r" nodes (\d+)", lines[-2])[1])


def test_skill_levels_are_ratings():
    """The document's mapping, spelt out; the same search as that rating's; and UCI_LimitStrength wins over it."""
    assert [skill_elo(level) for level in (0, 10, 19)] == [800, 1900, 2890]
    with Gui() as gui:
        off = "UCI_LimitStrength value false"
        low, high = nodes_of(gui, "Skill Level value 3"), nodes_of(gui, "Skill Level value 10")
        assert low < high
        on = "UCI_LimitStrength value true"
        assert nodes_of(gui, "Skill Level value 20", on, "UCI_Elo value 1900") == high
        assert nodes_of(gui, "Skill Level value 3") == high  # both are set
        assert nodes_of(gui, off) == low
        gui.send("setoption name Skill Level value 20")
        lines = gui.ask("position startpos", "go depth 9", until="bestmove")
        assert any(" depth 9 " in text for text in lines)
        gui.send("setoption name Skill Level value 0", "setoption name UCI_AnalyseMode value true")
        lines = gui.ask("position startpos", "go depth 9", until="bestmove")
        assert any(" depth 9 " in text for text in lines)
        gui.quit()


def test_an_endless_search_stays_endless():
    with Gui() as gui:
        gui.send("setoption name UCI_LimitStrength value true", "position startpos", "go infinite")
        gui.until("info depth 1")
        assert gui.silent(0.3, "bestmove")
        gui.ask("stop", until="bestmove")
        gui.quit()


def test_chances_are_chances():
    for weight in (0, 6, 12, 24):
        last = -1
        for score in range(-3000, 3001, 25):
            win, draw, loss = wdl(score, weight)
            assert win + draw + loss == 1000
            assert min(win, draw, loss) >= 0
            assert wdl(-score, weight) == (loss, draw, win)
            assert win >= last
            last = win
    assert wdl(3000, 24)[0] > 990
    assert wdl_of(True, 3, 10) == (1000, 0, 0)
    assert wdl_of(True, -3, 10) == wdl_of(True, 0, 10) == (0, 0, 1000)
    assert Board().phase == 24
    assert Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").phase == 0


def test_the_document_prints_the_ladder():
    text = (ROOT / "docs" / "limit-strength.md").read_text(encoding="utf-8")
    for number, rung in enumerate(LADDER):
        nodes, lines, spread = rung.handicap
        assert f"| {number} | {nodes:,} | {lines} | {spread:.0f} | {rung.elo} |" in text

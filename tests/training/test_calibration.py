"""Calibration: chances that are true come true, others are shown to be wrong."""

import random
import xml.etree.ElementTree as ElementTree

import calibrate_wdl
import pytest

from training.wdl_fit import calibration
from uci_engine.wdl import Model

TRUE = Model(170.0, 80.0, 60.0, 110.0)


def counts_of(model, positions=200_000, seed=3):
    """Results that a model is exactly right about."""
    dice = random.Random(seed)
    counts = {}
    for _ in range(positions):
        score, weight = 10 * dice.randint(-60, 60), dice.randint(0, 24)
        win, loss = model.chance(score, weight), model.chance(-score, weight)
        lot = dice.random()
        result = 1 if lot < win else 0 if lot < win + loss else 0.5
        counts[score, weight, result] = counts.get((score, weight, result), 0) + 1
    return counts


def test_true_chances_come_true():
    found = calibration(counts_of(TRUE), TRUE)
    assert len(found["win"]) == 10
    for promises in found.values():
        for promise in promises:
            # Every position is counted from both sides, so its independent results are half as many.
            deviation = (0.25 / (promise.positions / 2)) ** 0.5
            assert promise.kept == pytest.approx(promise.promised, abs=4 * deviation)
    assert sum(promise.positions for promise in found["win"]) == 400_000
    assert sum(promise.positions for promise in found["draw"]) == 200_000


def test_a_model_that_hopes_too_much_is_seen():
    hopeful = TRUE._replace(a_endgame=100.0, a_middlegame=20.0)
    likely = [promise for promise in calibration(counts_of(TRUE), hopeful)["win"] if 0.3 < promise.promised < 0.9]
    assert all(promise.kept < promise.promised - 0.05 for promise in likely)


def test_bins_by_hand():
    """One certain win seen twice from its winner's side: a chance near 1 came true, and one near 0 did not."""
    found = calibration({(1500, 24, 1): 2}, TRUE)
    assert [(promise.positions, promise.kept) for promise in found["win"]] == [(2, 0.0), (2, 1.0)]
    assert [(promise.positions, promise.kept) for promise in found["draw"]] == [(2, 0.0)]
    assert [round(promise.promised, 3) for promise in found["points"]] == [0.0, 1.0]


def test_the_script_plays_prints_and_plots(tmp_path, capsys):
    openings, chart = tmp_path / "openings.epd", tmp_path / "calibration.svg"
    openings.write_text("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n", encoding="ascii")
    arguments = ["--openings", str(openings), "--games", "2", "--nodes", "40", "--plot", str(chart)]
    assert calibrate_wdl.main(arguments) == 0
    assert len(capsys.readouterr().out.splitlines()) == 12
    texts = [element.text for element in ElementTree.parse(chart).iter() if element.tag.endswith("text")]
    assert {"winning", "drawing", "points"} <= set(texts)
    assert calibrate_wdl.main(["--openings", str(tmp_path / "none.epd")]) == 2

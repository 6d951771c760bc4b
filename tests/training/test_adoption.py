"""From a network's file to the one that is shipped: the fit of the win/draw/loss model, and what is written where."""

import hashlib
import json
import math
import random
import shutil

import adopt_network
import pytest
from networks import evaluating_with, random_network, write_network
from support import ROOT

from training.wdl_fit import fit, log_likelihood
from uci_engine.wdl import MODEL_FILE, Model, wdl

OPENINGS = """rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
"""
# What check_signature.py does, without a bench of many seconds.
SIGNATURE = """import json, pathlib, sys
assert sys.argv[1:] == ["--write"]
pathlib.Path("tests/data/signature.json").write_text(json.dumps({"8": 1}))
"""


def test_the_fit_finds_the_model_that_made_the_results():
    """100,000 results drawn by the formula of docs and wdl.py, written down once more."""
    true = {"endgame": (170.0, 60.0), "middlegame": (80.0, 110.0)}
    dice = random.Random(5)
    counts = {}
    for _ in range(100_000):
        score, weight = 10 * dice.randint(-60, 60), dice.randint(0, 24)
        a, b = (
            end + (early - end) * weight / 24 for end, early in zip(true["endgame"], true["middlegame"], strict=True)
        )
        win, loss = (1 / (1 + math.exp((a - points) / b)) for points in (score, -score))
        lot = dice.random()
        result = 1 if lot < win else 0 if lot < win + loss else 0.5
        counts[score, weight, result] = counts.get((score, weight, result), 0) + 1
    model, best = fit(counts)
    assert (model.a_endgame, model.b_endgame) == pytest.approx(true["endgame"], abs=5)
    assert (model.a_middlegame, model.b_middlegame) == pytest.approx(true["middlegame"], abs=5)
    truth = Model(true["endgame"][0], true["middlegame"][0], true["endgame"][1], true["middlegame"][1])
    assert best >= log_likelihood(counts, truth)


def test_the_shipped_model_belongs_to_the_shipped_network():
    model = json.loads((ROOT / "eval" / MODEL_FILE).read_text(encoding="utf-8"))
    assert model["network"] == hashlib.sha256((ROOT / "eval" / "default.qnn").read_bytes()).hexdigest()
    # At the score `a` half of the games are won.
    assert wdl(round(model["model"]["a_middlegame"]), 24)[0] == pytest.approx(500, abs=3)
    assert wdl(round(model["model"]["a_endgame"]), 0)[0] == pytest.approx(500, abs=3)


@pytest.fixture
def checkout(tmp_path):
    """As much of a checkout as the program writes to, with a history of one network."""
    for folder in ("eval", "docs", "scripts", "tests/data"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("default.qnn", MODEL_FILE):
        shutil.copy(ROOT / "eval" / name, tmp_path / "eval" / name)
    (tmp_path / "scripts" / "check_signature.py").write_text(SIGNATURE, encoding="utf-8")
    (tmp_path / "openings.epd").write_text(OPENINGS, encoding="utf-8")
    with evaluating_with("default.qnn"):
        yield tmp_path


def adopt(checkout, network, *more):
    arguments = (network, "--root", checkout, "--openings", checkout / "openings.epd", "--games", 4, "--nodes", 40)
    return adopt_network.main([str(word) for word in (*arguments, *more)])


def test_a_network_is_adopted(checkout, capsys):
    network = write_network(checkout / "tiny.qnn", random_network(32, seed=4))
    digest = hashlib.sha256(network.read_bytes()).hexdigest()
    entry = json.loads((ROOT / "docs" / "networks.json").read_text(encoding="utf-8"))[0]
    entry |= {"name": "t1", "accepted": False, "reason": "weaker with a clock"}
    entry["network"]["sha256"] = digest
    (checkout / "docs" / "networks.json").write_text(json.dumps([entry]), encoding="utf-8")
    assert adopt(checkout, network) == 0
    output = capsys.readouterr().out
    assert "32 neurons" in output and "the history has it as t1, rejected: weaker with a clock" in output
    assert "left to do" in output
    assert (checkout / "eval" / "default.qnn").read_bytes() == network.read_bytes()
    model = json.loads((checkout / "eval" / MODEL_FILE).read_text(encoding="utf-8"))
    assert model["network"] == digest
    assert sum(model["games"].values()) == 4
    assert model["positions"] > 4 and model["log_likelihood"] <= 0
    assert Model(**model["model"]).chance(10_000, 24) > 0.5
    assert json.loads((checkout / "tests" / "data" / "signature.json").read_text(encoding="utf-8")) == {"8": 1}
    assert not list((checkout / "eval").glob(".quetzal*"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"QZNN and nothing more", "bad.qnn"),
        (b"{}", "bad.qnn"),
        (b"what?", "neither a network"),
    ],
)
def test_what_is_no_network_changes_nothing(checkout, capsys, content, message):
    before = (checkout / "eval" / "default.qnn").read_bytes()
    if content is not None:
        (checkout / "bad.qnn").write_bytes(content)
    assert adopt(checkout, checkout / "bad.qnn") == 2
    assert message in capsys.readouterr().err
    assert (checkout / "eval" / "default.qnn").read_bytes() == before


def test_weights_are_no_network(checkout, capsys):
    assert adopt(checkout, ROOT / "eval" / "weights.json") == 2
    assert "is no network" in capsys.readouterr().err


def test_a_network_without_history_and_a_failing_signature_are_said(checkout, capsys):
    network = write_network(checkout / "tiny.qnn", random_network(32, seed=4))
    (checkout / "scripts" / "check_signature.py").write_text("raise SystemExit(3)", encoding="utf-8")
    assert adopt(checkout, network) == 2
    told = capsys.readouterr()
    assert "it is not in the history" in told.out
    assert "the signature is not written" in told.err


def test_an_interrupt_changes_nothing(checkout, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(adopt_network, "fit_model", interrupted)
    before = (checkout / "eval" / MODEL_FILE).read_bytes()
    network = write_network(checkout / "tiny.qnn", random_network(32, seed=4))
    assert adopt(checkout, network) == 130
    assert (checkout / "eval" / "default.qnn").read_bytes() == (ROOT / "eval" / "default.qnn").read_bytes()
    assert (checkout / "eval" / MODEL_FILE).read_bytes() == before

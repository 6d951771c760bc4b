"""The weights file: every feature named, explained and bounded; what does not fit is refused."""

import json
import subprocess
import sys

import pytest
from support import ROOT

from eval import GROUPS, WeightsError, load_weights
from eval import evaluate_classical as evaluate
from eval.weights import FEATURES, LAYOUT, current_weights
from eval.weights_file import format_weights, read_weights

SHIPPED = ROOT / "eval" / "weights.json"


def test_layout_has_no_gaps():
    place = 0
    for name, start, size in LAYOUT:
        assert start == place, name
        place += size
    assert len(current_weights()[0]) == len(current_weights()[1]) == place


def test_every_feature_is_explained():
    assert [feature.name for feature in FEATURES] == [name for name, _, _ in LAYOUT]
    for feature in FEATURES:
        assert feature.group in GROUPS
        assert feature.meaning
        assert "\n" not in feature.meaning
    assert {feature.group for feature in FEATURES} == set(GROUPS)


def test_file_is_loaded_as_written():
    text = SHIPPED.read_text(encoding="utf-8")
    features, middlegame, endgame = read_weights(text, LAYOUT, "weights.json")
    assert (middlegame, endgame) == current_weights()
    assert format_weights(features, middlegame, endgame, json.loads(text)["origin"]) == text


def test_textbook_weights_have_the_same_layout(tmp_path):
    output = tmp_path / "textbook.json"
    subprocess.run([sys.executable, ROOT / "scripts" / "textbook_weights.py", output], check=True)
    features, middlegame, _ = read_weights(output.read_text(encoding="utf-8"), LAYOUT, "textbook.json")
    assert [(feature.name, feature.start, feature.size) for feature in features] == list(LAYOUT)
    assert middlegame[:5] == [100, 320, 330, 500, 900]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_other_weights_change_the_score(tmp_path, encoding):
    """Also with the mark that Windows' editors put before the text."""
    from board import Board

    board = Board("4k3/8/8/8/8/8/P3P3/4K3 w - - 0 1")
    before = evaluate(board)
    document = json.loads(SHIPPED.read_text(encoding="utf-8"))
    document["features"][0]["mg"][0] += 50
    document["features"][0]["eg"][0] += 50
    changed = tmp_path / "weights.json"
    changed.write_text(json.dumps(document), encoding=encoding)
    try:
        load_weights(changed)
        assert evaluate(board) > before + 50
    finally:
        load_weights()
    assert evaluate(board) == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda document: document["features"].pop(3), "missing"),
        (lambda document: document["features"][0]["mg"].append(1), "6 'mg' values"),
        (lambda document: document["features"][0]["eg"].__setitem__(2, 4000), "no whole number"),
        (lambda document: document["features"][0]["eg"].__setitem__(2, 0.5), "no whole number"),
        (lambda document: document["features"][0].__setitem__("group", "luck"), "unknown group"),
        (lambda document: document["features"].append({"name": "luck"}), "unknown feature 'luck'"),
        (lambda document: document.__setitem__("format", 2), "format 2"),
        (lambda document: document.pop("features"), "no weights file"),
    ],
)
def test_file_that_does_not_fit_is_refused(tmp_path, damage, message):
    document = json.loads(SHIPPED.read_text(encoding="utf-8"))
    damage(document)
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    before = current_weights()
    with pytest.raises(WeightsError, match=message):
        load_weights(path)
    assert current_weights() == before


@pytest.mark.parametrize("text", ['{"format": ' + "9" * 5000 + "}", "[" * 100_000, "{"])
def test_text_that_cannot_be_read_is_refused_with_its_file(tmp_path, text):
    path = tmp_path / "damaged.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError, match="no weights file") as refusal:
        load_weights(path)
    assert str(refusal.value).startswith(f"{path}: ")

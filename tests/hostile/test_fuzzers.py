"""A short part of each fuzzer, from a seed; and the fuzzers themselves find what they are for, and keep it."""

import engine_output
import journal
import pytest
from support import scaled

FUZZERS = {"engines": (engine_output, "games"), "journals": (journal, "runs")}


@pytest.mark.parametrize("name", FUZZERS)
def test_nothing_gets_through(name, tmp_path):
    fuzzer, cases = FUZZERS[name]
    counts = fuzzer.run(20, 3600, tmp_path, most=scaled(100))
    assert counts[cases] == scaled(100)
    assert counts["problems"] == 0, [path.read_text("utf-8")[:500] for path in tmp_path.iterdir()]


# A defence that is taken away, and the fuzzer that has to notice.
DEFENCES = [
    ("engines", "arena.engine.visible", lambda text: text),
    ("engines", "arena.pgn.comment_text", lambda text: text),
    ("engines", "arena.engine.parse_info", None),
    ("journals", "arena.journal.check_record", lambda record, names: None),
    ("journals", "arena.journal.check_description", lambda description: None),
]


def careless_info(line):
    """Numbers of any length."""
    words = (line or "").split()
    return {name: int(words[words.index(name) + 1]) for name in ("depth", "nodes") if name in words}


@pytest.mark.parametrize(("name", "defence", "instead"), DEFENCES)
def test_what_is_found_is_kept_and_replays(name, defence, instead, tmp_path, monkeypatch):
    fuzzer, _ = FUZZERS[name]
    with monkeypatch.context() as patch:
        patch.setattr(defence if instead else "arena.game.parse_info", instead or careless_info)
        for seed in range(20, 60):
            if fuzzer.run(seed, 3600, tmp_path, most=25)["problems"]:
                break
        kept = sorted(tmp_path.iterdir())
        assert kept
        assert fuzzer.replay(kept[0]) is not None
    assert fuzzer.replay(kept[0]) is None

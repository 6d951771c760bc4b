"""The copy of the search that records its tree: made from the sources and from nothing else, it leaves them as they are,
and a label that is missing or makes no sense stops the build.
"""

import re

import pytest
import record_search
from record_search import DEFINITIONS, MADE, ROOT, SOURCES, Copyist, LabelError

from board import Board
from search.recorder import new_recording, record_engine, record_textbook


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def without_recording(text):
    """What is left of a copy when every trace of the recorder is taken out again."""
    text = re.sub(r"^ *record_(enter|skip|cutoff)\(.*\)\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"record_purpose\(worker, \d+\)", "worker", text)
    text = re.sub(r"return record_end\(worker, frame, \d+, (.*)\)$", r"return \1", text, flags=re.MULTILINE)
    return re.sub(r"return record_reason\(\d+\)", "return True", text)


def body(text):
    """The functions of a file, without comments at the end of lines."""
    text = re.sub(r"  # .*$", "", text, flags=re.MULTILINE)
    return re.findall(r"(?:^@.*\n)*^(?:def|cdef inline) .*\n(?:(?:[ )].*)?\n)*", text, re.MULTILINE)


@pytest.mark.parametrize("made, sources", [(MADE[0], SOURCES), (MADE[1], DEFINITIONS)])
def test_without_the_recorder_the_copy_is_the_search(made, sources):
    copied = [part.strip() for part in body(without_recording(text_of(made)))]
    original = [part.strip() for name in sources for part in body(text_of(name))]
    assert len(original) >= 2
    assert copied == original


def test_the_search_knows_nothing_of_the_recorder():
    for path in (ROOT / "search").glob("*.p*"):
        if path.suffix in (".py", ".pxd") and path.stem not in ("recorded", "recorder", "recording"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\brecord_\w+\(|search\.record", text), path.name


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A place for sources that are wrong."""
    monkeypatch.setattr(record_search, "ROOT", tmp_path)

    def copy(text, name="tree.py"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return Copyist().copy(name)

    return copy


@pytest.mark.parametrize(
    "source, problem",
    [
        ("def search_node(worker, frame):\n    x = 1\n    return alpha\n", "tree.py:3: a node ends here"),
        ("def search_node(worker, frame):\n    return alpha  # because\n", "tree.py:2: a node ends here"),
        ("def search_quiet(worker, frame):\n    x = 1  # recorded: one\n", "tree.py:2: nothing can be recorded"),
        ("def helper(worker):\n    return 1  # recorded: one\n", "tree.py:2: nothing can be recorded"),
    ],
)
def test_wrong_labels_are_refused(elsewhere, source, problem):
    with pytest.raises(LabelError, match=re.escape(problem)):
        elsewhere(source)


def test_a_return_that_hands_over_needs_no_label(elsewhere):
    source = "def search_node(worker, frame):\n    return search_quiet(worker, frame, alpha, beta)\n"
    assert elsewhere(source) == source


def test_nothing_is_written_when_nothing_has_changed():
    before = [(ROOT / name).stat().st_mtime_ns for name in MADE]
    record_search.make()
    assert [(ROOT / name).stat().st_mtime_ns for name in MADE] == before


def test_what_is_kept_is_bounded_and_what_is_counted_is_not():
    whole = new_recording("engine", 100_000)
    record_engine(whole, Board(), 5)
    assert whole.is_complete and len(whole) == sum(whole.sizes)
    small = new_recording("engine", 10)
    record_engine(small, Board(), 5)
    assert len(small) == 10 and not small.is_complete
    for field in ("nodes", "leaves", "sizes", "ends", "skips"):
        assert getattr(small, field) == getattr(whole, field)
    shallow = new_recording("engine", 100_000, most_level=2)
    record_engine(shallow, Board(), 5)
    assert len(shallow) == sum(whole.sizes[:2])


def test_a_question_that_fails_ends_the_search(monkeypatch):
    complaints = []
    monkeypatch.setattr("sys.excepthook", lambda kind, *_: complaints.append(kind))
    recording = new_recording("minimax", 100, cancelled=lambda: 1 // 0)
    record_textbook(recording, Board(), 4, "minimax")
    assert recording.was_cancelled and complaints == [ZeroDivisionError]
    assert recording.nodes < 10_000


def test_bad_arguments_are_refused():
    recording = new_recording("minimax", 100)
    with pytest.raises(ValueError, match="legal"):
        record_textbook(recording, Board(), 3, "minimax", line=(1,))
    with pytest.raises(ValueError, match="0 to 32 plies"):
        record_textbook(recording, Board(), 33, "minimax")
    with pytest.raises(ValueError, match="start at 1"):
        new_recording("minimax", 0)
    with pytest.raises(ValueError, match="no technique"):
        new_recording("negascout", 1)
    for index in (-1, 0):
        with pytest.raises(IndexError):
            recording.node(index)
        with pytest.raises(IndexError):
            recording.children(index)

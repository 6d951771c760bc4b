"""The search in one module: every function is there word for word, none of them is called through another module, and
what cannot be joined stops the build.
"""

import re

import join_search
import pytest
from join_search import MADE, MODULES, ROOT, JoinError, blocks, cimported, without_comments

from uci_engine import _build


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def functions(text):
    """Name and text of every function that a source or a definition has a body for."""
    found = {}
    for block in blocks(text):
        named = re.search(r"^(?:def|cdef inline [\w* ]*?) ?(\w+)\(", block, re.MULTILINE)
        if named:
            found[named[1]] = block
    return found


@pytest.mark.parametrize("ending, made", [(".py", MADE[0]), (".pxd", MADE[1])])
def test_every_function_is_there_word_for_word(ending, made):
    names = [module.replace(".", "/") + ending for module in MODULES]
    sources = [functions(text_of(name)) for name in names if (ROOT / name).exists()]
    wanted = {name: text for each in sources for name, text in each.items()}
    assert sum(map(len, sources)) == len(wanted) >= 20
    assert functions(text_of(made)) == wanted


def test_nothing_that_is_joined_is_called_through_a_pointer():
    inside = set(functions(text_of(MADE[0]))) | set(functions(text_of(MADE[1])))
    assert {"search_node", "search_quiet", "iterate", "next_move", "see_at_least", "make_move", "tt_probe"} <= inside
    for block in blocks(text_of(MADE[1])):
        code = without_comments(block)
        if code.startswith("from "):
            assert not inside & set(cimported(code)[1]), code


def test_the_parts_are_not_compiled_twice():
    parts = {"search.iterate", "search.quiescence", "search.tree"}
    assert not parts & set(_build.MODULES)
    assert {"search.joined", "search.recorded", "search.picker"} <= set(_build.MODULES)
    # But a change of theirs makes the core stale.
    assert {part.replace(".", "/") + ".py" for part in parts} <= set(_build.SOURCES)


def test_nothing_is_written_when_nothing_has_changed():
    before = [(ROOT / name).stat().st_mtime_ns for name in MADE]
    join_search.make()
    assert [(ROOT / name).stat().st_mtime_ns for name in MADE] == before


@pytest.mark.parametrize(
    "name, text, problem",
    [
        ("one.py", "import os\n\n\ndef first():\n    pass\n", "one: 'import os' cannot be joined"),
        ("one.py", "from search.clock import time_limits\n", "cannot be joined"),
        ("one.py", "LIMIT = 7\n", "one: 'LIMIT = 7' cannot be joined"),
        ("two.py", "def second():\n    pass\n\n\ndef first():\n    pass\n", "two and one both have a function 'first'"),
        ("one.pxd", "cdef class Thing:\n    cdef int size\n", "one: 'cdef class Thing:' cannot be joined"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path, monkeypatch, name, text, problem):
    monkeypatch.setattr(join_search, "ROOT", tmp_path)
    monkeypatch.setattr(join_search, "MODULES", ("one", "two"))
    for each in ("one", "two"):
        (tmp_path / f"{each}.pxd").write_text("cdef enum:\n    SIZE = 1\n", encoding="utf-8")
    (tmp_path / "one.py").write_text("import cython\n\n\ndef first():\n    pass\n", encoding="utf-8")
    join_search.joined()
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(JoinError, match=re.escape(problem)):
        join_search.joined()

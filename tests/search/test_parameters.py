"""The table of search parameters: complete, in range, and the same in the compiled block."""

import re
from pathlib import Path

import pytest
from searching import think
from support import quetzal

import search
from search.parameters import TABLE, reset, set_parameter, values

FEN = "r2q1rk1/1p2bppp/p1n1bn2/3pp3/4P3/1NN1BP2/PPPQ2PP/2KR1B1R w - - 0 12"


@pytest.fixture(autouse=True)
def defaults():
    yield
    reset()


def test_defaults_lie_in_their_ranges():
    for each in TABLE:
        assert each.least <= each.default <= each.most, each.name
        assert each.least < each.most, each.name
        assert 1 <= each.step <= each.most - each.least, each.name
        assert each.meaning and each.name == each.name.lower()
    assert len({each.name for each in TABLE}) == len(TABLE)


def test_the_struct_has_the_order_of_the_table():
    """`set_parameter` writes by position: the fields of the .pxd must be those of the table, in order."""
    text = (Path(search.__file__).parent / "parameters.pxd").read_text(encoding="utf-8")
    body = text.partition("cdef struct Parameters:")[2].partition("\ncdef ")[0]
    assert re.findall(r"^    int (\w+)", body, re.MULTILINE) == [each.name for each in TABLE]


def test_each_value_is_set_alone_and_reset():
    before = values()
    assert before == {each.name: each.default for each in TABLE}
    for each in TABLE:
        for value in {each.least, each.most}:
            set_parameter(each.name, value)
            assert values() == {**before, each.name: value}
        reset()
        assert values() == before


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_out_of_range(each):
    for value in (each.least - 1, each.most + 1):
        with pytest.raises(ValueError, match=f"{each.name} is {value}, but must lie between"):
            set_parameter(each.name, value)
    assert values()[each.name] == each.default


def test_unknown_name():
    with pytest.raises(ValueError, match="no search parameter 'use_magic'"):
        set_parameter("use_magic", 1)


@pytest.mark.parametrize("name", ["reduction_base", "reduction_divisor", "capture_reduction_divisor"])
def test_the_tables_of_reductions_follow(name):
    """They are computed from parameters, so a change must reach the search, and a reset must take it back."""
    (each,) = [each for each in TABLE if each.name == name]
    nodes = think(FEN, depth=8).info.nodes
    set_parameter(name, each.least)
    changed = think(FEN, depth=8).info.nodes
    set_parameter(name, each.most)
    assert {changed, think(FEN, depth=8).info.nodes} != {nodes}
    reset()
    assert think(FEN, depth=8).info.nodes == nodes


def test_every_extreme_can_be_searched_with():
    """No value of the ranges that a tuner may try breaks the search."""
    for each in TABLE:
        for value in (each.least, each.most):
            set_parameter(each.name, value)
            assert think(FEN, nodes=3_000).info.nodes == 3_000
            reset()


def test_tuning_options_appear_when_asked_for(monkeypatch):
    declared = [f"option name {each.name} type spin default {each.default}" for each in TABLE]
    monkeypatch.delenv("QUETZAL_TUNING", raising=False)
    plain = quetzal(stdin="uci\nquit\n").stdout
    assert not any(line in plain for line in declared)
    monkeypatch.setenv("QUETZAL_TUNING", "1")
    tuning = quetzal(
        stdin="uci\nsetoption name razoring_base value 77\nsetoption name razoring_base value 7\nquit\n"
    ).stdout
    assert all(line in tuning for line in declared)
    assert tuning.count("razoring_base lies between") == 1

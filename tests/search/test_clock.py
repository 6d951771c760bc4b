"""Time: the budget of a move never goes beyond what the clock can give, whatever the clock shows."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import scaled

from board import Board
from search import Limits, Searcher
from search.clock import budget, time_limits
from search.parameters import TABLE, reset, set_parameter

TIMES = st.integers(min_value=1, max_value=10**8)


@settings(max_examples=scaled(1000), deadline=None)
@given(TIMES, st.integers(0, 10**6), st.integers(0, 300), st.integers(0, 5000))
def test_never_more_than_the_clock_has(remaining, increment, moves_to_go, overhead):
    soft, hard = budget(remaining, increment, moves_to_go, overhead)
    # One millisecond is the least that can be asked for, even when the overhead has eaten the clock.
    most = max(1.0, remaining - overhead)
    assert 0 < soft <= most
    assert 0 < hard <= most
    # An increment is added after the move: it must not be spent before.
    assert hard <= max(1.0, 0.8 * (remaining - overhead)) + 1e-6


@settings(max_examples=scaled(500), deadline=None)
@given(TIMES, st.integers(0, 10**6), st.integers(0, 300), st.data())
def test_no_value_of_the_parameters_breaks_that(remaining, increment, moves_to_go, data):
    try:
        for each in TABLE:
            if each.name.startswith("time_"):
                set_parameter(each.name, data.draw(st.integers(each.least, each.most)))
        soft, hard = budget(remaining, increment, moves_to_go, 10)
    finally:
        reset()
    assert 0 < soft <= max(1.0, remaining - 10)
    assert 0 < hard <= max(1.0, remaining - 10)


@settings(max_examples=scaled(500), deadline=None)
@given(st.integers(200, 10**7), st.integers(0, 10**5), st.integers(0, 60))
def test_more_time_means_more_thought(remaining, increment, moves_to_go):
    soft, hard = budget(remaining, increment, moves_to_go, 10)
    softer, harder = budget(2 * remaining, increment, moves_to_go, 10)
    assert softer >= soft
    assert harder >= hard


@settings(max_examples=scaled(300), deadline=None)
@given(st.integers(100, 10**7), st.integers(2, 60))
def test_a_whole_time_control_fits_into_the_clock(remaining, moves):
    """Moves that all take their hard limit still reach the time control with time left."""
    left = float(remaining)
    for to_go in range(moves, 0, -1):
        _, hard = budget(left, 0, to_go, 10)
        left -= hard + 10 if left > 60 else hard
        if left <= 60:
            break  # what is left is less than the overheads: only the floor of a millisecond remains
    assert left > 0


def test_a_longer_game_asks_for_thrift():
    """The fewer moves must share the clock, the longer each may take."""
    shares = [budget(60_000, 0, moves, 10)[0] for moves in (1, 2, 5, 10, 20, 40)]
    assert shares == sorted(shares, reverse=True)


@settings(max_examples=scaled(300), deadline=None)
@given(TIMES, st.integers(0, 10**6), st.integers(0, 60), st.floats(0, 250))
def test_waits_for_a_processor_are_kept_in_reserve(remaining, increment, moves_to_go, stall):
    calm, busy = (budget(remaining, increment, moves_to_go, 10, each) for each in (0.0, stall))
    assert 0 < busy[0] <= calm[0]
    assert 0 < busy[1] <= calm[1]
    if remaining > 2000:
        assert remaining - 10 - busy[1] >= 2 * stall  # two more such waits do not lose the game


def test_a_time_per_move_keeps_a_wait_in_reserve():
    assert time_limits(Limits(movetime=1000), 20, 10, 90.0) == (900, 900)
    assert time_limits(Limits(movetime=100), 20, 10, 90.0) == (40, 40)  # but at most a half


@pytest.mark.skipif(sys.platform != "linux", reason="the processor time of a thread, as Linux tells it")
def test_the_search_notices_that_it_was_stopped():
    """Another process stops this one for a tenth of a second, as a system without a free processor does."""
    searcher = Searcher(megabytes=1)
    stop = (
        "import os, signal, sys, time; time.sleep(0.3); process = int(sys.argv[1]); os.kill(process, signal.SIGSTOP); "
    )
    go_on = "time.sleep(0.1); os.kill(process, signal.SIGCONT)"
    with subprocess.Popen([sys.executable, "-S", "-c", stop + go_on, str(os.getpid())]):
        searcher.think(Board(), Limits(movetime=1500))
    assert 90 <= searcher.stall <= 250
    noticed = searcher.stall
    for _ in range(32):
        searcher.think(Board(), Limits(movetime=2))
    assert searcher.stall < noticed  # forgotten slowly
    searcher.close()


def test_what_a_go_means_for_the_clock():
    """No limit, a time per move less the overhead, an only move at once, and of two limits the smaller one."""
    clock = Limits(remaining=60_000, increment=500)
    assert time_limits(Limits(depth=9), 20, 10) == (-1, -1)
    assert time_limits(Limits(movetime=1000), 20, 10) == (990, 990)
    assert time_limits(Limits(movetime=8), 20, 10) == (6, 6)  # the overhead never takes more than a quarter
    assert time_limits(Limits(movetime=1), 20, 10) == (1, 1)
    assert time_limits(clock, 20, 10) == budget(60_000, 500, 0, 10)
    assert time_limits(clock, 1, 10) == (0, budget(60_000, 500, 0, 10)[1])
    assert time_limits(clock._replace(movetime=50), 20, 10) == (40, 40)

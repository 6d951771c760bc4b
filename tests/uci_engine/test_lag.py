"""What the GUI's clock counts and the engine does not see, noticed from one `go` to the next."""

import time

from search import Limits, Searcher
from uci_engine.engine import Engine
from uci_engine.go import parse_go
from uci_engine.lag import Lag


def test_the_difference_between_two_clocks():
    """100 ms thought, 10 ms gained, and yet the clock shows 70 ms less than that: 70 ms were lost on the way."""
    lag = Lag()
    now = time.monotonic()
    assert lag.started(2, Limits(remaining=1000, increment=10), now - 0.1) == 0
    lag.answered()
    lost = lag.started(4, Limits(remaining=840, increment=10), now)
    assert 65 <= lost < 70.01  # the difference of two clocks' times, in floating point


def test_a_clock_that_was_filled_up_has_lost_nothing():
    lag = Lag()
    now = time.monotonic()
    lag.started(2, Limits(remaining=1000), now)
    lag.answered()
    assert lag.started(4, Limits(remaining=60_000), now) == 0


def test_nothing_is_known_about_another_move_or_without_a_clock():
    now = time.monotonic()
    for move, limits in ((6, Limits(remaining=100)), (4, Limits(depth=3))):
        lag = Lag()
        lag.started(2, Limits(remaining=1000), now)
        lag.answered()
        assert lag.started(move, limits, now) == 0
    lag = Lag()
    lag.started(2, Limits(remaining=1000, ponder=True), now)
    lag.answered()
    assert lag.started(4, Limits(remaining=100), now) == 0


def answer(engine, moves, words):
    lines = len(engine.write.__self__)
    engine.set_position(None, moves.split())
    engine.go(parse_go(words.split()), lambda: None, time.monotonic())
    engine.searcher.wait()
    while not any(line.startswith("bestmove") for line in engine.write.__self__[lines:]):
        time.sleep(0.001)


def test_an_engine_keeps_the_lost_time_in_reserve():
    lines = []
    engine = Engine(lines.append)
    answer(engine, "", "wtime 2000 btime 2000")
    answer(engine, "e2e4 e7e5", "wtime 1500 btime 2000")
    assert engine.searcher.stall > 200  # at most 260 of the 500 ms were thought for
    engine.new_game()
    answer(engine, "", "wtime 300 btime 300")
    engine.close()


def test_a_wait_is_bounded_and_the_longest_counts():
    searcher = Searcher(megabytes=1)
    searcher.note_wait(80.0)
    searcher.note_wait(20.0)
    assert searcher.stall == 80.0
    searcher.note_wait(3_600_000.0)
    assert searcher.stall == 250.0
    searcher.close()

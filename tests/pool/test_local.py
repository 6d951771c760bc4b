"""The pool of this machine: results in order, lost work done again and counted once, an end within a moment."""

import sys
import time

import pytest
from pool_work import Squares, Unsendable, times_done

from pool.local import LocalPool
from pool.tasks import Ordered, PoolError, Unfit

FORMS = pytest.mark.parametrize("in_process", [False, True], ids=["threads", "processes"])
LINUX = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")


def results(work, numbers, slots=2, **more):
    return list(Ordered(LocalPool(work, slots), numbers, **more).results())


@FORMS
def test_results_come_in_the_order_of_the_tasks(in_process):
    parts = []
    found = results(Squares("slow", in_process=in_process), range(30), slots=3, on_part=parts.append)
    assert found == [number * number for number in range(30)]
    assert sorted(parts) == sorted(f"about {number}" for number in range(30))


@FORMS
def test_what_a_task_raises_is_raised(in_process):
    with pytest.raises(KeyError, match="seven"):
        results(Squares("raises", in_process=in_process), range(20))


def test_an_exception_that_cannot_be_sent_is_said():
    with pytest.raises(RuntimeError, match="Unsendable"):
        results(Squares("unsendable", in_process=True), range(20))
    with pytest.raises(Unsendable):
        results(Squares("unsendable"), range(20))


@FORMS
def test_a_place_that_is_not_fit_is_said(in_process):
    with pytest.raises(Unfit, match="seven is too much here"):
        results(Squares("unfit", in_process=in_process), range(20))


@LINUX
def test_a_task_whose_process_dies_is_done_again(tmp_path):
    said = []
    work = Squares("dies once", folder=str(tmp_path), in_process=True)
    assert results(work, range(20), on_warning=said.append) == [number * number for number in range(20)]
    assert said == ["a worker died; number 7 is begun again"]
    assert [times_done(tmp_path, number) for number in range(20)] == [2 if number == 7 else 1 for number in range(20)]


@LINUX
def test_a_task_that_ends_every_process_ends_the_run(tmp_path):
    work = Squares("dies", folder=str(tmp_path), in_process=True)
    with pytest.raises(PoolError, match="number 7 ended 3 workers"):
        results(work, range(20))
    assert times_done(tmp_path, 7) == 3


@FORMS
def test_a_pool_ends_within_a_moment(in_process):
    """In the middle of a task that would take ten minutes."""
    pool = LocalPool(Squares("waits", in_process=in_process), 2)
    pool.give(7)
    while (event := pool.event(60)) is None or event.kind != "part":
        pass
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < 5
    assert not any(slot.is_alive() for slot in pool.threads)


def test_what_nobody_has_begun_is_taken_back():
    pool = LocalPool(Squares("waits"), 1)
    ordered = Ordered(pool, [7, 8, 9, 10])
    ordered.fill()
    while (event := pool.event(60)) is None or event.kind != "part":
        pass
    ordered.begin_no_more()
    assert list(pool.tasks.values()) == [7]
    pool.threads[0].doer.give_up()
    pool.close()


def test_an_ended_run_keeps_what_is_being_done():
    ordered = Ordered(LocalPool(Squares("slow"), 2), range(1000))
    stream = ordered.results()
    found = [next(stream)]
    ordered.begin_no_more()
    found += stream
    assert found == [number * number for number in range(len(found))]
    assert len(found) <= 9


def test_an_end_is_heard_while_no_result_comes():
    """Ctrl-C did nothing as long as all workers were stalled: it was looked at when a result had come."""
    pool = LocalPool(Squares("waits"), 1)
    ordered = Ordered(pool, [7, 8, 9, 10])
    asked = []
    results = ordered.results(
        is_stopped=lambda: ordered.is_ending and list(pool.tasks.values()) == [7],
        is_ending=lambda: asked.append(1) or len(asked) > 3,
    )
    assert list(results) == []
    assert len(asked) == 4


def test_no_more_slots_than_work():
    pool = LocalPool(Squares(), 8)
    ticket = pool.give(3)
    while (event := pool.event(60)) is None or event.kind != "result":
        pass
    assert (event.ticket, event.value, pool.busy) == (ticket, 9, 0)
    assert len(pool.threads) == 1
    pool.close()

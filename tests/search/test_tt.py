"""The transposition table: what it keeps, what it forgets, and that threads cannot break it."""

import threading

import pytest
from support import scaled

from search import Searcher
from search.workbench import TableBench

MATE, TB_WIN, DECIDED = 32000, 31000, 30000
NO_SCORE = 32002
UPPER, LOWER, EXACT = 1, 2, 3
KEY = 0x9E3779B97F4A7C15


def keys_of_bucket(table, bucket, count):
    """Different keys that all fall into one bucket: the high bits choose it."""
    base = -(-(bucket << 64) // table.buckets)
    return [base + number for number in range(1, count + 1)]


@pytest.mark.parametrize("megabytes", [1, 2, 3, 7, 16, 33])
def test_the_size_is_exact(megabytes):
    assert TableBench(megabytes).size == megabytes << 20


def test_what_goes_in_comes_out():
    table = TableBench(1)
    assert not table.probe(KEY)["hit"]
    for score in (-19999, -1, 0, 1, 19999):
        for evaluation in (-20000, 0, 20000):
            for depth in (0, 1, 100, 239):
                table.clear()
                table.store(KEY, move=4711, score=score, evaluation=evaluation, depth=depth, bound=EXACT, was_pv=True)
                assert table.probe(KEY) == {
                    "hit": True,
                    "was_pv": True,
                    "move": 4711,
                    "score": score,
                    "evaluation": evaluation,
                    "depth": depth,
                    "bound": EXACT,
                }
                assert not table.probe(KEY ^ 1)["hit"]


def test_an_evaluation_alone():
    """A leaf may be kept without a score."""
    table = TableBench(1)
    table.store(KEY, evaluation=-55, depth=-1, bound=0)
    found = table.probe(KEY)
    assert (found["hit"], found["score"], found["evaluation"], found["depth"]) == (True, NO_SCORE, -55, -1)


@pytest.mark.parametrize("distance", [1, 2, 15, 90])
@pytest.mark.parametrize("sign", [1, -1])
def test_mates_count_from_where_they_are_found(sign, distance):
    """Stored at ply 10 as mate `distance` plies on; found again at ply 4, it is as many plies on from there."""
    table = TableBench(1)
    table.store(KEY, score=sign * (MATE - 10 - distance), ply=10, bound=EXACT)
    for ply in (0, 4, 10, 30):
        assert table.probe(KEY, ply=ply)["score"] == sign * (MATE - ply - distance)


@pytest.mark.parametrize("sign", [1, -1])
def test_table_wins_count_likewise(sign):
    table = TableBench(1)
    table.store(KEY, score=sign * (TB_WIN - 7), ply=5, bound=EXACT)
    assert table.probe(KEY, ply=3)["score"] == sign * (TB_WIN - 5)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_mate_beyond_the_fifty_move_rule_is_only_a_promise(sign):
    table = TableBench(1)
    table.store(KEY, score=sign * (MATE - 20), bound=EXACT)
    assert table.probe(KEY, halfmove_clock=79)["score"] == sign * (MATE - 20)
    assert abs(table.probe(KEY, halfmove_clock=80)["score"]) < DECIDED


def test_a_bucket_holds_four_and_the_shallowest_goes():
    table = TableBench(1)
    keys = keys_of_bucket(table, 123, 6)
    for key, depth in zip(keys, (9, 3, 7, 5, 4, 8), strict=True):
        table.store(key, depth=depth, move=depth)
    assert [table.probe(key)["hit"] for key in keys] == [True, False, True, True, False, True]


def test_old_entries_go_first():
    """A deep entry of an earlier search gives way to shallow ones of this search, when enough time has passed."""
    table = TableBench(1)
    *fresh, newest = keys_of_bucket(table, 5, 5)
    table.store(fresh[0], depth=20)
    for _ in range(5):
        table.new_search()
    for key in fresh[1:]:
        table.store(key, depth=2)
    table.store(newest, depth=1)
    assert not table.probe(fresh[0])["hit"]
    assert all(table.probe(key)["hit"] for key in (*fresh[1:], newest))


def test_the_generation_wraps():
    table = TableBench(1)
    for _ in range(100):
        table.new_search()
        table.store(KEY, depth=3, move=7)
        assert table.probe(KEY)["hit"]
        assert 0 <= table.generation < 32


def test_a_clearly_deeper_result_of_this_search_stays():
    table = TableBench(1)
    table.store(KEY, depth=12, score=50, bound=LOWER, move=77)
    table.store(KEY, depth=3, score=-50, bound=UPPER, move=88)
    assert (table.probe(KEY)["depth"], table.probe(KEY)["move"]) == (12, 77)
    table.store(KEY, depth=3, score=-50, bound=EXACT, move=88)
    assert (table.probe(KEY)["depth"], table.probe(KEY)["move"]) == (3, 88)
    # In a later search the old depth does not count.
    table.store(KEY, depth=12, score=50, bound=LOWER, move=77)
    table.new_search()
    table.store(KEY, depth=3, score=-50, bound=UPPER, move=88)
    assert table.probe(KEY)["depth"] == 3


def test_a_known_move_is_kept_when_the_new_result_has_none():
    table = TableBench(1)
    table.store(KEY, depth=3, move=99, bound=LOWER)
    table.store(KEY, depth=5, move=0, bound=UPPER)
    assert (table.probe(KEY)["move"], table.probe(KEY)["depth"]) == (99, 5)


def test_torn_entries_are_misses():
    """Two threads write one entry at once: one word of each survives. No key fits such an entry."""
    table = TableBench(1)
    bucket = KEY * table.buckets >> 64
    table.store(KEY, depth=3, move=1, score=10)
    first = table.words(bucket, 0)
    table.store(KEY, depth=4, move=2, score=-10)
    second = table.words(bucket, 0)
    table.overwrite(bucket, 0, first[0], second[1])
    assert not table.probe(KEY)["hit"]
    table.overwrite(bucket, 0, second[0], first[1])
    assert not table.probe(KEY)["hit"]
    table.overwrite(bucket, 0, *second)
    assert table.probe(KEY)["move"] == 2
    # Any single bit that changes makes the entry unreadable.
    for bit in range(64):
        table.overwrite(bucket, 0, second[0] ^ 1 << bit, second[1])
        assert not table.probe(KEY)["hit"]
        table.overwrite(bucket, 0, second[0], second[1] ^ 1 << bit)
        assert not table.probe(KEY)["hit"]


def test_an_empty_entry_is_not_the_position_with_key_zero():
    assert not TableBench(1).probe(0)["hit"]


def test_hashfull_counts_this_search():
    table = TableBench(1)
    assert table.hashfull() == 0
    step = (1 << 64) // table.buckets
    for bucket in range(table.buckets):
        for slot in range(2):  # two of four entries in every bucket
            table.store(bucket * step + step // 2 + slot, depth=1)
    assert table.hashfull() == 500
    table.new_search()
    assert table.hashfull() == 0


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_clear_forgets_everything(parts):
    """Several threads may each empty a part: nothing is left between the parts."""
    table = TableBench(1)
    step = (1 << 64) // table.buckets
    keys = [bucket * step + step // 2 for bucket in range(table.buckets)]
    for key in keys:
        table.store(key, depth=1, move=5)
    assert all(table.probe(key)["hit"] for key in keys[:: scaled(50)])
    table.clear(parts)
    assert not any(table.probe(key)["hit"] for key in keys)
    assert table.words(table.buckets - 1, 3) == (0, 0)


def test_resize_starts_empty():
    table = TableBench(2)
    table.store(KEY, depth=5)
    table.resize(3)
    assert (table.size, table.probe(KEY)["hit"], table.hashfull()) == (3 << 20, False, 0)


def test_a_table_that_is_too_large_leaves_the_old_one():
    table = TableBench(1)
    table.store(KEY, depth=5)
    with pytest.raises(MemoryError):
        table.resize(1 << 35)
    assert table.probe(KEY)["hit"]
    searcher = Searcher(megabytes=2)
    with pytest.raises(MemoryError):
        searcher.set_hash(1 << 35)
    assert searcher.megabytes == 2
    with pytest.raises(ValueError, match="at least 1 MB"):
        searcher.set_hash(0)


def test_threads_hammer_one_bucket():
    """Eight keys fight for four entries, from several threads at once. What is found always fits together."""
    table = TableBench(1)
    results = []
    threads = [
        threading.Thread(target=lambda seed=seed: results.append(table.hammer(seed, scaled(1_500_000), 8)))
        for seed in (11, 222, 3333, 44444)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert sum(hits for hits, _ in results) > 100
    assert sum(wrong for _, wrong in results) == 0

"""Which rows of the first layer a side's own king chooses: the board's squares in buckets. docs/network.md explains them.

A side sees the board mirrored if its king stands on the files e to h, so only the files a to d need a bucket. A table has
these 32 squares rank by rank from a1 on; its numbers count from 0 without a gap.
"""

SQUARES = 32
MOST_BUCKETS = 8

# A bucket's number for the files a to d, rank after rank. Each map splits one bucket of the map before it, so that a
# network with fewer buckets can go on learning with more. Kings stand on the first rank most of the time.
_MAPS = {
    1: "0000 0000 0000 0000 0000 0000 0000 0000",
    2: "0000 1111 1111 1111 1111 1111 1111 1111",
    3: "0011 2222 2222 2222 2222 2222 2222 2222",
    4: "0011 2222 3333 3333 3333 3333 3333 3333",
    5: "0011 2233 4444 4444 4444 4444 4444 4444",
    6: "0011 2233 4444 4444 4444 5555 5555 5555",
    7: "0122 3344 5555 5555 5555 6666 6666 6666",
    8: "0123 4455 6666 6666 6666 7777 7777 7777",
}


def bucket_table(count):
    """The table of a new network with so many buckets."""
    return tuple(int(mark) for mark in _MAPS[count].replace(" ", ""))


ONE_BUCKET = bucket_table(1)


def is_bucket_table(table):
    """Also for what stands in a file: anything at all."""
    return (
        isinstance(table, (list, tuple))
        and len(table) == SQUARES
        and all(type(bucket) is int and 0 <= bucket < MOST_BUCKETS for bucket in table)
        and set(table) == set(range(max(table) + 1))
    )


def origins(table, older):
    """For each bucket of a table the older table's bucket that it is a part of; None if there is one that is not."""
    found = {}
    for bucket, origin in zip(table, older, strict=True):
        if found.setdefault(bucket, origin) != origin:
            return None
    return [found[bucket] for bucket in sorted(found)]

"""Sorted runs of a book's entries; a good book is one. Compiled, because books of a hundred megabytes are common."""

import cython
from cython.cimports.board.types import u8, u64

ENTRY_BYTES = 16


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _key(data: cython.pointer(cython.const[u8])) -> u64:
    """A key as the file has it, the highest byte first. Compilers make one instruction of it."""
    key: u64 = 0
    index: cython.int
    for index in range(8):
        key = key << 8 | data[index]
    return key


def ascending_runs(data: cython.const[u8][:], most: int) -> list[tuple[int, int]]:
    """Splits the complete 16-byte entries of `data` into runs whose keys never fall: [(first, behind the last)].

    Gives up after `most` runs and returns one more than that.
    """
    count: cython.Py_ssize_t = data.shape[0] // 16
    limit: cython.Py_ssize_t = most
    index: cython.Py_ssize_t
    start: cython.Py_ssize_t = 0
    previous: u64
    key: u64
    runs = []
    if count == 0:
        return runs
    start_of_data: cython.pointer(cython.const[u8]) = cython.address(data[0])
    previous = _key(start_of_data)
    for index in range(1, count):
        key = _key(start_of_data + 16 * index)
        if key < previous:
            runs.append((start, index))
            start = index
            if len(runs) > limit:
                return runs
        previous = key
    runs.append((start, count))
    return runs

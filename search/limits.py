"""The look at the limits from inside the tree: the stop flag, the clock, the node count of all threads."""

import cython
from cython.cimports.board.types import u64
from cython.cimports.search.clock import hard_stop
from cython.cimports.search.platform import load_flag, store_flag
from cython.cimports.search.state import Shared


def poll(worker):
    """Looks at the limits that can end a search from outside: the stop flag, the clock, the node count."""
    shared: cython.pointer(Shared) = worker.shared
    total: u64 = 0
    index: cython.int
    if load_flag(cython.address(shared.stop)):
        worker.stopped = True
        return
    if worker.index != 0:
        return
    if not load_flag(cython.address(shared.pondering)) and hard_stop(cython.address(shared.clock)):
        worker.stopped = True
    if shared.limits.nodes != 0 and shared.threads > 1:
        for index in range(shared.threads):
            total += shared.workers[index].nodes
        if total >= shared.limits.nodes:
            worker.stopped = True
    if worker.stopped:
        store_flag(cython.address(shared.stop), 1)

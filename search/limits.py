"""The look at the limits from inside the tree: the stop flag, the clock, the node count of all threads."""

import cython
from cython.cimports.board.types import u64
from cython.cimports.search.clock import hard_stop, watch_processor
from cython.cimports.search.platform import load_flag, load_word, store_flag
from cython.cimports.search.state import Shared


def poll(worker):
    """Looks at the limits that can end a search from outside: the stop flag, the clock, the node count.

    Every thread does. Where many threads share few processors, the first one may not run for a long time.
    """
    shared: cython.pointer(Shared) = worker.shared
    total: u64 = 0
    index: cython.int
    if worker.index == 0:
        watch_processor(cython.address(shared.clock))
    if not load_flag(cython.address(shared.stop)):
        if not load_flag(cython.address(shared.pondering)) and hard_stop(cython.address(shared.clock)):
            store_flag(cython.address(shared.stop), 1)
        if shared.limits.nodes != 0 and shared.threads > 1:
            for index in range(shared.threads):
                total += load_word(cython.address(shared.workers[index].nodes))
            if total >= shared.limits.nodes:
                store_flag(cython.address(shared.stop), 1)
    if load_flag(cython.address(shared.stop)) and may_stop(worker):
        worker.stopped = True

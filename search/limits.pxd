"""Limits that can end a search in the middle of the tree."""
from search.platform cimport store_word
from search.state cimport Frame, Worker

cdef enum:
    POLL_INTERVAL = 1024  # nodes between two looks at clock and stop flag
    FIRST_ITERATION_NODES = 65536  # more than a first iteration takes in any position of a game

cdef void poll(Worker* worker) noexcept nogil


cdef inline bint may_stop(Worker* worker) noexcept nogil:
    """No limit ends the first thread before it has searched one ply: a move that was never looked at is no answer."""
    return worker.completed_depth != 0 or worker.index != 0 or worker.nodes >= FIRST_ITERATION_NODES


cdef inline bint enter_node(Worker* worker, Frame* frame) noexcept nogil:
    """Counts a node and says whether the search may go on. One thread keeps a node limit to the node."""
    if (
        worker.shared.limits.nodes != 0
        and worker.nodes >= worker.shared.limits.nodes
        and worker.shared.threads == 1
        and may_stop(worker)
    ):
        worker.stopped = True
    if worker.nodes % POLL_INTERVAL == 0:
        poll(worker)
    if worker.stopped:
        return False
    store_word(&worker.nodes, worker.nodes + 1)  # other threads add the counters up
    frame.pv_length = 0
    if frame.ply > worker.seldepth:
        worker.seldepth = frame.ply
    return True

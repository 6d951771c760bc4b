"""Limits that can end a search in the middle of the tree."""
from search.state cimport Frame, Worker

cdef enum:
    POLL_INTERVAL = 1024  # nodes between two looks at clock and stop flag

cdef void poll(Worker* worker) noexcept nogil


cdef inline bint enter_node(Worker* worker, Frame* frame) noexcept nogil:
    """Counts a node and says whether the search may go on. One thread keeps a node limit to the node."""
    if worker.shared.limits.nodes != 0 and worker.nodes >= worker.shared.limits.nodes and worker.shared.threads == 1:
        worker.stopped = True
    if worker.nodes % POLL_INTERVAL == 0:
        poll(worker)
    if worker.stopped:
        return False
    worker.nodes += 1
    frame.pv_length = 0
    if frame.ply > worker.seldepth:
        worker.seldepth = frame.ply
    return True

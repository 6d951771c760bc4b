"""The line that is being searched: entering nodes, making moves, keeping the best line."""
from board.position cimport Position
from board.types cimport Move
from libc.string cimport memcpy
from search.parameters cimport tune
from search.score cimport DRAW
from search.state cimport Frame, RootMove, Worker
from search.table cimport LOWER_BOUND, UPPER_BOUND, Found

cdef enum:
    POLL_INTERVAL = 1024  # nodes between two looks at clock and stop flag

cdef void poll(Worker* worker) noexcept nogil
cdef bint is_draw(Worker* worker, Frame* frame) noexcept nogil
cdef int corrected(Worker* worker, const Position* position, int raw) noexcept nogil
cdef void look_around(Frame* frame) noexcept nogil
cdef void set_move(Worker* worker, Frame* frame, Move move) noexcept nogil
cdef void set_null_move(Worker* worker, Frame* frame) noexcept nogil
cdef RootMove* find_root_move(Worker* worker, Move move) noexcept nogil
cdef void reward_cutoff(
    Worker* worker,
    Frame* frame,
    Move best,
    int depth,
    Move* quiets,
    int quiet_count,
    Move* captures,
    int capture_count,
) noexcept nogil
cdef void remember(
    Worker* worker, Frame* frame, Move move, int score, int evaluation, int depth, int bound
) noexcept nogil


cdef inline bint enter(Worker* worker, Frame* frame) noexcept nogil:
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


cdef inline int draw_score(Worker* worker) noexcept nogil:
    """Zero, give or take one: a search that sees two ways to draw shall not take them for the same."""
    return DRAW - 1 + <int>(worker.nodes & 2) if tune.use_draw_noise else DRAW


cdef inline void extend_pv(Frame* frame, Move move) noexcept nogil:
    """The best line from here is this move and the child's best line."""
    cdef Frame* child = frame + 1
    frame.pv[0] = move
    memcpy(&frame.pv[1], child.pv, child.pv_length * sizeof(Move))
    frame.pv_length = child.pv_length + 1


cdef inline bint bound_is_enough(const Found* found, int limit) noexcept nogil:
    """Does a stored score prove that this node is on its side of `limit`?"""
    if found.score >= limit:
        return (found.bound & LOWER_BOUND) != 0
    return (found.bound & UPPER_BOUND) != 0

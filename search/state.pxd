"""What a search thread knows: its line of positions, its histories, its root moves; and what all threads share."""
from board.position cimport Position
from board.types cimport Move, i16, i64, u64
from book.endgame.syzygy cimport UNKNOWN
from eval.evaluator cimport Workspace
from libc.string cimport memcpy
from search.clock cimport Clock, Opinion
from search.history cimport ROWS, Corrections, Histories, MoveContext
from search.score cimport MAX_PLY, NO_SCORE
from search.tt cimport TranspositionTable, tt_store

cdef enum:
    FRAMES_BELOW = 4  # frames before the root, so that a node may always look four plies back
    GAME_KEYS = 1024  # as far back as the halfmove clock of a FEN can reach
    MAX_ROOT_MOVES = 416  # = MAX_MOVES

cdef struct Frame:
    Position position
    int ply
    int static_eval  # corrected; NO_SCORE in check
    int correction  # by how much, without a sign; 0 in check
    int reduction  # plies by which the move that is being searched is searched less deep
    int plies_since_null
    int cutoffs  # how often the children of this node failed high
    int double_extensions  # in the line that leads here
    bint on_pv  # this node is, or once was, on a principal variation
    Move move  # being searched here; 0 for a null move
    Move excluded  # left out while its singularity is examined
    Move killers[2]
    i16* row  # continuation row of `move`
    MoveContext context  # of the quiet moves here
    int pv_length
    Move pv[MAX_PLY + 2]

cdef struct RootMove:
    Move move
    int score
    int previous_score  # of the last complete iteration
    int average_score
    int tb_rank  # from endgame tables: moves of a lower rank are not searched
    int seldepth
    int bound
    u64 nodes
    int pv_length
    Move pv[MAX_PLY + 2]

# Endgame tables plug in here: returns -2..2 (lost, blessed loss, draw, cursed win, won) or PROBE_FAILED.
ctypedef int (*WdlProbe)(void* context, const Position* position) noexcept nogil

cdef enum:
    PROBE_FAILED = UNKNOWN

# Called by the first thread: `kind` is one of the REPORT_ values.
ctypedef void (*Report)(void* context, Worker* worker, int kind, int number) noexcept nogil

cdef enum:
    REPORT_LINE  # root move `number` of a MultiPV set has a result
    REPORT_CURRENT  # root move `number` (from 1) is being searched

cdef struct SearchLimits:
    int depth
    int mate  # moves; 0: none
    int multipv
    bint ponder
    u64 nodes  # 0: none
    u64 soft_nodes  # no new iteration after so many; 0: none
    i64 soft_time  # microseconds: no new iteration after so many; below 0: none
    i64 hard_time
    i64 spent  # of that, before the search began

cdef struct Shared:
    TranspositionTable tt
    Corrections corrections
    SearchLimits limits
    Clock clock
    i64 began  # when the search was started; a ponderhit starts the clock again
    int stop  # a flag: read and written with load_flag / store_flag
    int pondering  # likewise
    int threads
    Worker* workers[256]
    WdlProbe tb_probe_wdl
    void* tb_context
    int tb_men
    int tb_depth
    bint tb_rule50
    Report report
    void* report_context

cdef struct Worker:
    Shared* shared
    Workspace* workspace  # of the evaluation
    int index
    u64 nodes
    u64 tb_hits
    int seldepth
    int root_depth
    int completed_depth
    int null_move_floor  # no null moves above this ply while a cut is verified
    Move current_move  # the root move being searched
    int pv_index  # the MultiPV line being searched
    int pv_last  # root moves of the same table rank end here
    bint stopped
    Opinion opinion  # how long to think
    RootMove last_best  # the best line of the last complete iteration
    int root_count
    RootMove root_moves[MAX_ROOT_MOVES]
    u64 keys[GAME_KEYS + MAX_PLY + 8]
    int root_key  # the index of the root's key
    Frame frames[MAX_PLY + FRAMES_BELOW + 6]
    Histories histories

cdef void set_move(Worker* worker, Frame* frame, Move move) noexcept nogil
cdef void set_null_move(Worker* worker, Frame* frame) noexcept nogil
cdef void set_move_context(Frame* frame) noexcept nogil


cdef inline bint is_improving(const Frame* frame) noexcept nogil:
    """Does this side stand better than at its last turn (or, if that was in check, the one before)?"""
    if (frame - 2).static_eval != NO_SCORE:
        return frame.static_eval > (frame - 2).static_eval
    if (frame - 4).static_eval != NO_SCORE:
        return frame.static_eval > (frame - 4).static_eval
    return False


cdef inline int last_moves(const Worker* worker, const Frame* frame) noexcept nogil:
    """The last two moves as an index of the correction history: their continuation rows have the numbers."""
    # As numbers: the overflow check of the checked builds cannot subtract pointers.
    cdef size_t first = <size_t>&worker.histories.continuation[0][0]
    cdef int last = <int>((<size_t>(frame - 1).row - first) // sizeof(i16)) // 768
    cdef int before = <int>((<size_t>(frame - 2).row - first) // sizeof(i16)) // 768
    return last * ROWS + before


cdef inline void extend_pv(Frame* frame, Move move) noexcept nogil:
    """The best line from here is this move and the child's best line."""
    cdef Frame* child = frame + 1
    frame.pv[0] = move
    memcpy(&frame.pv[1], child.pv, child.pv_length * sizeof(Move))
    frame.pv_length = child.pv_length + 1


cdef inline void remember(
    Worker* worker, Frame* frame, Move move, int score, int evaluation, int depth, int bound
) noexcept nogil:
    """Enters what was found out about this node into the transposition table."""
    tt_store(&worker.shared.tt, frame.position.key, frame.ply, move, score, evaluation, depth, bound, frame.on_pv)

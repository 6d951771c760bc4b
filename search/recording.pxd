"""A search tree on record: what a recorded search writes while it runs, and Python reads afterwards.

Searches nest, so the recorder needs no names of nodes: what is entered last is left first.
"""
from board.types cimport Move, u8, u64
from search.state cimport Frame, Worker

cdef enum:
    MOST_LEVELS = 1024  # of nodes within nodes; a line has at most MAX_PLY, with a few searches at each of its plies
    MOST_WORDS = 64
    SKIPPED = -1  # as the depth of a move that was not searched
    POLL_NODES = 8192  # between two questions whether the tree is still wanted

cdef struct RecordedNode:
    int parent  # -1: none, and likewise below
    int first  # child
    int last  # child
    int next  # child of the same parent
    int children  # also those that were not kept
    int ply
    int depth
    int alpha
    int beta
    int score
    int evaluation  # static; NO_SCORE where it was not asked for
    Move move  # that led here; 0 for a null move, and for another search of the parent's position
    Move best_move  # that cut off, or the best of a PV node
    u8 turn
    u8 kind  # a word: what was entered
    u8 purpose  # a word: what it was entered for
    u8 end  # a word: why it ended
    bint was_cut  # the moves after best_move were not needed
    bint cut_node  # it was expected to fail high
    u64 nodes  # in the subtree, itself included

cdef struct Tree:
    RecordedNode* nodes
    int room
    int count
    int most_level  # deeper nodes are counted, but not kept
    int level  # of the node that is being searched; 0: none
    int path[MOST_LEVELS + 1]  # the nodes that are being searched, from the root on; -1 where they are not kept
    bint has_child[MOST_LEVELS + 1]  # for the same nodes
    u64 begun[MOST_LEVELS + 1]  # when they were entered, by the count of nodes
    u64 sizes[MOST_LEVELS + 1]  # nodes and skipped moves at each level, kept or not
    u64 entered  # nodes
    u64 leaves  # nodes without children
    u64 ends[MOST_WORDS]  # nodes by the reason why they ended
    u64 skips[MOST_WORDS]  # moves that were not searched, by reason
    int purpose  # of the search that begins next
    int reason  # why the move is skipped that is skipped next; 0: as the search says
    void* cancelled  # a Python function, or NULL
    bint was_cancelled

cdef class Recording:
    cdef Tree tree
    cdef object _cancelled
    cdef readonly tuple words

# For any search

cdef void open_node(
    Tree* tree, Frame* frame, Move move, int alpha, int beta, int depth, bint cut_node, int kind
) noexcept nogil
cdef void close_node(Tree* tree, int score, int evaluation, int end) noexcept nogil
cdef void add_skipped(Tree* tree, Frame* frame, Move move, int reason) noexcept nogil
cdef RecordedNode* open_one(Tree* tree) noexcept nogil

# For the recorded copy of the engine's search. It has no place to carry a tree in, so there is one at a time.

cdef void begin_record(Tree* tree) noexcept nogil
cdef void record_enter(
    Worker* worker, Frame* frame, int alpha, int beta, int depth, bint cut_node, int kind
) noexcept nogil
cdef int record_end(Worker* worker, Frame* frame, int end, int score) noexcept nogil
cdef Worker* record_purpose(Worker* worker, int purpose) noexcept nogil
cdef void record_skip(Frame* frame, Move move, int reason) noexcept nogil
cdef void record_cutoff(Frame* frame) noexcept nogil
cdef bint record_reason(int reason) noexcept nogil

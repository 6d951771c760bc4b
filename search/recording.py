"""Keeps the tree of a search: every node with its window, its score and why it ended. See the .pxd for the layout."""

import sys

import cython
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.search.platform import store_flag
from cython.cimports.search.score import NO_SCORE

NODES_BETWEEN_QUESTIONS = POLL_NODES

_current = cython.declare(cython.pointer(Tree), cython.NULL)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _ask(tree: cython.pointer(Tree)) -> cython.void:
    """Is the tree still wanted? A question that goes wrong is an answer, too."""
    with cython.gil:
        try:
            tree.was_cancelled = bool(cython.cast(object, tree.cancelled)())
        except Exception:
            sys.excepthook(*sys.exc_info())
            tree.was_cancelled = True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _append(tree: cython.pointer(Tree), level: cython.int) -> cython.int:
    """A new node below the one that is being searched at the level above; -1 when it is not kept."""
    parent: cython.int = tree.path[level - 1]
    tree.sizes[level] += 1
    if level > 1 and parent >= 0:
        tree.nodes[parent].children += 1
    if level > tree.most_level or tree.count == tree.room or (level > 1 and parent < 0):
        return -1
    index: cython.int = tree.count
    node: cython.pointer(RecordedNode) = cython.address(tree.nodes[index])
    tree.count += 1
    node.parent = parent
    node.first = -1
    node.last = -1
    node.next = -1
    node.evaluation = NO_SCORE
    if parent >= 0:
        if tree.nodes[parent].first < 0:
            tree.nodes[parent].first = index
        else:
            tree.nodes[tree.nodes[parent].last].next = index
        tree.nodes[parent].last = index
    return index


def open_node(tree, frame, move, alpha, beta, depth, cut_node, kind):
    """A node is entered. Until it is closed, whatever is opened lies below it."""
    if tree.level < MOST_LEVELS:
        tree.has_child[tree.level] = True
    tree.level += 1
    level: cython.int = tree.level
    purpose: cython.int = tree.purpose
    tree.purpose = 0
    tree.entered += 1
    if tree.cancelled != cython.NULL and tree.entered % POLL_NODES == 0 and not tree.was_cancelled:
        _ask(tree)
    if level > MOST_LEVELS:
        return
    tree.has_child[level] = False
    tree.begun[level] = tree.entered
    index: cython.int = _append(tree, level)
    tree.path[level] = index
    if index < 0:
        return
    node: cython.pointer(RecordedNode) = cython.address(tree.nodes[index])
    node.ply = frame.ply
    node.turn = frame.position.turn
    node.move = move
    node.alpha = alpha
    node.beta = beta
    node.depth = depth
    node.cut_node = cut_node
    node.kind = kind
    node.purpose = purpose


def open_one(tree):
    """The node that is being searched, if it is kept; else NULL."""
    if tree.level < 1 or tree.level > MOST_LEVELS or tree.path[tree.level] < 0:
        return cython.NULL
    return cython.address(tree.nodes[tree.path[tree.level]])


def close_node(tree, score, evaluation, end):
    level: cython.int = tree.level
    node: cython.pointer(RecordedNode) = open_one(tree)
    tree.ends[end] += 1
    if level <= MOST_LEVELS and not tree.has_child[level]:
        tree.leaves += 1
    if node != cython.NULL:
        node.score = score
        node.evaluation = evaluation
        node.end = end
        node.nodes = tree.entered - tree.begun[level] + 1
    tree.level -= 1


def add_skipped(tree, frame, move, reason):
    """A move of the open node that is not searched."""
    level: cython.int = tree.level + 1
    tree.skips[reason] += 1
    if level > MOST_LEVELS:
        return
    index: cython.int = _append(tree, level)
    if index < 0:
        return
    node: cython.pointer(RecordedNode) = cython.address(tree.nodes[index])
    node.ply = frame.ply + 1
    node.turn = frame.position.turn ^ 1
    node.move = move
    node.depth = SKIPPED
    node.score = NO_SCORE
    node.end = reason


def begin_record(tree):
    """From now on the recorded search writes into this tree; nowhere if it is NULL."""
    global _current
    _current = tree


def record_enter(worker, frame, alpha, beta, depth, cut_node, kind):
    parent: cython.pointer(RecordedNode) = open_one(_current)
    # A second search of the same position (a verification, say) follows no move.
    is_same: cython.bint = frame.ply == 0 or (parent != cython.NULL and parent.ply == frame.ply)
    open_node(_current, frame, 0 if is_same else (frame - 1).move, alpha, beta, depth, cut_node, kind)
    if _current.was_cancelled:
        store_flag(cython.address(worker.shared.stop), 1)


def record_end(worker, frame, end, score):
    node: cython.pointer(RecordedNode) = open_one(_current)
    if node != cython.NULL and not node.was_cut and node.beta - node.alpha > 1 and frame.pv_length > 0:
        node.best_move = frame.pv[0]
    close_node(_current, score, frame.static_eval, end)
    return score


def record_purpose(worker, purpose):
    """Says what the next search is for. It stands where the worker is handed to that search, and hands it on."""
    _current.purpose = purpose
    return worker


def record_skip(frame, move, reason):
    add_skipped(_current, frame, move, _current.reason if _current.reason != 0 else reason)
    _current.reason = 0


def record_cutoff(frame):
    node: cython.pointer(RecordedNode) = open_one(_current)
    if node != cython.NULL:
        node.was_cut = True
        node.best_move = frame.move


def record_reason(reason):
    """Says why the move will be skipped that is being looked at; always True, as it stands where that is decided."""
    _current.reason = reason
    return True


@cython.final
@cython.cclass
class Recording:
    """A tree with room for so many nodes and skipped moves, as far down as `most_level`.

    `cancelled` is asked now and then whether the tree is not wanted any more. Nodes are numbered in the order in which
    they were entered. `words` has the names of kinds, purposes and ends.
    """

    def __cinit__(self, room: int, words: tuple, *, most_level: int = MOST_LEVELS, cancelled=None):
        if room < 1 or most_level < 1:
            raise ValueError("room and most_level start at 1")
        if len(words) > MOST_WORDS:
            raise ValueError(f"there are more than {MOST_WORDS} words")
        self.tree.nodes = cython.cast(
            cython.pointer(RecordedNode), calloc(cython.cast(cython.size_t, room), cython.sizeof(RecordedNode))
        )
        if self.tree.nodes == cython.NULL:
            raise MemoryError("no memory for a tree")
        self.tree.room = room
        self.tree.most_level = min(most_level, MOST_LEVELS)
        self.tree.path[0] = -1
        self.words = words
        self._cancelled = cancelled
        if cancelled is not None:
            self.tree.cancelled = cython.cast(cython.p_void, cancelled)

    def __dealloc__(self):
        free(self.tree.nodes)

    def __len__(self) -> int:
        """Nodes and skipped moves that were kept."""
        return self.tree.count

    @property
    def nodes(self) -> int:
        """All that were entered."""
        return self.tree.entered

    @property
    def leaves(self) -> int:
        """Nodes that ended without a search below them."""
        return self.tree.leaves

    @property
    def was_cancelled(self) -> bool:
        return self.tree.was_cancelled

    @property
    def sizes(self) -> list:
        """How many nodes and skipped moves each level has, kept or not; the first level is the root's."""
        sizes = []
        level: cython.int = 1
        while level <= MOST_LEVELS and self.tree.sizes[level]:
            sizes.append(self.tree.sizes[level])
            level += 1
        return sizes

    @property
    def ends(self) -> dict:
        """How many nodes ended for which reason."""
        return {word: self.tree.ends[index] for index, word in enumerate(self.words) if self.tree.ends[index]}

    @property
    def skips(self) -> dict:
        """How many moves were not searched, by reason."""
        return {word: self.tree.skips[index] for index, word in enumerate(self.words) if self.tree.skips[index]}

    @property
    def is_complete(self) -> bool:
        return self.tree.count == sum(self.sizes)

    def roots(self) -> list:
        """The nodes of the first level."""
        return [index for index in range(self.tree.count) if self.tree.nodes[index].parent < 0]

    def children(self, index: int) -> list:
        """What was kept below a node, in the order of the search."""
        if not 0 <= index < self.tree.count:
            raise IndexError("there is no such node")
        found = []
        child: cython.int = self.tree.nodes[index].first
        while child >= 0:
            found.append(child)
            child = self.tree.nodes[child].next
        return found

    def node(self, index: int) -> dict:
        """The fields of `RecordedNode` (see the .pxd), with words instead of their numbers."""
        if not 0 <= index < self.tree.count:
            raise IndexError("there is no such node")
        node = dict(self.tree.nodes[cython.cast(cython.int, index)])
        for field in ("kind", "purpose", "end"):
            node[field] = self.words[node[field]]
        node["is_skipped"] = node["depth"] == SKIPPED
        return node

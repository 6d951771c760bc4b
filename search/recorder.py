"""Searches whose trees are recorded, for people who want to look inside.

The engine's own search runs in the copy that scripts/record_search.py makes of it. The textbook's searches are written
here: plain minimax, and alpha-beta with the moves in a bad or in a good order. They share the engine's rules and its
static evaluation, know no quiescence search, no transposition table and no pruning but alpha-beta, and all three return
the same value.
"""

import threading

import cython
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import Position
from cython.cimports.board.see import see_at_least
from cython.cimports.board.types import MAX_MOVES, NO_MOVE, Move
from cython.cimports.eval.evaluator import evaluate
from cython.cimports.search.draws import is_draw
from cython.cimports.search.recorded import iterate
from cython.cimports.search.recording import RecordedNode, Recording, begin_record, close_node, open_node, open_one
from cython.cimports.search.score import DRAW, INFINITE, MATE, MATE_IN_SIGHT, NO_SCORE, larger, mated_in
from cython.cimports.search.searcher import Searcher
from cython.cimports.search.state import FRAMES_BELOW, set_move

from search.recorded import WORDS as ENGINE_WORDS
from search.recording import Recording as NewRecording
from search.searcher import Limits
from search.searcher import Searcher as NewSearcher

TEXTBOOK_WORDS = ("search", "node", "leaf", "stopped", "no legal move", "draw", "static evaluation", "moves searched")
_NODE = cython.declare(cython.int, 1)
_LEAF = cython.declare(cython.int, 2)
_STOPPED = cython.declare(cython.int, 3)
_NO_LEGAL_MOVE = cython.declare(cython.int, 4)
_DRAW = cython.declare(cython.int, 5)
_STATIC_EVALUATION = cython.declare(cython.int, 6)
_MOVES_SEARCHED = cython.declare(cython.int, 7)

# Alpha-beta or not, and the order of the moves: by the static evaluation after them, the best first or the worst.
TEXTBOOK = {"minimax": (False, 0), "alphabeta-bad": (True, -1), "alphabeta-good": (True, 1)}
ENGINE = "engine"
_LOSES_MATERIAL = cython.declare(cython.int, 40000)  # more than evaluations can differ by

# For readers of a tree: being mated now, an infinite bound, no score at all, and where the mates begin.
MATE_SCORE, INFINITE_SCORE, UNKNOWN_SCORE, LEAST_MATE_SCORE = MATE, INFINITE, NO_SCORE, MATE_IN_SIGHT

_one_at_a_time = threading.Lock()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort_moves(
    lesson: cython.pointer(Lesson), frame: cython.pointer(Frame), moves: cython.pointer(Move), count: cython.int
) -> cython.void:
    """By the static evaluation of the position after the move, for the side that moves. A move that loses material by
    static exchange comes after all that do not. The bad order is the good one reversed.
    """
    values: cython.int[MAX_MOVES]
    index: cython.int
    place: cython.int
    value: cython.int
    move: Move
    child: cython.pointer(Frame) = frame + 1
    for index in range(count):
        move = moves[index]
        set_move(lesson.worker, frame, move)
        value = -evaluate(cython.address(child.position), lesson.worker.workspace, child.ply)
        if not see_at_least(cython.address(frame.position), move, 0):
            value -= _LOSES_MATERIAL
        value *= lesson.order
        place = index
        while place > 0 and values[place - 1] < value:
            values[place] = values[place - 1]
            moves[place] = moves[place - 1]
            place -= 1
        values[place] = value
        moves[place] = move


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search(
    lesson: cython.pointer(Lesson),
    frame: cython.pointer(Frame),
    move: Move,
    alpha: cython.int,
    beta: cython.int,
    depth: cython.int,
) -> cython.int:
    """The value of a node for the side to move, `depth` plies deep; with a window a bound on it (fail-soft).

    The game may be over at a leaf as well: the rules are asked before the evaluation.
    """
    tree: cython.pointer(Tree) = lesson.tree
    worker: cython.pointer(Worker) = lesson.worker
    position: cython.pointer(Position) = cython.address(frame.position)
    child: cython.pointer(Frame) = frame + 1
    moves: Move[MAX_MOVES]
    best: cython.int = -INFINITE
    best_move: Move = NO_MOVE
    was_cut: cython.bint = False
    score: cython.int
    index: cython.int
    open_node(tree, frame, move, alpha, beta, depth, False, _NODE if depth > 0 else _LEAF)
    if tree.was_cancelled:
        close_node(tree, DRAW, NO_SCORE, _STOPPED)
        return DRAW
    count: cython.int = generate(position, moves, ALL_MOVES)
    if count == 0:
        score = mated_in(frame.ply) if position.checkers else DRAW
        close_node(tree, score, NO_SCORE, _NO_LEGAL_MOVE)
        return score
    if frame.ply > 0 and is_draw(worker, frame):
        close_node(tree, DRAW, NO_SCORE, _DRAW)
        return DRAW
    if depth <= 0:
        score = evaluate(position, worker.workspace, frame.ply)
        close_node(tree, score, score, _STATIC_EVALUATION)
        return score
    if lesson.order != 0:
        _sort_moves(lesson, frame, moves, count)
    for index in range(count):
        set_move(worker, frame, moves[index])
        score = -_search(
            lesson, child, moves[index], -beta, -larger(alpha, best) if lesson.has_window else -alpha, depth - 1
        )
        if tree.was_cancelled:
            close_node(tree, DRAW, NO_SCORE, _STOPPED)
            return DRAW
        if score > best:
            best = score
            best_move = moves[index]
        if lesson.has_window and best >= beta:
            was_cut = True
            break
    node: cython.pointer(RecordedNode) = open_one(tree)
    if node != cython.NULL:
        node.was_cut = was_cut
        node.best_move = best_move
    close_node(tree, best, NO_SCORE, _MOVES_SEARCHED)
    return best


def record_textbook(recording: Recording, board, depth: int, technique: str, *, line=(), window=None) -> int:
    """Records one of the searches of `TEXTBOOK` and returns its value.

    With a line and a window it is the search of a node: of the position after these moves, with as many plies left as
    they leave. As nothing is remembered from node to node, it is the same tree that the whole search has there.
    """
    if not 0 <= depth - len(line) <= 32:
        raise ValueError("a textbook search is 0 to 32 plies deep")
    searcher: Searcher = NewSearcher(megabytes=1)
    searcher._prepare(board.copy(), Limits(depth=1))
    lesson: Lesson
    lesson.worker = searcher.shared.workers[0]
    lesson.tree = cython.address(recording.tree)
    lesson.has_window, lesson.order = TEXTBOOK[technique]
    frame: cython.pointer(Frame) = cython.address(lesson.worker.frames[FRAMES_BELOW])
    move: Move = NO_MOVE
    after = board.copy()
    for each in line:
        after.push(each)  # refuses what is not legal
        move = each
        set_move(lesson.worker, frame, move)
        frame += 1
    alpha: cython.int
    beta: cython.int
    alpha, beta = window or (-INFINITE, INFINITE)
    plies: cython.int = depth - len(line)
    value: cython.int
    with cython.nogil:
        value = _search(cython.address(lesson), frame, move, alpha, beta, plies)
    return value


def record_engine(recording: Recording, board, depth: int, *, megabytes: int = 16, tables=None):
    """Records what the engine does in a search from a fresh state to that depth, and returns its `Result`.

    It is the same search as `Searcher.think`, node by node.
    """
    searcher: Searcher = NewSearcher(megabytes=megabytes)
    if tables is not None:
        searcher.set_tables(tables)
    searcher._prepare(board.copy(), Limits(depth=depth))
    worker: cython.pointer(Worker) = searcher.shared.workers[0]
    if worker.root_count:
        with _one_at_a_time:
            begin_record(cython.address(recording.tree))
            with cython.nogil:
                iterate(worker)
            begin_record(cython.NULL)
    return searcher._make_result()


def new_recording(technique: str, room: int, *, most_level: int = 1024, cancelled=None) -> NewRecording:
    """An empty tree for the engine's search or for one of the textbook's. ValueError if there is no such technique."""
    if technique != ENGINE and technique not in TEXTBOOK:
        raise ValueError(f"there is no technique '{technique}': {ENGINE}, {', '.join(TEXTBOOK)}")
    words = ENGINE_WORDS if technique == ENGINE else TEXTBOOK_WORDS
    return NewRecording(room, words, most_level=most_level, cancelled=cancelled)

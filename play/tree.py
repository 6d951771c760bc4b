"""Inside the search, for students: the tree of a search, node by node, and its iterations, depth by depth.

A tree is recorded once and read as far as somebody opens it:

    tree = record(Board(), 4, "alphabeta-good")
    tree.summary()                  # value, nodes, leaves beside those of minimax
    for child in tree.children():   # the root; tree.children(child["id"]) has the nodes below it, and so on
        print(child["san"], child["alpha"], child["beta"], child["score"], child["why"])

Everything that comes out is made of dicts, lists, texts and numbers, as JSON wants it. Scores, alpha and beta are
centipawns from the side to move at the node (`turn`), as in the literature; None is an infinite bound.
"""

import itertools
import queue
import threading
import time

from board import WHITE_TO_MOVE
from play.tree_words import ENDS, PURPOSES, SKIPS
from pool.tasks import POLL_SECONDS
from search import Listener
from search.recorder import (
    ENGINE,
    INFINITE_SCORE,
    LEAST_MATE_SCORE,
    MATE_SCORE,
    UNKNOWN_SCORE,
    new_recording,
    record_engine,
    record_textbook,
)
from search.recording import NODES_BETWEEN_QUESTIONS
from search.searcher import effective_branching_factor
from uci_engine.perft import divide

TECHNIQUES = {
    ENGINE: "Quetzal's own search, from a fresh state",
    "minimax": "plain minimax: every line to the full depth",
    "alphabeta-bad": "alpha-beta, the worst moves first",
    "alphabeta-good": "alpha-beta, the best moves first",
}
MOST_DEPTH = {ENGINE: 10, "minimax": 5, "alphabeta-bad": 6, "alphabeta-good": 7}
MOST_NODES = 20_000
MOST_SEARCHED = 20_000_000  # nodes, some ten seconds: a larger search is given up
COUNTED_LEAVES = 50_000_000  # of minimax; a tree with more is estimated

_LOOP = ("search", "reduced", "null window", "full window")  # purposes of searches in the loop over the moves
_BEFORE_EVALUATION = ("transposition table", "draw", "repetition in reach", "mate distance", "endgame table", "stopped")


class CancelledError(Exception):
    """The tree was not wanted any more."""


class TooLargeError(ValueError):
    """The search has more nodes than anybody should wait for."""


class TreeFullError(Exception):
    """More nodes were opened than the tree has room for."""


def score_text(score):
    """Pawns, or the moves to mate: '+0.35', '-#3'; '' for None."""
    if score is None:
        return ""
    if abs(score) >= LEAST_MATE_SCORE:
        return f"#{(MATE_SCORE - score + 1) // 2}" if score > 0 else f"-#{(MATE_SCORE + score) // 2}"
    return f"{score / 100:+.2f}"


def minimax_leaves(board, depth, *, most=None, cancelled=lambda: False):
    """How many lines of that length there are (perft), and whether that is exact: beyond `most` it is estimated."""
    most = COUNTED_LEAVES if most is None else most
    counts = [1]
    for plies in range(1, depth + 1):
        growth = counts[-1] / counts[-2] if plies > 1 and counts[-2] else 1
        if counts[-1] * growth > most:
            return round(counts[-1] * growth ** (depth - plies + 1)), False
        counts.append(sum(leaves for _, leaves in divide(board, plies, cancelled)))
        if cancelled():
            raise CancelledError
        if not counts[-1]:
            return 0, True
    return counts[-1], True


def record(board, depth, technique=ENGINE, *, most_nodes=MOST_NODES, cancelled=None, tables=None):
    """Searches the position on a `Board` that deep and returns its `RecordedTree`.

    `technique` is one of `TECHNIQUES`, `depth` at most its `MOST_DEPTH`. The engine's tree keeps at most `most_nodes`
    nodes and moves that were pruned: if there are more, whole levels at the bottom are left out, and the summary says so.
    The textbook's trees are not kept but searched again where they are opened, until that many are open. `cancelled` is
    a function that is asked now and then; when it says True, CancelledError. A search of more than `MOST_SEARCHED` nodes is
    given up: TooLargeError. `tables` are endgame tables for the engine.
    """
    if technique not in TECHNIQUES:
        raise ValueError(f"there is no technique '{technique}': {', '.join(TECHNIQUES)}")
    if not 1 <= depth <= MOST_DEPTH[technique]:
        raise ValueError(f"{technique} takes a depth from 1 to {MOST_DEPTH[technique]}")
    if most_nodes < 1:
        raise ValueError("a tree has at least one node")
    kind = _EngineTree if technique == ENGINE else _TextbookTree
    return kind(board.copy(), depth, technique, most_nodes, _Patience(cancelled), tables)


class _Patience:
    """Is asked by a search whether it should end."""

    def __init__(self, cancelled):
        self._cancelled = cancelled or (lambda: False)
        self._left = MOST_SEARCHED // NODES_BETWEEN_QUESTIONS

    def __call__(self):
        self._left -= 1
        return self._left < 0 or self._cancelled()

    def is_cancelled(self):
        """For work that is bounded by other means."""
        return self._cancelled()

    def complain(self, depth):
        """For a search that has ended because of the answer."""
        if self._left < 0:
            raise TooLargeError(f"more than {MOST_SEARCHED:,} nodes at depth {depth}: choose a smaller one")
        raise CancelledError


class RecordedTree:
    """A search tree that can be opened node by node. Made by `record`; safe to read from several threads."""

    def __init__(self, board, depth, technique, most_nodes, patience, tables):
        self.board = board
        self.depth = depth
        self.technique = technique
        self.most_nodes = most_nodes
        self._lock = threading.Lock()
        self._parts = []  # recordings; a node's id counts through all of them
        self._first_ids = []
        started = time.perf_counter()
        self._record(patience, tables)
        self.milliseconds = round((time.perf_counter() - started) * 1000)
        self._minimax_leaves, self._is_exact = minimax_leaves(board, depth, cancelled=patience.is_cancelled)

    def _new_recording(self, room, **limits):
        return new_recording(self.technique, room, **limits)

    def _add_part(self, recording):
        first = self._first_ids[-1] + len(self._parts[-1]) if self._parts else 0
        self._parts.append(recording)
        self._first_ids.append(first)
        return first

    def _find(self, node_id):
        """The recording of a node, and its number there."""
        if not isinstance(node_id, int) or not 0 <= node_id < self._first_ids[-1] + len(self._parts[-1]):
            raise KeyError(f"the tree has no node {node_id}")
        part = max(index for index, first in enumerate(self._first_ids) if first <= node_id)
        return self._parts[part], self._first_ids[part], node_id - self._first_ids[part]

    def summary(self):
        """The whole tree in figures.

        `value` (from the side to move), `value_text`, `best`, `line` (SAN); `nodes`, `leaves`, `minimax_leaves` and
        whether that is `minimax_exact`; `kept` nodes and pruned moves, `cut` when there were more, `cut_text`;
        `ends` and `skips`: how often nodes ended and moves were left out, by reason.
        """
        recording = self._parts[0]
        return {
            "technique": self.technique,
            "title": TECHNIQUES[self.technique],
            "fen": self.board.fen(),
            "depth": self.depth,
            "turn": self._turn(self.board.turn),
            "value": self._value,
            "value_text": score_text(self._value),
            "best": self._line[0] if self._line else "",
            "line": self._line,
            "nodes": recording.nodes,
            "leaves": recording.leaves,
            "branching": round(effective_branching_factor(recording.nodes, self.depth), 3),
            "minimax_leaves": self._minimax_leaves,
            "minimax_exact": self._is_exact,
            "milliseconds": self.milliseconds,
            "kept": sum(map(len, self._parts)),
            "cut": self._is_cut(),
            "cut_text": self._cut_text(),
            "ends": recording.ends,
            "skips": recording.skips,
        }

    def children(self, node_id=None):
        """The nodes below a node as dicts, in the order of the search; the root, or the roots, without an id.

        The engine has several roots: one for every iteration and window. The fields: `id` (None: a move that was not
        searched and was not recorded either), `parent`, `ply`, `turn`, `san` and `uci` (empty where the same position is
        searched again), `depth`, `alpha`, `beta`, `score`, `score_text`, `evaluation` (static, None if not asked for),
        `kind` (PV, cut, all, quiescence, node, leaf, skipped), `expected` (PV, cut, all; the engine's guess),
        `purpose` and `what_for`, `is_research`, `reason` and `why`, `best` and `cut_by` (SAN), `nodes` (of the subtree),
        `n_children`, `is_open` (can its children be listed?).
        """
        with self._lock:
            if node_id is None:
                return self._roots()
            recording, first, index = self._find(node_id)
            node = recording.node(index)
            board = self._board_at(node_id)
            recording, first, index = self._opened(recording, first, index)
            found = [self._describe(recording, first, child, board) for child in recording.children(index)]
            for child in found:
                child["parent"] = node_id
            seen = set()
            for child in found:
                child["is_research"] = child["kind"] != "skipped" and bool(child["uci"]) and child["uci"] in seen
                if child["purpose"] in _LOOP or child["kind"] == "skipped":
                    seen.add(child["uci"])
            return found + self._unsearched(node_id, node, board, seen)

    def _roots(self):
        roots = [self._describe(self._parts[0], 0, index, self.board) for index in self._parts[0].roots()]
        for before, root in itertools.pairwise(roots):
            root["is_research"] = before["kind"] != "PV"  # it fell out of its aspiration window
        return roots

    def node(self, node_id):
        """One node, as `children` has it."""
        with self._lock:
            recording, first, index = self._find(node_id)
            parent = recording.node(index)["parent"]
            board = self.board if parent < 0 else self._board_at(first + parent)
            return self._describe(recording, first, index, board)

    def line_to(self, node_id):
        """The moves from the root to a node as UCI texts; '0000' is a null move."""
        with self._lock:
            board = self.board.copy()
            texts = []
            for move in self._moves_to(node_id):
                texts.append(board.uci(move) if move else "0000")
                self._push(board, move)
            return texts

    def fen(self, node_id):
        """The position at a node."""
        with self._lock:
            return self._board_at(node_id).fen()

    # Inside

    @staticmethod
    def _turn(colour):
        return "white" if colour == WHITE_TO_MOVE else "black"

    @staticmethod
    def _push(board, move):
        if move:
            board.push(move)
        else:
            board.push_null()

    def _parent_of(self, recording, first, index):
        """The id of the node above, or None."""
        parent = recording.node(index)["parent"]
        return first + parent if parent >= 0 else None

    def _moves_to(self, node_id):
        """The moves from the root to a node; 0 is a null move."""
        moves = []
        while node_id is not None:
            recording, first, index = self._find(node_id)
            node = recording.node(index)
            above = self._parent_of(recording, first, index)
            if above is not None and self._ply_of(above) != node["ply"]:
                moves.append(node["move"])
            node_id = above
        return moves[::-1]

    def _ply_of(self, node_id):
        recording, _, index = self._find(node_id)
        return recording.node(index)["ply"]

    def _board_at(self, node_id):
        board = self.board.copy()
        for move in self._moves_to(node_id):
            self._push(board, move)
        return board

    def _opened(self, recording, first, index):
        """Where the children of a node are."""
        return recording, first, index

    def _describe(self, recording, first, index, before):
        """A node as people get it. `before` is the board of the node above."""
        node = recording.node(index)
        move = node["move"]
        has_window = self.technique != "minimax" and not node["is_skipped"]
        made = {
            "id": first + index,
            "parent": self._parent_of(recording, first, index),
            "ply": node["ply"],
            "turn": self._turn(node["turn"]),
            "san": before.san(move) if move else "",
            "uci": before.uci(move) if move else "",
            "depth": node["depth"],
            "alpha": node["alpha"] if has_window and node["alpha"] > -INFINITE_SCORE else None,
            "beta": node["beta"] if has_window and node["beta"] < INFINITE_SCORE else None,
            "score": node["score"] if node["score"] != UNKNOWN_SCORE else None,
            "evaluation": None,
            "expected": "",
            "purpose": node["purpose"],
            "what_for": PURPOSES[node["purpose"]],
            "is_research": False,
            "best": "",
            "cut_by": "",
            "nodes": node["nodes"],
            "n_children": node["children"],
            "is_open": node["children"] == 0 or bool(recording.children(index)),
        }
        made["score_text"] = score_text(made["score"])
        if node["is_skipped"]:
            made.update(kind="skipped", depth=None, reason=node["end"], why=SKIPS[node["end"]])
            return made
        if node["purpose"] == "null move":
            made["san"] = "null move"
        if self.technique == ENGINE and made["parent"] is None:
            made.update(purpose="iteration", what_for=PURPOSES["iteration"])
        made["kind"] = self._kind(node)
        if node["evaluation"] != UNKNOWN_SCORE and node["end"] not in _BEFORE_EVALUATION:
            made["evaluation"] = node["evaluation"]
        if self.technique == ENGINE:
            wide = node["beta"] - node["alpha"] > 1
            made["expected"] = "PV" if wide else "cut" if node["cut_node"] else "all"
        after = before
        if move or node["purpose"] == "null move":
            after = before.copy()
            self._push(after, move)
        if node["best_move"]:
            made["cut_by" if node["was_cut"] else "best"] = after.san(node["best_move"])
        made["reason"] = self._reason(node, after)
        made["why"] = ENDS[made["reason"]]
        return made

    def _kind(self, node):
        if node["kind"] != "node":
            return node["kind"]
        if self.technique == "minimax":
            return "node"
        return "cut" if node["score"] >= node["beta"] else "all" if node["score"] <= node["alpha"] else "PV"

    def _reason(self, node, board):
        """The recorded word, made more precise by what is known besides."""
        end = node["end"]
        if end == "no legal move":
            return "checkmate" if board.is_check() else "stalemate"
        if end == "draw":
            if board.is_insufficient_material():
                return "insufficient material"
            return "fifty-move rule" if board.halfmove_clock >= 100 else "repetition"
        if end == "captures searched":
            return "quiet cut-off" if node["was_cut"] else "quiet"
        if end == "moves searched":
            if self.technique == "minimax":
                return "maximum"
            return "cut-off" if node["was_cut"] else "all" if node["score"] <= node["alpha"] else "exact"
        return end

    def _unsearched(self, node_id, node, board, seen):
        """Moves that a search never came to, because another one cut off or because quiet moves were left out."""
        if node["end"] != "moves searched" or not (node["was_cut"] or self.technique == ENGINE):
            return []
        if self.technique == ENGINE and not node["was_cut"] and node["ply"] == 0:
            return []
        reason = "not needed" if node["was_cut"] else "late move"
        return [
            {
                "id": None, "parent": node_id, "ply": node["ply"] + 1, "turn": self._turn(1 - node["turn"]),
                "san": board.san(move), "uci": board.uci(move), "depth": None, "alpha": None, "beta": None, "score": None,
                "score_text": "", "evaluation": None, "kind": "skipped", "expected": "", "purpose": "search", "what_for": "",
                "is_research": False, "reason": reason, "why": SKIPS[reason], "best": "", "cut_by": "", "nodes": 0,
                "n_children": 0, "is_open": True,
            }
            for move in board.legal_moves()
            if board.uci(move) not in seen
        ]  # fmt: skip


class _EngineTree(RecordedTree):
    """Recorded in one go; once more, with fewer levels, if there is too much of it: the search repeats itself exactly."""

    def _record(self, patience, tables):
        recording = self._new_recording(self.most_nodes, cancelled=patience)
        result = record_engine(recording, self.board, self.depth, tables=tables)
        self._levels = recording.sizes
        if not recording.is_complete and not recording.was_cancelled:
            most_level, kept = 0, 0
            for size in self._levels:
                if kept + size > self.most_nodes:
                    break
                kept += size
                most_level += 1
            recording = self._new_recording(self.most_nodes, most_level=max(1, most_level), cancelled=patience)
            result = record_engine(recording, self.board, self.depth, tables=tables)
        if recording.was_cancelled:
            patience.complain(self.depth)
        self._add_part(recording)
        info = result.info
        self._value = info.score
        if info.is_mate:
            self._value = MATE_SCORE - 2 * info.score + 1 if info.score > 0 else -MATE_SCORE - 2 * info.score
        self._line = []
        board = self.board.copy()
        for move in info.pv:
            self._line.append(board.san(move))
            board.push(move)

    def _is_cut(self):
        return not self._parts[0].is_complete

    def _cut_text(self):
        if not self._is_cut():
            return ""
        total = sum(self._levels)
        return (
            f"The tree has {total:,} nodes and pruned moves in {len(self._levels)} levels, of which the first "
            f"{self._kept_levels()} with {len(self._parts[0]):,} are shown."
        )

    def _kept_levels(self):
        kept, levels = len(self._parts[0]), 0
        for size in self._levels:
            if kept < size:
                break
            kept -= size
            levels += 1
        return levels


class _TextbookTree(RecordedTree):
    """Nothing is remembered from node to node, so a node can be searched again, just as it was, when it is opened."""

    def _record(self, patience, tables):
        recording = self._new_recording(500, most_level=2, cancelled=patience)
        self._value = record_textbook(recording, self.board, self.depth, self.technique)
        if recording.was_cancelled:
            patience.complain(self.depth)
        self._add_part(recording)
        self._elsewhere = {}  # from the id of a node to the part that has its children
        self._above = {}  # from a part to the id of the node whose children it has
        self._line = self._best_line()

    def _best_line(self):
        """Down the best moves, one node after the other."""
        line = []
        board = self.board.copy()
        node_id = 0
        while True:
            recording, first, index = self._find(node_id)
            best = recording.node(index)["best_move"]
            if not best:
                return line
            line.append(board.san(best))
            board.push(best)
            recording, first, index = self._opened(recording, first, index)
            node_id = next(
                first + child for child in recording.children(index) if recording.node(child)["move"] == best
            )

    def _opened(self, recording, first, index):
        node_id = first + index
        node = recording.node(index)
        if not node["children"] or recording.children(index):
            return recording, first, index
        if node_id not in self._elsewhere:
            if sum(map(len, self._parts)) >= self.most_nodes:
                raise TreeFullError(f"{self.most_nodes:,} nodes of this tree have been opened: begin again for more")
            again = self._new_recording(500, most_level=2)
            line = tuple(self._moves_to(node_id))
            window = node["alpha"], node["beta"]
            record_textbook(again, self.board, self.depth, self.technique, line=line, window=window)
            self._elsewhere[node_id] = len(self._parts)
            self._above[len(self._parts)] = node_id
            self._add_part(again)
        part = self._elsewhere[node_id]
        return self._parts[part], self._first_ids[part], 0

    def _parent_of(self, recording, first, index):
        parent = recording.node(index)["parent"]
        if parent > 0 or (parent == 0 and first == 0):
            return first + parent
        # The root of a part is another node's double: what lies below it lies below that one.
        part = self._first_ids.index(first)
        if parent == 0:
            return self._above[part]
        return None if first == 0 else self._parent_of(*self._find(self._above[part]))

    def _describe(self, recording, first, index, before):
        made = super()._describe(recording, first, index, before)
        made["is_open"] = True
        return made

    def _is_cut(self):
        return False

    def _cut_text(self):
        return ""


class _Reports(Listener):
    """Hands what a search reports to whoever waits for it."""

    def __init__(self):
        self.queue = queue.SimpleQueue()

    def on_info(self, info):
        if info.multipv == 1:
            self.queue.put(info)

    def on_result(self, result):
        self.queue.put(None)

    def next(self, cancelled):
        """Waits for what comes; None at the end. CancelledError soon after `cancelled()` became true."""
        while not cancelled():
            try:
                return self.queue.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
        raise CancelledError


def iterations(searcher, board, limits, cancelled=lambda: False):
    """Searches and yields a dict for every depth as soon as it is finished. Closing the generator stops the search, and so
    does `cancelled()` becoming true, with CancelledError.

    `depth`, `seldepth`, `milliseconds`, `nodes` (so far) and `own_nodes` (of this iteration), `branching` (the effective
    branching factor), `growth` (own nodes by those of the depth before), `score` (centipawns, or moves to mate if
    `is_mate`), `score_text`, `change` (since the depth before, None with a mate), `line` (SAN), `best`,
    `is_new_best`, `researches` (windows that the score fell out of: 'lower' and 'upper' bounds).
    """
    reports = _Reports()
    searcher.start(board, limits, reports)
    last = None
    researches = []
    try:
        while (info := reports.next(cancelled)) is not None:
            if info.bound != "exact":
                researches.append(info.bound)
                continue
            row = _iteration(board, info, last)
            row["researches"], researches = researches, []
            last = row
            yield row
    finally:
        searcher.stop()
        searcher.wait()


def _iteration(board, info, last):
    after = board.copy()
    line = []
    for move in info.pv:
        line.append(after.san(move))
        after.push(move)
    own_nodes = info.nodes - (last["nodes"] if last else 0)
    sign = "-" if info.score < 0 else ""
    return {
        "depth": info.depth,
        "seldepth": info.seldepth,
        "milliseconds": info.milliseconds,
        "nodes": info.nodes,
        "own_nodes": own_nodes,
        "branching": round(info.branching, 3),
        "growth": round(own_nodes / last["own_nodes"], 2) if last and last["own_nodes"] else None,
        "score": info.score,
        "is_mate": info.is_mate,
        "score_text": f"{sign}#{abs(info.score)}" if info.is_mate else score_text(info.score),
        "change": info.score - last["score"] if last and not (info.is_mate or last["is_mate"]) else None,
        "line": line,
        "best": line[0] if line else "",
        "is_new_best": bool(last and line and last["best"] != line[0]),
    }

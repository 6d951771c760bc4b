"""Reviews and looks inside the search for a page: what it asks for becomes work in the background."""

import contextlib

from board import Board
from play.annotation import annotate
from play.background import Background, Cancelled
from play.game import play_moves, start_board, whole_number
from play.pgn_tree import game_of, nodes_of
from play.review import Reviewer
from play.tree import MOST_DEPTH, TECHNIQUES, CancelledError, TreeFullError, iterations, record
from search import Limits, Searcher
from uci_engine.endgame import Endgame

NODES = (1_000, 10_000_000)  # for a move of a review
MOST_ITERATIONS = 40
MOST_SECONDS = 60
MEGABYTES = 16  # of a searcher's own table


def board_of(wanted):
    """The board of a position that a page asks about; ValueError says what is wrong with it."""
    chess960 = bool(wanted.get("chess960"))
    start = start_board(wanted.get("fen"), chess960)
    board = Board(start.shredder_fen() if chess960 else start.fen(), chess960=chess960)
    for move in play_moves(start, wanted.get("moves", [])).move_stack:
        board.push_uci(move.uci())
    if not board.legal_moves():
        raise ValueError("there is no move in this position, so there is no search")
    return board


class Study:
    """`changed` is called when something is new; `tables` are endgame tables or None, `syzygy_path` where reviews have
    theirs from: each opens its own, as the search runs beside others.
    """

    def __init__(self, changed, tables=None, syzygy_path=""):
        self.background = Background(changed)
        self.tables = tables
        self.syzygy_path = syzygy_path

    def close(self):
        self.background.close()

    def state(self):
        return self.background.state()

    # Review

    def review(self, wanted):
        """Reviews the main line of a page's tree. The result is the tree with the review's marks, and its figures."""
        game = game_of(wanted)
        if not game.variations:
            raise ValueError("there are no moves to review")
        nodes = whole_number(wanted.get("nodes_per_move", 100_000), *NODES, "the nodes for a move")

        def work(task):
            searcher = Searcher(megabytes=MEGABYTES)
            try:
                endgame = Endgame(self.syzygy_path, lambda _: None)  # whoever opened `tables` has said what is wrong
                reviewer = Reviewer(searcher, Limits(nodes=nodes), endgame)
                review = reviewer.review(game, task.progress, task.cancelled)
            finally:
                searcher.close()
            if review is None:
                raise Cancelled
            annotate(game, review)
            return {"review": review.as_json(), "tree": nodes_of(game)}

        return {"number": self.background.start("review", work)}

    # Inside the search

    def iterate(self, wanted):
        """Searches depth by depth, for a while; the result is a growing list of rows."""
        board = board_of(wanted)
        depth = whole_number(wanted.get("depth", 16), 1, MOST_ITERATIONS, "the depth")

        def work(task):
            task.result = rows = []
            searcher = Searcher(megabytes=MEGABYTES)
            try:
                limits = Limits(depth=depth, movetime=1000 * MOST_SECONDS)
                with contextlib.closing(iterations(searcher, board, limits, task.cancelled)) as steps:
                    for row in steps:
                        rows.append(row)
                        task.progress(row["depth"], depth)
            except CancelledError:
                raise Cancelled from None
            finally:
                searcher.close()
            return rows

        return {"number": self.background.start("iterations", work)}

    def record(self, wanted):
        """Records the tree of a shallow search; the result is the tree, whose nodes the page then asks for."""
        board = board_of(wanted)
        technique = wanted.get("technique", "engine")
        if technique not in TECHNIQUES:
            raise ValueError("there is no such technique")
        depth = whole_number(wanted.get("depth", 3), 1, MOST_DEPTH[technique], "the depth")

        def work(task):
            try:
                return record(board, depth, technique, cancelled=task.cancelled, tables=self.tables)
            except CancelledError:
                raise Cancelled from None

        return {"number": self.background.start("tree", work)}

    def children(self, wanted):
        """The nodes below a node of the recorded tree with this number, the root without a node."""
        task = self.background.task("tree")
        if task is None or task.result is None or task.number != wanted.get("number"):
            raise ValueError("this tree is not there any more: record it again")
        node = wanted.get("node")
        try:
            found = {"children": task.result.children(node)}
        except (KeyError, TreeFullError) as error:
            raise ValueError(str(error.args[0])) from None
        return found if node is not None else {**found, "summary": task.result.summary()}

    def result(self, kind):
        """What the newest task of this kind has found so far, with its state; None if there is none."""
        task = self.background.task(kind)
        if task is None or kind == "tree":
            return None
        return {**task.state(), "result": task.result}

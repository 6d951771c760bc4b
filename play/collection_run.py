"""Reviews the games of a collection, several at once, and hands the results out in the collection's order.

A game's result depends on the game and the settings only, not on who reviews it or on the games before it.
"""

import threading

import chess.pgn

from arena.processes import tables_at
from board.messages import brief_reason
from book.endgame.table_paths import table_files
from play.annotation import annotate
from play.collection import parse
from play.collection_journal import digest_of
from play.review import GameError, Reviewer
from pool.cluster import ClusterPool
from pool.local import LocalPool
from pool.tasks import Cancelled, Doer, Ordered, Work
from search import Searcher
from uci_engine import __version__
from uci_engine.endgame import Endgame

COLUMNS = 80


class Reviews(Work):
    """A task is a game of a collection (play.collection.Entry), its result what the journal keeps of it."""

    def __init__(self, limits, megabytes, syzygy_path=""):
        self.limits = limits
        self.megabytes = megabytes
        self.syzygy_path = syzygy_path

    def folders(self):
        return {self.syzygy_path: table_files(self.syzygy_path)} if self.syzygy_path else {}

    def open(self, place):
        return ReviewDoer(self, tables_at(self.syzygy_path, place))

    def check(self, place):
        self.open(place).close()
        return []

    def label(self, task):
        return task.place


class ReviewDoer(Doer):
    """One reviewer for many games. What its tables have to say goes to whoever listens at the time."""

    def __init__(self, work, syzygy_path):
        self.told = []
        self.searcher = Searcher(megabytes=work.megabytes)
        self.reviewer = Reviewer(self.searcher, work.limits, Endgame(syzygy_path, self.told.append))
        self.cancel = threading.Event()

    def do(self, task, say):
        about = {"file": task.path, "number": task.number, "line": task.line, "digest": digest_of(task)}
        try:
            game = parse(task)
            review = self.reviewer.review(game, cancelled=self.cancel.is_set)
        except GameError as error:
            return {**about, "broken": brief_reason(error)}
        finally:
            while self.told:
                say(self.told.pop(0))
        if review is None:
            raise Cancelled
        annotate(game, review)
        return {**about, **game_data(game, review), "pgn": game_text(game)}

    def give_up(self):
        self.cancel.set()

    def close(self):
        self.searcher.close()


class Runner:
    """`limits` are those of each search, `megabytes` the size of each transposition table. `say` takes lines of text."""

    def __init__(self, limits, *, megabytes, threads, syzygy_path="", say=print, cluster=None):
        self.say = say
        self.said = set()
        work = Reviews(limits, megabytes, syzygy_path)
        if cluster is None:
            self.pool = LocalPool(work, threads)
        else:
            self.pool = ClusterPool(cluster, work)
            self.pool.check()

    def say_once(self, text):
        """All tables are the same, so each reviewer has the same to say."""
        if text not in self.said:
            self.said.add(text)
            self.say(text)

    def records(self, entries, is_stopped=lambda: False):
        """Yields the records of all entries in their order, until `is_stopped()`: then games that are not done are given up."""
        ordered = Ordered(self.pool, entries, on_part=self.say_once, on_warning=self.say)
        yield from ordered.results(is_stopped)


def game_text(game):
    game.headers.setdefault("Annotator", f"Quetzal {__version__}")
    return game.accept(chess.pgn.StringExporter(columns=COLUMNS))


def game_data(game, review):
    """What summary, page and JSON need of a reviewed game."""
    board = game.board()
    return {
        **{name.lower(): game.headers.get(name, "?") for name in ("White", "Black", "Result", "Event", "Date")},
        "fen": board.fen(),
        "moves": [verdict.uci for verdict in review.verdicts],
        "sans": [verdict.san for verdict in review.verdicts],
        "scores": [short(review.start), *(short(verdict.after) for verdict in review.verdicts)],
        "points": [
            round(evaluation.points, 4)
            for evaluation in (review.start, *(verdict.after for verdict in review.verdicts))
        ],
        "marks": [
            {
                "ply": verdict.ply,
                "grade": verdict.grade,
                "loss": round(verdict.loss, 4),
                "best": list(verdict.best),
                "best_uci": list(verdict.best_uci),
            }
            for verdict in review.verdicts
            if verdict.grade is not None
        ],
        "sides": [totals.sums() for totals in review.sides],
    }


def short(evaluation):
    """A score from White's side as PGN writes it: 0.35, or #-3; # for mate on the board."""
    if evaluation.is_mate:
        return f"#{evaluation.score or ''}"
    return f"{evaluation.score / 100:.2f}"

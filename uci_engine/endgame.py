"""Endgame tables for the engine: where they are, what they say at the root, and what was wrong with them."""

from book.endgame.root_ranks import rank_moves
from book.endgame.syzygy import Tables
from book.endgame.table_paths import shipped_directories, split_path


class Endgame:
    """The tables in use. `say` takes a line of text for the GUI."""

    def __init__(self, path, say):
        self.say = say
        directories = split_path(path)
        self.tables = Tables(directories or shipped_directories(), on_problem=say)
        if directories:  # the package's own are no news
            wdl, dtz = self.tables.counts
            reach = f", up to {self.tables.largest} men" if wdl else ""
            say(f"endgame tables from SyzygyPath: {wdl} WDL and {dtz} DTZ{reach}")

    def equip(self, searcher, values):
        """Lets the next search ask the tables."""
        self.tables.drop_cut_files()
        usable = self.tables if self.tables.largest and values["SyzygyProbeLimit"] else None
        searcher.set_tables(
            usable,
            men=values["SyzygyProbeLimit"],
            depth=values["SyzygyProbeDepth"],
            rule50=values["Syzygy50MoveRule"],
        )

    def rank(self, board, values):
        """The ranking of the root moves, or None if the position is not in the tables; and whether to probe in the tree.

        Behind ranked moves that helps in one case only: to make progress in a win of unknown distance.
        """
        if board.men > min(self.tables.largest, values["SyzygyProbeLimit"]):
            return None, True
        ranking = rank_moves(self.tables, board, values["Syzygy50MoveRule"])
        if ranking is None:
            return None, True
        is_settled = ranking.by_distance or ranking.best_result <= 0
        return ranking, not is_settled

"""Turns what the search found into UCI text."""

from search import Listener


def line_text(board, moves):
    """A line of moves as UCI text. It is played on a copy: how a move is written depends on the position."""
    board = board.copy()
    texts = []
    for move in moves:
        if not board.is_legal(move):
            break
        texts.append(board.uci(move))
        board.push(move)
        if board.outcome() is not None:
            break
    return texts


def info_text(board, info):
    """An `info` line."""
    parts = [f"info depth {info.depth} seldepth {max(info.seldepth, 1)} multipv {info.multipv}"]
    parts.append(f"score {'mate' if info.is_mate else 'cp'} {info.score}")
    if info.bound != "exact":
        parts.append(f"{info.bound}bound")
    parts.append(f"nodes {info.nodes} nps {info.nps} hashfull {info.hashfull} tbhits {info.table_hits}")
    parts.append(f"time {info.milliseconds}")
    pv = line_text(board, info.pv)
    if pv:
        parts.append("pv " + " ".join(pv))
    return " ".join(parts)


class Reporter(Listener):
    """Writes `info` lines while a search runs and `bestmove` when it ends."""

    QUIET_MILLISECONDS = 3000  # bounds are shown only when a search takes its time: many GUIs misread them

    def __init__(self, board, write, finished):
        self.board = board
        self.write = write
        self.finished = finished

    def on_info(self, info):
        if info.bound == "exact" or info.milliseconds > self.QUIET_MILLISECONDS:
            self.write(info_text(self.board, info))

    def on_current(self, move, number):
        self.write(f"info currmove {self.board.uci(move)} currmovenumber {number}")

    def on_result(self, result):
        try:
            self.write_result(result)
        finally:
            self.finished()

    def write_result(self, result):
        if result.best == 0:
            self.write(f"info depth 0 score {'mate' if result.info.is_mate else 'cp'} 0")
            self.write("bestmove (none)")
            return
        self.write(info_text(self.board, result.info._replace(bound="exact")))
        best = self.board.uci(result.best)
        pv = line_text(self.board, (result.best, result.ponder)) if result.ponder else [best]
        self.write(f"bestmove {best}" + (f" ponder {pv[1]}" if len(pv) > 1 else ""))

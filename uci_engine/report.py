"""Turns what the search found into UCI text."""

import time

from search import Listener
from uci_engine.strength import LineCollector, choose
from uci_engine.wdl import wdl_of


def line_text(board, moves):
    """A line of moves as UCI text, cut where the game ends. How a move is written depends on the position."""
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


def san_line(board, texts):
    """A line of moves in UCI's notation as people write them."""
    board, found = board.copy(), []
    for text in texts:
        move = board.parse_uci(text)
        found.append(board.san(move))
        board.push(move)
    return found


def info_text(board, info, weight=None):
    """An `info` line; with the phase's `weight` also the chances to win, draw and lose."""
    parts = [f"info depth {info.depth} seldepth {max(info.seldepth, 1)} multipv {info.multipv}"]
    parts.append(f"score {'mate' if info.is_mate else 'cp'} {info.score}")
    if info.bound != "exact":
        parts.append(f"{info.bound}bound")
    if weight is not None:
        parts.append("wdl {} {} {}".format(*wdl_of(info.is_mate, info.score, weight)))
    parts.append(f"nodes {info.nodes} nps {info.nps} hashfull {info.hashfull} tbhits {info.tb_hits}")
    parts.append(f"time {info.milliseconds}")
    pv = line_text(board, info.pv)
    if pv:
        parts.append("pv " + " ".join(pv))
    return " ".join(parts)


def parse_info(words):
    """The fields of one of our own `info` lines: numbers by their names, the score by its kind, the moves of the line."""
    report, place = {}, 1
    while place < len(words):
        word = words[place]
        if word == "score":
            report["score"] = {words[place + 1]: int(words[place + 2])}
            place += 3
        elif word in ("lowerbound", "upperbound"):
            report["bound"] = word.removesuffix("bound")
            place += 1
        elif word == "wdl":
            report["wdl"] = [int(number) for number in words[place + 1 : place + 4]]
            place += 4
        elif word == "pv":
            report["pv"] = words[place + 1 :]
            break
        else:
            report[word] = int(words[place + 1])
            place += 2
    return report


class Reply:
    """The answer to one `go`: `info` lines, then exactly one `bestmove`, which is written here and nowhere else.

    `finished` is called when the `bestmove` is out.
    """

    def __init__(self, write, finished):
        self.write = write
        self.finished = finished
        self.is_given = False

    def bestmove(self, board, line=()):
        """Ends the answer with the first move of a line, its second one as what to ponder on; no move without a line."""
        if self.is_given:
            return
        self.is_given = True
        try:
            best, *replies = line_text(board, line) or ["(none)"]
            self.write(f"bestmove {best}" + (f" ponder {replies[0]}" if replies else ""))
        finally:
            self.finished()


class Throttle:
    """At first as many lines as come, later a few a second: some GUIs drown in a flood of quick depths."""

    BURST = 40
    PER_SECOND = 20

    def __init__(self):
        self.room = float(self.BURST)
        self.last = 0  # milliseconds

    def lets_pass(self, milliseconds, lines):
        self.room = min(self.BURST, self.room + (milliseconds - self.last) * self.PER_SECOND / 1000)
        self.last = milliseconds
        if self.room < lines and self.room < self.BURST:
            return False
        self.room -= lines
        return True


class Reporter(Listener):
    """Writes `info` lines while a search runs, and lets the reply end with its move."""

    QUIET_MILLISECONDS = 3000  # bounds are shown only when a search takes its time: many GUIs misread them
    CURRENT_MILLISECONDS = 200  # between two currmove lines

    def __init__(self, board, reply, *, shown=1, show_wdl=False, handicap=None, rng=None):
        self.board = board
        self.reply = reply
        self.write = reply.write
        self.shown = shown
        self.weight = board.phase if show_wdl else None
        self.handicap = handicap
        self.rng = rng
        self.collector = LineCollector()
        self.throttle = Throttle()
        self.is_open = False  # are the lines of this iteration being shown?
        self.sent = None  # the first line that was shown last, to say nothing twice
        self.sent_at = 0

    def on_info(self, info):
        self.collector.on_info(info)
        if info.multipv > self.shown:
            return
        if info.bound != "exact":
            if info.milliseconds >= self.QUIET_MILLISECONDS and self.throttle.lets_pass(info.milliseconds, 1):
                self.show(info)
            return
        if info.multipv == 1:
            self.is_open = not self.is_known_mate(info) and self.throttle.lets_pass(info.milliseconds, self.shown)
        if self.is_open:
            self.show(info)

    def is_known_mate(self, info):
        """Deeper and deeper searches of a mate that was announced are no news."""
        return (
            info.is_mate
            and self.sent is not None
            and self.sent.is_mate
            and self.sent.score == info.score
            and info.milliseconds - self.sent.milliseconds < 1000
        )

    def show(self, info):
        if info.multipv == 1:
            self.sent = info
        self.write(info_text(self.board, info, self.weight))

    def show_last(self, lines):
        """The final lines, unless they are on the GUI's screen already."""
        first, sent = lines[0], self.sent
        if sent is not None and self.is_open and sent._replace(**same(first)) == first and sent.nodes == first.nodes:
            return
        for line in lines[: self.shown]:
            self.show(line)
        self.is_open = True

    def on_current(self, move, number):
        moment = time.monotonic() * 1000
        if moment - self.sent_at >= self.CURRENT_MILLISECONDS:
            self.sent_at = moment
            self.write(f"info currmove {self.board.uci(move)} currmovenumber {number}")

    def on_waiting(self):
        if self.collector.lines:
            self.show_last(self.collector.lines)

    def on_result(self, result):
        line = (result.best,) if result.best else ()
        try:
            line = self.show_result(result)
        except Exception as error:
            # A GUI can live without a line, but not without a move.
            self.write(f"info string internal error: {type(error).__name__}: {error}")
        finally:
            self.reply.bestmove(self.board, line)

    def show_result(self, result):
        """The last `info` lines; returns the line to play."""
        if result.best == 0:
            is_mated = self.board.is_check() and not self.board.legal_moves()
            self.write(f"info depth 0 score {'mate' if is_mated else 'cp'} 0")
            return ()
        lines = self.collector.final_lines(result)
        if self.handicap is not None:
            chosen = lines.pop(choose(lines, self.handicap.spread, self.rng))
            lines = [line._replace(multipv=number) for number, line in enumerate((chosen, *lines), 1)]
        self.show_last(lines)
        return lines[0].pv


def same(info):
    """What may differ between two reports of the same line."""
    return {name: getattr(info, name) for name in ("nps", "hashfull", "milliseconds")}

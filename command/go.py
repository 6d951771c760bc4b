"""`quetzal go`: one search, with the words of UCI's `go`."""

import json
import sys

from command.arguments import (
    add_chess960,
    add_eval_file,
    add_fen,
    add_json,
    add_syzygy_path,
    add_threads,
    board_of,
    positive,
)
from uci_engine.go import parse_go, problem_of
from uci_engine.protocol import answer_once
from uci_engine.report import parse_info, san_line

DESCRIPTION = (
    "Searches a position and prints what UCI's go prints. LIMIT is depth N, nodes N, movetime MS, mate N, wtime MS,\n"
    "btime MS, winc MS, binc MS, movestogo N, searchmoves MOVE ..., infinite, or perft N to count instead. Without\n"
    "a limit it searches until Ctrl-C, which always asks for the best move so far."
)


def add_arguments(parser):
    parser.takes_words = True
    parser.usage = "quetzal go [LIMIT ...] [options]"
    add_fen(parser)
    add_chess960(parser)
    add_threads(parser, "search threads")
    parser.add_argument("--hash", type=positive, metavar="MB", help="size of the transposition table (default: 16)")
    parser.add_argument("--multipv", type=positive, metavar="N", help="how many best lines to show (default: 1)")
    add_syzygy_path(parser)
    add_eval_file(parser)
    parser.add_argument("--san", action="store_true", help="write moves as people do: Nf3 instead of g1f3")
    add_json(parser)


def run(options):
    problem = problem_of(options.words)
    if problem is not None:
        raise ValueError(problem)
    parameters = parse_go(options.words)
    for name in ("depth", "nodes", "mate", "movetime"):
        number = getattr(parameters, name)
        if number is not None and number < 1:
            raise ValueError(f"{name} is at least 1")
    if parameters.perft is not None:
        if options.json or options.san:
            raise ValueError("a perft has no lines of moves, so neither --san nor --json applies to it")
        from command.perft import count

        return count(board_of(options), parameters.perft, True, options.threads)
    if parameters.ponder:
        raise ValueError("there is nobody to wait for: ponder belongs to games")
    if parameters.is_endless and sys.stderr.isatty():
        print("searching until Ctrl-C", file=sys.stderr)
    board = board_of(options)
    translate = None
    if options.json:
        translate = JsonReport(board).add
    elif options.san:
        translate = SanReport(board).add
    return answer_once(
        f"go {' '.join(options.words)}", 1, fen=options.fen, options=settings(options), translate=translate
    )


def settings(options):
    """The engine's options, as pairs of name and text."""
    given = (
        ("UCI_Chess960", "true" if options.chess960 else None),
        ("Threads", options.threads),
        ("Hash", options.hash),
        ("MultiPV", options.multipv),
        ("SyzygyPath", options.syzygy_path),
        ("EvalFile", options.eval_file),
    )
    return [(name, str(value)) for name, value in given if value is not None]


class SanReport:
    """Translates the lines of a search: the moves of `pv`, `currmove`, `bestmove` and `ponder`."""

    def __init__(self, board):
        self.board = board

    def add(self, line):
        words = line.split()
        if words[:1] == ["bestmove"] and words[1] != "(none)":
            moves = san_line(self.board, words[1::2])
            yield f"bestmove {' ponder '.join(moves)}"
        elif " pv " in line and not line.startswith("info string"):
            head, _, moves = line.partition(" pv ")
            yield f"{head} pv {' '.join(san_line(self.board, moves.split()))}"
        elif words[:2] == ["info", "currmove"]:
            yield " ".join([*words[:2], *san_line(self.board, words[2:3]), *words[3:]])
        else:
            yield line


class JsonReport:
    """Collects the lines of a search and gives one JSON object at its end: the move, the last lines, what was said."""

    def __init__(self, board):
        self.board = board
        self.lines = {}
        self.messages = []

    def add(self, line):
        words = line.split()
        if words[:2] == ["info", "string"]:
            self.messages.append(line.removeprefix("info string "))
        elif words[0] == "info" and "score" in words:
            report = parse_info(words)
            self.lines[report.setdefault("multipv", 1)] = report
        elif words[0] == "bestmove":
            yield json.dumps(self.result(words), ensure_ascii=False)

    def result(self, words):
        moves = [] if words[1] == "(none)" else words[1::2]
        lines = [self.lines[number] for number in sorted(self.lines)]
        for line in lines:
            line["san"] = san_line(self.board, line.get("pv", ()))
        return {
            "fen": self.board.fen(),
            "bestmove": moves[0] if moves else None,
            "ponder": moves[1] if len(moves) > 1 else None,
            "san": san_line(self.board, moves[:1])[0] if moves else None,
            "lines": lines,
            "messages": self.messages,
        }

"""What is known about a position without a search: its opening's name, the tables' verdicts, and why it is worth what."""

from board import Board
from book.endgame.verdicts import RESULTS, verdicts
from book.opening.repertoire import opening_names
from eval import GROUPS, evaluate, explain, network_summary, piece_values
from play.game import play_moves, start_board

MOST_TABLE_MEN = 7


def opening(fen, moves):
    """The name of the opening that a game from the usual start has come to; empty if it has none."""
    if fen != Board().fen():
        return ""
    return opening_names().of_game(moves)


def table_rows(tables, board):
    """The verdicts of endgame tables on all moves, or None if they do not know the position."""
    if tables is None or board.men > min(tables.largest, MOST_TABLE_MEN) or tables.wdl(board) is None:
        return None
    return [
        {
            "move": board.uci(each.move),
            "san": each.san,
            "words": each.words,
            "result": 2 if each.is_mate else 0 if each.is_stalemate else each.result,
            "dtz": None if each.dtz is None or each.is_mate else abs(each.dtz),
        }
        for each in verdicts(tables, board)
    ]


def table_result(tables, board):
    """The position's own result in words, for the side to move."""
    return RESULTS[tables.wdl(board)]


def reasons(board):
    """The evaluation in use and where it comes from, all from White's side, in centipawns."""
    explanation = explain(board)
    rows = [
        {
            "group": row.group,
            "white": _taper(row, 1, explanation),
            "black": _taper(row, 3, explanation),
            "sum": row.tapered,
        }
        for row in explanation.rows
    ]
    total = evaluate(board)
    values = None
    if network_summary() is not None:
        values = {
            square: value if board.piece_at(square).isupper() else -value
            for square, value in piece_values(board).items()
        }
    return {
        "total": -total if board.turn else total,
        "rows": rows,
        "classical": explanation.total,
        "phase": explanation.phase,
        "values": values,
    }


def _taper(row, first, explanation):
    """A side's middlegame and endgame numbers at this phase; what the ending as a whole adds belongs to no side."""
    if row.group not in GROUPS:
        return None
    return round((row[first] * explanation.phase + row[first + 1] * (24 - explanation.phase)) / 24)


def position_facts(wanted, tables):
    """All of it for a position that a page asks about; ValueError says what is wrong with it."""
    chess960 = bool(wanted.get("chess960"))
    start = start_board(wanted.get("fen"), chess960)
    fen = start.shredder_fen() if chess960 else start.fen()
    moves = [move.uci() for move in play_moves(start, wanted.get("moves", [])).move_stack]
    board = Board(fen, chess960=chess960)
    for move in moves:
        board.push_uci(move)
    rows = table_rows(tables, board)
    return {
        "opening": "" if chess960 else opening(fen, moves),
        "tables": rows,
        "verdict": None if rows is None else table_result(tables, board),
        "why": reasons(board),
    }

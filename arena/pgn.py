"""Games as PGN. Evaluation, time and clock stand in the comment commands that other programs read."""

import textwrap

from arena.text import visible
from board import Board
from board.fen import STARTING_FEN


def clock_text(milliseconds):
    seconds = milliseconds / 1000
    return f"{int(seconds // 3600)}:{int(seconds // 60 % 60):02}:{seconds % 60:06.3f}"


def comment(thought, side):
    """Evaluation from White's side with the depth, time used, time left, nodes."""
    parts = []
    depth = f",{thought['depth']}" if "depth" in thought else ""
    sign = 1 if side == 0 else -1
    if "mate" in thought:
        parts.append(f"[%eval #{sign * thought['mate']}{depth}]")
    elif "score" in thought:
        parts.append(f"[%eval {sign * thought['score'] / 100:.2f}{depth}]")
    parts.append(f"[%emt {clock_text(thought['time'])}]")
    if "left" in thought:
        parts.append(f"[%clk {clock_text(thought['left'])}]")
    if "nodes" in thought:
        parts.append(f"[%nodes {thought['nodes']}]")
    return "{" + " ".join(parts) + "}"


def header_value(text):
    """Readers disagree about escaped characters, so there are none. A line break would begin another tag."""
    return visible(str(text)).replace("\\", "/").replace('"', "'")


def comment_text(text):
    """Nothing in it ends the comment, or makes a line an escape by beginning it with a per cent sign."""
    return visible(text).replace("{", "(").replace("}", ")").replace("%", "")


def game_text(record, description):
    """One game with its headers, and an empty line after it."""
    chess960 = description["rules"]["chess960"]
    headers = {
        "Event": description.get("name", "?"),
        "Site": "?",
        "Date": record["began"][:10].replace("-", "."),
        "Round": record.get("round", "?"),
        "White": record["white"],
        "Black": record["black"],
        "Result": record["result"],
    }
    if chess960:
        headers["Variant"] = "Chess960"
    if chess960 or record["fen"] != STARTING_FEN:
        headers["SetUp"] = "1"
        headers["FEN"] = record["fen"]
    if record["opening"]:
        headers["Opening"] = record["opening"]
    headers["PlyCount"] = len(record["moves"])
    headers["Termination"] = record["termination"]
    white, black = record["controls"]
    if white == black:
        headers["TimeControl"] = white
    else:
        headers["WhiteTimeControl"], headers["BlackTimeControl"] = white, black
    headers["GameNumber"] = record["game"] + 1  # people count from one

    board = Board(record["fen"], chess960=chess960)
    words = []
    for index, text in enumerate(record["moves"]):
        move = board.parse_uci(text)
        if board.turn == 0 or index in (0, record["book_plies"]):
            words.append(f"{board.fullmove_number}.{'' if board.turn == 0 else '..'}")
        words.append(board.san(move))
        if index >= record["book_plies"]:
            words.append(comment(record["thoughts"][index - record["book_plies"]], board.turn))
            if board.turn == 0 and index + 1 < len(record["moves"]):
                words.append(f"{board.fullmove_number}...")
        board.push(move)
    words += [f"{{{comment_text(record['reason'])}}}", record["result"]]
    # A number before Black's move is only needed after a comment, where it stands already.
    lines = textwrap.fill(" ".join(words), 100, break_long_words=False, break_on_hyphens=False)
    return "".join(f'[{name} "{header_value(value)}"]\n' for name, value in headers.items()) + f"\n{lines}\n\n"

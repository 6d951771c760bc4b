"""Games with variations, between PGN and a page: a list of nodes, each with the place of its parent in the list."""

import io

import chess.pgn

from play.collection import Builder, read
from play.game import start_board

MOST_NODES = 20_000
MOST_GAMES = 1_000  # of one text
MOST_COMMENT = 5_000  # letters
_HEADERS = ("Event", "Site", "Date", "Round", "White", "Black", "Result", "WhiteElo", "BlackElo", "TimeControl")


class PageBuilder(Builder):
    """Builds what a page can show."""

    most_nodes = MOST_NODES


def read_game(text):
    """The first game of a PGN text and what is wrong with it. ValueError if there is no game, or none can be told."""
    game = read(text, PageBuilder)
    if game is None:
        raise ValueError("there is no game in this text")
    problems = [str(error) for error in game.errors]
    if not game.variations and problems:
        raise ValueError(f"this game cannot be read: {problems[0]}")
    return game, problems


def list_games(text):
    """The games of a PGN text in short: where each begins in it, as JavaScript counts, and its tags."""
    handle, found = io.StringIO(text), []
    begin = place = 0
    while len(found) < MOST_GAMES:
        place += units(text[begin : handle.tell()])
        begin = handle.tell()
        headers = chess.pgn.read_headers(handle)
        if headers is None:
            break
        found.append((place, {name: headers[name] for name in _HEADERS if name in headers}))
    return found


def units(text):
    """The length of a text in JavaScript, where an emoji counts twice."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def nodes_of(game):
    """The tree as a page gets it: {"fen", "chess960", "headers", "nodes"}; a node is [parent, move, comment, NAGs].

    The root is no node of the list, it is the parent -1. Main moves come before variations.
    """
    board = game.board()
    nodes = []
    waiting = [(child, -1) for child in reversed(game.variations)]
    while waiting:
        node, parent = waiting.pop()
        if len(nodes) >= MOST_NODES:
            raise ValueError(f"this game has more than {MOST_NODES:,} moves and variations")
        nodes.append([parent, node.move.uci(), node.comment, sorted(node.nags)])
        waiting += [(child, len(nodes) - 1) for child in reversed(node.variations)]
    return {
        "fen": board.shredder_fen() if board.chess960 else board.fen(),
        "chess960": board.chess960,
        "headers": {name: game.headers[name] for name in _HEADERS if name in game.headers},
        "comment": game.comment,
        "nodes": nodes,
    }


def game_of(tree):
    """The game that a page's tree stands for. ValueError says what is wrong with it."""
    board = start_board(tree.get("fen"), bool(tree.get("chess960")))
    game = chess.pgn.Game()
    headers = tree.get("headers") or {}
    if not isinstance(headers, dict):
        raise ValueError("headers are names and texts")
    for name in _HEADERS:
        if isinstance(headers.get(name), str):
            game.headers[name] = " ".join(headers[name][:200].split())
    if board.chess960 or board.fen() != chess.STARTING_FEN:
        game.setup(board)
    game.comment = _comment(tree.get("comment", ""))
    entries = tree.get("nodes", [])
    if not isinstance(entries, list) or len(entries) > MOST_NODES:
        raise ValueError(f"a game has at most {MOST_NODES:,} moves and variations")
    nodes, boards = [], []  # a node's own board would be replayed from the start
    for entry in entries:
        if not isinstance(entry, list) or len(entry) != 4:
            raise ValueError("a node is a parent, a move, a comment and marks")
        parent, move, comment, nags = entry
        if not isinstance(parent, int) or not -1 <= parent < len(nodes) or not isinstance(move, str):
            raise ValueError("a node's parent comes before it")
        above, position = (game, board) if parent == -1 else (nodes[parent], boards[parent])
        found = position.parse_uci(move)
        if not found:
            raise ValueError("a null move is no move")
        node = above.add_variation(found, comment=_comment(comment))
        node.nags = {nag for nag in nags if isinstance(nag, int) and 0 < nag < 256} if isinstance(nags, list) else set()
        nodes.append(node)
        position = position.copy(stack=False)
        position.push(found)
        boards.append(position)
    return game


def _comment(text):
    if not isinstance(text, str) or len(text) > MOST_COMMENT:
        raise ValueError(f"a comment is a text of at most {MOST_COMMENT:,} letters")
    return text.replace("{", "(").replace("}", ")")

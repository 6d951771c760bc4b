"""The rules in JavaScript, in a real browser, against python-chess."""

import random

import chess
import pytest

from web.page import assemble

# Every way to be ambiguous, to be in check, to promote and to pass.
CORNERS = [
    "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1",  # taking en passant would expose the king
    "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 2",
    "8/2k5/8/KPp4r/8/8/8/8 w - c6 0 2",  # two pawns leave the rank at once
    "k7/8/8/8/8/Q6Q/8/Q6K w - - 0 1",
    "4k3/8/8/8/8/2N5/8/N3K1N1 w - - 0 1",
    "1r5k/P7/8/8/8/8/7p/K5R1 w - - 0 1",
    "r3k2r/8/8/8/4r3/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/5b2/8/R3K2R w KQkq - 3 9",
    "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1",
    "4k3/4n3/8/b7/8/2N5/8/4K1N1 w - - 0 1",  # one knight is pinned, so that the other needs no file
]
INNER = "1r2k1r1/1p4p1/8/8/8/8/8/RR2K1RR w GBgb - 0 1"

READ = """
let position = readFen(arguments[0]);
const found = [[fenOf(position), null, checkedKing(position) !== null]];
for (const move of arguments[1]) {
  const san = sanOf(position, move);
  position = makeMove(position, move);
  found.push([fenOf(position), san, checkedKing(position) !== null]);
}
return found;
"""


@pytest.fixture(scope="module")
def window(chromium, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "empty.html"
    file.write_text(assemble("rules", "<main></main>", "", "", {}), encoding="utf-8")
    chromium.open(f"file://{file}")
    return chromium


def game(board, rng, plies):
    """Random moves, with a taste for the rare ones."""
    moves = []
    while len(moves) < plies and not board.is_game_over():
        legal = list(board.legal_moves)
        rare = [move for move in legal if board.is_castling(move) or board.is_en_passant(move) or move.promotion]
        move = rng.choice(rare if rare and rng.random() < 0.7 else legal)
        moves.append(move)
        board.push(move)
    return moves


def kinds(board, move):
    yield from ["castling"] * board.is_castling(move)
    yield from ["en passant"] * board.is_en_passant(move)
    yield from ["promotion"] * bool(move.promotion)
    yield from ["check"] * board.gives_check(move)


def test_positions_names_and_checks_over_random_games(window):
    rng = random.Random(4)
    seen = set()
    for number in range(40):
        chess960 = number % 2 == 1
        board = chess.Board.from_chess960_pos(rng.randrange(960)) if chess960 else chess.Board()
        start = board.fen()
        moves = game(board.copy(), rng, 150)
        expected = [[start, None, board.is_check()]]
        texts = []
        for move in moves:
            seen |= set(kinds(board, move))
            texts.append(board.uci(move, chess960=chess960))
            san = board.san(move)
            board.push(move)
            expected.append([board.fen(), san, board.is_check()])
        assert window.run(READ, start, texts) == expected
    assert seen == {"castling", "en passant", "promotion", "check"}


@pytest.mark.parametrize("fen", CORNERS)
def test_every_move_of_corner_cases(window, fen):
    board = chess.Board(fen)
    for move in board.legal_moves:
        after = board.copy()
        after.push(move)
        expected = [[board.fen(), None, board.is_check()], [after.fen(), board.san(move), after.is_check()]]
        assert window.run(READ, fen, [move.uci()]) == expected


def test_rights_to_castle_with_an_inner_rook(window):
    """The letter of a file where K or Q would mean the outer rook."""
    board = chess.Board(INNER, chess960=True)
    assert window.run("return fenOf(readFen(arguments[0]))", INNER) == board.fen()
    for text in ("e1g1", "e1b1", "g1g2", "h1h2"):
        board = chess.Board(INNER, chess960=True)
        board.push_uci(text)
        assert window.run("return fenOf(makeMove(readFen(arguments[0]), arguments[1]))", INNER, text) == board.fen()


def test_what_is_legal(window):
    """All moves that python-chess allows and none of the others, over all pairs of squares."""
    rng = random.Random(7)
    boards = [*map(chess.Board, [*CORNERS, "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"]), chess.Board(INNER, chess960=True)]
    for number in range(8):
        board = chess.Board.from_chess960_pos(rng.randrange(960)) if number % 2 else chess.Board()
        game(board, rng, 10 * number)
        boards.append(board)
    pairs = [(one, other) for one in chess.SQUARE_NAMES for other in chess.SQUARE_NAMES if one != other]
    names = [one + other for one, other in pairs]
    names += [one + other + "q" for one, other in pairs if one[1] + other[1] in ("78", "21")]
    script = "const at = readFen(arguments[0]); return arguments[1].filter((move) => isLegal(at, move))"
    castled = 0
    for board in boards:
        expected, also = set(), set()
        for move in board.legal_moves:
            if board.is_castling(move):
                castled += 1
                expected.add(board.uci(move, chess960=True))
                # From its usual square the king may also be said to make two steps.
                if chess.square_file(move.from_square) == 4:
                    side = "g" if chess.square_file(move.to_square) > 4 else "c"
                    also.add(chess.square_name(move.from_square) + side + chess.square_name(move.to_square)[1])
            elif move.promotion in (None, chess.QUEEN):
                expected.add(move.uci())
        assert set(window.run(script, board.fen(), names)) == expected | also, board.fen()
    assert castled >= 3
    for text in ("", "e2", "e2e9", "0000", "e7e8k", "<b>", "e2e4e5"):
        assert window.run("return isLegal(readFen(arguments[0]), arguments[1])", chess.STARTING_FEN, text) is False


def test_where_a_piece_may_be_put(window):
    """Every target of a legal move and no other square; castling by two steps of the king and by taking the own rook."""
    rng = random.Random(11)
    boards = [*map(chess.Board, CORNERS), chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")]
    boards.append(chess.Board(INNER, chess960=True))
    for number in range(8):
        board = chess.Board.from_chess960_pos(rng.randrange(960)) if number % 2 else chess.Board()
        game(board, rng, 12 * number)
        boards.append(board)
    script = """
const at = readFen(arguments[0]);
return at.squares.flatMap((_, from) => placesFrom(at, from).map((to) => squareName(from) + squareName(to))).sort();
"""
    castled = 0
    for board in boards:
        expected = set()
        for move in board.legal_moves:
            expected.add(board.uci(move, chess960=True)[:4])
            if board.is_castling(move):
                castled += 1
                if chess.square_file(move.from_square) == 4:
                    side = "g" if chess.square_file(move.to_square) > 4 else "c"
                    expected.add(chess.square_name(move.from_square) + side + chess.square_name(move.to_square)[1])
        assert window.run(script, board.fen()) == sorted(expected), board.fen()
    assert castled >= 3

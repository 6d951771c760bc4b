"""Text from anywhere: the parsers answer, or raise the one documented exception; the board stays whole."""

import chess
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support import ALL_FENS, scaled

from board import Board, FenError, MoveError

many = settings(
    max_examples=scaled(3000), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)

FENS = [fen for fen, _ in ALL_FENS]
BOARDS = st.sampled_from(ALL_FENS).map(lambda known: Board(known[0], chess960=known[1]))
PLACEMENT = st.lists(st.text("pnbrqkPNBRQK12345678", max_size=9), min_size=7, max_size=9).map("/".join)
SOUND_FIELDS = st.tuples(
    st.sampled_from([fen.split()[0] for fen in FENS]) | PLACEMENT,
    st.sampled_from(["w", "b", "x"]),
    st.text("KQkqABCDEFGHabcdefgh-", min_size=1, max_size=5),
    st.text("abcdefgh12345678-", min_size=1, max_size=3),
    st.integers(-2, 2000).map(str) | st.text(min_size=1, max_size=4),
    st.integers(-2, 70000).map(str) | st.text("0123456789 ", min_size=1, max_size=30),
)


@st.composite
def damaged_fens(draw):
    """A good FEN with a few letters changed, cut or put in."""
    letters = list(draw(st.sampled_from(FENS)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(0, len(letters) - 1)))
        letters[place : place + draw(st.integers(0, 2))] = draw(st.text("pnbrqkPNBRQKw/-12345678 \x00é", max_size=2))
    return "".join(letters)


def try_fen(text, chess960):
    board = Board()
    before = board.position_bytes()
    try:
        board.set_fen(text, chess960=chess960)
    except FenError as error:
        assert str(error)
        assert board.position_bytes() == before
        return
    # What is accepted can be written, read again, and played on.
    assert Board(board.fen(), chess960=chess960).fen() == board.fen()
    assert Board(board.fen(shredder=True), chess960=chess960).fen() == board.fen()
    assert board.perft(2) >= 0
    theirs = chess.Board(board.fen(), chess960=True)
    ours = Board(board.fen(), chess960=True)
    assert {ours.uci(move) for move in ours.legal_moves()} == {theirs.uci(move) for move in theirs.legal_moves}


@many
@given(st.text(max_size=100), st.booleans())
@example("\x00", False)
@example("8/8/8/8/8/8/8/8", False)
def test_any_text_as_fen(text, chess960):
    try_fen(text, chess960)


@many
@given(SOUND_FIELDS.map(" ".join), st.booleans())
def test_fields_that_look_sound(text, chess960):
    try_fen(text, chess960)


@many
@given(damaged_fens(), st.booleans())
def test_damaged_fens(text, chess960):
    try_fen(text, chess960)


def try_move(board, parse, write, text):
    before = board.position_bytes()
    try:
        move = parse(text)
    except MoveError as error:
        assert str(error)
    else:
        assert board.is_legal(move)
        assert parse(write(move)) == move
    assert board.position_bytes() == before


UCI_LIKE = st.from_regex(r"[a-hA-H][1-8][a-h][1-8][nbrqkp]?", fullmatch=True) | st.text(max_size=8)
SAN_LIKE = st.from_regex(
    r"([NBRQKP]?[a-h]?[1-8]?[x:-]?[a-h][1-8](=?\(?[NBRQKnbrq]\)?)?|[O0o]-[O0o](-[O0o])?)( ?e\.?p\.?)?[+#!?]*",
    fullmatch=True,
) | st.text(max_size=12)


@many
@given(BOARDS, UCI_LIKE)
def test_any_text_as_uci(board, text):
    try_move(board, board.parse_uci, board.uci, text)


@many
@given(BOARDS, SAN_LIKE)
def test_any_text_as_san(board, text):
    try_move(board, board.parse_san, board.san, text)


@many
@given(BOARDS, st.integers(-(2**70), 2**70) | st.integers(0, 65535))
def test_any_number_as_move(board, number):
    before = board.position_bytes()
    try:
        board.push(number)
    except MoveError:
        assert board.position_bytes() == before
    else:
        board.pop()
        assert board.position_bytes() == before

"""FEN in and out: what is read, what is refused and why, and that refusing changes nothing."""

import chess
import pytest
from support import ALL_FENS

from board import STARTING_FEN, Board, FenError

BAD = {
    "empty": ("", "the FEN is empty"),
    "seven ranks": ("8/8/8/8/8/8/K1k5 w - - 0 1", "7 ranks instead of 8"),
    "nine ranks": ("8/8/8/8/8/8/8/8/K1k5 w - - 0 1", "9 ranks instead of 8"),
    "rank too short": ("8/8/8/7/8/8/8/K1k5 w - - 0 1", "rank 5 has 7 squares instead of 8"),
    "rank too long": ("8/8/8/8/8/8/8/K1k6 w - - 0 1", "rank 1 has 9 squares instead of 8"),
    "rank overfull of pieces": ("8/8/8/8/8/8/8/K1k1RRRRRR w - - 0 1", "rank 1 has 10 squares"),
    "two digits": ("8/8/8/44/8/8/8/K1k5 w - - 0 1", "two digits in a row on rank 5"),
    "unknown piece": ("8/8/8/3x4/8/8/8/K1k5 w - - 0 1", "'x' on rank 5 is no piece"),
    "digit nine": ("9/8/8/8/8/8/8/K1k5 w - - 0 1", "'9' on rank 8 is no piece"),
    "no white king": ("8/8/8/8/8/8/8/2k5 w - - 0 1", "White has 0 kings instead of one"),
    "no black king": ("8/8/8/8/8/8/8/K7 w - - 0 1", "Black has 0 kings instead of one"),
    "two black kings": ("k6k/8/8/8/8/8/8/K7 w - - 0 1", "Black has 2 kings instead of one"),
    "adjacent kings": ("8/8/8/8/8/8/8/Kk6 w - - 0 1", "Black is in check, but it is White's turn"),
    "side not to move in check": ("4k3/8/8/8/8/8/8/K3R3 w - - 0 1", "Black is in check, but it is White's turn"),
    "the same for Black": ("4k3/8/8/8/8/8/8/K3r3 b - - 0 1", "White is in check, but it is Black's turn"),
    "pawn on the last rank": ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "a pawn stands on a8"),
    "pawn on the first rank": ("4k3/8/8/8/8/8/8/4K2p w - - 0 1", "a pawn stands on h1"),
    "nine pawns": ("4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", "White has too many pawns: 9, at most 8"),
    "seventeen pieces": ("4k3/qqqqqqqq/qqqqqqqq/8/8/8/8/4K3 b - - 0 1", "Black has too many pieces: 17, at most 16"),
    "side to move": ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "the side to move is 'w' or 'b', not 'x'"),
    "unknown right": ("4k3/8/8/8/8/8/8/4K2R w Kx - 0 1", "'x' in 'Kx' is no castling right"),
    "right without rook": ("4k3/8/8/8/8/8/8/4K2R w Q - 0 1", "castling right 'Q', but White has no rook there"),
    "black right without rook": ("4k3/8/8/8/8/8/8/4K2R w k - 0 1", "castling right 'k', but Black has no rook there"),
    "enemy's rook": ("4k3/8/8/8/8/8/7R/4K2r b K - 0 1", "is in check"),
    "rook on another rank": ("4k3/8/8/8/8/8/7R/4K3 w K - 0 1", "castling right 'K', but White has no rook there"),
    "king not at home": ("4k3/8/8/8/8/8/4K3/7R w K - 0 1", "castling right 'K', but White's king stands on e2"),
    "Shredder file without rook": ("4k3/8/8/8/8/8/8/4K2R w G - 0 1", "castling right 'G', but White has no rook there"),
    "two rooks on one wing": ("4k3/8/8/8/8/8/8/4K1RR w GH - 0 1", "gives White two rooks to castle with on one wing"),
    "en passant is no square": ("4k3/8/8/8/8/8/8/4K3 w - e9 0 1", "en-passant square 'e9' is no square"),
    "en passant too long": ("4k3/8/8/8/8/8/8/4K3 w - e66 0 1", "en-passant square 'e66' is no square"),
    "en passant on a wrong rank": ("4k3/8/8/3pP3/8/8/8/4K3 w - d5 0 1", "en passant on d5 is impossible with White"),
    "en passant of the own pawn": ("4k3/8/8/8/4P3/8/8/4K3 w - e3 0 1", "en passant on e3 is impossible with White"),
    "en passant without pawn": ("4k3/8/8/4P3/8/8/8/4K3 w - d6 0 1", "no pawn has just passed there"),
    "en passant over a piece": ("4k3/8/3n4/3pP3/8/8/8/4K3 w - d6 0 1", "the pawn's way was not free"),
    "en passant from a full square": ("4k3/3n4/8/3pP3/8/8/8/4K3 w - d6 0 1", "the pawn's way was not free"),
    "negative clock": ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", "halfmove clock '-1' is not a number from 0 to 32767"),
    "clock in words": ("4k3/8/8/8/8/8/8/4K3 w - - ten 1", "halfmove clock 'ten' is not a number"),
    "huge clock": ("4k3/8/8/8/8/8/8/4K3 w - - 99999999999999999999 1", "halfmove clock '9+' is not a number"),
    "bad move number": ("4k3/8/8/8/8/8/8/4K3 w - - 0 1.5", "fullmove number '1.5' is not a number"),
    "huge move number": ("4k3/8/8/8/8/8/8/4K3 w - - 0 32768", "fullmove number '32768' is not a number"),
    "digits of another script": ("4k3/8/8/8/8/8/8/4K3 w - - ٣ 1", "halfmove clock '٣' is not a number"),
    "seven fields": ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 extra", "7 fields instead of at most 6: 'extra' is too much"),
}


@pytest.mark.parametrize(("fen", "message"), BAD.values(), ids=BAD)
def test_bad_fen(fen, message):
    with pytest.raises(FenError, match=message):
        Board(fen)


@pytest.mark.parametrize("fen", [fen for fen, _ in BAD.values()], ids=BAD)
def test_nothing_is_half_set(fen):
    board = Board()
    board.push_san("Nf3")
    before = board.position_bytes()
    with pytest.raises(FenError):
        board.set_fen(fen)
    assert board.position_bytes() == before
    assert board.ply == 1
    board.pop()
    assert board.fen() == STARTING_FEN


def test_the_error_is_a_value_error():
    assert issubclass(FenError, ValueError)


@pytest.mark.parametrize(("fen", "chess960"), ALL_FENS)
def test_round_trip(fen, chess960):
    """What we write is what python-chess writes, and reading it again gives the same bytes."""
    board = Board(fen, chess960=chess960)
    theirs = chess.Board(fen, chess960=chess960)
    assert board.fen() == theirs.fen()
    assert board.fen(shredder=True) == theirs.shredder_fen()
    for text in (board.fen(), board.fen(shredder=True)):
        again = Board(text, chess960=chess960)
        assert again.fen() == board.fen()
        assert again == Board(theirs.fen(), chess960=chess960)


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("4k3/8/8/8/8/8/8/4K2R", "4k3/8/8/8/8/8/8/4K2R w - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K2R b", "4k3/8/8/8/8/8/8/4K2R b - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K2R b K", "4k3/8/8/8/8/8/8/4K2R b K - 0 1"),
        ("4k3/8/8/8/8/8/8/4K2R w K -", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 7", "4k3/8/8/8/8/8/8/4K2R w K - 7 1"),
        ("  4k3/8/8/8/8/8/8/4K2R   w K -\t7 9\n", "4k3/8/8/8/8/8/8/4K2R w K - 7 9"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 0", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        ("4k3/8/8/8/8/8/8/4K2R w KK - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
    ],
)
def test_missing_fields_and_loose_forms(short, full):
    assert Board(short).fen() == full


@pytest.mark.parametrize(
    ("given", "xfen", "shredder"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "KQkq", "HAha"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "KQkq", "HAha"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w qkQK - 0 1", "KQkq", "HAha"),
        # Two rooks on the wing: K means the outer one, the inner one needs its letter.
        ("4k3/8/8/8/8/8/8/RR2K1RR w KQ - 0 1", "KQ", "HA"),
        ("4k3/8/8/8/8/8/8/RR2K1RR w GB - 0 1", "GB", "GB"),
        ("4k3/8/8/8/8/8/8/RR2K1RR w GQ - 0 1", "GQ", "GA"),
        ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 b gB - 0 1", "Qk", "Bg"),
    ],
)
def test_styles_of_castling(given, xfen, shredder):
    board = Board(given, chess960=True)
    assert board.fen().split()[2] == xfen
    assert board.fen(shredder=True).split()[2] == shredder


@pytest.mark.parametrize(
    ("fen", "square"),
    [
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "d6"),
        ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 1", None),  # nobody stands beside
        ("4k3/4r3/8/3pP3/8/8/8/4K3 w - d6 0 2", None),  # pinned
        ("8/8/8/8/k1pP3R/8/8/4K3 b - d3 0 1", None),  # both pawns would leave the rank
    ],
)
def test_en_passant_is_kept_only_when_legal(fen, square):
    board = Board(fen)
    assert board.en_passant == square
    assert board.fen().split()[3] == (square or "-")


def test_set_fen_starts_a_new_game_and_keeps_the_mode():
    board = Board(chess960=True)
    board.push_san("e4")
    board.set_fen("4k3/8/8/8/8/8/8/4K2R w K - 3 4")
    assert (board.ply, board.chess960, board.halfmove_clock, board.fullmove_number) == (0, True, 3, 4)
    board.set_fen(STARTING_FEN, chess960=False)
    assert not board.chess960


def test_counters_stop_where_a_fen_can_still_say_them():
    board = Board("4k3/8/8/8/8/8/8/4K2R b K - 32766 32766")
    for move in ("e8d8", "e1d1", "d8e8", "d1e1", "e8d8"):
        board.push_uci(move)
        assert Board(board.fen()) == board
    assert board.fen().split()[4:] == ["32767", "32767"]
    board.push_uci("h1h2")
    board.push_null()
    assert board.fen().split()[4:] == ["32767", "32767"]

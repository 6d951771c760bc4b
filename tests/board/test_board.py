"""The Board class: games, taking back, draws, and the text of moves."""

import pytest

from board import BLACK_TO_MOVE, STARTING_FEN, WHITE_TO_MOVE, Board, MoveError, Outcome, Termination

SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


def test_a_new_board():
    board = Board()
    assert board.fen() == STARTING_FEN
    assert (board.turn, board.ply, board.halfmove_clock, board.fullmove_number) == (WHITE_TO_MOVE, 0, 0, 1)
    assert (board.piece_at(0), board.piece_at(60), board.piece_at(28)) == ("R", "k", None)
    assert not board.is_check()
    assert board.outcome() is None
    board.push_san("e4")
    assert board.turn == BLACK_TO_MOVE


@pytest.mark.parametrize("square", [-1, 64])
def test_piece_at_wants_a_square(square):
    with pytest.raises(ValueError, match=f"{square} is no square"):
        Board().piece_at(square)


def test_diagram_and_repr():
    board = Board("r3k3/8/8/8/8/8/8/4K2R w K - 0 1", chess960=True)
    assert str(board).splitlines()[0] == "8  r . . . k . . ."
    assert str(board).splitlines()[-1] == "   a b c d e f g h"
    assert repr(board) == "Board('r3k3/8/8/8/8/8/8/4K2R w K - 0 1', chess960=True)"


def test_copies_are_independent():
    board = Board()
    board.push_san("e4")
    other = board.copy()
    assert other == board
    other.push_san("e5")
    assert (board.ply, other.ply) == (1, 2)
    assert other != board
    other.pop()
    other.pop()
    assert other.fen() == STARTING_FEN
    assert board != "a board"


def test_setting_up_again_forgets_the_game():
    board = Board()
    board.push_san("e4")
    board.__init__("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    assert (board.fen(), board.ply) == ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", 0)


def test_taking_back_the_first_move():
    with pytest.raises(IndexError, match="no move to take back"):
        Board().pop()


def test_a_game_of_many_plies():
    """Far beyond 1,200 plies: the line grows, repetitions reach back to the start, and all of it can be taken back."""
    board = Board()
    history = []
    for ply in range(2400):
        history.append(board.position_bytes())
        board.push_uci(SHUFFLE[ply % 4])
    assert board.ply == 2400
    assert board.repetitions() == 601
    assert board.halfmove_clock == 2400
    assert board.fullmove_number == 1201
    assert board.copy().ply == 2400
    assert Board(board.fen()) == board
    while history:
        board.pop()
        assert board.position_bytes() == history.pop()
    assert board.fen() == STARTING_FEN


def test_threefold_repetition_and_the_way_to_it():
    board = Board()
    counts = []
    for ply in range(8):
        assert board.outcome() is None
        board.push_uci(SHUFFLE[ply % 4])
        counts.append(board.repetitions())
    assert counts == [1, 1, 1, 2, 2, 2, 2, 3]
    assert board.outcome() == Outcome(Termination.THREEFOLD_REPETITION, None)


def test_a_lost_right_to_castle_is_another_position():
    board = Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    for move in ("h1g1", "e8d8", "g1h1", "d8e8"):
        board.push_uci(move)
    assert board.repetitions() == 1


def test_a_lost_chance_of_en_passant_is_another_position():
    for fen, count in (
        ("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", 1),  # dxe3 was possible the first time
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 2),
    ):
        board = Board(fen)
        for move in ("e2e4", "e8d8", "e1d1", "d8e8", "d1e1"):
            board.push_uci(move)
        assert board.repetitions() == count


@pytest.mark.parametrize(
    ("fen", "outcome"),
    [
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", Outcome(Termination.STALEMATE, None)),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", Outcome(Termination.CHECKMATE, 0)),
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", Outcome(Termination.CHECKMATE, 1)),
        # Mate on the hundredth half-move is mate.
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 100 90", Outcome(Termination.CHECKMATE, 0)),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 99 90", None),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 100 90", Outcome(Termination.FIFTY_MOVES, None)),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", Outcome(Termination.INSUFFICIENT_MATERIAL, None)),
        ("4k3/8/8/8/8/8/8/2B1K3 w - - 0 1", Outcome(Termination.INSUFFICIENT_MATERIAL, None)),
        ("4k1n1/8/8/8/8/8/8/4K3 w - - 0 1", Outcome(Termination.INSUFFICIENT_MATERIAL, None)),
        ("2b1k3/8/8/8/8/8/8/4KB2 w - - 0 1", Outcome(Termination.INSUFFICIENT_MATERIAL, None)),  # both on light squares
        ("4kb2/8/8/8/8/8/8/4KB2 w - - 0 1", None),
        ("4k1n1/8/8/8/8/8/8/2B1K3 w - - 0 1", None),
        ("4k3/8/8/8/8/8/8/1N2K1N1 w - - 0 1", None),
        ("4k3/8/8/8/8/8/P7/4K3 w - - 0 1", None),
    ],
)
def test_outcomes(fen, outcome):
    assert Board(fen).outcome() == outcome


@pytest.mark.parametrize(("winner", "text"), [(0, "1-0"), (1, "0-1"), (None, "1/2-1/2")])
def test_results(winner, text):
    assert Outcome(Termination.CHECKMATE, winner).result == text


def test_null_move():
    board = Board("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 5")
    board.push_null()
    assert board.fen() == "4k3/8/8/3pP3/8/8/8/4K3 b - - 1 5"
    board.push_null()
    assert board.fen() == "4k3/8/8/3pP3/8/8/8/4K3 w - - 2 6"
    board.pop()
    board.pop()
    assert board.en_passant == "d6"


def test_no_null_move_in_check():
    board = Board("4k3/8/8/8/8/8/8/4K2r w - - 0 1")
    with pytest.raises(MoveError, match="in check cannot pass"):
        board.push_null()
    assert board.ply == 0


# Text of moves


@pytest.mark.parametrize(
    ("fen", "chess960", "move", "uci", "san"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", False, "e1g1", "e1g1", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", False, "e1h1", "e1g1", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq -", False, "e8a8", "e8c8", "O-O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", True, "e1g1", "e1h1", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", True, "e1h1", "e1h1", "O-O"),
        # A step that the king can also make by itself is that step.
        ("4k3/8/8/8/8/8/8/5K1R w H -", True, "f1g1", "f1g1", "Kg1"),
        ("4k3/8/8/8/8/8/8/5K1R w H -", True, "f1h1", "f1h1", "O-O"),
        # Rook and king change places.
        ("4k3/8/8/8/8/8/8/5RK1 w - -", False, "g1h1", "g1h1", "Kh1"),
        ("k7/8/8/8/8/8/8/2KR4 w D -", True, "c1d1", "c1d1", "O-O"),
        ("3n4/2P5/8/8/8/8/8/K1k5 w - -", False, "c7d8n", "c7d8n", "cxd8=N"),
        ("7k/2P5/8/8/8/8/8/K7 w - -", False, "C7C8Q", "c7c8q", "c8=Q+"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6", False, "e5d6", "e5d6", "exd6"),
        ("7k/8/8/8/8/8/8/KR3R2 w - -", False, "b1d1", "b1d1", "Rbd1"),
        ("7k/8/8/1R6/8/8/8/KR6 w - -", False, "b1b3", "b1b3", "R1b3"),
        ("8/7k/8/Q7/8/8/8/Q3Q2K w - -", False, "a1c3", "a1c3", "Qa1c3"),
        # A pinned rival does not count.
        ("4r2k/8/8/8/8/4N3/8/N3K3 w - -", False, "a1c2", "a1c2", "Nc2"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w - -", False, "a1a8", "a1a8", "Ra8#"),
    ],
)
def test_moves_as_text(fen, chess960, move, uci, san):
    board = Board(fen, chess960=chess960)
    number = board.parse_uci(move)
    assert board.uci(number) == uci
    assert board.san(number) == san
    assert board.parse_san(san) == number


@pytest.mark.parametrize(
    ("text", "san"),
    [
        ("Ng1-f3", "Nf3"),
        ("Ng1f3", "Nf3"),
        ("Nf3!?", "Nf3"),
        (" e4 ", "e4"),
        ("e2-e4", "e4"),
        ("e2e4", "e4"),
    ],
)
def test_loose_san(text, san):
    board = Board()
    assert board.san(board.parse_san(text)) == san


@pytest.mark.parametrize("text", ["O-O", "0-0", "o-o", "O-O+"])
def test_castling_in_san(text):
    board = Board("4k3/8/8/8/8/8/8/4K2R w K -")
    assert board.san(board.parse_san(text)) == "O-O"


@pytest.mark.parametrize("text", ["exd6 e.p.", "exd6 ep", "exd6e.p."])
def test_en_passant_in_san(text):
    board = Board("4k3/8/8/3pP3/8/8/8/4K3 w - d6")
    assert board.san(board.parse_san(text)) == "exd6"


@pytest.mark.parametrize("text", ["c8Q", "c8=q", "c8(Q)", "c7c8=Q"])
def test_promotion_in_san(text):
    board = Board("8/2P5/7k/8/8/8/8/K7 w - -")
    assert board.uci(board.parse_san(text)) == "c7c8q"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no move in UCI notation"),
        ("e2", "'e2' is no move"),
        ("e2e9", "'e2e9' is no move"),
        ("e2e4k", "'e2e4k' is no move"),
        ("e2e4\n", "is no move"),
        ("0000", "'0000' is no move"),
        ("e2e5", "'e2e5' is not a legal move here"),
        ("e7e5", "'e7e5' is not a legal move here"),
        ("e2e4q", "'e2e4q' is not a legal move here"),
        ("e1g1", "'e1g1' is not a legal move here"),
    ],
)
def test_bad_uci(text, message):
    board = Board()
    with pytest.raises(MoveError, match=message):
        board.push_uci(text)
    assert board.fen() == STARTING_FEN


def test_a_promotion_must_name_its_piece():
    board = Board("8/2P5/7k/8/8/8/8/K7 w - -")
    for parse, text in ((board.parse_uci, "c7c8"), (board.parse_san, "c8")):
        with pytest.raises(MoveError, match="not a legal move here"):
            parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no move in algebraic notation"),
        ("Zf3", "is no move in algebraic notation"),
        ("Nf6", "is not a legal move here"),
        ("O-O", "is not a legal move here"),
    ],
)
def test_bad_san(text, message):
    board = Board()
    with pytest.raises(MoveError, match=message):
        board.push_san(text)
    assert board.ply == 0


def test_ambiguous_san_names_the_choices():
    board = Board("7k/8/8/8/8/8/8/KR3R2 w - -")
    with pytest.raises(MoveError, match="'Rd1' can mean b1d1 or f1d1"):
        board.parse_san("Rd1")

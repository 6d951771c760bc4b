"""FENs of every kind of wrongness, from a seed: refused with a reason, or the position that python-chess sees there, too.

python tests/hostile/fens.py [--seed N] [--seconds S] [--keep DIR] | --replay FILE
"""

import random
import re
import sys

import chess
from fuzzing import KEEP, cases, command_line, keep_failure, kept_failure
from support import ALL_FENS

from board import Board, FenError

FENS = [fen for fen, _ in ALL_FENS]
LETTERS = "pnbrqkPNBRQKpnbrqkPNBRQKwb/-12345678 KQkqABCDEFGHabcdefgh09+.\x00\n\t\u00e9\u0661\ud800"
NUMBERS = ("0", "1", "-1", "99", "100", "101", "150", "32767", "32768", "65536", "9" * 30, "9" * 5000, "x", "1.5", "")

# Rules that both have. python-chess also refuses positions that no game reaches, and we know nothing of those.
SHARED_RULES = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_TOO_MANY_WHITE_PAWNS
    | chess.STATUS_TOO_MANY_BLACK_PAWNS
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_EMPTY
)
PLAIN = re.compile(r"[pnbrqkPNBRQK1-8/]+ [wb] (-|[KQkqA-Ha-h]+) (-|[a-h][36]) [0-9]{1,4} [1-9][0-9]{0,3}")


def random_placement(rng):
    """Ranks with pieces anywhere, mostly one king each."""
    squares = [""] * 64
    men = ["K", "k"] if rng.random() < 0.95 else rng.choices("Kk", k=rng.randrange(4))
    men += rng.choices("PNBRQpnbrq", k=rng.choice((0, 1, 3, 8, 20, 31)))
    for man, square in zip(men, rng.sample(range(64), len(men)), strict=True):
        squares[square] = man
    ranks = []
    for rank in range(8):
        text, empty = "", 0
        for man in squares[8 * rank : 8 * rank + 8]:
            if man and empty:
                text, empty = text + str(empty), 0
            text, empty = (text + man, 0) if man else (text, empty + 1)
        ranks.append(text + (str(empty) if empty else ""))
    return "/".join(ranks)


def make_text(rng):
    how = rng.random()
    if how < 0.35:
        fields = [
            random_placement(rng),
            rng.choice("wwwbbbx"),
            "".join(rng.choices("KQkqAHahCc-", k=rng.randrange(1, 5))) if rng.random() < 0.4 else "-",
            rng.choice("abcdefgh") + rng.choice("3636361") if rng.random() < 0.4 else "-",
            rng.choice(NUMBERS) if rng.random() < 0.2 else str(rng.randrange(130)),
            rng.choice(NUMBERS) if rng.random() < 0.2 else str(rng.randrange(1, 300)),
        ]
        if rng.random() < 0.1:
            del fields[rng.randrange(6) :]
        return rng.choice((" ", " ", " ", " ", "  ", "\t")).join(fields)
    if how < 0.5:
        fields = rng.choice(FENS).split()
        fields[rng.randrange(len(fields))] = rng.choice(rng.choice(FENS).split())
        return " ".join(fields)
    if how < 0.95:
        letters = list(rng.choice(FENS))
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            place = rng.randrange(len(letters) + 1)
            letters[place : place + rng.randrange(3)] = rng.choices(LETTERS, k=rng.randrange(3))
        return "".join(letters)
    return "".join(rng.choices(LETTERS, k=rng.choice((0, 1, 10, 100, 10_000))))


def problem_with(text, chess960):
    """What is wrong with how a FEN is read, or None; and whether it was accepted."""
    try:
        return examine(text, chess960)
    except Exception as error:
        return f"{type(error).__name__}: {error}", False


def examine(text, chess960):
    board = Board()
    before = board.position_bytes()
    try:
        board.set_fen(text, chess960=chess960)
    except FenError as error:
        assert str(error), "no reason is given"
        assert board.position_bytes() == before, "the board has changed"
        theirs = reading(text, chess960)
        assert theirs is None or not theirs.is_valid(), f"a good position is refused: {error}"
        return None, False
    fen = board.fen(shredder=chess960)
    assert Board(fen, chess960=chess960).fen(shredder=chess960) == fen, "it reads its own FEN otherwise"
    theirs = reading(text, chess960)
    if theirs is not None:
        assert not theirs.status() & SHARED_RULES, f"a position with status {theirs.status()} is accepted"
        assert board.fen().split()[:2] == theirs.fen().split()[:2], "another board"
        if not theirs.status():
            wanted = theirs.shredder_fen(en_passant="legal") if chess960 else theirs.fen(en_passant="legal")
            assert fen == wanted, f"{fen} instead of {wanted}"
    # python-chess knows castling from other squares only in Chess960.
    full = board.fen(shredder=True)
    board, written = Board(full, chess960=True), chess.Board(full, chess960=True)
    moves = sorted(board.uci(move) for move in board.legal_moves())
    assert moves == sorted(move.uci() for move in written.legal_moves), "other legal moves"
    assert board.perft(1) == len(moves)
    return None, True


def reading(text, chess960):
    """The board that python-chess reads, None where it refuses or where a FEN is not written as the rules want it."""
    if not PLAIN.fullmatch(text):
        return None
    try:
        board = chess.Board(text, chess960=chess960)
    except ValueError:
        return None
    # It passes over some castling rights that cannot be.
    rights = text.split()[2].replace("-", "")
    return board if len(rights) == chess.popcount(board.castling_rights) else None


def replay(path):
    """Reads a kept FEN again; what is still wrong, or None."""
    kept = kept_failure(path)
    if "text" not in kept:
        kept["text"], kept["chess960"] = case_of(kept["case"])
    return problem_with(kept["text"], kept["chess960"])[0]


def case_of(case):
    rng = random.Random(case)
    return make_text(rng), rng.random() < 0.3


def run(seed, seconds, keep=KEEP, most=None):
    """Reads FENs until the time is over, or so many; counts of FENs, of those accepted, and of problems."""
    counts = {"FENs": 0, "accepted": 0, "refused": 0, "problems": 0}
    for case in cases("fen", seed, seconds, keep, most):
        text, chess960 = case_of(case)
        problem, accepted = problem_with(text, chess960)
        counts["FENs"] += 1
        counts["problems" if problem is not None else "accepted" if accepted else "refused"] += 1
        if problem is not None:
            keep_failure(keep, f"fen-{case}", problem, text=text, chess960=chess960)
    return counts


if __name__ == "__main__":
    sys.exit(command_line(__doc__.splitlines()[0], run, replay))

"""Random games beside python-chess, which serves as oracle for everything that the rules say about a position.

200,000 plies in all, half of them Chess960. Each walk is a test of its own, so that they spread over the processors.
"""

import random

import chess
import chess.polyglot
import pytest
from support import CHESS960, STANDARD, scaled

from board import Board, Termination

WALKS = 40
PLIES = 5000  # per walk
LONGEST_GAMES = (40, 80, 300)  # short ones for the openings, long ones for the fifty-move rule


def new_game(dice, chess960):
    """From a starting position, or from one of the perft positions, where special moves are near."""
    if dice.random() < 0.5:
        if not chess960:
            return chess.Board()
        return chess.Board.from_chess960_pos(dice.randrange(960))
    return chess.Board(dice.choice(CHESS960 if chess960 else STANDARD)[0], chess960=chess960)


def choose(dice, theirs, moves):
    """Any legal move; special ones and steps back (for repetitions) more often than chance would have them."""
    mood = dice.random()
    if mood < 0.5 and theirs.has_legal_en_passant():
        moves = [move for move in moves if theirs.is_en_passant(move)]
    elif mood < 0.5 and any(map(theirs.is_castling, moves)):
        moves = [move for move in moves if theirs.is_castling(move)]
    elif mood < 0.15:
        moves = [move for move in moves if move.promotion] or moves
    elif mood < 0.25:
        pawns = theirs.pawns & (chess.BB_RANK_2 if theirs.turn == chess.WHITE else chess.BB_RANK_7)
        moves = [move for move in moves if pawns >> move.from_square & 1] or moves
    elif mood < 0.6 and len(theirs.move_stack) >= 2:
        last = theirs.move_stack[-2]
        back = chess.Move(last.to_square, last.from_square)
        if back in moves:
            return back
    return dice.choice(moves)


def expected_termination(theirs, moves):
    if not moves:
        return Termination.CHECKMATE if theirs.is_check() else Termination.STALEMATE
    if theirs.is_insufficient_material():
        return Termination.INSUFFICIENT_MATERIAL
    if theirs.halfmove_clock >= 100:
        return Termination.FIFTY_MOVES
    if theirs.is_repetition(3):
        return Termination.THREEFOLD_REPETITION
    return None


def check_position(ours, theirs, moves, legal):
    assert {ours.uci(move) for move in legal} == {theirs.uci(move) for move in moves}
    assert len(legal) == len(moves)
    assert ours.fen() == theirs.fen()
    assert ours.is_check() == theirs.is_check()
    for colour, side in enumerate((chess.WHITE, chess.BLACK)):
        pieces = chess.scan_forward(theirs.occupied_co[side])
        assert ours.attacked_squares(colour) == {target for square in pieces for target in theirs.attacks(square)}
    assert ours.polyglot_key == chess.polyglot.zobrist_hash(theirs)
    if theirs.chess960:
        assert ours.fen(shredder=True) == theirs.shredder_fen()

    termination = expected_termination(theirs, moves)
    outcome = ours.outcome()
    assert (outcome.termination if outcome else None) == termination
    if termination == Termination.CHECKMATE:
        assert outcome.winner == (1 if theirs.turn == chess.WHITE else 0)
        assert outcome.result == ("0-1" if theirs.turn == chess.WHITE else "1-0")
    elif outcome:
        assert (outcome.winner, outcome.result) == (None, "1/2-1/2")
    assert min(ours.repetitions(), 2) == (2 if theirs.is_repetition(2) else 1)

    # Every byte that make_move kept up to date is what setting up the same position gives; that includes all keys.
    rebuilt = Board(theirs.fen(en_passant="fen"), chess960=theirs.chess960)
    assert rebuilt.position_bytes() == ours.position_bytes()


def check_moves(dice, ours, theirs, moves, legal, strangers):
    """Lists that agree, text of one move, checks foreseen, and moves of other positions judged rightly."""
    tactical, quiet = ours.tactical_moves(), ours.quiet_moves()
    assert sorted(tactical + quiet) == sorted(legal)
    assert len(set(legal)) == len(legal)
    for move in legal:
        foreseen = ours.gives_check(move)
        ours.push(move)
        assert ours.is_check() == foreseen
        ours.pop()
    known = set(legal)
    for move in dice.sample(strangers, min(len(strangers), 50)):
        assert ours.is_legal(move) == (move in known)
    strangers.extend(legal)

    move = dice.choice(moves)
    text, san = theirs.uci(move), theirs.san(move)
    number = ours.parse_uci(text)
    is_tactical = theirs.is_capture(move) or move.promotion is not None
    assert (number in tactical, number in quiet) == (is_tactical, not is_tactical)
    assert ours.san(number) == san
    assert ours.parse_san(san) == number


def check_null_move(ours, theirs):
    theirs.push(chess.Move.null())
    ours.push_null()
    assert ours.fen() == theirs.fen()
    assert ours.position_bytes() == Board(theirs.fen(), chess960=theirs.chess960).position_bytes()
    theirs.pop()
    ours.pop()


@pytest.mark.parametrize("seed", range(WALKS))
def test_random_walk(seed):
    dice = random.Random(seed)
    chess960 = seed % 2 == 1
    left = scaled(PLIES)
    seen = {"en passant": 0, "castling": 0, "promotion": 0, "repetition": 0, "check": 0}
    while left > 0:
        theirs = new_game(dice, chess960)
        ours = Board(theirs.fen(en_passant="fen"), chess960=chess960)
        longest = dice.choice(LONGEST_GAMES)
        history, strangers = [], []
        while left > 0:
            moves = list(theirs.legal_moves)
            legal = ours.legal_moves()
            check_position(ours, theirs, moves, legal)
            if not moves or len(history) == longest:
                break
            check_moves(dice, ours, theirs, moves, legal, strangers)
            if not theirs.is_check() and dice.random() < 0.1:
                check_null_move(ours, theirs)

            move = choose(dice, theirs, moves)
            seen["en passant"] += theirs.is_en_passant(move)
            seen["castling"] += theirs.is_castling(move)
            seen["promotion"] += move.promotion is not None
            seen["repetition"] += ours.repetitions() > 1
            seen["check"] += theirs.is_check()
            history.append(ours.position_bytes())
            ours.push_uci(theirs.uci(move))
            theirs.push(move)
            left -= 1
        while history:
            ours.pop()
            assert ours.position_bytes() == history.pop()
        assert ours.ply == 0
    if scaled(PLIES) == PLIES:
        assert all(seen.values()), seen

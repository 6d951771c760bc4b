"""Solved endings against known values, tables, the rules, and figures that everybody knows."""

import random

import chess
import chess.syzygy
import pytest
from support import SCALE, scaled
from tables import DIRECTORY, KNOWN

from book.endgame.endings import ending_of, normalised
from book.endgame.generator import Workers, solve
from book.endgame.retrograde import Ending
from book.endgame.retrograde_index import PositionIndex, men_of, needed, successors

NAMES = ("KQvK", "KRvK", "KPvK", "KBNvK", "KQvKR", "KRvKN")
IS_WIN, PLIES, IMPOSSIBLE = 0x200, 0x1FF, 0xFFFF  # parts of a state

# Wins without a capture or pawn move on the way, so that the longest distance is that to mate. Textbook figures in moves;
# Nunn, Secrets of Pawnless Endings, and every mate table: queen 10, rook 16, two bishops 19, bishop and knight 33.
LONGEST_MATES = {"KQvK": 10, "KRvK": 16, "KBBvK": 19, "KBNvK": 33}


@pytest.fixture(scope="module")
def solved():
    """Endings by name, solved on demand and kept."""
    endings, outcomes = {}, {}
    workers = Workers(2, lambda: None)

    def get(name):
        for part in needed([name]):
            if part not in endings:
                endings[part] = Ending(part, {other: outcomes[other] for other in successors(part)})
                solve(endings[part], workers)
                outcomes[part] = endings[part].outcomes()
        return endings[name]

    yield get
    workers.close()


def board_of(name, squares, side):
    """The position as python-chess sees it, or None if two men share a square."""
    board = chess.Board(None)
    for (colour, letter), square in zip(men_of(name), squares, strict=True):
        if board.piece_at(square):
            return None
        board.set_piece_at(square, chess.Piece(".PNBRQK".index(letter), colour == 0))
    board.turn = side == 0
    return board


def is_possible(board):
    return (
        board is not None
        and not board.was_into_check()
        and chess.square_distance(board.king(chess.WHITE), board.king(chess.BLACK)) > 1
    )


def men_on(name, board):
    """The squares of an ending's men in its order, and the side to move. White gets the stronger side, which is the
    first of the name."""
    first = name.split("v")[0]
    if sorted(board.piece_at(square).symbol() for square in chess.SquareSet(board.occupied_co[True])) != sorted(first):
        board = board.mirror()
    left = board.piece_map()
    squares = []
    for colour, letter in men_of(name):
        man = chess.Piece.from_symbol(letter if colour == 0 else letter.lower())
        squares.append(next(square for square in left if left[square] == man))
        del left[squares[-1]]
    return squares, 0 if board.turn else 1


def assert_values(value, wdl, dtz, fen):
    assert value[0] == wdl, fen
    # The files count in moves where plies do not matter.
    assert abs(abs(value[1]) - abs(dtz)) <= 1 and value[1] * dtz >= 0, fen


@pytest.mark.parametrize("name", NAMES)
def test_values_are_the_known_ones(solved, name):
    ending = solved(name)
    known = [values for values in KNOWN if ending_of(values[0]) == name]
    assert len(known) >= 48 and {wdl for _, wdl, _ in known} == {-2, 0, 2}
    for fen, wdl, dtz in known:
        squares, side = men_on(name, chess.Board(fen))
        assert_values(ending.value(side, squares), wdl, dtz, fen)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_the_tables(solved, name):
    ending = solved(name)
    rng = random.Random(name)
    seen = wins = 0
    with chess.syzygy.open_tablebase(str(DIRECTORY)) as tables:
        while seen < scaled(150):
            squares, side = ending.squares_of(rng.randrange(ending.size)), rng.randrange(2)
            board = board_of(name, squares, side)
            value = ending.value(side, squares)
            assert (value is None) == (not is_possible(board)), board and board.fen()
            if value is None:
                continue
            seen += 1
            wins += value[0] != 0
            assert_values(value, tables.probe_wdl(board), tables.probe_dtz(board), board.fen())
    if SCALE >= 1:  # a slow build's few positions may all be alike
        assert wins > seen / 4


@pytest.mark.parametrize("name, moves", LONGEST_MATES.items())
def test_the_longest_mates_are_the_known_ones(solved, name, moves):
    ending = solved(name)
    states = (ending.state(0, at) for at in range(ending.size))
    longest = max(state & PLIES for state in states if state & IS_WIN and state != IMPOSSIBLE)
    assert (longest + 1) // 2 == moves


def test_black_to_move_in_symmetric_endings_mirrors_white(solved):
    ending = solved("KRvKR")
    rng = random.Random(1)
    for _ in range(scaled(3000)):
        squares = rng.sample(range(64), 4)
        if chess.square_distance(squares[0], squares[1]) < 2:
            continue
        mirrored = [squares[man] ^ 56 for man in (1, 0, 3, 2)]
        assert ending.value(0, squares) == ending.value(1, mirrored)


def test_numbers_lead_to_squares_and_back():
    for name in ("KQvK", "KBNvK", "KPvK", "KRvKP", "KPvKP", "KPPvK", "KPPvKP", "KQPvKR"):
        index = PositionIndex(name)
        rng = random.Random(name)
        for _ in range(scaled(2000)):
            at = rng.randrange(index.size)
            squares = index.squares_of(at)
            kings_apart = chess.square_distance(squares[0], squares[1]) > 1
            if kings_apart and len({*squares}) == len(squares):
                again = index.index_of(squares)
                # Only mirror images of symmetric arrangements have two indices.
                assert again == at or index.squares_of(again) == [square ^ 7 for square in squares]


def test_pawns_in_any_order_are_the_same():
    index = PositionIndex("KPPvKP")
    kings, pawns = [0, 63], [9, 28, 36]
    here = index.index_of([*kings, *pawns])
    assert index.index_of([*kings, 28, 9, 36]) == here
    assert index.index_of([square ^ 7 for square in (*kings, 28, 9, 36)]) == here
    assert index.index_of([*kings, 9, 36, 28]) != here


def test_what_endings_lead_to_is_what_python_chess_says():
    for name in ("KQvK", "KPvKP", "KRPvKR", "KPPvKP", "KRRvKP"):
        wanted = {normalised(other) for other in chess.syzygy.all_dependencies([name])}
        assert set(needed([name])) == wanted - {"KvK"}


def test_smaller_endings_come_first():
    order = needed(["KRPvKR", "KPPvKP"])
    for place, name in enumerate(order):
        assert set(successors(name)) <= set(order[:place])

"""Names of endings and the numbering of positions, against python-chess's and against themselves."""

import random

import chess.syzygy
import pytest
from support import SCALE, scaled

from book.endgame.endings import ending_of, endings, men, normalised
from book.endgame.syzygy_layout import Numbering

COUNTS = {3: 5, 4: 30, 5: 110, 6: 365, 7: 1001}  # published numbers of tables
LETTERS = ".PNBRQK"


def test_endings_are_complete():
    for count, total in COUNTS.items():
        names = endings(count)
        assert len(set(names)) == len(names) == total
        assert all(men(name) == count and normalised(name) == name for name in names)
    known = set(chess.syzygy.tablenames(piece_count=6))
    assert {name for count in range(3, 7) for name in endings(count)} == known


def test_earlier_endings_come_first():
    order = [name for count in (3, 4, 5) for name in endings(count)]
    for place, name in enumerate(order):
        for other in chess.syzygy.dependencies(name):
            assert other == "KvK" or order.index(normalised(other)) < place


@pytest.mark.parametrize(
    "name, wanted",
    [("KRvKQ", "KQvKR"), ("KvKP", "KPvK"), ("KNBvK", "KBNvK"), ("KPvKRR", "KRRvKP"), ("KPPvKRN", "KRNvKPP")],
)
def test_names_are_normalised(name, wanted):
    assert normalised(name) == wanted


@pytest.mark.parametrize("name", ["", "KQ", "KQvQ", "KKvK", "KQvKX", "kqvk"])
def test_what_is_no_ending(name):
    with pytest.raises(ValueError, match="no ending"):
        normalised(name)


def test_the_ending_of_a_position():
    assert ending_of("8/8/8/3kr3/8/8/1QK5/8 w - - 0 1") == "KQvKR"
    assert ending_of("8/8/8/3kr3/8/8/2K2q2/8 w - - 0 1") == "KQRvK"


def codes_of(name):
    first, second = name.split("v")
    return [LETTERS.index(letter) for letter in first] + [LETTERS.index(letter) + 8 for letter in second]


def random_header(rng, name):
    """Pieces in an order that a file may have, as codes, and the two orders."""
    codes = codes_of(name)
    kinds = sorted(set(codes), key=lambda code: rng.random())
    groups = []
    white, black = (sum(code == pawn for code in codes) for pawn in (1, 9))
    if white or black:
        lead = 1 if black == 0 or 0 < white <= black else 9
        groups = [code for code in (lead, 10 - lead) if code in codes]
    else:
        unique = [code for code in kinds if codes.count(code) == 1]
        groups = unique[:3] if len(unique) >= 3 else [code for code in kinds if code & 7 == 6]
    lead_groups = 1 if white or black else len(groups)
    groups += [code for code in kinds if code not in groups]
    pieces = [code for code in groups for _ in range(codes.count(code))]
    digits = len(groups) - lead_groups + 1
    order, second = rng.sample(range(digits), 2) if white and black else (rng.randrange(digits), 15)
    return pieces, order, second


class Reference(chess.syzygy.Table):
    """python-chess's arithmetic, fed with a header that is in no file."""

    def __init__(self, name, pieces, order, second, file):
        super().__init__(f"{name}.rtbw")
        self.norm = [0] * self.num
        self.factor = [0] * 8
        if self.has_pawns:
            self.set_norm_pawn(self.norm, pieces)
            self.size = self.calc_factors_pawn(self.factor, order, second, self.norm, file)
        else:
            self.set_norm_piece(self.norm, pieces)
            self.size = self.calc_factors_piece(self.factor, order, self.norm)

    def place(self, squares):
        squares = list(squares)
        if not self.has_pawns:
            return self.encode_piece(self.norm, squares, self.factor)
        self.pawn_file(squares)
        return self.encode_pawn(self.norm, squares, self.factor)


def file_of(pieces, squares):
    """The sub-table of an arrangement: the file nearest to the edge that has a pawn of the leading side."""
    return min(
        min(square & 7, 7 - (square & 7)) for square, code in zip(squares, pieces, strict=True) if code == pieces[0]
    )


def random_squares(rng, pieces):
    while True:
        squares = rng.sample(range(64), len(pieces))
        if all(8 <= square < 56 for square, code in zip(squares, pieces, strict=True) if code & 7 == 1):
            return squares


def kings_touch(pieces, squares):
    first, second = (square for square, code in zip(squares, pieces, strict=True) if code & 7 == 6)
    return chess.square_distance(first, second) <= 1


def has_twin_leaders(pieces, squares):
    """Two pawns that lead equally, on both sides of the board: either may, and python-chess takes the other."""
    leaders = {square for square, code in zip(squares, pieces, strict=True) if code == pieces[0]}
    return any(square ^ 7 in leaders for square in leaders)


def test_places_equal_python_chess():
    rng = random.Random(6)
    seen = 0
    for count in range(3, 8):
        names = endings(count)
        for name in rng.sample(names, min(len(names), scaled(60))):
            pieces, order, second = random_header(rng, name)
            for _ in range(4):
                squares = random_squares(rng, pieces)
                if kings_touch(pieces, squares):
                    continue
                file = file_of(pieces, squares) if "P" in name else 0
                if "P" in name and has_twin_leaders(pieces, squares):
                    continue
                ours = Numbering(name, bytes(pieces), order, second, file)
                theirs = Reference(name, pieces, order, second, file)
                assert ours.size == theirs.size
                assert ours.place(squares) == theirs.place(squares), (name, pieces, order, second, squares)
                seen += 1
    assert seen > scaled(60)


def test_places_lead_back():
    rng = random.Random(7)
    for count in range(3, 8):
        for name in rng.sample(endings(count), 5):
            pieces, order, second = random_header(rng, name)
            for file in range(4 if "P" in name else 1):
                numbering = Numbering(name, bytes(pieces), order, second, file)
                for _ in range(scaled(100)):
                    place = rng.randrange(numbering.size)
                    squares = numbering.squares(place)
                    assert len(set(squares)) == len(pieces)
                    if "P" not in name:
                        assert numbering.place(squares) == place
                    elif not has_twin_leaders(pieces, squares):
                        assert file_of(pieces, squares) == file
                        assert numbering.place(squares) == place


@pytest.mark.parametrize("name", ["KQvK", "KRRvK", "KNvKN", "KPvK"])
def test_every_place_of_a_small_table_is_used_once(name):
    rng = random.Random(8)
    pieces, order, second = random_header(rng, name)
    for file in range(4 if "P" in name else 1):
        numbering = Numbering(name, bytes(pieces), order, second, file)
        for place in range(0, numbering.size, 1 if SCALE > 1 else 17):
            assert numbering.place(numbering.squares(place)) == place


def test_headers_that_cannot_be():
    for codes, order in ((b"\x05\x06", 0), (b"\x05\x05\x0e", 0), (b"\x05\x06\x0e", 1), (b"\x00\x06\x0e", 0)):
        with pytest.raises(ValueError, match="not the pieces of KQvK"):
            Numbering("KQvK", codes, order)
    with pytest.raises(ValueError, match="not the name"):
        Numbering("KvKQ", b"\x06\x0e\x0d")
    # Equal pieces apart, a piece of a pair in front, pawns not in front.
    for name, codes in (("KRRvK", "4 6 4 14"), ("KRRvKB", "4 4 6 11 14"), ("KRPvK", "4 1 6 14")):
        with pytest.raises(ValueError, match="not the pieces"):
            Numbering(name, bytes(int(code) for code in codes.split()))

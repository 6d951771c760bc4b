"""Reads the moves of a PGN game, compiled: a collection has hundreds of millions of them.

Comments, variations, glyphs, move numbers and the result are passed over; a move may be written in any of the forms
that are found in files (Nf3, Ngf3, Ng1-f3, e7-e8=Q, e8Q, exd6e.p., O-O, 0-0). What cannot be read, or not be played,
ends the reading with its place in the text.
"""

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import ConstPosition, Position, make_move, polyglot_key
from cython.cimports.board.types import (
    BISHOP,
    KING,
    KNIGHT,
    MAX_MOVES,
    NO_KIND,
    PAWN,
    QUEEN,
    ROOK,
    Move,
    is_castling,
    is_promotion,
    move_from,
    move_to,
    piece_kind,
    promotion_kind,
    u8,
    u16,
)
from cython.cimports.libc.stdlib import free, malloc
from cython.cimports.libc.string import memcpy

REASONS = {
    NO_MOVE_TEXT: "is no move",
    ILLEGAL: "is not a legal move here",
    AMBIGUOUS: "can mean several moves",
    OPEN_COMMENT: "a comment has no end",
    OPEN_VARIATION: "a variation has no end",
}


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _kind_of(letter: u8) -> cython.int:
    if letter == b"N":
        return KNIGHT
    if letter == b"B":
        return BISHOP
    if letter == b"R":
        return ROOK
    if letter == b"Q":
        return QUEEN
    if letter == b"K":
        return KING
    return NO_KIND


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_file(letter: u8) -> cython.bint:
    return b"a" <= letter <= b"h"


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_rank(letter: u8) -> cython.bint:
    return b"1" <= letter <= b"8"


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_blank(letter: u8) -> cython.bint:
    return letter == b" " or b"\t" <= letter <= b"\r"


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _ends_word(letter: u8) -> cython.bint:
    return (
        _is_blank(letter)
        or letter == b"{"
        or letter == b"}"
        or letter == b"("
        or letter == b")"
        or letter == b";"
        or letter == b"$"
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _code(move: Move) -> u16:
    """The move in Polyglot's bits, as book.polyglot.encode_move has it."""
    promotion: cython.int = promotion_kind(move) if is_promotion(move) else 0
    return cython.cast(u16, move_to(move) | move_from(move) << 6 | promotion << 12)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _castling_steps(text: cython.pointer(cython.const[u8]), size: cython.Py_ssize_t) -> cython.int:
    """2 for O-O, 3 for O-O-O, also with zeros; 0 for anything else."""
    index: cython.Py_ssize_t
    if size != 3 and size != 5:
        return 0
    for index in range(size):
        if index % 2 == 1:
            if text[index] != b"-":
                return 0
        elif text[index] != b"O" and text[index] != b"0" and text[index] != b"o":
            return 0
    return 2 if size == 3 else 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _read_move(
    position: cython.pointer(ConstPosition),
    text: cython.pointer(cython.const[u8]),
    size: cython.Py_ssize_t,
    fault: cython.pointer(cython.int),
) -> Move:
    """The legal move that a word means, or 0 and the reason in `fault`."""
    moves: Move[MAX_MOVES]
    index: cython.int
    found: Move = 0
    move: Move
    kind: cython.int = PAWN
    promotion: cython.int = NO_KIND
    target: cython.int
    origin_file: cython.int = -1
    origin_rank: cython.int = -1
    at: cython.Py_ssize_t = 0

    while size and (
        text[size - 1] == b"+" or text[size - 1] == b"#" or text[size - 1] == b"!" or text[size - 1] == b"?"
    ):
        size -= 1
    if size > 4 and text[size - 4] == b"e" and text[size - 3] == b"." and text[size - 2] == b"p":
        size -= 4
    fault[0] = NO_MOVE_TEXT
    steps: cython.int = _castling_steps(text, size)
    if steps == 0:
        if size < 2:
            return 0
        # From the end: the piece of a promotion, the target, the sign of a capture; what is left tells the origin.
        if not _is_rank(text[size - 1]):
            promotion = _kind_of(text[size - 1] & 0xDF)
            if promotion >= KING:  # or none of them
                return 0
            size -= 1
            if size and (text[size - 1] == b"=" or text[size - 1] == b"/"):
                size -= 1
        if size < 2 or not _is_rank(text[size - 1]) or not _is_file(text[size - 2]):
            return 0
        target = text[size - 2] - LETTER_A + 8 * (text[size - 1] - DIGIT_1)
        size -= 2
        if size and (text[size - 1] == b"x" or text[size - 1] == b"-" or text[size - 1] == b":"):
            size -= 1
        if size and _kind_of(text[0]) != NO_KIND:
            kind = _kind_of(text[0])
            at = 1
        elif size and text[0] == b"P":
            at = 1
        if at < size and _is_file(text[at]):
            origin_file = text[at] - LETTER_A
            at += 1
        if at < size and _is_rank(text[at]):
            origin_rank = text[at] - DIGIT_1
            at += 1
        if at < size:
            return 0

    fault[0] = ILLEGAL
    for index in range(generate(position, moves, ALL_MOVES)):
        move = moves[index]
        if steps:
            if not is_castling(move) or (move_to(move) < move_from(move)) != (steps == 3):
                continue
        else:
            if move_to(move) != target or is_castling(move):
                continue
            if piece_kind(position.squares[move_from(move)]) != kind:
                continue
            if origin_file >= 0 and move_from(move) & 7 != origin_file:
                continue
            if origin_rank >= 0 and move_from(move) >> 3 != origin_rank:
                continue
            if (promotion_kind(move) if is_promotion(move) else NO_KIND) != promotion:
                continue
        if found:
            fault[0] = AMBIGUOUS
            return 0
        found = move
    if found:
        fault[0] = FAULTLESS
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_decoration(text: cython.pointer(cython.const[u8]), size: cython.Py_ssize_t) -> cython.bint:
    """Words that say something about the move before them: signs without a letter or digit (+-, =, +/=), and e.p."""
    index: cython.Py_ssize_t
    if size >= 2 and text[0] == b"e" and (text[1] == b"." or (text[1] == b"p" and size == 2)):
        return True
    for index in range(size):
        letter: u8 = text[index]
        if letter < 33 or letter > 126 or b"0" <= letter <= b"9" or b"A" <= letter & 0xDF <= b"Z":
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _end_of_variation(
    text: cython.pointer(cython.const[u8]), size: cython.Py_ssize_t, at: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Behind the bracket that closes the variation opened at `at`, or -1. Brackets in comments do not count."""
    depth: cython.int = 0
    while at < size:
        if text[at] == b"(":
            depth += 1
        elif text[at] == b")":
            depth -= 1
            if depth == 0:
                return at + 1
        elif text[at] == b"{":
            while at < size and text[at] != b"}":
                at += 1
        elif text[at] == b";":
            while at < size and text[at] != b"\n":
                at += 1
        at += 1
    return -1


def read_plies(start, text, size, most, line, fault):
    """Reads at most `most` plies into `line` and returns how many there were. What comes behind them is not looked at."""
    position: Position
    after: Position
    count: cython.int = 0
    at: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    move: Move
    memcpy(cython.address(position), start, cython.sizeof(Position))
    fault.kind = FAULTLESS
    while at < size and count < most:
        letter: u8 = text[at]
        fault.start = at
        if _is_blank(letter) or letter == b"." or letter == b"}" or letter == b")":
            at += 1
        elif letter == b"{":
            while at < size and text[at] != b"}":
                at += 1
            if at == size:
                fault.kind = OPEN_COMMENT
                break
        elif letter == b"(":
            at = _end_of_variation(text, size, at)
            if at < 0:
                fault.kind = OPEN_VARIATION
                break
        elif letter == b";" or (letter == b"%" and (at == 0 or text[at - 1] == b"\n")):
            while at < size and text[at] != b"\n":
                at += 1
        elif letter == b"$" or letter == b"!" or letter == b"?":
            at += 1
            while at < size and b"0" <= text[at] <= b"9":
                at += 1
        elif letter == b"*":
            break
        else:
            end = at
            if b"0" <= letter <= b"9":
                while end < size and b"0" <= text[end] <= b"9":
                    end += 1
                if end == size or text[end] == b"." or _ends_word(text[end]):
                    at = end  # the number of a move
                    continue
                if text[end] == b"/":
                    break  # half a point
                if text[end] == b"-" and end + 1 < size and text[end + 1] != letter:
                    break  # 1-0 or 0-1; 0-0 is a move
            while end < size and not _ends_word(text[end]):
                end += 1
            move = _read_move(cython.address(position), text + at, end - at, cython.address(fault.kind))
            if move == 0:
                if fault.kind == NO_MOVE_TEXT and _is_decoration(text + at, end - at):
                    fault.kind = FAULTLESS
                    at = end
                    continue
                fault.end = end
                break
            line[count].key = polyglot_key(cython.address(position))
            line[count].code = _code(move)
            line[count].turn = position.turn
            count += 1
            make_move(cython.address(position), cython.address(after), move)
            memcpy(cython.address(position), cython.address(after), cython.sizeof(Position))
            at = end
    return count


def replay(board: Board, text: bytes, most: int = 1024) -> list[tuple[int, int]]:
    """Polyglot's key and move of each of the first `most` plies. ValueError with the reason if one cannot be read."""
    fault: Fault
    count: cython.int
    limit: cython.int = max(0, min(most, MOST_PLIES))
    line: cython.pointer(Ply) = cython.cast(cython.pointer(Ply), malloc((limit + 1) * cython.sizeof(Ply)))
    if line == cython.NULL:
        raise MemoryError("no memory for a game")
    try:
        count = read_plies(board.current(), text, len(text), limit, line, cython.address(fault))
        if fault.kind != FAULTLESS:
            raise ValueError(describe_fault(text, fault.kind, fault.start, fault.end))
        return [(line[index].key, line[index].code) for index in range(count)]
    finally:
        free(line)


def describe_fault(text, kind, start, end):
    """What is wrong with a game, in words."""
    if kind in (OPEN_COMMENT, OPEN_VARIATION):
        return REASONS[kind]
    word = text[start : min(end, start + 20)].decode("utf-8", "replace")
    return f"'{word}' {REASONS[kind]}"

"""Games as bytes, about two and a half per position: moves as numbers in the list of legal moves, scores as differences.

The format is described in docs/data-format.md. A payload is one game; training/files.py puts payloads into files.
"""

from typing import NamedTuple

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.fen import format_fen, parse_fen
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import ConstPosition, Position, make_move
from cython.cimports.board.types import MAX_MOVES, Move, i16, move_flag, move_from, move_to, u8
from cython.cimports.libc.stdlib import free, malloc

from board.fen import STARTING_FEN

# The first byte of a payload.
_RESULT_BITS = cython.declare(cython.int, 3)  # 0 drawn, 1 White won, 2 Black won
_HAS_FEN = cython.declare(cython.int, 4)  # the start position follows; otherwise it is that of chess
_IS_CHESS960 = cython.declare(cython.int, 8)


class RecordError(ValueError):
    """These bytes are no game. The message says why."""


class Game(NamedTuple):
    """One game: where it starts, its moves, and a score for every move after the opening.

    Scores are centipawns from White's side, `result` is White's: 1, 0 or -1.
    """

    fen: str
    chess960: bool
    opening: int
    moves: list
    scores: list
    result: int


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rank_key(move: Move) -> cython.int:
    """The format's order of moves: by origin, then by target, then by flag, whatever order they are generated in."""
    return move_from(move) << 10 | move_to(move) << 4 | move_flag(move)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number_of(position: cython.pointer(ConstPosition), move: Move) -> cython.int:
    """How many legal moves come before this one; -1 when it is not legal itself."""
    moves: Move[MAX_MOVES]
    count: cython.int = generate(position, moves, ALL_MOVES)
    index: cython.int
    before: cython.int = 0
    found: cython.bint = False
    for index in range(count):
        before += _rank_key(moves[index]) < _rank_key(move)
        found |= moves[index] == move
    return before if found else -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _move_of(position: cython.pointer(ConstPosition), number: cython.int) -> Move:
    """The legal move with that number, or 0."""
    moves: Move[MAX_MOVES]
    count: cython.int = generate(position, moves, ALL_MOVES)
    index: cython.int
    place: cython.int
    if number >= count:
        return 0
    for index in range(1, count):
        move: Move = moves[index]
        place = index
        while place > 0 and _rank_key(moves[place - 1]) > _rank_key(move):
            moves[place] = moves[place - 1]
            place -= 1
        moves[place] = move
    return moves[number]


# Numbers of any size: seven bits to a byte, the lowest first, the top bit set in all but the last byte.


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_number(at: cython.pointer(u8), number: cython.uint) -> cython.pointer(u8):
    while number >= 128:
        at[0] = number & 127 | 128
        at += 1
        number >>= 7
    at[0] = number
    return at + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _take_number(cursor: cython.pointer(GameCursor)) -> cython.int:
    """The next number, or -1 when the bytes end or make no number below 2^21."""
    number: cython.int = 0
    shift: cython.int = 0
    while shift < 21 and cursor.at < cursor.end:
        byte: cython.int = cursor.at[0]
        cursor.at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number
        shift += 7
    return -1


def encode_line(start, moves, scores, plies, opening, result):
    """The payload of a game. `scores` has one entry per ply, White's view; those of the opening are not read.

    Raises RecordError for a move that is not legal. (No position is known in which a byte cannot number the moves.)
    """
    lines: Position[2]
    ply: cython.int
    number: cython.int = 0
    change: cython.int
    score: cython.int = 0
    flags: cython.int = 0 if result == 0 else 1 if result > 0 else 2
    fen = format_fen(start, start.chess960)
    if start.chess960:
        flags |= _IS_CHESS960
    if fen != STARTING_FEN:
        flags |= _HAS_FEN
    if not 0 <= opening <= plies <= MOST_PLIES:
        raise RecordError(f"a game of {plies} plies with {opening} of them in the opening")
    # One byte for a move's number and at most three for a change of score.
    room: cython.size_t = 16 + cython.cast(cython.size_t, plies) * 4
    buffer: cython.pointer(u8) = cython.cast(cython.pointer(u8), malloc(room))
    if buffer == cython.NULL:
        raise MemoryError("no memory to write a game down")
    at: cython.pointer(u8) = buffer
    with cython.nogil:
        at = _put_number(at, plies)
        at = _put_number(at, opening)
        lines[0] = start[0]
        for ply in range(plies):
            number = _number_of(cython.address(lines[ply & 1]), moves[ply])
            if number < 0 or number > 255:
                break
            at[0] = number
            at += 1
            if ply >= opening:
                change = min(max(scores[ply], -MOST_STORED_SCORE), MOST_STORED_SCORE) - score
                score += change
                # Small changes of either sign become small numbers: 0, -1, 1, -2, 2, …
                at = _put_number(at, 2 * change if change >= 0 else -2 * change - 1)
            make_move(cython.address(lines[ply & 1]), cython.address(lines[(ply & 1) ^ 1]), moves[ply])
    try:
        if number < 0:
            raise RecordError(f"ply {ply + 1}: move {moves[ply]} is not legal")
        if number > 255:
            raise RecordError(f"ply {ply + 1}: more than 256 legal moves")
        head = bytes((flags,))
        if flags & _HAS_FEN:
            text = fen.encode()
            head += bytes((len(text),)) + text
        length: cython.size_t = cython.cast(cython.size_t, at) - cython.cast(cython.size_t, buffer)
        return head + buffer[:length]
    finally:
        free(buffer)


def open_game(payload, cursor):
    """Sets a cursor before the first ply. It points into `payload`, which must live as long as it is used.

    Raises RecordError when the beginning cannot be read.
    """
    size: cython.Py_ssize_t = len(payload)
    data: cython.pointer(cython.const[u8]) = payload
    fen = STARTING_FEN
    head: cython.Py_ssize_t = 1
    if size == 0:
        raise RecordError("no bytes")
    flags: cython.int = data[0]
    if flags & _RESULT_BITS == 3 or flags > 15:
        raise RecordError(f"unknown flags {flags}")
    if flags & _HAS_FEN:
        if size < 2 or size < 2 + data[1]:
            raise RecordError("the start position is cut off")
        head = 2 + data[1]
        try:
            fen = payload[2:head].decode("ascii")
        except UnicodeDecodeError as error:
            raise RecordError("the start position is no text") from error
    try:
        parse_fen(fen, cython.address(cursor.position), flags & _IS_CHESS960 != 0)
    except ValueError as error:
        raise RecordError(f"the start position cannot be set up: {error}") from error
    cursor.at = data + head
    cursor.end = data + size
    cursor.plies = _take_number(cursor)
    cursor.opening = _take_number(cursor)
    if not 0 <= cursor.opening <= cursor.plies <= MOST_PLIES:
        raise RecordError("the number of plies cannot be read")
    cursor.ply = 0
    cursor.score = 0
    cursor.move = 0
    cursor.result = 0 if flags & _RESULT_BITS == 0 else 1 if flags & _RESULT_BITS == 1 else -1


def next_ply(cursor):
    """Reads on: 1 when there was another ply, 0 at the proper end of the game, -1 when the bytes make no sense."""
    before: Position
    number: cython.int
    if cursor.ply == cursor.plies:
        return 0 if cursor.at == cursor.end else -1
    if cursor.ply > 0:
        before = cursor.position
        make_move(cython.address(before), cython.address(cursor.position), cursor.move)
    if cursor.at == cursor.end:
        return -1
    number = cursor.at[0]
    cursor.at += 1
    cursor.move = _move_of(cython.address(cursor.position), number)
    if cursor.move == 0:
        return -1
    if cursor.ply >= cursor.opening:
        number = _take_number(cursor)
        if number < 0:
            return -1
        cursor.score += number // 2 if number % 2 == 0 else -(number + 1) // 2
        if cursor.score > MOST_STORED_SCORE or cursor.score < -MOST_STORED_SCORE:
            return -1
    cursor.ply += 1
    return 1


def encode_game(game: Game) -> bytes:
    """The payload of a game. Raises RecordError, or FenError, for what cannot be written."""
    plies: cython.int = len(game.moves)
    ply: cython.int
    if len(game.scores) != plies - game.opening:
        raise RecordError(f"{len(game.scores)} scores for {plies - game.opening} moves after the opening")
    board: Board = Board(game.fen, chess960=game.chess960)
    moves: cython.pointer(Move) = cython.cast(cython.pointer(Move), malloc((plies + 1) * cython.sizeof(Move)))
    scores: cython.pointer(i16) = cython.cast(cython.pointer(i16), malloc((plies + 1) * cython.sizeof(i16)))
    try:
        if moves == cython.NULL or scores == cython.NULL:
            raise MemoryError("no memory to write a game down")
        for ply in range(plies):
            moves[ply] = game.moves[ply]
            scores[ply] = 0
            if ply >= game.opening:
                scores[ply] = min(max(game.scores[ply - game.opening], -MOST_STORED_SCORE), MOST_STORED_SCORE)
        return encode_line(board.current(), moves, scores, plies, game.opening, game.result)
    finally:
        free(moves)
        free(scores)


def decode_game(payload: bytes) -> Game:
    """The game in a payload. Raises RecordError when it is damaged."""
    cursor: GameCursor
    open_game(payload, cython.address(cursor))
    fen = format_fen(cython.address(cursor.position), cursor.position.chess960)
    chess960 = bool(cursor.position.chess960)
    moves = []
    scores = []
    state: cython.int = next_ply(cython.address(cursor))
    while state > 0:
        moves.append(cursor.move)
        if cursor.ply > cursor.opening:
            scores.append(cursor.score)
        state = next_ply(cython.address(cursor))
    if state < 0:
        raise RecordError(f"ply {cursor.ply + 1} cannot be read")
    return Game(fen, chess960, cursor.opening, moves, scores, cursor.result)

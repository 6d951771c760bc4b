"""Self-play: the games that the evaluation learns from.

A game begins with random moves, so that all sorts of positions are seen, and goes on with short searches by both
sides. It is broken off where the result is clear. A game depends on nothing but the seed and its number, so any number
of threads produce the same file, and an interrupted run goes on where it stopped.
"""

import random
from typing import NamedTuple

import cython
from cython.cimports.board.api import Board
from cython.cimports.board.bits import multiply_high
from cython.cimports.board.movegen import ALL_MOVES, generate
from cython.cimports.board.position import (
    ConstPosition,
    Position,
    is_insufficient_material,
    make_move,
    repetition_distance,
)
from cython.cimports.board.types import BLACK, MAX_MOVES, Move, u64
from cython.cimports.libc.stdlib import free, malloc
from cython.cimports.libc.string import memcpy
from cython.cimports.search.joined import iterate
from cython.cimports.search.platform import load_flag, store_flag
from cython.cimports.search.root import start_search
from cython.cimports.search.score import MAX_PLY, clamp
from cython.cimports.search.searcher import Searcher
from cython.cimports.search.state import GAME_KEYS, SearchLimits, Worker
from cython.cimports.training.quiet import DEFAULT_MOST_SCORE, is_quiet
from cython.cimports.training.records import encode_line

from board.chess960 import start_fen


class Settings(NamedTuple):
    """How games are played; kept in the file, so that a run can only be continued as it was begun."""

    seed: int = 1
    soft_nodes: int = 500
    hard_nodes: int = 4000
    random_plies: int = 8
    opening_limit: int = 350
    win_score: int = 1200
    win_plies: int = 5
    draw_score: int = 6
    draw_plies: int = 12
    draw_from: int = 80
    chess960_percent: int = 12


class Played(NamedTuple):
    """A finished game as bytes, with what is worth counting."""

    payload: bytes
    plies: int
    quiet: int
    result: int
    nodes: int


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _roll(state: cython.pointer(u64), sides: cython.int) -> cython.int:
    """A number from 0 to sides - 1 from a xorshift generator (G. Marsaglia's)."""
    state[0] ^= state[0] << 13
    state[0] ^= state[0] >> 7
    state[0] ^= state[0] << 17
    return cython.cast(cython.int, multiply_high(state[0], sides))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _think(
    worker: cython.pointer(Worker),
    position: cython.pointer(ConstPosition),
    keys: cython.pointer(u64),
    last: cython.int,
    moves: cython.pointer(Move),
    count: cython.int,
    soft_nodes: u64,
    hard_nodes: u64,
) -> cython.int:
    """Searches a position of the game; the score from the side to move. The best move lies in root_moves[0]."""
    limits: SearchLimits
    # Only as many keys as the fifty-move rule can look back on.
    known: cython.int = clamp(clamp(position.halfmove_clock, 0, last) + 1, 1, GAME_KEYS)
    limits.depth = MAX_PLY - 1
    limits.mate = 0
    limits.multipv = 1
    limits.ponder = False
    limits.nodes = hard_nodes
    limits.soft_nodes = soft_nodes
    limits.soft_time = -1
    limits.hard_time = -1
    limits.spent = 0
    start_search(worker.shared, cython.address(limits), position, keys + last + 1 - known, known, moves, count)
    iterate(worker)
    return worker.root_moves[0].score


def play_line(worker, rules, start, seed, given_up, line):
    """Plays one game. False when the random moves led nowhere: to the end of the game, or to a lopsided position.

    Also False when the game is given up; somebody else sets this flag.
    """
    position: Position
    after: Position
    moves: Move[MAX_MOVES]
    keys: cython.pointer(u64) = line.keys
    dice: u64 = seed
    ahead: cython.int = 0
    level: cython.int = 0
    distance: cython.int
    memcpy(cython.address(position), start, cython.sizeof(Position))
    memcpy(cython.address(line.start), start, cython.sizeof(Position))
    line.plies = 0
    line.result = 0
    line.quiet = 0
    line.nodes = 0
    # One ply more or less, so that both sides get to move first.
    line.opening = rules.random_plies + _roll(cython.address(dice), 2)
    while True:
        if load_flag(given_up):
            return False
        keys[line.plies] = position.key
        count: cython.int = generate(cython.address(position), moves, ALL_MOVES)
        if count == 0:
            if position.checkers:
                line.result = 1 if position.turn == BLACK else -1
            return line.plies > line.opening
        if is_insufficient_material(cython.address(position)) or position.halfmove_clock >= 100:
            return line.plies > line.opening
        distance = repetition_distance(keys, line.plies, position.halfmove_clock)
        if distance and repetition_distance(keys, line.plies - distance, position.halfmove_clock - distance):
            return line.plies > line.opening
        if line.plies == MOST_GAME_PLIES:
            return True

        move: Move
        if line.plies < line.opening:
            move = moves[_roll(cython.address(dice), count)]
            line.scores[line.plies] = 0
        else:
            first: cython.bint = line.plies == line.opening
            score: cython.int = _think(
                worker,
                cython.address(position),
                keys,
                line.plies,
                moves,
                count,
                rules.soft_nodes * (4 if first else 1),
                rules.hard_nodes * (4 if first else 1),
            )
            line.nodes += worker.nodes
            if first and not -rules.opening_limit <= score <= rules.opening_limit:
                return False
            move = worker.root_moves[0].move
            if is_quiet(cython.address(position), move, score, DEFAULT_MOST_SCORE):
                line.quiet += 1
            if position.turn == BLACK:
                score = -score
            line.scores[line.plies] = score
            # Both sides have agreed for several plies who wins, or that nobody does.
            if score >= rules.win_score and ahead >= 0:
                ahead += 1
            elif score <= -rules.win_score and ahead <= 0:
                ahead -= 1
            else:
                ahead = 0
            level = level + 1 if -rules.draw_score <= score <= rules.draw_score else 0
            if ahead >= rules.win_plies or -ahead >= rules.win_plies:
                line.result = 1 if ahead > 0 else -1
                return True
            if level >= rules.draw_plies and line.plies >= rules.draw_from:
                return True
        line.moves[line.plies] = move
        line.plies += 1
        make_move(cython.address(position), cython.address(after), move)
        memcpy(cython.address(position), cython.address(after), cython.sizeof(Position))


@cython.final
@cython.cclass
class GiveUp:
    """A flag that ends games between two moves."""

    def set(self):
        store_flag(cython.address(self.flag), 1)


def play_game(searcher: Searcher, settings, number, give_up: GiveUp = None):
    """Game `number` of a run. Openings that lead nowhere are replaced until one does. None if the game is given up."""
    rules: Rules
    board: Board
    seed: u64
    good: cython.bint
    worker: cython.pointer(Worker) = searcher.shared.workers[0]
    line: cython.pointer(Line) = cython.cast(cython.pointer(Line), malloc(cython.sizeof(Line)))
    if line == cython.NULL:
        raise MemoryError("no memory for a game")
    rules.soft_nodes = settings.soft_nodes
    rules.hard_nodes = settings.hard_nodes
    rules.random_plies = settings.random_plies
    rules.opening_limit = settings.opening_limit
    rules.win_score = settings.win_score
    rules.win_plies = settings.win_plies
    rules.draw_score = settings.draw_score
    rules.draw_plies = settings.draw_plies
    rules.draw_from = settings.draw_from
    if give_up is None:
        give_up = GiveUp()
    dice = random.Random(settings.seed * 1_000_003 + number)
    nodes = 0
    try:
        while True:
            chess960 = dice.randrange(100) < settings.chess960_percent
            if chess960:
                white = dice.randrange(960)
                # Half of these start with different pieces on the two sides.
                board = Board(start_fen(white, dice.choice((white, dice.randrange(960)))), chess960=True)
            else:
                board = Board()
            seed = dice.getrandbits(63) | 1
            searcher.clear()
            with cython.nogil:
                good = play_line(
                    worker, cython.address(rules), board.current(), seed, cython.address(give_up.flag), line
                )
            nodes += line.nodes
            if good:
                payload = encode_line(
                    cython.address(line.start), line.moves, line.scores, line.plies, line.opening, line.result
                )
                return Played(payload, line.plies, line.quiet, line.result, nodes)
            if load_flag(cython.address(give_up.flag)):
                return None
    finally:
        free(line)

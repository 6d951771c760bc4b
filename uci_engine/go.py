"""A `go` command: what its words ask for, and the search limits that follow from it."""

import re
from typing import NamedTuple

from search import Limits
from uci_engine.text import nearest

NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime", "perft")
FLAGS = ("infinite", "ponder")
LARGEST = 10**15  # numbers beyond this are cut to it
MOST_DIGITS = 30  # Python refuses to read very long numbers, and nobody means them
MOST_MATE = 1000  # moves; nobody waits for longer mates

_NUMBER = re.compile(r"[+-]?\d+")
_MOVE_LIKE = re.compile(r"[a-h][1-8][a-h][1-8][nbrqk]?|0000|O-O(-O)?", re.IGNORECASE)


class GoParameters(NamedTuple):
    """The parameters of one `go`, as the GUI gave them. None means that it did not."""

    wtime: int | None = None
    btime: int | None = None
    winc: int | None = None
    binc: int | None = None
    movestogo: int | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    movetime: int | None = None
    perft: int | None = None
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple | None = None

    @property
    def has_bound(self):
        return any(
            bound is not None for bound in (self.depth, self.nodes, self.mate, self.movetime, self.wtime, self.btime)
        )

    @property
    def has_no_limit(self):
        """Was neither a limit understood, nor that none is wanted?"""
        return not (self.has_bound or self.infinite or self.ponder or self.perft is not None)

    @property
    def is_endless(self):
        """Does only a `stop` (or a `ponderhit`) end this search? A bare `go` is as good as infinite."""
        return self.infinite or self.ponder or not self.has_bound

    @property
    def is_move_of_game(self):
        """Is a move in a game asked for? A list of moves to look at, or a mate to find, is analysis, as is a bare `go`."""
        if self.infinite or self.searchmoves is not None or self.mate is not None:
            return False
        return self.ponder or self.has_bound

    def __str__(self):
        """What was given, for people."""
        given = (f"{name} {value}" for name, value in self._asdict().items() if value not in (None, False))
        return "go " + " ".join(given)


def parse_number(text):
    """A whole number as far as it makes sense; ValueError if the text is none."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"'{text}' is no whole number")
    number = int(text) if len(text) <= MOST_DIGITS else LARGEST if text[0] != "-" else -LARGEST
    return max(-LARGEST, min(number, LARGEST))


def parse_go(words):
    """The parameters that the words of a `go` give. Words that mean nothing here are passed over."""
    given = {}
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word in FLAGS:
            given[word] = True
        elif word in NUMBERS:
            try:
                given[word] = parse_number(words[index])
                index += 1
            except (IndexError, ValueError):
                continue
        elif word == "searchmoves":
            first = index
            while index < len(words) and _MOVE_LIKE.fullmatch(words[index]):
                index += 1
            searchmoves = given.setdefault(word, [])
            searchmoves += words[first:index]
    if "searchmoves" in given:
        given["searchmoves"] = tuple(given["searchmoves"])
    return GoParameters(**given)


def problem_of(words):
    """The first thing in the words of a `go` that nobody can have meant, as text; None when all of them mean something."""
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word in NUMBERS:
            if place == len(words) or not _NUMBER.fullmatch(words[place]):
                given = f", not '{words[place][:80]}'" if place < len(words) else ""
                return f"{word} takes a whole number{given}"
            place += 1
        elif word == "searchmoves":
            first = place
            while place < len(words) and _MOVE_LIKE.fullmatch(words[place]):
                place += 1
            if place == first:
                return "searchmoves takes moves such as e2e4"
        elif word not in FLAGS:
            meant = nearest(word, (*NUMBERS, *FLAGS, "searchmoves"))
            return f"'{word[:80]}' is not understood" + (f"; did you mean '{meant}'?" if meant else "")
    return None


def known_moves(board, texts, say):
    """The legal moves among the texts. An illegal one is no reason to think about nothing: None means all moves."""
    moves, strange = [], []
    for text in dict.fromkeys(texts or ()):
        try:
            moves.append(board.parse_uci(text))
        except ValueError:
            strange.append(text)
    if strange:
        say(f"not legal here and ignored: {' '.join(strange[:10])}{' …' if len(strange) > 10 else ''}")
        if not moves:
            say("no legal move is left of searchmoves, so all moves are searched")
    return tuple(moves) or None


def search_limits(parameters, board, *, moves=None, spent=0.0, soft_nodes=None, ranking=None, probe=True):
    """The limits of a search for the side to move: built here, once, and never changed.

    `spent` are the milliseconds since the `go` arrived, `soft_nodes` comes from a limited strength, `ranking` and `probe`
    from endgame tables.
    """
    own, other = (parameters.wtime, parameters.btime) if board.turn == 0 else (parameters.btime, parameters.wtime)
    increment = parameters.winc if board.turn == 0 else parameters.binc
    # A GUI that gives only the other clock has a reason that we do not know; guessing is better than no limit.
    remaining = other if own is None else own
    return Limits(
        depth=at_least(1, parameters.depth),
        nodes=at_least(1, parameters.nodes),
        soft_nodes=soft_nodes,
        mate=None if parameters.mate is None else max(1, min(parameters.mate, MOST_MATE)),
        movetime=at_least(1, parameters.movetime),
        remaining=at_least(1, remaining),
        increment=max(0, increment or 0),
        moves_to_go=max(0, parameters.movestogo or 0),
        spent=spent,
        infinite=parameters.is_endless and not parameters.ponder,
        ponder=parameters.ponder,
        moves=moves,
        ranks=None if ranking is None else ranking.ranks,
        results=None if ranking is None else ranking.results,
        probe=probe,
    )


def at_least(least, number):
    return None if number is None else max(least, number)

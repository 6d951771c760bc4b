"""Makes books: from games, from other books. The file appears only when it is complete."""

import contextlib
import heapq
import itertools
import os
from typing import NamedTuple

from board import Board, FenError
from board.files import check_replaceable, replacing
from board.messages import brief_reason
from book.opening.move_counter import MoveCounter
from book.opening.pgn import PgnError, Source
from book.opening.polyglot import BookError, Entry

MOST_WEIGHT = 0xFFFF
REPORTED = 10_000  # entries between two reports of how many are written
COLOURS = {"both": 3, "white": 1, "black": 2}
STANDARD_NAMES = ("", "standard", "chess", "from position", "normal")
MOST_RATING = 9  # digits; Python refuses to read numbers of thousands of digits


class Settings(NamedTuple):
    """What goes into a book. Weight of a move: wins × `win` + draws × `draw` + losses × `loss`, of the side that moved."""

    plies: int = 40
    min_games: int = 3
    win: int = 2
    draw: int = 1
    loss: int = 0
    min_rating: int = 0
    colour: str = "both"
    player: str = ""
    megabytes: int = 256


class Report:
    """What became of the games. `on_broken` hears of every one that could not be used: file, line and reason."""

    def __init__(self, on_broken=lambda place, reason: None):
        self.on_broken = on_broken
        self.games = self.used = self.filtered = self.broken = self.plies = 0
        self.damaged = []  # files that could not be read to their end

    def break_game(self, place, reason):
        self.broken += 1
        self.on_broken(place, brief_reason(reason))


def is_rated(text, least):
    return text.isdecimal() and len(text) <= MOST_RATING and int(text) >= least


def wanted_colours(game, settings):
    """Which colours' moves of a game are wanted, as bits; 0 means none."""
    if settings.min_rating:
        ratings = [game.tag(name) for name in (b"WhiteElo", b"BlackElo")]
        if not all(is_rated(rating, settings.min_rating) for rating in ratings):
            return 0
    if game.tag(b"Variant").lower() not in STANDARD_NAMES:
        return 0
    colours = COLOURS[settings.colour]
    if settings.player:
        wanted = settings.player.casefold()
        if wanted not in game.tag(b"White").casefold():
            colours &= ~1
        if wanted not in game.tag(b"Black").casefold():
            colours &= ~2
    return colours


def count_games(sources, settings, counter, report, on_progress=lambda source: None):
    """Counts the games of open sources into the counter."""
    start = Board()
    for source in sources:
        try:
            for game in source.games():
                report.games += 1
                count_game(game, settings, counter, report, start, source.name)
                if report.games % 256 == 0:
                    on_progress(source)
        except PgnError as error:
            report.damaged.append(str(error))
        on_progress(source)


def count_game(game, settings, counter, report, start, name):
    place = f"{name}:{game.line}"
    if game.is_too_long:
        report.break_game(place, "too long for a game")
        return
    colours = wanted_colours(game, settings)
    if colours == 0:
        report.filtered += 1
        return
    try:
        board = Board(game.tag(b"FEN")) if b"FEN" in game.tags else start
        # As Polyglot's own maker has it, a game without a result counts as a draw.
        plies = counter.add_game(board, game.text, settings.plies, game.result or 0, colours)
    except FenError as error:
        report.break_game(place, f"bad FEN: {error}")
    except ValueError as error:
        report.break_game(place, str(error))
    else:
        report.used += 1
        report.plies += plies


def scaled(weights):
    """Weights that fit into 16 bits, with the same shares; none that was above 0 becomes 0."""
    heaviest = max(weights, default=0)
    if heaviest <= MOST_WEIGHT:
        return weights
    return [max(1, weight * MOST_WEIGHT // heaviest) if weight else 0 for weight in weights]


def entries_of(key, weighted):
    """The entries of one position from (code, weight) pairs, the heaviest first."""
    weighted = sorted(weighted, key=lambda pair: (-pair[1], pair[0]))
    weights = scaled([weight for _, weight in weighted])
    return [Entry(key, code, weight) for (code, _), weight in zip(weighted, weights, strict=True)]


def entries_from(counter, settings):
    """The entries for everything that was counted. Moves that have only lost are left out, like rare ones."""
    for key, group in itertools.groupby(counter.counts(settings.min_games), key=lambda count: count[0]):
        weighted = []
        for _, code, wins, draws, losses in group:
            weight = wins * settings.win + draws * settings.draw + losses * settings.loss
            if weight > 0:
                weighted.append((code, weight))
        yield from entries_of(key, weighted)


def sorted_entries(book):
    """A book's entries by key, also if the file has unsorted spots."""
    runs = (book.between(*run) for run in book.runs)
    return heapq.merge(*runs, key=lambda entry: entry.key)


def merged_entries(books, first_wins=False):
    """The entries of several books. Weights of the same move are summed, or only the first book that knows it counts."""
    numbered = [zip(sorted_entries(book), itertools.repeat(number)) for number, book in enumerate(books)]
    merged = heapq.merge(*numbered, key=lambda pair: (pair[0].key, pair[1]))
    for key, group in itertools.groupby(merged, key=lambda pair: pair[0].key):
        weights, chosen = {}, None
        for entry, number in group:
            chosen = number if chosen is None else chosen
            if not first_wins or number == chosen:
                weights[entry.move] = weights.get(entry.move, 0) + entry.weight
        yield from entries_of(key, weights.items())


def write_book(path, entries, on_written=lambda count: None, release=lambda: None):
    """Writes entries that come sorted; returns how many entries and positions there are. BookError if there are none.

    `on_written` hears now and then how many there are so far. `release` is called before the file takes its place, and
    closes what the entries came from: Windows replaces no file that is open.
    """
    count = positions = 0
    last = None
    with replacing(path) as file:
        for entry in entries:
            file.write(entry.pack())
            count += 1
            positions += entry.key != last
            last = entry.key
            if count % REPORTED == 0:
                on_written(count)
        if count == 0:
            raise BookError(f"no move is left to put into {path}: too few games for the minimum, or nothing but losses")
        release()
    return count, positions


def check_output(path, inputs=()):
    """A mistake in the output's name is noticed before hours of work, and no input is overwritten."""
    check_replaceable(path)
    if os.path.exists(path) and any(os.path.exists(each) and os.path.samefile(each, path) for each in inputs):
        raise BookError(f"{path} is one of the inputs")


def build_book(
    paths,
    output,
    settings,
    report,
    *,
    on_start=lambda sources: None,
    on_progress=lambda source: None,
    on_written=lambda count: None,
):
    """Makes a book from PGN files; returns how many entries and positions it has."""
    check_output(output, paths)
    counter = MoveCounter(settings.megabytes, os.path.dirname(os.path.abspath(output)))
    with contextlib.ExitStack() as stack:
        stack.callback(counter.close)
        # A misspelt name is noticed before hours of work.
        sources = [stack.enter_context(Source(path)) for path in paths]
        on_start(sources)
        count_games(sources, settings, counter, report, on_progress)
        if report.games == 0:
            raise PgnError("; ".join(report.damaged) or f"no games in {', '.join(source.name for source in sources)}")
        if report.used == 0:
            raise PgnError(
                f"none of {report.games:,} games can be used: {report.broken:,} broken, the rest filtered out"
            )
        return write_book(output, entries_from(counter, settings), on_written)

"""The opening book at the board: when it may answer instead of the search, with which move, and in what words."""

from book.opening.polyglot import Book, BookError, choose, default_book, shares
from search import Limits

LINE_PLIES = 8  # how much of the book's main line is shown behind a book move
SCORE_DEPTH = 5  # plies that are searched behind that line for the score: a millisecond or two


def draws(board, move):
    """Would the move repeat a position of this game, end it as a draw, or let the opponent claim one at once?"""
    board = board.copy()
    board.push(move)
    outcome = board.outcome()
    if outcome is not None:
        return outcome.winner is None
    if board.repetitions() > 1:
        return True
    # A third time needs eight plies without capture or pawn move behind it.
    if board.halfmove_clock < 7:
        return False
    for reply in board.legal_moves():
        board.push(reply)
        is_third = board.repetitions() > 2
        board.pop()
        if is_third:
            return True
    return False


class Opening:
    """The book behind OwnBook. `say` takes the text of an `info string`."""

    def __init__(self, say):
        self.say = say
        self.book = None
        self.is_loaded = False  # or was found to be impossible to load
        self.said = set()

    def say_once(self, text):
        if text not in self.said:
            self.said.add(text)
            self.say(text)

    def open(self, path):
        """Uses another book; empty text means Quetzal's own. BookError if it cannot be used, and the old one stays."""
        book = Book(path) if path else None
        self.close()
        self.said.clear()
        self.book = book
        self.is_loaded = book is not None
        if book is not None:
            self.warn(book)

    def warn(self, book):
        for warning in book.warnings:
            self.say(f"the book {book.path}: {warning}")

    def close(self):
        if self.book is not None:
            self.book.close()
            self.book = None

    def ready(self):
        """The open book, or None with the reason said once. The own book is opened when it is first wanted."""
        if not self.is_loaded:
            self.is_loaded = True
            try:
                self.book = default_book()
                self.warn(self.book)
            except (BookError, OSError) as error:
                self.say_once(f"no book: {error}")
        return self.book

    def playable(self, board):
        """What the book would play here: no weight of 0, nothing that draws by repetition."""
        book = self.ready()
        if book is None:
            return []
        try:
            moves = book.moves(board)
        except BookError as error:
            self.close()
            self.say_once(f"no book: {error}")
            return []
        if moves and not any(each.weight for each in moves):
            self.say_once(f"{book.name} has moves here, but all with weight 0, which means not to play them")
        wanted = [each for each in moves if each.weight]
        kept = [each for each in wanted if not draws(board, each.move)]
        if wanted and not kept:
            self.say("the book's moves here would repeat the position or draw")
        return kept

    def find(self, board, variety, rng):
        """A move for the board with its text, and the book's main line behind it; or None."""
        moves = self.playable(board)
        chosen = choose(moves, variety, rng)
        if chosen is None:
            return None
        share = dict(zip(moves, shares(moves), strict=True))[chosen]
        count = "the only move" if len(moves) == 1 else f"{share:.0%} of {len(moves)} moves"
        return self.main_line(board, chosen.move), f"{board.san(chosen.move)} from {self.book.name} ({count})"

    def main_line(self, board, move):
        """The move and what the book holds to be best behind it."""
        board = board.copy()
        line = [move]
        board.push(move)
        while len(line) < LINE_PLIES and board.outcome() is None:
            best = choose(self.book.moves(board), 0, None)
            if best is None or draws(board, best.move):
                break
            line.append(best.move)
            board.push(best.move)
        return line


def line_info(board, line, searcher):
    """The report of a book move, with the book's line. Its score is that of a very short search behind the line."""
    end = board.copy()
    for move in line:
        end.push(move)
    searcher.multipv = 1
    found = searcher.think(end, Limits(depth=SCORE_DEPTH)).info
    wins = (found.score > 0) == (end.turn == board.turn)  # do we? A score of mate in 0 is a mate just given
    score = abs(found.score) if wins else -abs(found.score)
    if found.is_mate:
        plies = len(line) + (2 * found.score - 1 if found.score > 0 else -2 * found.score)
        score = (plies + 1) // 2 if wins else -(plies // 2)
    return found._replace(depth=1, seldepth=len(line), multipv=1, score=score, bound="exact", pv=tuple(line))

"""A game on the terminal: a text board, and moves typed as people write them."""

import contextlib
import threading

from rich.console import Console

from board import Board
from command.board_view import print_board

HELP = (
    "Type a move (Nf3, exd5, O-O, e7e8q), or: back (take back), hint, draw (offer or claim), resign, board, moves,\n"
    "new (a new game), new black, flip, pgn, level ELO, level full, quit. The game is kept."
)


class Terminal:
    """Reads words and shows what the session answers. `read` gives a line for a prompt, EOFError at the end."""

    def __init__(self, session, console=None, read=input):
        self.session = session
        self.console = console or Console(highlight=False)
        self.read = read
        self.level = None
        self.is_flipped = False

    def say(self, text, style="yellow"):
        self.console.print(text, style=style, markup=False, emoji=False)

    def board(self):
        game = self.session.game
        board = Board(game.fen, chess960=game.chess960)
        for move in game.moves:
            board.push_uci(move)
        return board

    def show(self):
        print_board(self.board(), self.console, self.is_flipped, is_short=True)

    def wait(self):
        """Until the engine has moved, or the game is over."""
        session, waiting = self.session, threading.Event()
        while True:
            with session.lock:
                game = session.game
                if game.is_over or game.is_persons_turn:
                    return
            waiting.wait(0.02)

    def answer(self):
        """What happened since the person's move."""
        before = len(self.session.game.moves)
        self.wait()
        game = self.session.game
        if len(game.moves) > before or before:
            self.tell_last()
        self.show()
        if game.is_over:
            self.say(f"{game.reason}. 'new' begins another game.", "bold")
        elif game.claim:
            self.say(f"A draw can be claimed: {game.claim} (type draw).")

    def tell_last(self):
        board = self.board()
        game = self.session.game
        if not game.moves or (game.turn != game.person and not game.is_over):
            return
        board.pop()
        move = board.parse_uci(game.moves[-1])
        if board.turn != game.person:
            self.say(f"{game.engine_name()} plays {board.san(move)}", "bold green")

    def moves(self):
        board, texts = self.session.game.board.root(), []
        for ply, move in enumerate(self.session.game.board.move_stack):
            if board.turn or ply == 0:
                texts.append(f"{board.fullmove_number}.{'' if board.turn else '..'}")
            texts.append(board.san(move))
            board.push(move)
        self.say(" ".join(texts) or "no moves yet", None)

    def hint(self):
        self.session.ask_hint()
        waiting = threading.Event()
        while self.session.hint is None and self.session.game.is_persons_turn:
            waiting.wait(0.05)
        if self.session.hint:
            board = self.board()
            self.say(f"Quetzal would play {board.san(board.parse_uci(self.session.hint))}")

    def draw(self):
        if self.session.game.claim:
            self.session.claim_draw()
        else:
            self.session.offer_draw()
        self.say(self.session.game.reason or self.session.answer)

    def new(self, person):
        self.session.new_game({"person": person, "level": self.level, "book": True})
        self.is_flipped = person == 1
        self.answer()

    def set_level(self, words):
        text = words[0] if words else ""
        if text != "full" and not text.isdigit():
            raise ValueError("a level is a number from 800 to 3000, or full")
        self.level = None if text == "full" else int(text)
        self.say("for the next game: new")

    def obey(self, line):
        """Does what a line says; False at the end."""
        word, *rest = line.split()
        session = self.session
        if word in ("quit", "exit", "q"):
            return False
        if word in ("help", "?"):
            self.say(HELP, None)
        elif word == "new":
            self.new(1 if rest[:1] == ["black"] else 0)
        elif word in ("back", "undo"):
            session.take_back()
            self.show()
        elif word == "level":
            self.set_level(rest)
        elif word == "resign":
            session.resign()
            self.say(session.game.reason, "bold")
        elif word == "pgn":
            self.say(session.game.pgn(), None)
        elif word == "flip":
            self.is_flipped = not self.is_flipped
            self.show()
        elif word in ("hint", "draw", "moves"):
            getattr(self, word)()
        elif word in ("board", "d"):
            self.show()
        else:
            session.move(line.strip())
            self.answer()
        return True

    def converse(self):
        while True:
            try:
                line = self.read("your move> ")
            except EOFError:
                self.console.print()
                return
            if not line.strip():
                continue
            try:
                if not self.obey(line):
                    return
            except ValueError as error:
                self.say(str(error))


def play(session, options):
    """One game after the other until `quit`, the end of the input or Ctrl-C; returns the exit status."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - gives input() a line that can be edited
    terminal = Terminal(session)
    terminal.level = options.level
    try:
        terminal.say("Type a move, or help.", None)
        if session.game is None or session.game.is_over or options.level or options.black:
            terminal.new(1 if options.black else 0)
        else:
            terminal.say("This game was not finished; 'new' begins another one.")
            terminal.is_flipped = session.game.person == 1
            terminal.answer()
        terminal.converse()
    except KeyboardInterrupt:
        terminal.console.print()
        return 130
    finally:
        session.close()
    return 0

"""UCI on two streams: lines in, lines out. Unknown words are passed over, as the specification asks."""

from uci_engine import __version__

GREETING = (f"id name Quetzal {__version__}", "id author The Quetzal authors")


class Session:
    """One GUI's dialogue with the engine: the position it has set, and the answers to its commands."""

    def __init__(self, write):
        from board import Board

        self.write = write
        self.board = Board()

    def handle(self, line):
        """Answers one line; False when the dialogue is over."""
        words = line.split()
        while words and words[0] not in self.COMMANDS:
            words.pop(0)
        if not words:
            return True
        if words[0] == "quit":
            return False
        try:
            self.COMMANDS[words[0]](self, words[1:])
        except ValueError as error:
            self.write(f"info string {error}")
        return True

    def greet(self, _words):
        for line in (*GREETING, "uciok"):
            self.write(line)

    def ready(self, _words):
        self.write("readyok")

    def position(self, words):
        from board import STARTING_FEN, Board

        setup, _, moves = (" ".join(words) + " ").partition(" moves ")
        if setup.split()[:1] == ["fen"]:
            fen = setup.split(maxsplit=1)[1] if len(setup.split()) > 1 else ""
        elif setup.split() == ["startpos"]:
            fen = STARTING_FEN
        else:
            raise ValueError("position wants 'startpos' or 'fen FEN', then perhaps 'moves ...'")
        board = Board(fen)
        for text in moves.split():
            board.push_uci(text)
        self.board = board

    def show(self, _words):
        board = self.board
        for line in (str(board), "", f"Fen: {board.fen()}", f"Key: {board.key:016X}"):
            self.write(line)

    def explain(self, _words):
        from uci_engine.eval_table import eval_table

        for line in eval_table(self.board):
            self.write(line)

    def go(self, words):
        from uci_engine.perft import report

        if words[:1] == ["perft"] and len(words) == 2 and words[1].isdecimal():
            for line in report(self.board, int(words[1]), per_move=True):
                self.write(line)

    COMMANDS = {  # noqa: RUF012
        "uci": greet,
        "isready": ready,
        "position": position,
        "d": show,
        "eval": explain,
        "go": go,
        "quit": None,
    }


def serve(source, sink):
    """Answers until `quit` or the end of the input; returns the exit status."""

    def write(line):
        sink.write(line + "\n")
        sink.flush()

    session = Session(write)
    for line in source:
        if not session.handle(line):
            break
    return 0

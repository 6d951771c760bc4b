"""A position on a terminal, as people like to look at it."""

import itertools

from rich.console import Console
from rich.text import Text

PIECES = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
AS_TEXT = "\N{VARIATION SELECTOR-15}"  # some terminals would draw the pawn as a picture of double width
LIGHT, DARK, CHECK = "#8fa5ba", "#5b7894", "#b5413c"
SIDES = ("White", "Black")


def print_board(board, console=None, is_flipped=False, is_short=False):
    """The board with coloured squares beside what else is known; only text where there are no colours.

    `is_short` leaves out what nobody needs in a game.
    """
    console = console or Console(highlight=False)
    if console.color_system is None or console.no_color or not can_write_pieces(console):
        drawn = [Text(line) for line in plain_lines(board, is_flipped)]
    else:
        drawn = list(squares(board, is_flipped))
    text = Text("\n")
    for line, fact in itertools.zip_longest(drawn, facts(board, is_short), fillvalue=""):
        text.append_text(line)
        text.append(f"    {fact}\n" if fact else "\n")
    if is_short:
        console.print(text)
        return
    text.append(f"\nFen: {board.fen()}\nKey: {board.key:016X}")
    console.print(text, soft_wrap=True)  # a FEN is there to be copied: it is never broken into lines


def can_write_pieces(console):
    try:
        "".join(PIECES.values()).encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plain_lines(board, is_flipped):
    """Letters as `str(board)` has them, or the same from Black's side."""
    if not is_flipped:
        return str(board).splitlines()
    *ranks, gap, files = str(board).splitlines()
    return [line[:3] + line[:2:-1] for line in (*reversed(ranks), gap, files)]


def squares(board, is_flipped=False):
    """The ranks of the board and the letters of its files, each line a Text."""
    attacked = "kK"[1 - board.turn] if board.is_check() else None
    files = range(7, -1, -1) if is_flipped else range(8)
    for rank in range(8) if is_flipped else range(7, -1, -1):
        text = Text(f"{rank + 1} ", "dim", end="")
        for file in files:
            piece = board.piece_at(8 * rank + file)
            background = LIGHT if (rank + file) % 2 else DARK
            if piece and piece == attacked:
                background = CHECK
            shown = f" {PIECES[piece.lower()]}{AS_TEXT} " if piece else "   "
            text.append(shown, f"not dim bold {'#ffffff' if piece and piece.isupper() else '#000000'} on {background}")
        yield text
    yield Text("   " + "  ".join("abcdefgh"[file] for file in files), "dim")


def facts(board, is_short=False):
    """What the squares alone do not show."""
    _, _, castling, en_passant, halfmoves, number = board.fen().split()
    yield f"{SIDES[board.turn]} to move, move {number}"
    outcome = board.outcome()
    if outcome is not None:
        yield f"{outcome.termination.name.replace('_', ' ').lower()}: {outcome.result}"
    elif board.is_check():
        yield "in check"
    if is_short:
        return
    yield ""
    yield f"castling       {'none' if castling == '-' else castling}"
    if en_passant != "-":
        yield f"en passant     {en_passant}"
    yield f"quiet plies    {halfmoves}"
    yield f"legal moves    {len(board.legal_moves())}"

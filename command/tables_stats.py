"""`quetzal tables stats`: what is in an ending, and how long its longest win takes."""

from book.endgame.best_play import BestPlay
from book.endgame.generator import MEGABYTE, Generator, checked_names, resolving_memory, solving_memory
from book.endgame.outcome_counts import count_outcomes
from book.endgame.retrograde_index import needed
from command.tables_generate import EndingProgress, add_solving_arguments

SIDES = ("White", "Black")


def add_arguments(parser):
    parser.add_argument("ending", metavar="ENDING", help="such as KBNvK")
    add_solving_arguments(parser)


def share(count, total):
    return f"{100 * count / total:6.2f} %" if total else "   0.00 %"


def describe(ending, generator):
    """The lines of the report."""
    found = [count_outcomes(ending, side) for side in (0, 1)]
    yield (
        f"{ending.name}: {sum(side.arrangements for side in found):,} arrangements of the men, with White or Black to move; "
        f"{sum(side.positions for side in found):,} are legal"
    )
    yield f"mirror images and turned boards are one position here; with all of them {sum(side.boards for side in found):,}"
    yield f"{'':14}{'positions':>13}   {'won':>8} {'cursed':>8} {'drawn':>8} {'blessed':>8} {'lost':>8}"
    for name, side in zip(SIDES, found, strict=True):
        shares = (side.won, side.cursed, side.drawn, side.blessed, side.lost)
        yield f"{name + ' to move':14}{side.positions:>13,}   " + " ".join(
            share(count, side.positions) for count in shares
        )
    for name, number, side in zip(SIDES, (0, 1), found, strict=True):
        if side.longest == 0:
            yield f"{name} to move never wins"
            continue
        play = BestPlay(ending, generator)
        board = play.board(ending.squares_of(side.at), number)
        line = play.moves(board)
        end = board.copy()
        for move in line:
            end.push(move)
        until = "mate" if end.is_checkmate() else "the next capture or pawn move"
        cursed = ", a draw by the fifty-move rule" if side.longest > 100 else ""
        yield f"{name}'s longest win: {(side.longest + 1) // 2} moves ({side.longest} plies) to {until}{cursed}"
        yield f"  {board.fen()}"
        yield f"  {board.variation_san(line)}"


def run(options):
    (name,) = checked_names([options.ending])
    generator = Generator(None, options.threads, options.memory * MEGABYTE)
    try:
        for part in needed([name]):
            generator.check_memory(part, max(solving_memory(part), resolving_memory(part)))
        progress = EndingProgress(needed([name]))
        generator.report = progress.report_solving
        ending = generator.solved(name)
        progress.clear()
        for line in describe(ending, generator):
            print(line)
    finally:
        generator.close()

"""`quetzal perft`."""

from command.arguments import add_chess960, add_fen, add_threads, board_of
from command.progress import Progress
from uci_engine.perft import report


def add_arguments(parser):
    parser.add_argument("depth", type=int, help="length of the sequences in plies")
    add_fen(parser)
    add_chess960(parser)
    parser.add_argument("--divide", action="store_true", help="show the count behind every first move")
    add_threads(parser, "threads to count with")


def run(options):
    count(board_of(options), options.depth, options.divide, options.threads)


def count(board, depth, per_move, threads):
    """Counts and prints; the parts of a count on several threads are shown as they are done."""
    progress = Progress("counting", "parts")

    def on_part(done, total):
        progress.total = total
        progress.advance(done - progress.done)

    for line in report(board, depth, per_move=per_move, threads=threads, on_part=on_part):
        progress.say(line)

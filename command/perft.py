"""`quetzal perft`."""

from board import STARTING_FEN, Board
from command.arguments import positive
from uci_engine.perft import report


def add_arguments(parser):
    parser.add_argument("depth", type=int, help="length of the sequences in plies")
    parser.add_argument("--fen", help="the position (default: the start of the game)")
    parser.add_argument("--chess960", action="store_true", help="write castling as king takes rook")
    parser.add_argument("--divide", action="store_true", help="show the count behind every first move")
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="threads to count with (default: 1)")


def run(options):
    board = Board(STARTING_FEN if options.fen is None else options.fen, chess960=options.chess960)
    for line in report(board, options.depth, per_move=options.divide, threads=options.threads):
        print(line)

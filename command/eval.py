"""`quetzal eval`."""

from command.arguments import add_eval_file, add_fen, board_of
from eval import load_evaluation
from uci_engine.eval_table import eval_table


def add_arguments(parser):
    add_fen(parser)
    add_eval_file(parser)


def run(options):
    if options.eval_file is not None:
        load_evaluation(options.eval_file)
    for line in eval_table(board_of(options)):
        print(line)

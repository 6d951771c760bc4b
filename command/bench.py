"""`quetzal bench`."""

from command.arguments import add_eval_file, positive
from eval import load_evaluation
from uci_engine.bench import DEFAULT_DEPTH, lines


def add_arguments(parser):
    parser.add_argument("--depth", type=positive, metavar="N", help="plies (default: the signature's depth)")
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help="search threads (default: 1)")
    parser.add_argument("--hash", type=positive, default=16, metavar="MB", help="table size (default: 16)")
    add_eval_file(parser)


def run(options):
    if options.eval_file is not None:
        load_evaluation(options.eval_file)
    for line in lines(options.depth or DEFAULT_DEPTH, options.threads, options.hash):
        print(line, flush=True)

"""`quetzal bench`."""

from command.arguments import add_eval_file, add_hash, add_threads, positive
from command.progress import Progress
from eval import load_evaluation
from uci_engine.bench import DEFAULT_DEPTH, lines, positions


def add_arguments(parser):
    parser.add_argument("--depth", type=positive, metavar="N", help="plies (default: the signature's depth)")
    add_threads(parser, "search threads; the signature is that of one", default=1)
    add_hash(parser, 16)
    add_eval_file(parser)


def run(options):
    if options.eval_file is not None:
        load_evaluation(options.eval_file)
    progress = Progress("bench", "positions", len(positions()), is_plain=False)
    for line in lines(options.depth or DEFAULT_DEPTH, options.threads, options.hash):
        progress.say(line)
        if progress.done < progress.total:  # two lines more sum up
            progress.advance(1)

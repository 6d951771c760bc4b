"""`quetzal help`: the overview, what one command takes, or the commands of the UCI dialogue."""

DIALOGUE = "uci"


def add_arguments(parser):
    parser.add_argument("words", nargs="*", metavar="COMMAND", help=f"a command; {DIALOGUE}: the UCI dialogue")


def run(options):
    from command.line import misspelt
    from command.table import build_parser, overview

    if options.words == [DIALOGUE]:
        from uci_engine.protocol import HELP

        print("\n".join(HELP))
    elif not options.words:
        print("\n".join(overview()))
    else:
        problem = misspelt(options.words)
        if problem is not None:
            raise ValueError(problem)
        build_parser(options.words).parse_args([*options.words, "--help"])

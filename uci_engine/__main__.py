"""`quetzal`, also `python -m uci_engine`: a UCI engine without arguments, commands with them."""

import sys


def main(arguments=None):
    """Runs one command line and returns the exit status. Imports stay inside: GUIs wait for this process to start."""
    from uci_engine.build import core_problem

    problem = core_problem()
    if problem is not None:
        print(problem, file=sys.stderr)
        return 1
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments:
        from uci_engine.protocol import serve

        return serve(sys.stdin, sys.stdout)
    from uci_engine.cli import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())

"""`quetzal`, also `python -m command` and `python -m uci_engine`: a UCI engine without arguments, commands with them."""

import os
import sys


def main(arguments=None):
    """Runs one command line and returns the exit status, without a traceback when the other side goes away."""
    try:
        status = answer(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has left. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def answer(arguments):
    """Imports stay inside: GUIs wait for this process to start."""
    if getattr(sys, "frozen", False):
        from command.frozen import prepare_process

        prepare_process()
    from uci_engine.build import core_problem

    problem = core_problem()
    if problem is not None:
        print(problem, file=sys.stderr)
        return 1
    if not arguments:
        from uci_engine.protocol import serve

        return serve(0, 1)
    from command.line import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())

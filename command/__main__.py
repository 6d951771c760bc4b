"""`quetzal`, also `python -m command` and `python -m uci_engine`: a UCI engine without arguments, commands with them."""

import os
import sys

INTERRUPTED = 130  # exit status after Ctrl-C, as shells count it


def main(arguments=None):
    """Runs one command line and returns the exit status, without a traceback when the other side goes away."""
    if sys.platform == "win32":
        write_unicode()
    try:
        status = answer(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        if is_terminal(2):
            print(file=sys.stderr)  # the shell's prompt begins a line of its own
        return INTERRUPTED
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
        if is_terminal(0) and is_terminal(1):
            from command.terminal import serve as serve_person

            return serve_person()
        from uci_engine.protocol import serve

        return serve(0, 1)
    from command.line import run

    return run(arguments)


def write_unicode():
    """Into pipes and files Windows' Python writes the code page of the country, which lacks half of what we print."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.isatty():
            stream.reconfigure(encoding="utf-8", newline="\n")


def is_terminal(descriptor):
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())

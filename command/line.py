"""One command line, from its words to its exit status."""

import sys

from command.table import build_parser


def run(words):
    """Parses and carries out one command; returns the exit status."""
    if words[0] in ("go", "d", "flip", "compiler", "help") and "--help" not in words and "-h" not in words:
        from command.dialogue import run_words

        return run_words(words)
    options = build_parser(words).parse_args(words)
    try:
        return options.run(options) or 0
    except BrokenPipeError:
        raise  # nobody reads any more: the caller ends quietly
    except (ValueError, OSError) as error:
        print(f"quetzal {options.command}: {reason_of(error)}", file=sys.stderr)
        return 2


def reason_of(error):
    """An error in words: Python's own text for a file that cannot be opened begins with a number."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return error

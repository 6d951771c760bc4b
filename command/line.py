"""One command line, from its words to its exit status."""

import errno
import sys

from command.arguments import join_fen
from command.parser import suggestion
from command.progress import clear_all
from command.table import COMMANDS, build_parser
from pool.tasks import PoolError

HEAD_OPTIONS = ("-h", "--help", "-v", "-V", "--version")


def run(words):
    """Parses and carries out one command; returns the exit status."""
    problem = misspelt(words)
    if problem is not None:
        print(f"quetzal: {problem}\n'quetzal --help' lists the commands.", file=sys.stderr)
        return 2
    options = build_parser(words).parse_args(join_fen(words))
    try:
        return options.run(options) or 0
    except BrokenPipeError:
        raise  # nobody reads any more: the caller ends quietly
    except (ValueError, OSError) as error:
        clear_all()
        print(f"quetzal {options.command}: {reason_of(error)}", file=sys.stderr)
        return 2
    except PoolError as error:
        clear_all()
        print(f"quetzal {options.command}: {error}", file=sys.stderr)
        return 1
    finally:
        clear_all()


def misspelt(words):
    """What to say about a line that begins with no command; None if it does."""
    first = words[0]
    names = [command.name for command in COMMANDS]
    heads = sorted({name.split()[0] for name in names})
    if first.startswith("-"):
        if first in HEAD_OPTIONS:
            return None
        return f"'{first}' is not understood" + suggestion(first, HEAD_OPTIONS)
    if first not in heads:
        from uci_engine.protocol import Session

        if first in Session.COMMANDS:
            return f"'{first}' belongs to the UCI dialogue, which 'quetzal' without arguments begins"
        return f"there is no command '{first}'" + suggestion(first, heads)
    actions = [name.split()[1] for name in names if name.startswith(f"{first} ")]
    if actions and len(words) > 1 and not words[1].startswith("-") and words[1] not in actions:
        return f"there is no '{first} {words[1]}'" + suggestion(words[1], actions)
    return None


def reason_of(error):
    """An error in words: Python's own text begins with a number, and a file that is being written has no name in it."""
    if not isinstance(error, OSError) or not error.strerror:
        return error
    words = error.strerror
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        words += "; what was finished before is kept"
    return f"{error.filename}: {words}" if error.filename else words

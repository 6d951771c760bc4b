"""Types of command-line arguments that several commands share."""

import argparse


def positive(text):
    """An argparse type: a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def add_eval_file(command):
    """With which evaluation a command works, for `eval.load_evaluation`. Without the option it gets None."""
    command.add_argument(
        "--eval-file",
        metavar="FILE",
        help='a network or weights; "": the classical evaluation (default: the bundled network)',
    )

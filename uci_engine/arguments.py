"""Types of command-line arguments that several commands share."""

import argparse


def positive(text):
    """An argparse type: a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number

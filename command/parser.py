"""argparse for people: what was not understood, what was perhaps meant, and where it is explained."""

import argparse
import re

from uci_engine.text import nearest

_NUMBER = re.compile(r"-?\d+")


class Parser(argparse.ArgumentParser):
    """A parser that complains about what it does not know itself, so that its own options can be suggested.

    With `takes_words` it collects everything that is no option in `words`, wherever it stands.
    """

    takes_words = False
    is_command = False  # a leaf of the table, not what leads there

    def parse_known_args(self, args=None, namespace=None):
        options, extra = super().parse_known_args(args, namespace)
        if not self.is_command:
            return options, extra
        unknown = [word for word in extra if is_option(word)] if self.takes_words else extra
        if unknown:
            self.error(self.not_understood(unknown[0]))
        if self.takes_words:
            options.words = extra
        return options, []

    def not_understood(self, word):
        """A complaint about one word, with what it may have meant."""
        known = [name for action in self._actions for name in action.option_strings]
        text = f"'{word}' is not understood"
        if is_option(word):
            return text + suggestion(word.partition("=")[0], known)
        if word.isdigit() and "--depth" in known:
            return f"{text}; did you mean '--depth {word}'?"
        if word.count("/") == 7 and "--fen" in known:
            return f"{text}; a position goes behind --fen"
        return text

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n'{self.prog} --help' explains it.\n")


def is_option(word):
    return word.startswith("-") and word != "-" and not _NUMBER.fullmatch(word)


def suggestion(word, known):
    """What to add to a complaint about a word, if one that is known resembles it."""
    meant = nearest(word, known)
    return "" if meant is None else f"; did you mean '{meant}'?"
